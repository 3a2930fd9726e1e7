"""The Secrets that Helm keeps its releases in, before an API server that has custom resources alone.

The API servers of the tests have no core group, and no list of their groups. Clients look kinds up in that list, and
Helm needs Secrets of one namespace; all other requests go to the server as they are.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from helpers import Json
from loopback import running

_CRDS = "apiextensions.k8s.io"
_SECRETS = "/api/v1/namespaces/default/secrets"
_VERBS = ["create", "delete", "get", "list", "patch", "update"]
_CORE: dict[str, Json] = {
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/api/v1": {
        "kind": "APIResourceList",
        "groupVersion": "v1",
        "resources": [
            {"name": "secrets", "singularName": "secret", "namespaced": True, "kind": "Secret", "verbs": _VERBS}
        ],
    },
}
#: Helm sends protobuf: after the magic a message with the object as its second field (``runtime.Unknown``).
_PROTOBUF, _MAGIC = "application/vnd.kubernetes.protobuf", b"k8s\x00"


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a protobuf message that have a length, by number."""
    at = 0

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
            if byte < 128:
                return value

    while at < len(message):
        tag, value = number(), number()
        if tag & 7 == 2:
            yield tag >> 3, message[at : at + value]
            at += value


def _field(number: int, value: bytes) -> bytes:
    size, length = len(value), b""
    while size > 127:
        length, size = length + bytes([size & 127 | 128]), size >> 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + value


def _raw(sent: bytes) -> bytes:
    return dict(_fields(sent.removeprefix(_MAGIC)))[2]


def _name_and_labels(secret: bytes) -> tuple[str, set[tuple[str, ...]]]:
    """``metadata.name`` and ``metadata.labels`` of a Secret (fields 1, 1 and 11 of its messages)."""
    meta = [*_fields(dict(_fields(secret))[1])]
    labels = (dict(_fields(value)) for number, value in meta if number == 11)
    return dict(meta)[1].decode(), {(each[1].decode(), each[2].decode()) for each in labels}


class _Front(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, server: str, token: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behind, self.token = urlsplit(server).netloc, token
        self.secrets: dict[str, bytes] = {}


class _Handler(BaseHTTPRequestHandler):
    server: _Front

    def _any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = urlsplit(self.path).path
        if path in _CORE:
            self._say(200, _CORE[path])
        elif path == "/apis":
            self._say(200, {"kind": "APIGroupList", "apiVersion": "v1", "groups": [*self._groups()]})
        elif path == _SECRETS or path.startswith(f"{_SECRETS}/"):
            self._secrets(path.removeprefix(_SECRETS).strip("/"), body)
        else:
            self._forward(body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _any  # noqa: N815 - http.server's names

    def _secrets(self, name: str, sent: bytes) -> None:
        kept = self.server.secrets
        if self.command in ("POST", "PUT"):
            secret = _raw(sent)
            kept[_name_and_labels(secret)[0]] = secret
            self._say_secret("Secret", secret, 201 if self.command == "POST" else 200)
        elif not name:
            wanted = parse_qs(urlsplit(self.path).query).get("labelSelector", [""])[0]
            pairs = {tuple(pair.split("=")) for pair in wanted.split(",") if pair}
            found = (each for each in kept.values() if pairs <= _name_and_labels(each)[1])
            self._say_secret("SecretList", _field(1, b"") + b"".join(_field(2, each) for each in found))
        elif name in kept:
            self._say_secret("Secret", kept.pop(name) if self.command == "DELETE" else kept[name])
        else:
            self._say(
                404, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}
            )

    def _groups(self) -> Iterator[Json]:
        crds = self._behind(f"/apis/{_CRDS}/v1/customresourcedefinitions")["items"]
        for group in dict.fromkeys((_CRDS, *(each["spec"]["group"] for each in crds))):
            found = self._behind(f"/apis/{group}")
            if found["kind"] == "APIGroup":  # else none of its CRDs is served yet
                yield found

    def _behind(self, path: str) -> Json:
        with closing(http.client.HTTPConnection(self.server.behind)) as behind:
            behind.request("GET", path, headers={"Authorization": f"Bearer {self.server.token}"})
            found: Json = json.loads(behind.getresponse().read())
            return found

    def _forward(self, body: bytes) -> None:
        """Pass a request on, and the answer back as it comes: a watch ends when its reader leaves."""
        kept = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")}
        kept["Authorization"] = f"Bearer {self.server.token}"  # clients send no token without TLS
        behind = http.client.HTTPConnection(self.server.behind)
        try:
            behind.request(self.command, self.path, body or None, kept)
            answer = behind.getresponse()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("transfer-encoding", "connection", "content-length", "date"):
                    self.send_header(name, value)
            self.end_headers()
            while chunk := answer.read1(65536):
                self.wfile.write(chunk)
                self.wfile.flush()
        except (BrokenPipeError, ConnectionResetError):
            pass
        finally:
            behind.close()

    def _say(self, status: int, body: Json) -> None:
        self._send(status, "application/json", json.dumps(body).encode())

    def _send(self, status: int, kind: str, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _say_secret(self, kind: str, raw: bytes, status: int = 200) -> None:
        type_ = _field(1, b"v1") + _field(2, kind.encode())
        self._send(status, _PROTOBUF, _MAGIC + _field(1, type_) + _field(2, raw))

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def with_secrets(server: str, token: str) -> Iterator[str]:
    """The address of a front before the API server at an address, which it asks with a token."""
    front = _Front(server, token)
    with running(front):
        yield f"http://127.0.0.1:{front.server_port}"
