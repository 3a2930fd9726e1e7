"""preflight and record on a server that answers as a real API server did, also when it is busy, broken or silent."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from api_server import CRDS, VERSION, VERSIONS, Answer, Recorded
from helpers import Json, run
from offline import PROJECT

OLD = str(PROJECT / "fixtures/demo/release-4.13")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def preflight(*more: str) -> Json:
    return run("preflight", OLD, *more, "--kube-version", "1.26", "--format", "json").report


def test_the_rollback_of_2023_is_refused(server: Recorded) -> None:
    found = preflight("--cluster", "prod")
    assert (found["answer"], found["exit_code"]) == ("no", 1)
    assert [each["path"] for each in found["causes"]] == [
        "status.capabilities.enabledCapabilities[*]",
        "status.capabilities.knownCapabilities[*]",
    ]
    assert {each["manager"] for each in found["writers"]} == {"kubectl-replace"}
    (patch,) = [step["patch"] for step in found["steps"] if step["step"] == "patch"]
    kept = patch["status"]["capabilities"]["enabledCapabilities"]
    assert "CSISnapshot" in kept and "MachineAPI" not in kept
    assert server.methods == {"GET": 11}
    asked = [path.partition("?")[0] for path in server.asked]
    assert asked[:4] == [CRDS, VERSION, VERSIONS, CRDS]
    assert all(path.startswith("/apis/admissionregistration.k8s.io/") for path in asked[4:-1])
    assert asked[-1] == "/apis/apiextensions.openshift.io/v1alpha1/compatibilityrequirements"


def test_a_recording_gives_the_same_answer(server: Recorded) -> None:
    assert run("record", OLD, "--cluster", "prod", "-o", "r.json").code == 0
    live, found = preflight("--cluster", "prod"), preflight("--objects", "r.json")
    assert found["answer"] == "no"
    for part in ("refused", "writers", "losses", "windows"):
        assert found[part] == live[part]
    assert [step["patch"] for step in found["steps"]] == [step["patch"] for step in live["steps"]]
    assert len(json.loads(Path("r.json").read_text())["items"]) < 15
    assert Path("r.json").stat().st_size * 3 < len(server.recorded("crds.json"))


@pytest.mark.parametrize("path", [CRDS, VERSIONS])
def test_a_busy_server_is_asked_again(server: Recorded, path: str, waits: list[float]) -> None:
    whole, left = server.answers[path], 1

    def busy(token: str) -> Answer:
        nonlocal left
        if left:
            left -= 1
            return 429, b'{"kind":"Status","message":"too many requests","code":429}', {"Retry-After": "7"}
        return whole(token)

    server.answers[path] = busy
    assert preflight("--cluster", "prod")["answer"] == "no"
    assert waits == [7]


@pytest.mark.parametrize("body", [b"<html>log in</html>", b'{"kind": "ClusterVersionList", "items": [{"meta'])
def test_an_answer_that_is_none(server: Recorded, body: bytes) -> None:
    server.answers[VERSIONS] = lambda _: (200, body)
    found = preflight("--cluster", "prod")
    assert (found["answer"], found["exit_code"]) == ("unknown", 2)
    assert [each["what"] for each in found["missing"]] == ["clusterversions.config.openshift.io"]


def test_a_connection_that_breaks_off_for_good(server: Recorded) -> None:
    def breaks(_: str) -> Answer:
        raise ConnectionAbortedError

    server.answers[VERSIONS] = breaks
    assert preflight("--cluster", "prod")["answer"] == "unknown"


def test_a_silent_server(server: Recorded) -> None:
    end = threading.Event()

    def silent(_: str) -> Answer:
        end.wait(20)
        return 200, b"{}"

    server.answers[VERSIONS] = silent
    try:
        found = preflight("--cluster", "prod", "--read-timeout", "0.2")
    finally:
        end.set()
    assert found["answer"] == "unknown"
    assert "Read timed out" in found["missing"][0]["reason"]


def _asked(api: Path, shared: Path, old: str, *args: str, more: str = "") -> Json:
    recording = shared / "data/recorded" / (args[0] if args else "must-gather-4.18.tar.gz")
    objects = ["--objects", str(recording), *(["--objects", more] if more else ())]
    return run("preflight", old, "--repo", str(api), *objects, *args[1:], "--format", "json").report


def _plan(found: Json) -> list[str]:
    return list(dict.fromkeys(step["step"] for step in found["steps"]))


def test_a_must_gather_of_4_18_lacks_one_kind_and_says_how_to_record_it(openshift_api: Path, shared: Path) -> None:
    """The kind differs between the releases, and clusters have it; with its empty list the answer is known."""
    found = _asked(openshift_api, shared, "release-4.15")
    kind = "machineconfigurations.operator.openshift.io"
    assert (found["answer"], [gap["what"] for gap in found["missing"]]) == ("unknown", [kind])
    assert _plan(found) == ["record", "save", "scale-down", "patch", "check"]
    assert found["cluster"]["platform"].endswith(", Kubernetes 1.31")
    Path("more").mkdir()
    (Path("more") / f"{kind}.json").write_text(
        '{"apiVersion":"operator.openshift.io/v1","items":[],"kind":"MachineConfigurationList"}', encoding="utf-8"
    )
    found = _asked(openshift_api, shared, "release-4.15", more="more")
    assert (found["answer"], _plan(found)) == ("no", ["save", "scale-down", "patch", "check"])
    found = _asked(openshift_api, shared, "release-4.16", more="more")
    assert (found["answer"], _plan(found)) == ("yes, with losses", ["save", "roll-back"])


def test_an_archive_of_4_7_16_runs_kubernetes_1_20_and_has_no_gap_of_another_feature_set(
    openshift_api: Path, shared: Path
) -> None:
    found = _asked(openshift_api, shared, "release-4.15", "insights-archive-sample.tar.gz", "--from", "release-4.16")
    assert found["cluster"]["platform"] == "OpenShift 4.7.16, Kubernetes 1.20"
    assert [(gap["what"], gap["step"]) for gap in found["missing"]] == [
        ("clustercsidrivers.operator.openshift.io", "record"),
        ("controllerconfigs.machineconfiguration.openshift.io", "record"),
        ("machineconfigurations.operator.openshift.io", "record"),
    ]
    assert _plan(found) == ["record", "check"]


def test_recordings_of_seven_clusters_are_no_cluster(openshift_api: Path, shared: Path) -> None:
    found = _asked(openshift_api, shared, "release-4.15", "oc-adm-upgrade", "--from", "release-4.16")
    assert found["cluster"]["platform"] == ""
    assert [gap["reason"] for gap in found["missing"] if gap["what"] == "the cluster"] == [
        "the recordings are of 7 clusters, of which one after the other has to be judged"
    ]
    assert not [gap["what"] for gap in found["missing"] if "example" in gap["what"] or "route." in gap["what"]]
    assert _plan(found)[:2] == ["one-cluster", "record"] and _plan(found)[-1] == "check"
