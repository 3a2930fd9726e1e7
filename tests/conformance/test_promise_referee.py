"""The promise: what ``preflight`` says of a rollback is what a real API server does when the rollback is done.

A server gets kinds of real CRDs and thousands of objects that follow their schemas: stored under OLD, then under
NEW. The command reads this cluster. Then OLD's CRDs take the place of NEW's, and every kind of write is sent for each
object that the command names, and for a sample of the others. ``CRDCOMPAT_REFEREE_PROMISE=500`` stores so many objects
of each kind.
"""

from __future__ import annotations

import copy
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from differences import Bench
from helpers import Json
from promise import Cluster, Done, Foretold, written
from real_crds import changed_crds, plain

import crdcompat
from crdcompat.apiserver.server_versions import kubernetes_server
from crdcompat.crds.context import FEATURE_SET, PROFILE

_KINDS, _FEW = 20, 8
_APPROVED = "api-approved.kubernetes.io"
_SETS = ("Default", "TechPreviewNoUpgrade")
_SELF_MANAGED = f"{PROFILE}self-managed-high-availability"
_RELEASE = {"meta.helm.sh/release-name": "op", "meta.helm.sh/release-namespace": "default"}
_KEEP = {"helm.sh/resource-policy": "keep"}
_BELOW = ("items", "additionalProperties")
_NOT_OWN = ("properties", "description", "default", *_BELOW)
#: A server with these would be OpenShift's, with a feature set: the referee is not.
_NOT_HERE = ("clusterversions.config.openshift.io", "featuregates.config.openshift.io")
_Note = Callable[[str, object], None]


@pytest.fixture(scope="module")
def pairs(openshift_api: Path, projects: Path) -> dict[str, tuple[Json, Json]]:
    """Name -> (OLD, NEW) of CRDs that change between two releases, those first that change most."""
    found = {
        old["metadata"]["name"]: (_anywhere(old), _anywhere(new))
        for _, old, new in changed_crds(openshift_api, projects)
    }
    names = sorted(found.keys() - {*_NOT_HERE}, key=lambda name: (-_differing(*map(_schemas, found[name])), name))
    return {name: found[name] for name in names}


def _anywhere(crd: Json) -> Json:
    """The CRD without annotations that say which feature set, profile or channel it is for."""
    made = plain(crd)
    kept = {key: value for key, value in (made["metadata"].get("annotations") or {}).items() if key == _APPROVED}
    return {**made, "metadata": {"name": made["metadata"]["name"], "annotations": kept}}


def _schemas(crd: Json) -> Json:
    """The schemas of a CRD's versions, as one."""
    return {"properties": {each["name"]: each["schema"]["openAPIV3Schema"] for each in crd["spec"]["versions"]}}


def _differing(old: Any, new: Any) -> int:
    """The number of places that two schemas have in common, and constrain in another way."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return 0
    own = [{key: value for key, value in side.items() if key not in _NOT_OWN} for side in (old, new)]
    properties = [side.get("properties") or {} for side in (old, new)]
    below = sum(
        _differing(*(side[name] for side in properties)) for name in properties[0].keys() & properties[1].keys()
    )
    return below + (own[0] != own[1]) + sum(_differing(old.get(key), new.get(key)) for key in _BELOW)


def _cluster(bench: Bench, pairs: dict[str, tuple[Json, Json]], kinds: int) -> Cluster:
    """A cluster with the first kinds of which objects can be stored. A server has one test after the other."""
    for name in {*bench.server.crd_names()} & pairs.keys():
        bench.server.delete_crd(pairs[name][0])
    made = Cluster(bench.server, random.Random(34))
    for name, pair in pairs.items():
        if len(made.crds) < kinds:
            made.add(name, *pair, before=not _hides(*pair))
    return made


def _hides(old: Json, new: Json) -> bool:
    """Whether objects that OLD stores have fields that NEW, which stores another version, does not show to anybody.

    The commands see what the server shows: without such a field they foretell what OLD says of objects without it.
    """
    (before, had), (after, has) = (
        next(
            (each["name"], {*_names(each["schema"]["openAPIV3Schema"])})
            for each in crd["spec"]["versions"]
            if each["storage"]
        )
        for crd in (old, new)
    )
    return before != after and not had <= has


def _names(raw: Any, at: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The places that a schema declares."""
    if isinstance(raw, dict):
        yield at
        for name, sub in (raw.get("properties") or {}).items():
            yield from _names(sub, (*at, name))
        for key in _BELOW:
            yield from _names(raw.get(key), (*at, key))


