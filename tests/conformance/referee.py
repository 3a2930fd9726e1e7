"""A real API server for the tests: starts one of the binaries of ``make referee`` and sends it requests.

    with referee.running("1.31", binary) as server:
        server.install(crd)
        answer = server.write("create", crd, obj)

Only what a test needs: CRDs, custom objects of one version, and what etcd holds. The server ends with the ``with``
block, and by itself when the test's process dies: it reads an input that closes then.
"""

from __future__ import annotations

import base64
import contextlib
import copy
import http.client
import itertools
import json
import os
import secrets
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

Json = dict[str, Any]

_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_ETCD = "/registry/apiextensions.kubernetes.io"
_JSON, _MERGE, _APPLY = "application/json", "application/merge-patch+json", "application/apply-patch+yaml"
_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
_START_SECONDS, _SERVE_SECONDS = 120.0, 60.0
NAMESPACE = "default"

#: Kinds of write, by the words of ``crdcompat.judge``: method, endpoint below the object, content type.
_WRITES: dict[str, tuple[str, str, str]] = {
    "update": ("PUT", "", _JSON),
    "updateStatus": ("PUT", "/status", _JSON),
    "mergePatch": ("PATCH", "", _MERGE),
    "mergePatchStatus": ("PATCH", "/status", _MERGE),
    "apply": ("PATCH", "", _APPLY),
    "applyStatus": ("PATCH", "/status", _APPLY),
}


class RefereeError(Exception):
    """The server did not start, or did not do in time what it has to do before a test can go on."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one request: HTTP status and body, an object or a Status."""

    code: int
    body: Json
    warnings: tuple[str, ...] = ()

    @property
    def accepted(self) -> bool:
        return self.code < 300

    @property
    def message(self) -> str:
        """What the server says of a refusal; "" for an accepted write."""
        return "" if self.accepted else str(self.body.get("message", ""))

    @property
    def causes(self) -> list[tuple[str, str, str]]:
        """(type, field, message) of each cause of a refusal, sorted: the server's order is random."""
        found = (self.body.get("details") or {}).get("causes") or []
        return sorted((cause.get("reason", ""), cause.get("field", ""), cause.get("message", "")) for cause in found)


@dataclass(frozen=True, slots=True)
class _Connection:
    """One kept connection to a server on the loopback."""

    http: http.client.HTTPConnection
    token: str

    @classmethod
    def to(cls, url: str, token: str = "") -> _Connection:
        return cls(http.client.HTTPConnection(urlsplit(url).netloc, timeout=_SERVE_SECONDS), token)

    def ask(self, method: str, path: str, body: Any = None, kind: str = _JSON, accept: str = _JSON) -> Answer:
        # An apply is read as YAML, which knows no surrogates: text is sent as it is.
        data = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        return self.send(method, path, data, kind, accept)

    def send(self, method: str, path: str, data: bytes | None, kind: str, accept: str = _JSON) -> Answer:
        """A request with a body as it is."""
        headers = {"Accept": accept, "Content-Type": kind}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        self.http.request(method, path, data, headers)
        response = self.http.getresponse()
        answer = response.read()
        try:
            found = json.loads(answer)
        except ValueError:
            found = {"message": answer.decode(errors="replace").strip()}
        warnings = response.headers.get_all("Warning") or ()
        return Answer(response.status, found, tuple(json.loads(each.partition(" - ")[2]) for each in warnings))


