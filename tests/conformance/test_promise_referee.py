"""The promise: what ``preflight`` says of a rollback is what a real API server does when the rollback is done.

A server gets 20 kinds of real CRDs and thousands of objects that follow their schemas: stored under OLD, then under
NEW. The command reads this cluster. Then OLD's CRDs take the place of NEW's, and every kind of write is sent for each
object that the command names, and for a sample of the others. ``CRDCOMPAT_REFEREE_PROMISE=500`` stores so many objects
of each kind.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from api_server import kubeconfig
from differences import Bench
from helpers import Json
from real_crds import changed_crds, plain
from referee import Referee, collection
from rollback_writes import NoSuchWriteError, Rollback, lost
from schema_values import Values, empty_object, parts_of

from crdcompat.apiserver.versions import kubernetes_server
from crdcompat.features.judge.verdict import resource_of

_OBJECTS = int(os.environ.get("CRDCOMPAT_REFEREE_PROMISE", "60"))
_KINDS = 20
_SAMPLE = 10
#: Creates of a kind in vain, after which no more objects of it are stored: its rules are seldom met by chance.
_PATIENCE = 40
#: The share of the objects that a manager applies; an operator creates the others.
_APPLIED = 0.4
_APPLY = "application/apply-patch+yaml"
_APPROVED = "api-approved.kubernetes.io"
_BELOW = ("items", "additionalProperties")
_NOT_OWN = ("properties", "description", "default", *_BELOW)
#: A server with these would be OpenShift's, with a feature set: the referee is not.
_NOT_HERE = ("clusterversions.config.openshift.io", "featuregates.config.openshift.io")


@pytest.fixture(scope="module")
def pairs(openshift_api: Path, projects: Path) -> dict[str, tuple[Json, Json]]:
    """Name -> (OLD, NEW) of CRDs that change between two releases."""
    found = {
        old["metadata"]["name"]: (_anywhere(old), _anywhere(new))
        for _, old, new in changed_crds(openshift_api, projects)
    }
    return {name: pair for name, pair in found.items() if name not in _NOT_HERE}


def _anywhere(crd: Json) -> Json:
    """The CRD without annotations that say which feature set, profile or channel it is for."""
    made = plain(crd)
    kept = {key: value for key, value in (made["metadata"].get("annotations") or {}).items() if key == _APPROVED}
    return {**made, "metadata": {"name": made["metadata"]["name"], "annotations": kept}}


class _Cluster:
    """A server that ran OLD and runs NEW, with objects of both times."""

    def __init__(self, server: Referee, r: random.Random) -> None:
        self._server, self._r = server, r
        self._values = Values(r, 0.0)
        self.crds: dict[str, tuple[Json, Json]] = {}
        self.objects: Counter[str] = Counter()

    def add(self, name: str, old: Json, new: Json) -> None:
        """Install OLD, store objects, move to NEW, and store more; a kind that gets no object is of no use."""
        if not self._server.install(old).accepted:
            return
        stored = self._fill(old, "o", _OBJECTS // 3)
        if self._server.swap(new).accepted and (stored := stored + self._fill(new, "n", _OBJECTS - _OBJECTS // 3)):
            self.crds[name], self.objects[name] = (old, new), stored

    def _fill(self, crd: Json, prefix: str, count: int) -> int:
        versions = [each for each in crd["spec"]["versions"] if each["served"]]
        stored = vain = 0
        while stored < count and vain < _PATIENCE:
            if self._store(crd, self._r.choice(versions), f"{prefix}{stored}"):
                stored, vain = stored + 1, 0
            else:
                vain += 1
        return stored

    def _store(self, crd: Json, version: Json, name: str) -> bool:
        drawn = self._values.parts(version, parts_of(version))
        at, empty = collection(crd, version["name"]), empty_object(crd, version, name)
        if self._r.random() < _APPLIED:
            sent = {**empty, **drawn}
            return self._server.ask("PATCH", f"{at}/{name}?fieldManager=flux", sent, _APPLY).accepted
        answer = self._server.ask("POST", f"{at}?fieldManager=operator", {**empty, **drawn})
        if answer.accepted and "status" in drawn and "status" in (version.get("subresources") or {}):
            self._server.ask("PUT", f"{at}/{name}/status?fieldManager=operator", {**answer.body, **drawn})
        return answer.accepted


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


@pytest.fixture
def cluster(bench: Bench, pairs: dict[str, tuple[Json, Json]]) -> _Cluster:
    made = _Cluster(bench.server, random.Random(34))
    for name in sorted(pairs, key=lambda name: (-_differing(*map(_schemas, pairs[name])), name)):
        if len(made.crds) < _KINDS:
            made.add(name, *pairs[name])
    return made


def _asked(command: str, *arguments: str) -> Json:
    """The report of the command, as its users run it."""
    more = ("--format", "json", "--no-progress", "--no-redact")
    ran = subprocess.run(
        [sys.executable, "-m", "crdcompat", command, *arguments, *more], capture_output=True, text=True, check=False
    )
    assert ran.stdout, ran.stderr
    found: Json = json.loads(ran.stdout)
    return found


def test_a_rollback_does_what_preflight_says(
    bench: Bench,
    cluster: _Cluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    old, new = (tmp_path / side for side in ("old", "new"))
    for index, side in enumerate((old, new)):
        side.mkdir()
        for name, pair in cluster.crds.items():
            (side / f"{name}.json").write_text(json.dumps(pair[index]))
    port = urlsplit(bench.server.url).port
    assert port is not None
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig(tmp_path / "kubeconfig.yaml", port, bench.server.token)))
    server = ("--kube-version", bench.minor)
    foretold = _asked("preflight", str(old), "--cluster", "prod", "--all", *server)
    each = _asked("simulate", str(old), str(new), "--objects", "cluster:prod", *server)
    place = os.environ.get("CRDCOMPAT_REFEREE_DIFFERENCES")
    if place:
        Path(f"{place}-promise-{bench.minor}.json").write_text(json.dumps([foretold, each]))
    assert foretold["missing"] == []
    assert {kind["crd"]: kind["objects"] for kind in foretold["summary"]["kinds"]} == dict(cluster.objects)

    done = _Done(bench, cluster)
    chosen = [(item, done.before(item)) for item in _chosen(each["objects"])]
    refused = {name for name, (crd, _) in cluster.crds.items() if not bench.server.swap(crd).accepted}
    assert {item["crd"] for item in foretold["refused"]} == refused
    for item, before in chosen:
        if item["crd"] not in refused:
            done.compare(item, before)
    record_property("referee", f"{bench.minor}: promise: {dict(done.asked)}")
    if place:
        Path(f"{place}-promise-wrong-{bench.minor}.json").write_text(json.dumps(done.wrong, indent=1))
    assert not done.wrong, "\n".join(done.wrong[:10])
    counted = {kind["crd"]: kind["rejected"] for kind in foretold["summary"]["kinds"] if kind["crd"] not in refused}
    assert +Counter(counted) == +done.rejected
    assert done.asked["rejected"] > 50 and done.asked["loses-data"] > 50
    # Servers that ratchet accept the manager's apply as it is.
    assert done.asked["ways out"] or kubernetes_server(bench.minor).does("ratchet_main")


def _chosen(objects: list[Json]) -> list[Json]:
    """The objects that a report names for any write, and the first others of each kind."""
    found, fine = [], Counter[str]()
    for item in objects:
        is_fine = {write["verdict"] for write in item["writes"].values()} == {"accepted"}
        fine[item["crd"]] += is_fine
        if not is_fine or fine[item["crd"]] <= _SAMPLE:
            found.append(item)
    return found


class _Done:
    """The rollback, done: what the server answered, and where that is not what the command foretold."""

    def __init__(self, bench: Bench, cluster: _Cluster) -> None:
        self._bench, self._cluster = bench, cluster
        self._kinds: dict[tuple[str, str], Rollback] = {}
        self.asked: Counter[str] = Counter()
        self.rejected: Counter[str] = Counter()
        self.wrong: list[str] = []

    def before(self, item: Json) -> Json:
        """The object as the cluster serves it before the rollback: NEW's defaults, too, are lost to its readers."""
        _, new = self._cluster.crds[item["crd"]]
        return self._bench.server.read(new, item["version"], item["object"]["name"]).body

    def compare(self, item: Json, before: Json) -> None:
        """Send all writes of one object."""
        self.asked["objects"] += 1
        answers = {kind: self._write(item, kind, write, before) for kind, write in item["writes"].items()}
        counted = [
            answer for kind, answer in answers.items() if kind != "create" and not item["writes"][kind].get("already")
        ]
        self.rejected[item["crd"]] += not all(counted)

    def _write(self, item: Json, kind: str, write: Json, before: Json) -> bool:
        said, name = write["verdict"], item["object"]["name"]
        about_it = f"{item['crd']} {name} {kind} ({write.get('note')})"
        on = self._kind(item["crd"], item["version"])
        try:
            answer, after = on.answer(kind, name, write.get("note") or "")
        except NoSuchWriteError:
            self.wrong.append(f"no such write: {about_it}")
            return True
        self.asked[said] += 1
        if answer.accepted != (said != "rejected"):
            self.wrong.append(
                f"{about_it}: foretold {said} {write.get('message')}: answered {answer.code} {answer.message}"
            )
        elif answer.accepted and kind == "metadata-update":
            gone = sorted(lost(before, after))
            if gone != sorted(item["pruned"]):
                self.wrong.append(f"{about_it}: foretold the loss of {item['pruned']}, but lost {gone}")
        elif not answer.accepted:
            self.asked["same words"] += answer.message == write["message"]
        if write.get("accepted_without"):
            way_out, _ = on.answer("apply-without", name, write["note"])
            self.asked["ways out"] += way_out.accepted
            if not way_out.accepted:
                self.wrong.append(f"{about_it}: no way out: {way_out.code} {way_out.message}")
        return answer.accepted

    def _kind(self, crd: str, version: str) -> Rollback:
        if (crd, version) not in self._kinds:
            old, _ = self._cluster.crds[crd]
            resource = resource_of(old, version, kubernetes_server(self._bench.minor))
            self._kinds[crd, version] = Rollback(self._bench.server, old, resource)
        return self._kinds[crd, version]
