"""crdcompat verify against a server on the loopback: its verdicts, what it refuses, and what it leaves behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from changes import repository
from fake_cluster import CRDS, FakeCluster, Reply, kubeconfig, serving
from helpers import Json, Run, array, both, commit, crd, git, obj, root, run, string, version, write
from interrupts import interruptible, uninterruptible

from crdcompat.features.verify.scratch_cluster import MARK

WIDGETS = "widgets.example.com"
OLD = root(spec=obj(a=string("A"), size={"type": "integer"}), status=obj(p=string("A")))
NEW = root(
    spec=obj(a=string("A", "B"), size={"type": "integer", "default": 3}, more=array(string())),
    status=obj(p=string("A", "B")),
)
#: (direction, rule, path) of what differs.
FOUND = {
    ("rollback", "enum-value-added", "status.p"),
    ("rollback", "enum-value-added", "spec.a"),
    ("rollback", "property-added", "spec.more"),
    ("upgrade", "default-added", "spec.size"),
}


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCluster]:
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serving(FakeCluster()) as found:
        file = kubeconfig(tmp_path / "kubeconfig.yaml", f"http://127.0.0.1:{found.server_port}")
        monkeypatch.setenv("KUBECONFIG", str(file))
        yield found


def reported(tmp_path: Path, old: Json = OLD, new: Json = NEW) -> Path:
    """The JSON report of two folders with one CRD each."""
    file = tmp_path / "report.json"
    run("diff", *both(tmp_path, old, new), "--format", f"json={file}")
    return file


def verify(report: Path, *args: str | Path) -> Run:
    return run("verify", report, "--server", "kind-kind", *args)


def outcomes(ran: Run) -> dict[tuple[str, str, str], str]:
    return {(each["direction"], each["rule"], each["path"]): each["outcome"] for each in ran.report["verified"]}


# -- verdicts ---------------------------------------------


def test_everything_is_confirmed_and_nothing_is_left(cluster: FakeCluster, tmp_path: Path) -> None:
    ran = verify(reported(tmp_path), "--format", "json")
    assert ran.code == 0, ran.err
    assert outcomes(ran) == dict.fromkeys(FOUND, "confirmed")
    assert ran.report["server"] == {"context": "kind-kind", "version": "v1.31.4"}
    (phase,) = (each for each in ran.report["verified"] if each["path"] == "status.p")
    assert phase["said"] == ['status.p: Unsupported value: "B": supported values: "A"']
    assert cluster.crds == {}
    # OLD and NEW for the upgrade, NEW stays for the rollback, then OLD again.
    assert [each.split()[0] for each in cluster.asked if CRDS in each and "GET" not in each] == [
        *("POST", "PUT", "PUT", "DELETE")
    ]


def test_a_server_of_another_version_refutes_nothing(cluster: FakeCluster, tmp_path: Path) -> None:
    """metallb 0.15: the bound of a number is outside its format, and from 1.36 on servers refuse each value of it."""
    number = {"type": "integer", "format": "int32", "maximum": 4294967295}
    old, new = (root(spec={**obj(n=number, **more), "required": ["n"]}) for more in ({}, {"b": string()}))
    report = reported(tmp_path, old, new)
    cluster.minor = 36
    ran = verify(report, "--format", "json")
    (found,) = ran.report["verified"]
    assert (found["rule"], found["outcome"], ran.code) == ("property-added", "not testable", 2)
    assert found["reason"].startswith("Kubernetes 1.36 refuses the object")
    assert "Maximum boundary value must be of type integer with format int32 in spec.n" in found["said"][0]
    cluster.minor = 35
    assert verify(report).code == 0


def test_a_server_before_the_one_that_refuses_refutes_nothing(cluster: FakeCluster, tmp_path: Path) -> None:
    """percona 1.21: a format that only servers from 1.36 on check; the finding names them."""
    old, new = (root(spec=obj(n={"type": "integer", **more})) for more in ({}, {"format": "int32"}))
    report = reported(tmp_path, old, new)
    cluster.minor = 28
    (found,) = verify(report, "--format", "json").report["verified"]
    assert (found["rule"], found["outcome"]) == ("format-changed", "not testable")
    assert found["reason"].startswith("Kubernetes 1.28 accepts the object")


def test_the_text(cluster: FakeCluster, tmp_path: Path) -> None:
    report = reported(tmp_path)
    ran = verify(report)
    assert ran.code == 0
    lines = ran.out.splitlines()
    tally = "4 confirmed, 0 not testable, 0 refuted."
    assert lines[0] == f"4 findings of {report}, put to kind-kind (Kubernetes v1.31.4): {tally}"
    assert '    API server: status.p: Unsupported value: "B": supported values: "A"' in lines
    assert verify(report, "-q").out.splitlines() == lines[:1]


def test_a_server_that_takes_everything_refutes_rejections(cluster: FakeCluster, tmp_path: Path) -> None:
    def takes(method: str, path: str, body: Json) -> Reply | None:
        return (201, body) if method == "POST" and path != CRDS else None

    cluster.instead = takes
    ran = verify(reported(tmp_path), "--format", "json")
    assert ran.code == 1
    assert outcomes(ran) == dict.fromkeys(FOUND, "refuted")
    assert {each["reason"] for each in ran.report["verified"]} == {
        "the CRD of the release that reads it takes the object",
        "spec.more is kept",
        "spec.size gets no default",
    }
    assert cluster.crds == {}


def test_a_server_with_other_words_and_other_reasons(cluster: FakeCluster, tmp_path: Path) -> None:
    """The same place is a confirmation in other words, another place is none."""
    places = iter(("status.p", "spec.other"))

    def refuses(method: str, path: str, body: Json) -> Reply | None:
        reads = "B" not in json.dumps(cluster.crds)
        if method != "POST" or path == CRDS or not reads or "B" not in json.dumps(body):
            return None
        cause = {"field": "spec.a" if "spec" in body else next(places), "message": "no"}
        return 422, {"kind": "Status", "message": "is invalid", "details": {"causes": [cause]}}

    cluster.instead = refuses
    new = root(spec=obj(a=string("A", "B")), status=obj(p=string("A", "B"), q=string("A", "B")))
    old = root(spec=obj(a=string("A")), status=obj(p=string("A"), q=string("A")))
    ran = verify(reported(tmp_path, old, new), "--format", "json")
    assert ran.code == 1
    result = {each["path"]: (each["outcome"], each["reason"], each["said"]) for each in ran.report["verified"]}
    assert result == {
        "spec.a": ("confirmed", "in other words than the report's", ["spec.a: no"]),
        "status.p": ("confirmed", "in other words than the report's", ["status.p: no"]),
        "status.q": ("refuted", "the object is refused, but not at status.q", ["spec.other: no"]),
    }


def test_a_writer_that_refuses_the_witness(cluster: FakeCluster, tmp_path: Path) -> None:
    """CRDs that are not those of the report."""
    report = reported(tmp_path)
    other, _ = both(tmp_path / "other", root(spec=obj(a=string("C")), status=obj(p=string("C"))), NEW)
    ran = verify(report, other, other, "--format", "json")
    assert ran.code == 1
    rejected = [each for each in ran.report["verified"] if each["rule"] == "enum-value-added"]
    assert {each["reason"] for each in rejected} == {"the CRD of the release that writes it refuses the object"}
    assert [each["said"] for each in rejected if each["path"] == "spec.a"] == [
        ['spec.a: Unsupported value: "B": supported values: "C"']
    ]


def test_crds_that_cannot_be_put_back(cluster: FakeCluster, tmp_path: Path) -> None:
    schema = root(spec=obj(a=string()))
    new = crd(versions=[version(schema, "v1", storage=False), version(schema, "v2")])
    report = reported(tmp_path, crd(schema), new)
    ran = verify(report, "--format", "json")
    assert ran.code == 0
    (rejected,) = (each for each in ran.report["verified"] if each["effect"] == "crd-rejected")
    assert (rejected["outcome"], rejected["reason"]) == ("confirmed", None)
    assert "status.storedVersions[0]" in rejected["said"][0]
    cluster.instead = lambda method, path, body: (200, body) if method == "PUT" else None
    assert "the server takes the CRD in the place of the other" in verify(report).out
    assert cluster.crds == {}


def test_objects_of_a_cluster_scope_and_a_version_that_vanishes(cluster: FakeCluster, tmp_path: Path) -> None:
    """The CRD is deleted and created anew where it cannot be exchanged; the server takes a while for that."""
    cluster.slow_deletes = 3
    new = crd(scope="Cluster", versions=[version(NEW, "v1"), version(NEW, "v1beta1", storage=False)])
    old = crd(scope="Cluster", versions=[version(OLD, "v1"), version(OLD, "v1beta1", storage=False)])
    ran = verify(reported(tmp_path, old, new), "--format", "json")
    assert (ran.code, {each["outcome"] for each in ran.report["verified"]}) == (0, {"confirmed"})
    assert len([each for each in cluster.asked if each == f"POST {CRDS}"]) == 2
    assert not [each for each in cluster.asked if "/namespaces/" in each]


def test_releases_of_git_are_read_by_their_commits(cluster: FakeCluster, tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"widget.yaml": crd(OLD)})
    git(repo, "branch", "old")
    commit(repo, {"widget.yaml": crd(NEW)})
    file = tmp_path / "report.json"
    run("diff", "old", "main", "--repo", repo, "--format", f"json={file}")
    commit(repo, {"widget.yaml": crd(OLD)})
    ran = verify(file, "--repo", repo, "--format", "json")
    assert (ran.code, outcomes(ran)) == (0, dict.fromkeys(FOUND, "confirmed"))


@pytest.mark.parametrize("changed", ["charts", "deploy"])
def test_copies_that_differ(cluster: FakeCluster, tmp_path: Path, changed: str) -> None:
    """Each folder has a copy of the CRD of its own, and only one of them changes: the finding is about that one."""
    file, folders = tmp_path / "report.json", ("charts", "deploy")
    for side in ("old", "new"):
        for folder in folders:
            takes = string("A", "B") if side == "new" or folder != changed else string("A")
            more = {"only": string()} if folder == "deploy" else {}
            write(tmp_path / side / folder / "widgets.yaml", crd(root(status=obj(p=takes, **more))))
    run("diff", tmp_path / "old", tmp_path / "new", "--format", f"json={file}")
    ran = verify(file, "--format", "json")
    assert (ran.code, outcomes(ran)) == (0, {("rollback", "enum-value-added", "status.p"): "confirmed"})


FIXED = [{"rule": "self == oldSelf", "message": "is fixed"}]
UPDATED = root(spec=obj(v=string())), root(spec=obj(v={**string(), "x-kubernetes-validations": FIXED}))


@pytest.mark.parametrize("scope", ["Namespaced", "Cluster"])
def test_an_update(cluster: FakeCluster, tmp_path: Path, scope: str) -> None:
    """What is stored before is created, and deleted when the update is judged; the update is a dry run."""
    ran = verify(reported(tmp_path, *(crd(each, scope=scope) for each in UPDATED)), "--format", "json")
    assert (ran.code, outcomes(ran)) == (0, {("upgrade", "cel-transition-rule-added", "spec.v"): "confirmed"})
    assert ran.report["verified"][0]["said"] == ['spec.v: Invalid value: "string": is fixed']
    about = [each.split()[0] for each in cluster.asked if "/example.com/" in each and "GET" not in each]
    assert about == ["POST", "PUT", "DELETE"] * 2
    assert (cluster.crds, cluster.objects) == ({}, {WIDGETS: []})


def test_an_update_that_the_server_takes(cluster: FakeCluster, tmp_path: Path) -> None:
    cluster.instead = lambda method, path, body: (200, body) if method == "PUT" and path.endswith("/example") else None
    ran = verify(reported(tmp_path, *UPDATED), "--format", "json")
    assert (ran.code, ran.report["verified"][0]["reason"]) == (
        1,
        "the CRD of the release that reads it takes the object",
    )
    assert cluster.objects == {WIDGETS: []}


#: A counter that new objects cannot have, and that never goes back.
COUNTED = {"type": "integer", "x-kubernetes-validations": [{"rule": "self >= oldSelf"}]}
AT_FIRST = [{"rule": "!has(self.n) || oldSelf.hasValue()", "optionalOldSelf": True}]


def test_an_update_of_what_the_reader_does_not_create(cluster: FakeCluster, tmp_path: Path) -> None:
    """The writer's CRD stores it, then the reader's CRD takes its place."""
    old = root(spec=obj(n={"type": "integer"}))
    new = root(spec={**obj(n=COUNTED), "x-kubernetes-validations": AT_FIRST})
    ran = verify(reported(tmp_path, old, new), "--format", "json")
    said = {each["path"]: each["said"] for each in ran.report["verified"] if each["outcome"] == "confirmed"}
    assert ran.code == 0
    assert said["spec.n"] == ['spec.n: Invalid value: "integer": failed rule: self >= oldSelf']
    assert (cluster.crds, cluster.objects) == ({}, {WIDGETS: []})


def test_an_update_of_what_the_writer_does_not_take(cluster: FakeCluster, tmp_path: Path) -> None:
    """CRDs that are not those of the report."""
    report = reported(tmp_path, *UPDATED)
    old, new = both(tmp_path / "other", root(spec=obj(v=string("another"))), UPDATED[1])
    ran = verify(report, old, new, "--format", "json")
    assert (ran.code, ran.report["verified"][0]["reason"]) == (
        1,
        "the CRD of the release that writes it refuses the object",
    )


# -- what is not testable ---------------------------------------------


def test_a_finding_without_a_witness(cluster: FakeCluster, tmp_path: Path) -> None:
    report = reported(tmp_path)
    data = json.loads(report.read_text())
    for finding in data["findings"]:
        finding["witness"] |= {"object": None, "reason": "none was found"}
    ran = verify(write(report, data), "--format", "json")
    assert ran.code == 2
    assert {(each["outcome"], each["reason"]) for each in ran.report["verified"]} == {
        ("not testable", "none was found")
    }
    assert [each for each in cluster.asked if each != "GET /version/"] == []


def test_a_version_that_only_some_clusters_have_stored(cluster: FakeCluster, tmp_path: Path) -> None:
    """An empty server has no objects of the version that goes: it takes the CRD, and that refutes nothing."""
    served = version(OLD, "v1")
    gone = {**version(OLD, "v1alpha1", storage=False), "served": False}
    ran = verify(reported(tmp_path, crd(versions=[served, gone]), crd(versions=[served])), "--format", "json")
    (found,) = ran.report["verified"]
    assert (ran.code, found["rule"], found["effect"]) == (2, "version-removed", "crd-rejected")
    assert (found["outcome"], found["reason"]) == (
        "not testable",
        "no manifest shows whether status.storedVersions of a cluster still names the version",
    )


def test_a_crd_that_one_release_lacks(cluster: FakeCluster, tmp_path: Path) -> None:
    """The releases are those of the report: the reason is that of the finding."""
    old, new = both(tmp_path / "releases", crd(OLD), crd(OLD))
    write(new / "gadget.yaml", crd(OLD, kind="Gadget"))
    report = tmp_path / "report.json"
    run("diff", old, new, "--format", f"json={report}")
    (found,) = verify(report, "--format", "json").report["verified"]
    assert (found["rule"], found["outcome"], found["reason"]) == (
        "crd-added",
        "not testable",
        "a change of the CRD as a whole: it needs no object to show",
    )


def test_crds_that_are_gone(cluster: FakeCluster, tmp_path: Path) -> None:
    report = reported(tmp_path)
    elsewhere = both(tmp_path / "other", crd(OLD, kind="Gadget"), crd(NEW, kind="Gadget"))
    ran = verify(report, *elsewhere)
    assert ran.code == 2
    assert f"the releases as they are read now do not both have {WIDGETS} in default" in ran.out


def test_a_crd_that_the_server_does_not_take(cluster: FakeCluster, tmp_path: Path) -> None:
    cluster.instead = lambda method, path, body: (
        (422, {"message": "too large"}) if (method, path) == ("POST", CRDS) else None
    )
    ran = verify(reported(tmp_path), "--format", "json")
    assert ran.code == 2
    assert {(each["outcome"], *each["said"]) for each in ran.report["verified"]} == {("not testable", "too large")}
    assert not [each for each in cluster.asked if each.startswith("DELETE")]


def test_no_findings(cluster: FakeCluster, tmp_path: Path) -> None:
    ran = verify(reported(tmp_path, OLD, OLD))
    assert ran.code == 0
    assert ran.out.endswith(" (Kubernetes v1.31.4): 0 confirmed, 0 not testable, 0 refuted.\n")


# -- what it refuses, and what it leaves ---------------------------------------------


@pytest.mark.parametrize(("objects", "expected"), [([{}], "1 object"), ([{}, {}], "2 objects"), ([], "no object")])
def test_a_cluster_that_has_the_crd(cluster: FakeCluster, tmp_path: Path, objects: list[Json], expected: str) -> None:
    cluster.crds[WIDGETS], cluster.objects[WIDGETS] = crd(OLD), objects
    ran = verify(reported(tmp_path))
    assert (ran.code, ran.out) == (2, "")
    assert f"kind-kind: this cluster has {WIDGETS} with {expected}: " in ran.err
    assert {each.split()[0] for each in cluster.asked} == {"GET"}


def test_a_crd_that_an_earlier_run_left(cluster: FakeCluster, tmp_path: Path) -> None:
    cluster.crds[WIDGETS] = crd(OLD, annotations={MARK: "crdcompat verify"})
    ran = verify(reported(tmp_path))
    assert ran.code == 2
    assert f"kubectl --context kind-kind delete crd {WIDGETS}" in ran.err
    assert {each.split()[0] for each in cluster.asked} == {"GET"}


def test_a_crd_that_somebody_installs_meanwhile_is_not_touched(cluster: FakeCluster, tmp_path: Path) -> None:
    def meanwhile(method: str, path: str, body: Json) -> Reply | None:
        if (method, path) == ("POST", CRDS):
            cluster.crds[WIDGETS] = crd(OLD)
        return None

    cluster.instead = meanwhile
    assert verify(reported(tmp_path)).code == 2
    assert cluster.crds == {WIDGETS: crd(OLD)}
    assert not [each for each in cluster.asked if each.startswith(("DELETE", "PUT"))]


def test_the_server_is_tried_before_the_releases_are_read(cluster: FakeCluster, tmp_path: Path) -> None:
    report = reported(tmp_path)
    cluster.asked.clear()
    assert run("verify", report, "no-old", "no-new", "--server", "kind-kind").code == 2
    assert [each.split()[:2] for each in cluster.asked] == [["GET", "/version/"]]
    cluster.shutdown()
    cluster.server_close()
    ran = run("verify", report, "no-old", "no-new", "--server", "kind-kind", "--connect-timeout", "1")
    assert ran.code == 2
    assert "kind-kind: the API server does not answer with its version" in ran.err


def test_a_server_that_falls_silent(cluster: FakeCluster, tmp_path: Path) -> None:
    def ill(method: str, path: str, body: Json) -> Reply | None:
        return (500, {"message": "etcd is gone"}) if method == "DELETE" else None

    cluster.instead = ill
    ran = verify(reported(tmp_path), "--format", "json")
    assert ran.code == 2
    result = [each["message"] for each in ran.report["summary"]["problems"]]
    assert result == [
        "the API server stopped answering the trials: 500 etcd is gone",
        f"{WIDGETS} could not be removed (500 etcd is gone): kubectl --context kind-kind delete crd {WIDGETS}",
    ]
    assert outcomes(ran) == dict.fromkeys(FOUND, "confirmed")


def _signalled(cluster: FakeCluster, tmp_path: Path, number: signal.Signals) -> Run:
    """A run that gets a signal while it waits for an answer; the answer comes when the signal was sent."""
    asked, go_on = threading.Event(), threading.Event()

    def stops(method: str, path: str, body: Json) -> Reply | None:
        if method == "POST" and path != CRDS:
            asked.set()
            go_on.wait(60)
        return None

    cluster.instead = stops
    report = reported(tmp_path)
    command = [str(Path(sys.executable).with_name("crdcompat")), "verify", str(report), "--server", "kind-kind"]
    process = subprocess.Popen(command, env={**os.environ}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert asked.wait(60)
        assert [*cluster.crds] == [WIDGETS]
        process.send_signal(number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=1)  # a run that goes on waits for the answer
        go_on.set()
        out, err = process.communicate(timeout=60)
    finally:
        go_on.set()
        process.kill()
        process.communicate()
    return Run(process.returncode, out.decode(), err.decode())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_cleans_up(cluster: FakeCluster, tmp_path: Path, number: signal.Signals) -> None:
    with interruptible():
        ran = _signalled(cluster, tmp_path, number)
    assert (ran.code, ran.out, ran.err) == (130, "", "")
    assert cluster.crds == {}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_the_caller_ignores_is_ignored(
    cluster: FakeCluster, tmp_path: Path, number: signal.Signals
) -> None:
    """A script starts its background commands with SIGINT ignored: Ctrl-C ends the script, not these."""
    with uninterruptible():
        ran = _signalled(cluster, tmp_path, number)
    assert (ran.code, ran.err) == (0, "")
    assert "confirmed" in ran.out
    assert cluster.crds == {}


# -- usage ---------------------------------------------


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ((), "name an empty API server: --server CONTEXT, or --assets DIR to start one"),
        (("--server", "a", "--assets", "b"), "name an empty API server: "),
        (("old", "--server", "a"), "name both releases, OLD and NEW, or neither"),
        (("--server", "a", "--format", "html"), "html cannot show the answers of a server; what can: json, text"),
        (("--server", "kind-kin"), "no context kind-kin in the kubeconfig: there is kind-kind"),
    ],
)
def test_usage(cluster: FakeCluster, tmp_path: Path, args: tuple[str, ...], expected: str) -> None:
    ran = run("verify", reported(tmp_path), *args)
    assert (ran.code, ran.out) == (2, "")
    assert expected in ran.err


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{", "not JSON: "),
        ("[]", "not a JSON report of crdcompat"),
        ('{"format": "1"}', "not a JSON report of crdcompat"),
        ('{"format": "1", "command": "simulate"}', "a report of simulate: verify takes a report of diff"),
        ('{"format": "1", "command": "diff"}', "json:1: these keys are missing; write tool: "),
    ],
)
def test_files_that_are_no_report(cluster: FakeCluster, tmp_path: Path, text: str, expected: str) -> None:
    ran = verify(write(tmp_path / "report.json", text))
    assert (ran.code, ran.out) == (2, "")
    assert expected in ran.err


def test_a_report_that_is_not_there(cluster: FakeCluster, tmp_path: Path) -> None:
    assert "No such file" in verify(tmp_path / "report.json").err
