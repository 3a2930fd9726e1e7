"""Real recordings: a must-gather and an insights archive."""

from __future__ import annotations

import tarfile
from collections import Counter
from pathlib import Path

import pytest
import yaml
from helpers import run, unpack
from recorded import items, left_out, objects, problems

from crdcompat.crds.reader import CrdReader
from crdcompat.crds.resolving import resolve_all
from crdcompat.errors import Problem
from crdcompat.features.diff import diff_workflow
from crdcompat.recordings.recorded_objects import Recorded, read_objects
from crdcompat.sources import open_objects

MUST_GATHER = "data/recorded/must-gather-4.18.tar.gz"


INSIGHTS = "data/recorded/insights-archive-sample.tar.gz"


@pytest.fixture(scope="module")
def must_gather(shared: Path) -> Path:
    if not (shared / MUST_GATHER).is_file():
        pytest.skip("no must-gather")
    return shared / MUST_GATHER


@pytest.fixture(scope="module")
def insights(shared: Path) -> Path:
    if not (shared / INSIGHTS).is_file():
        pytest.skip("no insights archive")
    return shared / INSIGHTS


def test_a_must_gather_as_archive_and_as_directory(must_gather: Path, tmp_path: Path) -> None:
    everything = items(must_gather)
    assert not [item for item in everything if isinstance(item, Problem)]
    found = [item for item in everything if isinstance(item, Recorded)]
    distinct = {item.identity for item in found}
    assert None not in distinct
    assert (len(found), len(distinct)) == (1511, 1320)
    kinds = Counter(identity[1] for identity in distinct if identity)
    assert kinds["ClusterVersion"] == 1 and kinds["ClusterOperator"] == 33
    assert kinds["CustomResourceDefinition"] == 0
    (source,) = (item.source for item in found if "clusterversions/version.yaml" in item.source)
    where = "cluster-scoped-resources/config.openshift.io/clusterversions/version.yaml"
    assert source == f"must-gather-4.18.tar.gz: {where}"
    with tarfile.open(must_gather) as archive:
        unpack(archive, tmp_path)
    in_directory = objects(tmp_path / "must-gather")
    assert {item.identity for item in in_directory} == distinct and len(in_directory) == len(found)


def test_a_must_gather_against_a_plain_reading(must_gather: Path) -> None:
    """tarfile and PyYAML alone find the same objects."""
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    expected: set[tuple[str, ...]] = set()
    with tarfile.open(must_gather) as archive:
        for member in archive:
            if not member.name.endswith(".yaml") or "aggregated-discovery" in member.name:
                continue
            file = archive.extractfile(member)
            assert file is not None
            data = yaml.load(file.read(), loader)
            listed = data["items"] if data["kind"].endswith("List") else [data]
            for one in listed if isinstance(listed, list) else []:
                meta = one["metadata"]
                expected.add((one["apiVersion"], one["kind"], meta.get("namespace", ""), meta["name"]))
    expected = {identity for identity in expected if identity[1] != "CustomResourceDefinition"}
    assert {item.identity[:4] for item in objects(must_gather) if item.identity} == expected


def test_the_crds_of_a_must_gather(must_gather: Path, tmp_path: Path) -> None:
    found = diff_workflow.load(f"recording:{must_gather}")
    assert len(found.documents) == 127 and found.problems == ()
    folder = "cluster-scoped-resources/apiextensions.k8s.io/customresourcedefinitions"
    assert {document.file.rpartition("/")[0] for document in found.documents} == {folder}
    wanted = f"{folder}/clusterversions.config.openshift.io.yaml"
    ((path, data),) = found.read([wanted])
    assert path == wanted and b"enabledCapabilities" in data
    assert len(diff_workflow.load(str(must_gather)).documents) == 127
    with tarfile.open(must_gather) as archive:  # folders above it that mean something in a repository mean nothing
        unpack(archive, tmp_path / "tests" / "vendor")
    assert len(diff_workflow.load(f"recording:{tmp_path}").documents) == 127


def test_rolling_back_a_recorded_cluster(must_gather: Path, openshift_api: Path) -> None:
    old, recording = "origin/release-4.13", f"recording:{must_gather}"
    args = ("simulate", old, recording, "--objects", must_gather, "--crd", "clusterversions.config.openshift.io")
    ran = run(*args, "--format", "json", cwd=openshift_api)
    assert ran.code == 1
    (item,) = ran.report["objects"]
    assert item["writes"]["status-update"]["verdict"] == "rejected"
    assert "DeploymentConfig" in item["writes"]["status-update"]["message"]
    assert item["source"].startswith("must-gather-4.18.tar.gz: cluster-scoped-resources/config.openshift.io/")


