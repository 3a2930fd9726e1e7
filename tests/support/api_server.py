"""A server on the loopback that answers lists as an API server does: recorded ones, or made of CRDs and objects."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from helpers import Json, write
from loopback import running

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
OPERATORS = "/apis/config.openshift.io/v1/clusteroperators"
VERSIONS = "/apis/config.openshift.io/v1/clusterversions"
VERSION = "/version/"
TOKEN = "Bearer let-me-in"
PAGE = 500

Answer = tuple[int, bytes] | tuple[int, bytes, dict[str, str]]

_NOT_FOUND = 404, b"404 page not found\n"
_BUILD = {
    "major": "1", "minor": "29", "gitVersion": "v1.29.8", "gitCommit": "a", "gitTreeState": "clean",
    "buildDate": "2025-01-01T00:00:00Z", "goVersion": "go1.22", "compiler": "gc", "platform": "linux/amd64",
}  # fmt: skip


class ApiServer(ThreadingHTTPServer):
    """Serves what ``answers`` holds by path, a list's pages by their tokens, 404 for the rest.

    ``asked`` are the paths of all requests, ``methods`` their verbs, ``accepted`` the media types that they ask for.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[str] = []
        self.methods = Counter[str]()
        self.accepted = Counter[str]()
        self.answers: dict[str, Callable[[str], Answer]] = {VERSION: lambda _: (200, json.dumps(_BUILD).encode())}
        self.not_found: Answer = _NOT_FOUND

    def refuse(self, path: str, status: int, body: bytes | None = None) -> None:
        """Answer a path with an error."""
        message = {"kind": "Status", "status": "Failure", "message": f"refused with {status}", "code": status}
        self.answers[path] = lambda _: (status, body if body is not None else json.dumps(message).encode())

    def put(self, path: str, items: Sequence[Json], kind: str = "List", version: str = "v1") -> None:
        """Answer a path with a list in pages of 500."""

        def page(token: str) -> Answer:
            start = int(token or 0)
            more = str(start + PAGE) if start + PAGE < len(items) else ""
            left = {"remainingItemCount": len(items) - start - PAGE} if more else {}
            metadata = {"resourceVersion": "9", "continue": more, **left}
            listed = {"kind": kind, "apiVersion": version, "metadata": metadata}
            return 200, json.dumps({**listed, "items": items[start : start + PAGE]}).encode()

        self.answers[path] = page

    def forget(self, path: str, token: str, times: int) -> None:
        """Answer the first requests for one page of a list with 410."""
        whole, left = self.answers[path], times

        def forgetful(asked: str) -> Answer:
            nonlocal left
            if asked == token and left:
                left -= 1
                return 410, b'{"kind":"Status","message":"the provided continue parameter is too old","code":410}'
            return whole(asked)

        self.answers[path] = forgetful

    def install(self, *crds: Json) -> None:
        """Serve these CRDs without objects, each with a resourceVersion, and its storage version as the stored one."""
        made = []
        for number, crd in enumerate(crds, 1):
            metadata = {**crd["metadata"], "resourceVersion": str(number)}
            spec = crd["spec"]
            stored = [version["name"] for version in spec["versions"] if version["storage"]]
            made.append({**crd, "metadata": metadata, "status": {"storedVersions": stored, **crd.get("status", {})}})
            for version in spec["versions"]:
                if version["served"]:
                    self.put(f"/apis/{spec['group']}/{version['name']}/{spec['names']['plural']}", [])
        self.put(CRDS, made, "CustomResourceDefinitionList", "apiextensions.k8s.io/v1")


class Recorded(ApiServer):
    """Answers as a real API server with the CRDs of OpenShift 4.14 did (``data/live-api`` of the shared data)."""

    def __init__(self, live: Path) -> None:
        super().__init__()
        self.live = live
        self.not_found = 404, self.recorded("not_found.json")
        self.answers |= {
            VERSION: lambda _: (200, self.recorded("version.json")),
            CRDS: lambda _: (200, self.recorded("crds.json")),
            VERSIONS: lambda _: (200, self.recorded("clusterversions.json")),
            OPERATORS: self._operators,
        }
        empty = {"kind": "List", "apiVersion": "v1", "metadata": {}, "items": []}
        for crd in json.loads(self.recorded("crds.json"))["items"]:
            plural, _, group = crd["metadata"]["name"].partition(".")
            self.answers.setdefault(f"/apis/{group}/v1/{plural}", lambda _: (200, json.dumps(empty).encode()))

    def recorded(self, name: str) -> bytes:
        """The body of a recorded answer."""
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


class _Handler(BaseHTTPRequestHandler):
    server: ApiServer

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        query = parse_qs(url.query)
        self.server.asked.append(self.path)
        self.server.methods[self.command] += 1
        self.server.accepted[self.headers.get("Accept", "")] += 1
        more: list[dict[str, str]] = []
        if self.headers.get("Authorization") != TOKEN:
            message = {"kind": "Status", "status": "Failure", "message": "Unauthorized", "code": 401}
            status, body = 401, json.dumps(message).encode()
        else:
            # A list of one asks how many there are; it gets a page, which says the same.
            assert url.path == VERSION or query.get("limit") in ([str(PAGE)], ["1"])
            answer = self.server.answers.get(url.path)
            token = query.get("continue", [""])[0]
            try:
                status, body, *more = answer(token) if answer else self.server.not_found
            except ConnectionAbortedError:
                self.close_connection = True
                return
        with suppress(ConnectionError):  # the client waited no longer
            self.send_response(status)
            for name, value in (more[0] if more else {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815 - http.server's names

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - http.server's name
        pass


@contextmanager
def serving(server: ApiServer) -> Iterator[ApiServer]:
    """Serve while the block runs."""
    with running(server):
        yield server


def kubeconfig(path: Path, port: int, token: str = "let-me-in") -> Path:
    """A kubeconfig with the context ``prod``, which is the current one, and one with a long name."""
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
