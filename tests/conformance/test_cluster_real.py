"""A live cluster, as a real API server answered."""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import ssl
import subprocess
import threading
import time
import warnings
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from api_server import CRDS, OPERATORS, VERSIONS, Answer, Recorded, kubeconfig
from helpers import Json, crd, run, write
from recorded import from_cluster

from crdcompat.errors import Problem, Skipped, SourceError, UsageError
from crdcompat.features.diff import diff_workflow
from crdcompat.recordings.recorded_objects import Recorded as RecordedObject
from crdcompat.sources import cluster as cluster_module
from crdcompat.sources import cluster_client


def kinds(found: list[RecordedObject | Problem | Skipped]) -> list[str]:
    return [item.data["kind"] for item in found if isinstance(item, RecordedObject)]


def faults(found: list[RecordedObject | Problem | Skipped]) -> list[tuple[str, str]]:
    return [(item.file, item.message) for item in found if isinstance(item, Problem)]


def test_everything_of_a_cluster(server: Recorded, tmp_path: Path) -> None:
    before = (tmp_path / "kubeconfig.yaml").read_bytes()
    found = from_cluster()
    assert faults(found) == []
    assert kinds(found).count("ClusterOperator") == 33 and kinds(found).count("ClusterVersion") == 1
    sources = [item.source for item in found if isinstance(item, RecordedObject)]
    assert "cluster:prod: config.openshift.io/clusterversions/version.json" in sources
    assert len({item.identity for item in found if isinstance(item, RecordedObject)}) == 34
    assert server.methods.keys() == {"GET"}
    assert (tmp_path / "kubeconfig.yaml").read_bytes() == before


def test_its_crds_alone(server: Recorded) -> None:
    found = diff_workflow.load("cluster:")
    assert found.notes == ("cluster: read as the current context, prod",)
    assert sorted(document.crd.plural for document in found.documents)[:2] == ["clusteroperators", "clusterversions"]
    assert len(found.documents) == 9
    assert {urlsplit(path).path for path in server.asked} == {CRDS, "/version/"}


def test_a_context_may_have_any_name(server: Recorded) -> None:
    assert kinds(from_cluster("ns/api-host:6443/admin")).count("ClusterVersion") == 1


@pytest.mark.parametrize(
    ("status", "expected"), [(403, "may not list it"), (401, "log in again"), (500, "500 refused")]
)
def test_one_kind_refused(server: Recorded, status: int, expected: str) -> None:
    server.refuse(OPERATORS, status)
    found = from_cluster()
    ((file, message),) = faults(found)
    assert file == "cluster:prod: config.openshift.io/clusteroperators"
    assert f"cannot be listed: {status} refused with {status}" in message and expected in message
    assert kinds(found) == ["ClusterVersion"]


def test_one_kind_not_served(server: Recorded) -> None:
    del server.answers[OPERATORS]
    found = from_cluster()
    assert faults(found) == [] and kinds(found) == ["ClusterVersion"]
    reasons = [item.reason for item in found if isinstance(item, Skipped) and item.file.endswith("/clusteroperators")]
    assert reasons == ["not served here: 404 404 page not found"]


@pytest.mark.parametrize("times", [1, 2])
def test_a_list_that_the_server_forgot_is_read_again_once(server: Recorded, times: int) -> None:
    server.forget(OPERATORS, "third", times)
    found = from_cluster()
    assert kinds(found).count("ClusterOperator") == (33 if times == 1 else 30)
    assert len(faults(found)) == times - 1
    assert all("too old" in message for _, message in faults(found))


def test_a_list_without_end(server: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "MAX_PAGES", 5)
    page = {**json.loads(server.recorded("clusterversions.json")), "metadata": {"continue": "again"}}
    server.answers[VERSIONS] = lambda _: (200, json.dumps(page).encode())
    assert [message for _, message in faults(from_cluster())] == ["has more than 5 pages: the rest is not read"]


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"items": [1, {"metadata": 3}], "metadata": []}', b'{"a": '])
def test_answers_that_are_none(server: Recorded, body: bytes) -> None:
    server.answers[VERSIONS] = lambda _: (200, body)
    found = from_cluster()
    assert kinds(found).count("ClusterOperator") == 33
    assert [file for file, _ in faults(found)] in ([], ["cluster:prod: config.openshift.io/clusterversions"])


def test_wrong_credentials(server: Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig(tmp_path / "other.yaml", server.server_port, "expired")))
    with pytest.raises(SourceError) as raised:
        from_cluster()
    assert str(raised.value) == (
        "cluster:prod: CRDs cannot be listed: 401 Unauthorized (the credentials are missing or expired: log in again)"
    )