def _holds(foretold: Foretold, done: Done, refused: set[str]) -> None:
    """All that was foretold has come, object for object, and nothing else."""
    assert {item["crd"] for item in foretold.preflight["refused"]} == refused
    assert not done.wrong, "\n".join(done.wrong[:10])
    counted = {name: kind["rejected"] for name, kind in foretold.kinds.items() if name not in refused}
    assert +Counter(counted) == +done.rejected


def test_a_rollback_does_what_preflight_says(
    bench: Bench,
    pairs: dict[str, tuple[Json, Json]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: _Note,
) -> None:
    cluster = _cluster(bench, pairs, _KINDS)
    for index, side in enumerate(("old", "new")):
        written(tmp_path / side, [pair[index] for pair in cluster.crds.values()])
    foretold = Foretold(bench, tmp_path, monkeypatch)
    assert foretold.preflight["missing"] == []
    assert {name: kind["objects"] for name, kind in foretold.kinds.items()} == dict(cluster.objects)
    done = Done(bench, cluster)
    refused = done.roll_back(foretold)
    record_property("referee", f"{bench.minor}: promise: {dict(done.asked)}")
    _holds(foretold, done, refused)
    assert done.asked["rejected"] > 50 and done.asked["loses-data"] > 50
    # Servers that ratchet accept the manager's apply as it is.
    assert done.asked["ways out"] or kubernetes_server(bench.minor).does("ratchet_main")


# -- feature sets ---------------------------------------------


@pytest.fixture(scope="module")
def variants(openshift_api: Path) -> tuple[dict[str, list[Json]], ...]:
    """The CRDs of release-4.15 and release-4.16 by name, each with all its variants."""
    releases = []
    for name in ("origin/release-4.15", "release-4.16"):
        found = defaultdict(list)
        for document in crdcompat.load(name, repo=str(openshift_api)).documents:
            found[document.crd.name].append(_as_shipped(dict(document.crd.raw)))
        releases.append(dict(found))
    return tuple(releases)


def _as_shipped(crd: Json) -> Json:
    """The CRD with the annotations that say which clusters get it, and the approval that servers ask for."""
    made = plain(crd)
    kept = (_APPROVED, FEATURE_SET, _SELF_MANAGED)
    found = {key: value for key, value in (made["metadata"].get("annotations") or {}).items() if key in kept}
    return {**made, "metadata": {"name": made["metadata"]["name"], "annotations": {**found, _SELF_MANAGED: "true"}}}


def _of_set(variants: list[Json], feature_set: str) -> Iterator[Json]:
    for crd in variants:
        named = crd["metadata"]["annotations"].get(FEATURE_SET, feature_set)
        if feature_set in named.split(","):
            yield crd


def _varied(old: dict[str, list[Json]], new: dict[str, list[Json]], feature_set: str) -> Iterator[tuple[Json, Json]]:
    """(OLD, NEW) of the kinds of which clusters with this feature set have another CRD than others, in either."""
    for name in sorted(old.keys() & new.keys() - {*_NOT_HERE}):
        if len(old[name]) + len(new[name]) > 2:
            ours = [[*_of_set(side[name], feature_set)] for side in (old, new)]
            if [len(each) for each in ours] == [1, 1] and ours[0][0]["spec"] != ours[1][0]["spec"]:
                yield ours[0][0], ours[1][0]


@pytest.mark.parametrize("feature_set", _SETS)
def test_a_cluster_of_a_feature_set_gets_the_variants_of_it(
    bench: Bench,
    variants: tuple[dict[str, list[Json]], ...],
    feature_set: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: _Note,
) -> None:
    chosen = {pair[0]["metadata"]["name"]: pair for pair in _varied(*variants, feature_set)}
    cluster = _cluster(bench, chosen, _KINDS)
    for side, release in zip(("old", "new"), variants, strict=True):
        written(tmp_path / side, [crd for name in cluster.crds for crd in release[name]])
    foretold = Foretold(bench, tmp_path, monkeypatch, "--context", f"{feature_set}/self-managed-high-availability")
    done = Done(bench, cluster)
    refused = done.roll_back(foretold)
    record_property("referee", f"{bench.minor}: promise of {feature_set}: {dict(done.asked)}")
    assert {name: kind["objects"] for name, kind in foretold.kinds.items()} == dict(cluster.objects)
    _holds(foretold, done, refused)
    assert done.asked["rejected"] + done.asked["loses-data"] > 20


# -- an installer that deletes, keeps and leaves alone ---------------------------------------------


def _marked(crd: Json, more: Json) -> Json:
    made = copy.deepcopy(crd)
    made["metadata"]["annotations"] = {**(made["metadata"].get("annotations") or {}), **more}
    return made


def test_helm_deletes_what_preflight_says(
    bench: Bench,
    pairs: dict[str, tuple[Json, Json]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: _Note,
) -> None:
    """OLD's chart has half of the kinds in templates/; it lacks two, of which one is kept; one is in crds/."""
    cluster = _cluster(bench, pairs, _FEW)
    kept, gone, unmanaged, *replaced = cluster.crds
    marks: dict[str, Json] = {kept: {**_RELEASE, **_KEEP}, unmanaged: {}}
    for name, (old, new) in cluster.crds.items():
        cluster.crds[name] = old, _marked(new, marks.get(name, _RELEASE))
        assert bench.server.swap(cluster.crds[name][1]).accepted
    for side, index in (("old", 0), ("new", 1)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "Chart.yaml").write_text("name: op\nversion: 1.0.0\n")
        written(tmp_path / side / "crds", [cluster.crds[unmanaged][index]])
        names = replaced if side == "old" else [kept, gone, *replaced]
        written(tmp_path / side / "templates", [cluster.crds[name][index] for name in names])
    foretold = Foretold(bench, tmp_path, monkeypatch)
    objects = {name: cluster.objects[name] for name in (kept, gone, unmanaged)}
    before = {name: _stored(bench, cluster, name) for name in objects}

    bench.server.delete_crd(cluster.crds[gone][0])
    deleted = {kind["crd"]: kind["objects"] for kind in foretold.preflight["deleted"]}
    assert foretold.preflight["answer"] == "no" and deleted == {gone: objects[gone]}
    for name in (kept, gone, unmanaged):
        del cluster.crds[name]
    done = Done(bench, cluster)
    refused = done.roll_back(foretold)
    record_property("referee", f"{bench.minor}: promise of helm: {dict(done.asked)}, deleted {deleted[gone]}")
    _holds(foretold, done, refused)
    assert before == {kept: objects[kept], gone: objects[gone], unmanaged: objects[unmanaged]}
    assert {name: _stored(bench, cluster, name) for name in objects} == {**before, gone: 0}


def _stored(bench: Bench, cluster: Cluster, name: str) -> int:
    return bench.server.count_stored(*name.split(".", 1))


# -- storage that moves ---------------------------------------------


def _moved(pairs: dict[str, tuple[Json, Json]]) -> dict[str, tuple[Json, Json]]:
    """The kinds of several versions: OLD stores another one than NEW, or does not have the one that NEW stores."""
    found: dict[str, tuple[Json, Json]] = {}
    for name, (old, new) in pairs.items():
        served = [{each["name"] for each in crd["spec"]["versions"] if each["served"]} for crd in (old, new)]
        storage = next(each["name"] for each in new["spec"]["versions"] if each["storage"])
        others = sorted(served[0] & served[1] - {storage})
        if storage not in served[0]:
            found[name] = old, new
        elif others:
            made = copy.deepcopy(old)
            for version in made["spec"]["versions"]:
                version["storage"] = version["name"] == others[-1]
            found[name] = made, new
    return found


def test_objects_of_other_stored_versions_fare_as_preflight_says(
    bench: Bench,
    pairs: dict[str, tuple[Json, Json]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: _Note,
) -> None:
    cluster = _cluster(bench, _moved(pairs), _KINDS)
    for index, side in enumerate(("old", "new")):
        written(tmp_path / side, [pair[index] for pair in cluster.crds.values()])
    foretold = Foretold(bench, tmp_path, monkeypatch)
    assert {name: kind["objects"] for name, kind in foretold.kinds.items()} == dict(cluster.objects)
    done = Done(bench, cluster)
    refused = done.roll_back(foretold)
    record_property("referee", f"{bench.minor}: promise of stored versions: {dict(done.asked)}, refused {len(refused)}")
    _holds(foretold, done, refused)
    assert refused and done.asked["rejected"] + done.asked["loses-data"] > 20