class Referee:
    """One running API server. CRDs and objects are plain JSON; every kind lives in the namespace ``default``."""

    def __init__(self, url: str, etcd: str, token: str) -> None:
        self.url, self.token = url, token
        self._api = _Connection.to(url, token)
        self._etcd = _Connection.to(etcd)
        self._turns = itertools.count()

    def close(self) -> None:
        self._api.http.close()
        self._etcd.http.close()

    # -- CRDs ---------------------------------------------

    def crd_names(self) -> list[str]:
        """The names of all CRDs."""
        return [crd["metadata"]["name"] for crd in self._api.ask("GET", _CRDS).body["items"]]

    def crd(self, crd: Json) -> Json:
        """The CRD of that name, as the server answers it."""
        return self._api.ask("GET", f"{_CRDS}/{crd['metadata']['name']}").body

    def create_crd(self, crd: Json) -> Answer:
        """POST of a CRD; whether it is served yet is not looked at."""
        return self._api.ask("POST", _CRDS, crd)

    def update_crd(self, crd: Json) -> Answer:
        """PUT of a CRD over the one of its name, whatever changed since."""
        path = f"{_CRDS}/{crd['metadata']['name']}"
        for _ in range(20):
            current = self._api.ask("GET", path)
            target = copy.deepcopy(crd)
            target["metadata"]["resourceVersion"] = current.body["metadata"]["resourceVersion"]
            answer = self._api.ask("PUT", path, target)
            if answer.code != 409:  # a controller of the server wrote its status in between
                return answer
        raise RefereeError(f"{path} changes all the time")

    def delete_crd(self, crd: Json) -> None:
        """Delete a CRD with its objects, and wait until it is gone."""
        path = f"{_CRDS}/{crd['metadata']['name']}"
        until = time.monotonic() + _SERVE_SECONDS
        while self._api.ask("DELETE", path).code != 404:
            self._wait(crd, until)

    def install(self, crd: Json) -> Answer:
        """Create a CRD and wait until it is served; a refusal is handed back."""
        return self._until_served(crd, self.create_crd)

    def swap(self, crd: Json) -> Answer:
        """Put a CRD in the place of the one of its name, below the objects that are stored, and wait for it."""
        return self._until_served(crd, self.update_crd)

    def _until_served(self, crd: Json, send: Any) -> Answer:
        """The server answers before it serves the new schema: a printer column of its own shows when it does."""
        column = f"Turn{next(self._turns)}"
        marked = copy.deepcopy(crd)
        for version in marked["spec"]["versions"] or ():
            columns = [*version.get("additionalPrinterColumns", ())]
            columns.append({"name": column, "type": "string", "jsonPath": ".metadata.uid"})
            version["additionalPrinterColumns"] = columns
        answer: Answer = send(marked)
        if not answer.accepted:
            refused: Answer = send(crd)  # its words may show the columns
            return refused
        until = time.monotonic() + _SERVE_SECONDS
        self._age(crd, until)
        for version in marked["spec"]["versions"]:
            while version["served"] and not self._shows(crd, version["name"], column):
                self._wait(crd, until)
        return answer

    def _age(self, crd: Json, until: float) -> None:
        """Wait until a CRD is established, and let that be long ago: servers delay creates of young kinds by 2 s."""
        path = f"{_CRDS}/{crd['metadata']['name']}"
        while not any(found["type"] == "Established" and found["status"] == "True" for found in self._conditions(crd)):
            self._wait(crd, until)
        aged = [{**found, "lastTransitionTime": "2024-01-01T00:00:00Z"} for found in self._conditions(crd)]
        self._api.ask("PATCH", f"{path}/status", {"status": {"conditions": aged}}, _MERGE)

    def _wait(self, crd: Json, until: float) -> None:
        if time.monotonic() > until:
            raise RefereeError(f"{crd['metadata']['name']} is not served: {self._conditions(crd)}")
        time.sleep(0.02)

    def _shows(self, crd: Json, version: str, column: str) -> bool:
        path = collection(crd, version)
        answer = self._api.ask("GET", f"{path}?limit=1", accept=_TABLE)
        return answer.accepted and any(
            column == found.get("name") for found in answer.body.get("columnDefinitions") or ()
        )

    def _conditions(self, crd: Json) -> list[Json]:
        answer = self._api.ask("GET", f"{_CRDS}/{crd['metadata']['name']}")
        found: list[Json] = (answer.body.get("status") or {}).get("conditions") or []
        return found

    # -- custom objects ---------------------------------------------

    def write(self, operation: str, crd: Json, obj: Json, *, name: str = "", version: str = "") -> Answer:
        """One write, by the words of ``crdcompat.judge``. An update takes the resource version of what is stored now.

        ``name`` is the object's where ``obj`` is a patch without one, ``version`` the CRD's if it is not the first.
        """
        name = name or obj["metadata"]["name"]
        at = collection(crd, version or crd["spec"]["versions"][0]["name"])
        if operation == "create":
            return self._api.ask("POST", at, obj)
        method, endpoint, kind = _WRITES[operation]
        body = obj
        if method == "PUT":
            current = self._api.ask("GET", f"{at}/{name}")
            now = current.body.get("metadata", {}).get("resourceVersion", "")
            body = {**obj, "metadata": {**obj["metadata"], "resourceVersion": now}}
        query = "?fieldManager=referee&force=true" if kind == _APPLY else ""
        return self._api.ask(method, f"{at}/{name}{endpoint}{query}", body, kind)

    def ask(self, method: str, path: str, body: Json, kind: str = _JSON) -> Answer:
        """One request of any form."""
        return self._api.ask(method, path, body, kind)

    def read(self, crd: Json, version: str, name: str) -> Answer:
        """An object as a version of its kind serves it."""
        return self._api.ask("GET", f"{collection(crd, version)}/{name}")

    def send(self, method: str, path: str, body: bytes, kind: str) -> Answer:
        """One request with a body of any spelling. A server may refuse a large body before it has read it."""
        try:
            return self._api.send(method, path, body, kind)
        except ConnectionError:
            self._api.http.close()
            return self._api.send(method, path, body, kind)

    # -- etcd, past any schema ---------------------------------------------

    def stored(self, crd: Json, name: str) -> Json | None:
        """The object as etcd holds it; None if there is none."""
        found = self._etcd_ask("range", crd, name).get("kvs") or ()
        held: Json | None = json.loads(base64.b64decode(found[0]["value"])) if found else None
        return held

    def count_stored(self, plural: str, group: str) -> int:
        """The number of objects of a kind that etcd holds."""
        first = f"{_ETCD}/{group}/{plural}/"
        asked = {"key": _base64(first), "range_end": _base64(first[:-1] + chr(ord("/") + 1)), "count_only": True}
        return int(self._etcd.ask("POST", "/v3/kv/range", asked).body.get("count", 0))

    def store(self, crd: Json, obj: Json) -> None:
        """Put an object into etcd as an API server with another CRD would have written it."""
        self._etcd_ask("put", crd, obj["metadata"]["name"], value=_base64(json.dumps(obj)))

    def discard(self, crd: Json, name: str) -> None:
        """Take an object out of etcd, if there is one."""
        self._etcd_ask("deleterange", crd, name)

    def _etcd_ask(self, what: str, crd: Json, name: str, **more: str) -> Json:
        space = f"/{NAMESPACE}" if crd["spec"]["scope"] == "Namespaced" else ""
        key = f"{_ETCD}/{crd['spec']['group']}/{crd['spec']['names']['plural']}{space}/{name}"
        answer = self._etcd.ask("POST", f"/v3/kv/{what}", {"key": _base64(key), **more})
        if not answer.accepted:
            raise RefereeError(f"etcd: {what}: {answer.code} {answer.body}")
        return answer.body


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def collection(crd: Json, version: str) -> str:
    """The path of a kind's objects."""
    spec = crd["spec"]
    space = f"/namespaces/{NAMESPACE}" if spec["scope"] == "Namespaced" else ""
    return f"/apis/{spec['group']}/{version}{space}/{spec['names']['plural']}"