def test_a_server_that_has_no_crds(server: Recorded) -> None:
    del server.answers[CRDS]
    ran = run("simulate", "cluster:prod", "cluster:prod", "--objects", "cluster:prod", "--kube-version", "1.26")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        "crdcompat: cluster:prod: CRDs cannot be listed: 404 404 page not found; this is no API server that has CRDs:"
        " check the server's address in the kubeconfig, and `kubectl get crds` with this context\n"
    )


def test_the_context_is_tried_before_the_releases_are_read(server: Recorded) -> None:
    server.refuse(CRDS, 403)
    for command in (["simulate", "no-such", "other"], ["diff", "no-such", "other"], ["matrix", "no-such", "other"]):
        ran = run(*command, "--objects", "cluster:prod")
        assert ran.code == 2
        assert "cluster:prod: CRDs cannot be listed: 403" in ran.err


def test_crds_of_which_no_version_is_served(server: Recorded) -> None:
    unserved: Json = crd(versions=[{"name": "v1", "served": False, "storage": True, "schema": {}}])
    broken = {"metadata": {"name": "x.example.com"}, "spec": {"versions": [{}]}}
    listed = json.loads(server.recorded("crds.json"))
    listed["items"] += [unserved, broken]
    server.answers[CRDS] = lambda _: (200, json.dumps(listed).encode())
    found = from_cluster()
    assert kinds(found).count("ClusterOperator") == 33
    assert faults(found) == [
        (
            f"cluster:prod: example.com/{name}",
            f"no version of {name}.example.com is served: its objects, if any, cannot be read",
        )
        for name in ("widgets", "x")
    ]


# -- busy and silent servers ---------------------------------------------


def _busy(server: Recorded, path: str, times: int, after: str | None) -> None:
    whole, left = server.answers[path], times

    def busy(token: str) -> Answer:
        nonlocal left
        if left:
            left -= 1
            headers = {"Retry-After": after} if after is not None else {}
            return 429, b'{"kind":"Status","message":"too many requests","code":429}', headers
        return whole(token)

    server.answers[path] = busy


@pytest.mark.parametrize(
    ("after", "seconds"),
    [("7", [7, 7]), ("0", [1, 1]), (None, [1, 2]), ("soon", [1, 2]), ("Thu, 01 Jan 1970 00:00:00 GMT", [1, 1])],
)
def test_a_busy_server_is_asked_again_when_it_says(
    server: Recorded, waits: list[float], after: str | None, seconds: list[float]
) -> None:
    _busy(server, VERSIONS, 2, after)
    found = from_cluster()
    assert faults(found) == []
    assert kinds(found).count("ClusterVersion") == 1
    assert waits == seconds


def test_a_busy_server_that_says_a_date(server: Recorded, waits: list[float]) -> None:
    _busy(server, CRDS, 1, formatdate(time.time() + 40, usegmt=True))
    assert kinds(from_cluster()).count("ClusterVersion") == 1
    (waited,) = waits
    assert 1 <= waited <= 41


@pytest.mark.parametrize(("after", "expected"), [("50", [50]), ("61", []), ("100000000000", []), ("20", [20, 20, 20])])
def test_a_busy_server_is_given_up(server: Recorded, waits: list[float], after: str, expected: list[float]) -> None:
    _busy(server, VERSIONS, 100, after)
    ((file, message),) = faults(from_cluster())
    assert file == "cluster:prod: config.openshift.io/clusterversions"
    assert message == ("cannot be listed: 429 too many requests (the server has too many requests: try again later)")
    assert waits == expected


