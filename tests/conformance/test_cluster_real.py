"""A live cluster, as a real API server answered."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from helpers import Json, crd, run, write
from recorded import from_cluster

from crdcompat.errors import Problem, Skipped, SourceError, UsageError
from crdcompat.features.diff import workflow
from crdcompat.recordings.objects import Recorded
from crdcompat.sources import cluster as cluster_module

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


OPERATORS = "/apis/config.openshift.io/v1/clusteroperators"


VERSIONS = "/apis/config.openshift.io/v1/clusterversions"


TOKEN = "Bearer let-me-in"


Answer = tuple[int, bytes]


class _Server(ThreadingHTTPServer):
    """Serves what ``answers`` holds by path, a list's pages by their tokens, 404 for the rest."""

    daemon_threads = True

    def __init__(self, live: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.live = live
        self.asked: list[str] = []
        self.methods: set[str] = set()
        self.answers: dict[str, Callable[[str], Answer]] = {
            CRDS: lambda _: (200, self.recorded("crds.json")),
            VERSIONS: lambda _: (200, self.recorded("clusterversions.json")),
            OPERATORS: self._operators,
        }
        empty = {"kind": "List", "apiVersion": "v1", "metadata": {}, "items": []}
        for crd_ in json.loads(self.recorded("crds.json"))["items"]:
            plural, _, group = crd_["metadata"]["name"].partition(".")
            self.answers.setdefault(f"/apis/{group}/v1/{plural}", lambda _: (200, json.dumps(empty).encode()))

    def recorded(self, name: str) -> bytes:
        return (self.live / name).read_bytes()

    def _operators(self, token: str) -> Answer:
        pages = [json.loads(self.recorded(f"clusteroperators_page{n}.json")) for n in (1, 2)]
        for number, count in ((3, 10), (4, 3)):  # made after the two that were recorded
            made = json.loads(json.dumps(pages[1]))
            made["items"] = made["items"][:count]
            for item in made["items"]:
                item["metadata"].update(name=f"made-{number}-{item['metadata']['name']}", uid=item["metadata"]["name"])
            made["metadata"]["continue"] = "third" if number == 3 else ""
            pages.append(made)
        tokens = ["", *(page["metadata"]["continue"] for page in pages[:-1])]
        return 200, json.dumps(pages[tokens.index(token)]).encode()

    def refuse(self, path: str, status: int, body: bytes | None = None) -> None:
        message = {"kind": "Status", "status": "Failure", "message": f"refused with {status}", "code": status}
        self.answers[path] = lambda _: (status, body if body is not None else json.dumps(message).encode())


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        query = parse_qs(url.query)
        self.server.asked.append(self.path)
        self.server.methods.add(self.command)
        if self.headers.get("Authorization") != TOKEN:
            status, body = 401, self.server.recorded("unauthorized.json")
        else:
            assert query.get("limit") == ["500"]
            answer = self.server.answers.get(url.path)
            token = query.get("continue", [""])[0]
            status, body = answer(token) if answer else (404, self.server.recorded("not_found.json"))
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815 - http.server's names

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - http.server's name
        pass


def kubeconfig(path: Path, port: int, token: str = "let-me-in") -> Path:
    context = {"cluster": "c", "user": "u"}
    data = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "users": [{"name": "u", "user": {"token": token}}],
        "contexts": [{"name": "prod", "context": context}, {"name": "ns/api-host:6443/admin", "context": context}],
        "current-context": "prod",
    }
    return write(path, data)


@pytest.fixture
def server(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[_Server]:
    live = shared / "data/live-api"
    if not live.is_dir():
        pytest.skip("no recorded answers")
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with _Server(live) as found:
        thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig(tmp_path / "kubeconfig.yaml", found.server_port)))
        yield found
        found.shutdown()
        thread.join()


def kinds(found: list[Recorded | Problem | Skipped]) -> list[str]:
    return [item.data["kind"] for item in found if isinstance(item, Recorded)]


def faults(found: list[Recorded | Problem | Skipped]) -> list[tuple[str, str]]:
    return [(item.file, item.message) for item in found if isinstance(item, Problem)]


def test_everything_of_a_cluster(server: _Server, tmp_path: Path) -> None:
    before = (tmp_path / "kubeconfig.yaml").read_bytes()
    found = from_cluster()
    assert faults(found) == []
    assert kinds(found).count("ClusterOperator") == 33 and kinds(found).count("ClusterVersion") == 1
    sources = [item.source for item in found if isinstance(item, Recorded)]
    assert "cluster:prod: config.openshift.io/clusterversions/version.json" in sources
    assert len({item.identity for item in found if isinstance(item, Recorded)}) == 34
    assert server.methods == {"GET"}
    assert (tmp_path / "kubeconfig.yaml").read_bytes() == before


def test_its_crds_alone(server: _Server) -> None:
    found = workflow.load("cluster:")
    assert found.notes == ("cluster: read as the current context, prod",)
    assert sorted(document.crd.plural for document in found.documents)[:2] == ["clusteroperators", "clusterversions"]
    assert len(found.documents) == 9
    assert {urlsplit(path).path for path in server.asked} == {CRDS}