@contextlib.contextmanager
def running(binary: Path, *, feature_gates: str = "") -> Iterator[Referee]:
    """Start a server in a directory of its own; stop it and remove that, however the block ends."""
    token = secrets.token_hex(16)
    with tempfile.TemporaryDirectory(prefix="crdcompat-referee-") as data, _log(Path(data)) as log:
        command = [str(binary), "-data", data, *(["-feature-gates", feature_gates] if feature_gates else [])]
        environment = {**os.environ, "REFEREE_TOKEN": token}
        # A group of its own: Ctrl-C goes to the test, which then stops the server.
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, start_new_session=True
        )
        try:
            addresses = _addresses(process, Path(log.name))
            server = Referee(addresses["url"], addresses["etcd"], token)
            try:
                yield server
            finally:
                server.close()
        finally:
            _stop(process)


@contextlib.contextmanager
def _log(data: Path) -> Iterator[IO[bytes]]:
    with (data / "log").open("wb") as log:
        yield log


def _addresses(process: subprocess.Popen[bytes], log: Path) -> Json:
    """What the server says when it is ready. Raises RefereeError with the end of its log."""
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], _START_SECONDS)
    line = process.stdout.readline() if ready else b""
    if not line:
        raise RefereeError(f"the API server did not start:\n{log.read_text(errors='replace')[-2000:]}")
    found: Json = json.loads(line)
    return found


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Nothing that the server holds is wanted any more: it is not asked to end in order."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        pipe.close()