@contextlib.contextmanager
def _mute() -> Iterator[tuple[int, list[socket.socket]]]:
    """A server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        taken: list[socket.socket] = []

        def take() -> None:
            with contextlib.suppress(OSError):
                while True:
                    taken.append(listener.accept()[0])

        thread = threading.Thread(target=take, daemon=True)
        thread.start()
        try:
            yield listener.getsockname()[1], taken
        finally:
            for one in taken:
                one.close()


@pytest.mark.parametrize("command", [["diff"], ["simulate", "--objects", "cluster:prod"]])
def test_a_server_that_hangs_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]) -> None:
    with _mute() as (port, taken):
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig(tmp_path / "kubeconfig.yaml", port)))
        ran = run(*command, "cluster:prod", "cluster:prod", "--read-timeout", "0.2", "--connect-timeout", "5")
    assert ran.code == 2
    assert "Read timed out. (read timeout=0.2)" in ran.err
    assert len(taken) == 1


def test_the_usual_limits(server: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    asked = cluster_client.Client._answered

    def answered(self: Any, *args: Any, **more: Any) -> Any:
        seen.append(self._timeouts)
        return asked(self, *args, **more)

    monkeypatch.setattr(cluster_client.Client, "_answered", answered)
    from_cluster()
    run("diff", "cluster:prod", "cluster:prod", "--connect-timeout", "3", "--read-timeout", "4")
    run("diff", "cluster:prod", "cluster:prod")
    assert list(dict.fromkeys(seen)) == [(10, 30), (3, 4)]
    assert seen[-1] == (10, 30)


def test_a_connection_that_breaks_off_is_made_again_once(server: Recorded) -> None:
    whole, left = server.answers[VERSIONS], 1

    def breaks(token: str) -> Answer:
        nonlocal left
        if left:
            left -= 1
            raise ConnectionAbortedError
        return whole(token)

    server.answers[VERSIONS] = breaks
    found = from_cluster()
    assert faults(found) == [] and kinds(found).count("ClusterVersion") == 1


def test_an_unverified_connection_is_warned_of_once(server: Recorded, tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made: list[str | Path] = ["-keyout", key, "-out", certificate, "-subj", "/CN=somebody", "-days", "2"]
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *made], check=True, capture_output=True)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    server.socket = tls.wrap_socket(server.socket, server_side=True)
    file = tmp_path / "kubeconfig.yaml"
    text = file.read_text().replace("server: http:", "insecure-skip-tls-verify: true\n    server: https:")
    assert "insecure-skip-tls-verify" in text
    file.write_text(text)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        old, new = (write(tmp_path / side / "w.json", json.dumps(crd())).parent for side in ("old", "new"))
        ran = run("simulate", old, new, "--objects", "cluster:prod", "--format", "json")
    assert ran.err.count("the connection is not verified") == 1, ran.err
    assert len(ran.report["objects"]) + len(ran.report["not_simulated"]) == 34
    assert caught == []


def test_nobody_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig(tmp_path / "kubeconfig.yaml", port)))
    with pytest.raises(SourceError, match="cluster:prod: "):
        from_cluster()


def test_a_cluster_that_falls_silent_is_given_up(server: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    crds = server.answers[CRDS]
    for path in list(server.answers):
        server.answers[path] = lambda _: (200, b"")
    server.answers[CRDS] = crds
    found = faults(from_cluster())
    assert len(found) == 4 and "given up after 3" in found[-1][1]


def test_contexts_that_are_not_there(server: Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="cluster:prd: no context prd in the kubeconfig: there is prod"):
        from_cluster("prd")
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "nothing"))
    with pytest.raises(SourceError, match="the kubeconfig cannot be used"):
        from_cluster("")


def test_a_cluster_through_the_command_line(server: Recorded, tmp_path: Path) -> None:
    server.refuse(OPERATORS, 403)
    args = ("simulate", "cluster:prod", "cluster:prod", "--objects", "cluster:prod", "--kube-version", "1.26")
    ran = run(*args, "--format", "json")
    assert ran.code == 2
    (item,) = ran.report["objects"]
    assert item["object"]["kind"] == "ClusterVersion"
    (problem,) = ran.report["summary"]["problems"]
    assert problem["file"] == "cluster:prod: config.openshift.io/clusteroperators"


def test_which_version_is_read(server: Recorded) -> None:
    one: Json = crd(
        versions=[{"name": n, "served": n != "v3", "storage": n == "v3", "schema": {}} for n in ("v1", "v3")]
    )
    broken = {"metadata": {"name": "x"}, "spec": {"versions": [{}]}}
    listed = {"kind": "CustomResourceDefinitionList", "apiVersion": "apiextensions.k8s.io/v1", "metadata": {}}
    server.answers[CRDS] = lambda _: (200, json.dumps({**listed, "items": [one, broken]}).encode())
    from_cluster()
    assert [urlsplit(path).path for path in server.asked] == [CRDS, "/apis/example.com/v1/widgets"]