def test_a_context_may_have_any_name(server: _Server) -> None:
    assert kinds(from_cluster("ns/api-host:6443/admin")).count("ClusterVersion") == 1


@pytest.mark.parametrize(
    ("status", "expected"), [(403, "may not list it"), (401, "log in again"), (500, "500 refused")]
)
def test_one_kind_refused(server: _Server, status: int, expected: str) -> None:
    server.refuse(OPERATORS, status)
    found = from_cluster()
    ((file, message),) = faults(found)
    assert file == "cluster:prod: config.openshift.io/clusteroperators"
    assert f"cannot be listed: {status} refused with {status}" in message and expected in message
    assert kinds(found) == ["ClusterVersion"]


def test_one_kind_not_served(server: _Server) -> None:
    del server.answers[OPERATORS]
    found = from_cluster()
    assert faults(found) == [] and kinds(found) == ["ClusterVersion"]
    reasons = [item.reason for item in found if isinstance(item, Skipped) and item.file.endswith("/clusteroperators")]
    assert reasons == ["not served here: 404 404 page not found"]


@pytest.mark.parametrize("times", [1, 2])
def test_a_list_that_the_server_forgot_is_read_again_once(server: _Server, times: int) -> None:
    whole, left = server.answers[OPERATORS], times

    def forgetful(token: str) -> Answer:
        nonlocal left
        if token == "third" and left:
            left -= 1
            return 410, b'{"kind":"Status","message":"the provided continue parameter is too old","code":410}'
        return whole(token)

    server.answers[OPERATORS] = forgetful
    found = from_cluster()
    assert kinds(found).count("ClusterOperator") == (33 if times == 1 else 30)
    assert len(faults(found)) == times - 1
    assert all("too old" in message for _, message in faults(found))


def test_a_list_without_end(server: _Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "MAX_PAGES", 5)
    page = {**json.loads(server.recorded("clusterversions.json")), "metadata": {"continue": "again"}}
    server.answers[VERSIONS] = lambda _: (200, json.dumps(page).encode())
    assert [message for _, message in faults(from_cluster())] == ["has more than 5 pages: the rest is not read"]


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"items": [1, {"metadata": 3}], "metadata": []}', b'{"a": '])
def test_answers_that_are_none(server: _Server, body: bytes) -> None:
    server.answers[VERSIONS] = lambda _: (200, body)
    found = from_cluster()
    assert kinds(found).count("ClusterOperator") == 33
    assert [file for file, _ in faults(found)] in ([], ["cluster:prod: config.openshift.io/clusterversions"])


def test_wrong_credentials(server: _Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig(tmp_path / "other.yaml", server.server_port, "expired")))
    ((file, message),) = faults(from_cluster())
    assert file == "cluster:prod: apiextensions.k8s.io/customresourcedefinitions"
    assert message == "cannot be listed: 401 Unauthorized (the credentials are missing or expired: log in again)"


def test_nobody_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig(tmp_path / "kubeconfig.yaml", port)))
    with pytest.raises(SourceError, match="cluster:prod: "):
        from_cluster()


def test_a_cluster_that_falls_silent_is_given_up(server: _Server, monkeypatch: pytest.MonkeyPatch) -> None:
    crds = server.answers[CRDS]
    for path in list(server.answers):
        server.answers[path] = lambda _: (200, b"")
    server.answers[CRDS] = crds
    found = faults(from_cluster())
    assert len(found) == 4 and "given up after 3" in found[-1][1]


def test_contexts_that_are_not_there(server: _Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="cluster:prd: no context prd in the kubeconfig: there is prod"):
        from_cluster("prd")
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "nothing"))
    with pytest.raises(SourceError, match="the kubeconfig cannot be used"):
        from_cluster("")


def test_a_cluster_through_the_command_line(server: _Server, tmp_path: Path) -> None:
    server.refuse(OPERATORS, 403)
    args = ("simulate", "cluster:prod", "cluster:prod", "--objects", "cluster:prod", "--kube-version", "1.26")
    ran = run(*args, "--format", "json")
    assert ran.code == 2
    (item,) = ran.report["objects"]
    assert item["object"]["kind"] == "ClusterVersion"
    (problem,) = ran.report["summary"]["problems"]
    assert problem["file"] == "cluster:prod: config.openshift.io/clusteroperators"


def test_which_version_is_read(server: _Server) -> None:
    one: Json = crd(
        versions=[{"name": n, "served": n != "v3", "storage": n == "v3", "schema": {}} for n in ("v1", "v3")]
    )
    broken = {"metadata": {"name": "x"}, "spec": {"versions": [{}]}}
    listed = {"kind": "CustomResourceDefinitionList", "apiVersion": "apiextensions.k8s.io/v1", "metadata": {}}
    server.answers[CRDS] = lambda _: (200, json.dumps({**listed, "items": [one, broken]}).encode())
    from_cluster()
    assert [urlsplit(path).path for path in server.asked] == [CRDS, "/apis/example.com/v1/widgets"]
