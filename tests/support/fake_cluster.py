"""A small API server on the loopback for tests of ``verify``: holds CRDs, judges objects by ``crdcompat.judge``."""

from __future__ import annotations

import contextlib
import json
import ssl
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from helpers import Json, write
from loopback import running

import crdcompat
from crdcompat.apiserver.crd_validation.refusal import update_refusal
from crdcompat.apiserver.server_versions import kubernetes_server
from crdcompat.crds.model import read_crd

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_VERSION = {
    "major": "1", "gitCommit": "a", "gitTreeState": "clean",
    "buildDate": "2025-01-01T00:00:00Z", "goVersion": "go1.23", "compiler": "gc", "platform": "linux/amd64",
}  # fmt: skip
TOKEN = "let-me-in"

Reply = tuple[int, Json]


class FakeCluster(ThreadingHTTPServer):
    """``crds`` are those it holds, ``objects`` those of kinds it holds, ``asked`` the requests as METHOD PATH.

    ``instead`` answers a request before the cluster does; None leaves it to the cluster. ``slow_deletes`` is how often
    a deleted CRD is still there. ``minor`` is that of Kubernetes.
    """

    daemon_threads = True

    def __init__(self, token: str = TOKEN, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.token = token
        self.crds: dict[str, Json] = {}
        self.objects: dict[str, list[Json]] = {}
        self.asked: list[str] = []
        self.instead: Callable[[str, str, Json], Reply | None] = lambda method, path, body: None
        self.slow_deletes = 0
        self.minor = 31
        self._going: dict[str, int] = {}
        self._versions = 0

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: Json) -> Reply:
        self.asked.append(f"{method} {path}")
        if (found := self.instead(method, path, body)) is not None:
            return found
        if path == "/version/":
            return 200, {**_VERSION, "minor": str(self.minor), "gitVersion": f"v1.{self.minor}.4"}
        if path == "/readyz":
            return 200, {}
        if path == CRDS and method == "POST":
            return self._create(body)
        if path.startswith(f"{CRDS}/"):
            return self._crd(method, path.removeprefix(f"{CRDS}/"), body)
        return self._objects(method, path, query, body)

    def _create(self, body: Json) -> Reply:
        name = body["metadata"]["name"]
        if name in self.crds:
            return _status(409, f"{name} already exists")
        return 201, self._keep(body)

    def _keep(self, body: Json) -> Json:
        self._versions += 1
        name = body["metadata"]["name"]
        self.crds[name] = {**body, "metadata": {**body["metadata"], "resourceVersion": str(self._versions)}}
        return self.crds[name]

    def _crd(self, method: str, name: str, body: Json) -> Reply:
        if name in self._going:
            self._going[name] -= 1
            if self._going[name] < 0:
                del self.crds[name], self._going[name]
        if name not in self.crds:
            return _status(404, f"{name} not found")
        if method == "DELETE":
            self._going[name] = self.slow_deletes
        if method == "PUT":
            current = self.crds[name]
            if body["metadata"]["resourceVersion"] != current["metadata"]["resourceVersion"]:
                return _status(409, "the object has been modified")
            stored = [version["name"] for version in current["spec"]["versions"] if version["storage"]]
            refused = update_refusal(read_crd(current), read_crd(body), stored, kubernetes_server(f"1.{self.minor}"))
            return _status(422, refused) if refused else (200, self._keep(body))
        return 200, self.crds[name]

    def _objects(self, method: str, path: str, query: dict[str, list[str]], body: Json) -> Reply:
        _, _, group, version, *rest = path.split("/")
        plural, *name = rest[2:] if rest[0] == "namespaces" else rest
        crd = self.crds.get(f"{plural}.{group}")
        entry = next((each for each in crd["spec"]["versions"] if each["name"] == version), None) if crd else None
        if crd is None or entry is None or not entry["served"]:
            return _status(404, "the server could not find the requested resource")
        if method == "GET":
            columns = [{"name": each["name"]} for each in entry.get("additionalPrinterColumns", ())]
            return 200, {"columnDefinitions": columns, "items": self.objects.get(f"{plural}.{group}", [])}
        held = self.objects.setdefault(f"{plural}.{group}", [])
        stored = next((each for each in held if [each["metadata"]["name"]] == name), None)
        if method == "DELETE" and stored is not None:
            held.remove(stored)
            return 200, {}
        if method == "PUT" and stored is None:
            return _status(404, "not found")
        operation = "update" if method == "PUT" else "create"
        verdict = crdcompat.judge(crd, operation, body, stored, version=version, kubernetes=f"1.{self.minor}")
        if verdict.accepted:
            made = verdict.object or {}
            if query.get("dryRun") != ["All"]:
                assert method == "POST", "an object would be changed"
                self._versions += 1
                made = {**made, "metadata": {**made["metadata"], "resourceVersion": str(self._versions)}}
                held.append(made)
            return 201, made
        causes = [{"field": error.field, "message": error.text().partition(": ")[2]} for error in verdict.errors]
        return _status(422, verdict.message, causes)


def _status(code: int, message: str, causes: list[Json] | None = None) -> Reply:
    return code, {"kind": "Status", "code": code, "message": message, "details": {"causes": causes or []}}


class _Handler(BaseHTTPRequestHandler):
    server: FakeCluster

    def _any(self) -> None:
        url = urlsplit(self.path)
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        status, answer = 401, _status(401, "Unauthorized")[1]
        if self.headers.get("Authorization") == f"Bearer {self.server.token}":
            status, answer = self.server.answer(self.command, url.path, parse_qs(url.query), body)
        data = json.dumps(answer).encode()
        with contextlib.suppress(ConnectionError):  # the client was interrupted
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    do_GET = do_POST = do_PUT = do_DELETE = _any  # noqa: N815 - http.server's names

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - http.server's name
        pass


@contextlib.contextmanager
def serving(cluster: FakeCluster, context: ssl.SSLContext | None = None) -> Iterator[FakeCluster]:
    """Serve a cluster while the block runs, with TLS if a context is given."""
    if context is not None:
        cluster.socket = context.wrap_socket(cluster.socket, server_side=True)
    with running(cluster):
        yield cluster


def kubeconfig(path: Path, url: str, token: str = TOKEN) -> Path:
    """A kubeconfig with the context ``kind-kind``."""
    return write(
        path,
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": url}}],
            "users": [{"name": "u", "user": {"token": token}}],
            "contexts": [{"name": "kind-kind", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "kind-kind",
        },
    )