def test_what_the_writing_release_says_alike(insights: Path, openshift_api: Path) -> None:
    """The operator records typed objects: empty strings and creation times that no release stores."""
    args = ("simulate", "release-4.15", "release-4.16", "--objects", insights, "--format", "json")
    ran = run(*args, cwd=openshift_api)
    assert ran.code == 2  # objects of unknown kinds were not judged
    summary = ran.report["summary"]
    assert summary["verdicts"] == {"rejected": 0, "unknown": 0, "loses-data": 0, "accepted": 91}
    assert summary["causes"] == []
    assert {(item["kind"], item["path"], *item["values"]) for item in summary["already"]} == {
        ("ControlPlaneMachineSet", "spec.template"),
        ("Infrastructure", "status.controlPlaneTopology", ""),
        ("Infrastructure", "status.infrastructureTopology", ""),
    }
    assert {(item["kind"], item["path"], item["objects"]) for item in summary["not_stored"]} == {
        ("ControlPlaneMachineSet", "spec.templates", 1),
        ("MachineSet", "spec.template.metadata.creationTimestamp", 3),
        ("MachineSet", "spec.template.spec.metadata.creationTimestamp", 3),
    }
    assert len(summary["hidden"]) == sum(item["severity"] in ("error", "warning") for item in summary["hidden"]) > 0


def test_objects_of_other_kinds_keep_their_identity(must_gather: Path, openshift_api: Path) -> None:
    """Those of the releases' kinds are equal whether or not the others were reduced, and all others were."""
    crds = [diff_workflow.load(f"git:origin/release-{name}", repo=str(openshift_api)) for name in ("4.15", "4.16")]
    kinds = frozenset().union(*(each.kinds() for each in crds))
    whole, reduced = (list(read_objects(open_objects(f"path:{must_gather}"), kinds=each)) for each in (None, kinds))
    others = 0
    for before, after in zip(whole, reduced, strict=True):
        if not isinstance(before, Recorded) or _kind_of(before) in kinds:
            assert after == before
            continue
        assert isinstance(after, Recorded)
        assert (after.identity, after.label, after.source) == (before.identity, before.label, before.source)
        assert not {"spec", "status", "managedFields"} & {*after.data, *after.data["metadata"]}
        others += 1
    assert others > 1000


def _kind_of(item: Recorded) -> tuple[str, str]:
    return item.data["apiVersion"].rpartition("/")[0], item.data["kind"]


def test_an_insights_archive(insights: Path) -> None:
    found = objects(insights)
    assert problems(insights) == []
    assert len(found) == 169
    reported = Counter(item.hint is not None for item in found)
    assert reported == {True: 68, False: 101}
    unknown = [item.source.partition(": ")[2] for item in found if item.hint is None and item.identity is None]
    assert unknown == ["namespaces/openshift-nfd/customresources/ip-10-0-58-24.ec2.internal.json"]
    reasons = Counter(reason.partition(",")[0] for _, reason in left_out(insights))
    assert reasons == {"data of the gatherer": 24, "a CRD": 2}


def test_insights_objects_are_completed_from_the_crds(insights: Path, openshift_api: Path) -> None:
    reader = CrdReader()
    old, new = (diff_workflow.load(f"origin/release-4.{n}", repo=str(openshift_api), reader=reader) for n in (13, 14))
    known = [resolve_all(new, old)[1], resolve_all(old, new)[1]]
    completed = {item.source.partition(": ")[2]: item.completed(*known) for item in objects(insights) if item.hint}
    kinds = {path: (item.data["apiVersion"], item.data["kind"]) for path, item in completed.items() if not item.hint}
    assert kinds["config/version.json"] == ("config.openshift.io/v1", "ClusterVersion")
    assert kinds["config/apiserver.json"] == ("config.openshift.io/v1", "APIServer")
    registry = "config/clusteroperator/imageregistry.operator.openshift.io"
    assert kinds[f"{registry}/config/cluster.json"] == ("imageregistry.operator.openshift.io/v1", "Config")
    assert kinds[f"{registry}/imagepruner/cluster.json"] == ("imageregistry.operator.openshift.io/v1", "ImagePruner")
    assert kinds["config/securitycontextconstraint/anyuid.json"][1] == "SecurityContextConstraints"
    assert len(kinds) == 14
    assert all(completed[path].identity for path in kinds)


def test_an_insights_object_without_metadata_has_its_name_and_namespace(insights: Path) -> None:
    found = {item.source.partition(": ")[2]: item.data for item in objects(insights)}
    folder = "config/clusteroperator/operator.openshift.io"
    console = found[f"{folder}/console/cluster.json"]
    assert console["metadata"] == {"name": "cluster"} and "name" not in console
    router = found[f"{folder}/ingresscontroller/openshift-ingress-operator/default.json"]
    assert router["metadata"] == {"name": "default", "namespace": "openshift-ingress-operator"}
