"""The versions of a cluster are what the recording says; a release names them only where the recording does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers import Json, Run, crd, obj, run, string, write

CRD = crd(obj(status=obj()), kind="ClusterVersion", group="config.openshift.io", scope="Cluster")
OLDER = crd(obj(spec=obj(mode=string("a"))))
NEWER = crd(obj(spec=obj(mode=string("a", "b"))))
WIDGET = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": "n"}}


@pytest.fixture(autouse=True)
def _releases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, widgets in (("release-4.13", OLDER), ("release-4.14", NEWER), ("old", OLDER), ("new", NEWER)):
        write(Path(name, "version.json"), CRD)
        write(Path(name, "widgets.json"), widgets)


def cluster(version: str, *history: str, id_: str = "11111111-2222-3333-4444-555555555555") -> Json:
    """A ClusterVersion; ``history`` has entries such as ``Partial 4.14.1``, the newest first."""
    entries = [dict(zip(("state", "version"), entry.split(), strict=True)) for entry in history]
    return {
        "apiVersion": "config.openshift.io/v1",
        "kind": "ClusterVersion",
        "metadata": {"name": "version"},
        "spec": {"clusterID": id_},
        "status": {"desired": {"version": version}, "history": entries},
    }


def ask(old: str, *items: Json, args: tuple[str, ...] = ("--from", "release-4.14"), quiet: bool = True) -> Run:
    write(Path("r.json"), {"apiVersion": "v1", "kind": "List", "items": [*items, WIDGET]})
    return run("preflight", old, "--objects", "r.json", *args, *(("--format", "json") if quiet else ()))


def judged(old: str, *items: Json, **more: Any) -> Json:
    return ask(old, *items, **more).report


def platform(*items: Json, old: str = "release-4.13") -> str:
    shown: str = judged(old, *items)["cluster"]["platform"]
    return shown


def test_the_recorded_version_names_the_server_and_not_the_release_of_the_crds() -> None:
    """OpenShift 4.7 is Kubernetes 1.20, whatever --from names."""
    assert platform(cluster("4.7.16")) == "OpenShift 4.7.16, Kubernetes 1.20"
    assert platform(cluster("4.18.0-0.ci.test-2024-10-24")) == "OpenShift 4.18.0-0.ci.test-2024-10-24, Kubernetes 1.31"


def test_a_release_without_a_server_is_judged_by_the_clusters_own() -> None:
    found = judged("old", cluster("4.7.16"), args=("--from", "new"))
    assert found["cluster"]["judge"] == "OpenShift 4.7 (Kubernetes 1.20)"
    assert found["new"]["kubernetes"] == "1.20"


def test_without_a_cluster_version_the_release_of_the_crds_names_the_server() -> None:
    assert platform() == "OpenShift 4.14 (Kubernetes 1.27), by the name of release-4.14"


def test_an_update_that_is_under_way() -> None:
    assert platform(cluster("4.14.1", "Partial 4.14.1", "Completed 4.14.0-rc.3")) == (
        "OpenShift 4.14.1 (its update from 4.14.0-rc.3 is under way), Kubernetes 1.27"
    )
    assert platform(cluster("4.14.1", "Partial 4.14.1", "Partial 4.14.0", "Completed 4.13.9")) == (
        "OpenShift 4.14.1 (its update from 4.13.9 is under way), Kubernetes 1.26 or 1.27"
    )
    assert platform(cluster("4.14.1", "Completed 4.14.1", "Completed 4.13.9")) == "OpenShift 4.14.1, Kubernetes 1.27"
    assert platform(cluster("4.14.1", "Partial 4.14.1")) == "OpenShift 4.14.1, Kubernetes 1.27"


def test_during_an_update_either_server_may_judge() -> None:
    found = judged("old", cluster("4.14.1", "Partial 4.14.1", "Completed 4.13.9"), args=("--from", "new"))
    assert found["cluster"]["judge"] == ""
    assert [note for note in found["notes"] if note.startswith("the server's version is unknown")]


def test_several_versions_of_one_cluster_leave_its_version_unknown() -> None:
    found = judged("release-4.13", cluster("4.14.1"), cluster("4.14.9"))
    assert (found["cluster"]["platform"], found["missing"]) == ("", [])
    assert "the recordings are of 4.14.1, 4.14.9: which of them the cluster runs is unknown" in found["notes"]


def test_recordings_of_several_clusters_are_a_gap_with_its_step() -> None:
    found = judged("release-4.13", cluster("4.14.1"), cluster("4.14.9", id_="99999999-2222-3333-4444-555555555555"))
    assert [(each["what"], each["reason"], each["step"]) for each in found["missing"]] == [
        (
            "the cluster",
            "the recordings are of 2 clusters, of which one after the other has to be judged",
            "one-cluster",
        )
    ]
    assert [each["step"] for each in found["steps"]] == ["one-cluster", "check"]


def test_a_version_that_nobody_knows_matters_only_if_its_server_judges() -> None:
    found = judged("old", cluster("4.99.1"), args=("--from", "new"))
    assert [(each["what"], each["step"]) for each in found["missing"]] == [("the server's version", "name-server")]
    assert [each["step"] for each in found["steps"]] == ["name-server", "check"]
    assert found["cluster"]["platform"] == "OpenShift 4.99.1"
    known = judged("old", cluster("4.99.1"), args=("--from", "new", "--openshift-version", "4.13"))
    assert (known["answer"], known["missing"]) == ("yes", [])


def test_crds_of_another_release_than_the_clusters_are_said() -> None:
    ran = ask("release-4.13", cluster("4.18.3"), quiet=False)
    assert (
        "note: warning: the cluster runs 4.18.3, and its CRDs are taken from release-4.14 (--from): the answer holds "
        "only for a cluster with these CRDs"
    ) in " ".join(ran.out.split())
    assert "warning" not in ask("release-4.13", cluster("4.14.3"), quiet=False).out
    updating = cluster("4.15.1", "Partial 4.15.1", "Completed 4.14.9")
    assert "warning" not in ask("release-4.13", updating, quiet=False).out


def test_a_cluster_that_is_older_than_old() -> None:
    found = judged("release-4.14", cluster("4.13.9"), args=("--from", "release-4.13"))
    assert found["notes"][-1] == (
        "warning: the cluster runs 4.13.9, so that a move to release-4.14 is an upgrade (simulate --upgrade judges one)"
    )
