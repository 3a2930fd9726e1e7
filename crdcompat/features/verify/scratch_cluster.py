"""A cluster that a run may use for trials: an empty API server on which it installs CRDs and sends objects.

The only module that writes to a cluster. It installs CRDs that nobody has there, one at a time, and removes what it
installed. Objects are sent as dry runs, which the server judges and does not store; only what an update replaces is
stored, until the update is judged.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson
from msgspec import Struct

from crdcompat.errors import SourceError
from crdcompat.sources.cluster_client import Client, NoAnswerError, RefusedError, Resource

NAMESPACE = "default"
"""The namespace that every object is sent to: each cluster has it."""

MARK = "crdcompat/installed-by"
"""The annotation of the CRDs that a run installs."""

_CRDS = Resource("apiextensions.k8s.io", "v1", "customresourcedefinitions")
_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
_NOT_THERE, _CONFLICT = 404, 409
_WAIT_SECONDS, _PAUSE_SECONDS, _TRIES = 60.0, 0.05, 20

Json = dict[str, Any]


class Answer(Struct, frozen=True):
    """The answer to a write: the object, or why the server refused it.

    ``message`` is the whole sentence of a refusal, ``causes`` are its parts as ``FIELD: MESSAGE``.
    """

    object: Json | None
    status: int = 201
    message: str = ""
    causes: tuple[str, ...] = ()


class ScratchCluster:
    """The API server of a kubeconfig context, as far as this run may change it. ``clear`` removes what it installed."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._installed: Json | None = None
        self._turns = itertools.count(1)

    @property
    def context(self) -> str:
        """The name of the context."""
        return self._client.context

    def version(self) -> str:
        """The version of the server: ``v1.31.4``. Raises SourceError."""
        try:
            return self._client.server_version()
        except (NoAnswerError, RefusedError) as error:
            raise SourceError(f"{self.context}: the API server does not answer with its version: {error}") from None

    def check_unused(self, names: Iterable[str]) -> None:
        """Raises SourceError if the cluster has one of these CRDs: nothing of it may be touched then."""
        for name in sorted(names):
            try:
                there = self._client.ask("get_cluster", _CRDS, name)
            except RefusedError as error:
                if error.status == _NOT_THERE:
                    continue
                raise SourceError(f"{self.context}: it does not answer whether it has {name}: {error}") from None
            except NoAnswerError as error:
                raise SourceError(f"{self.context}: {error}") from None
            if MARK in (there.get("metadata", {}).get("annotations") or {}):
                raise SourceError(
                    f"{self.context}: {name} is left from a run that could not clean up: "
                    f"kubectl --context {self.context} delete crd {name}"
                )
            raise SourceError(
                f"{self.context}: this cluster has {name} with {self._how_many(there)}: CRDs are exchanged for the "
                "trials, so they need an API server of their own (kind, envtest) that has none of them"
            )

    def _how_many(self, crd: Json) -> str:
        try:
            kind = _resource(crd, next(each["name"] for each in crd["spec"]["versions"] if each["served"]))
            page = self._client.page(kind, "")
        except (RefusedError, NoAnswerError, KeyError, TypeError, StopIteration):
            return "an unknown number of objects"
        count, more = len(page), " or more" if page.token else ""
        return f"{count}{more} {'object' if count == 1 else 'objects'}" if count else "no object"

    # -- CRDs -------------------------------------------------------------------------------

    def install(self, crd: Mapping[str, Any]) -> Answer:
        """Install a CRD in place of the one that this run installed, if any, and wait until it is served.

        Raises NoAnswerError, RefusedError.
        """
        column = f"Turn{next(self._turns)}"
        marked = _marked(crd, column)
        if self._installed is not None and _lasting(self._installed) == _lasting(crd):
            answer = self._update(marked)
        else:
            self.clear()
            answer = self._create(marked)
        if answer.object is None:
            return answer
        return self._served(marked, column) or answer

    def replace(self, crd: Mapping[str, Any]) -> Answer:
        """PUT a CRD over the one that this run installed, whatever differs. Raises NoAnswerError."""
        return self._update(_marked(crd, f"Turn{next(self._turns)}"))

    def _create(self, crd: Json) -> Answer:
        # Remembered before the request, so that an interruption cannot leave the CRD behind.
        self._installed = crd
        try:
            return Answer(self._client.ask("create_cluster", _CRDS, crd))
        except RefusedError as error:
            self._installed = None
            return _refusal(error)

    def _update(self, crd: Json) -> Answer:
        name = crd["metadata"]["name"]
        for _ in range(_TRIES):
            try:
                current = self._client.ask("get_cluster", _CRDS, name)
                crd["metadata"]["resourceVersion"] = current["metadata"]["resourceVersion"]
                made = self._client.ask("replace_cluster", _CRDS, name, crd)
            except RefusedError as error:
                if error.status == _CONFLICT:  # a controller of the server wrote its status in between
                    continue
                return _refusal(error)
            self._installed = crd
            return Answer(made)
        return Answer(None, _CONFLICT, f"{name} changes all the time")

    def _served(self, crd: Json, column: str) -> Answer | None:
        """Wait for a schema; None if it is served. Servers answer before that: a printer column of its own shows it."""
        until = time.monotonic() + _WAIT_SECONDS
        for version in crd["spec"]["versions"]:
            while version["served"] and not self._shows(_resource(crd, version["name"]), column):
                if time.monotonic() > until:
                    return Answer(None, 0, f"it is installed, but not served: {self._why(crd)}")
                time.sleep(_PAUSE_SECONDS)
        return None

    def _shows(self, kind: Resource, column: str) -> bool:
        try:
            page = self._client.ask("list_cluster", kind, accept=_TABLE, limit=1)
        except RefusedError:
            return False
        return any(column == found.get("name") for found in page.get("columnDefinitions") or ())

    def _why(self, crd: Json) -> str:
        conditions = self._client.ask("get_cluster", _CRDS, crd["metadata"]["name"]).get("status", {}).get("conditions")
        wrong = [found for found in conditions or () if found["status"] == "False" and found["type"] != "Terminating"]
        return "; ".join(f"{found['type']}: {found.get('message', '')}" for found in wrong) or "the server is slow"

    # -- objects -------------------------------------------------------------------------------

    def create(self, crd: Mapping[str, Any], version: str, obj: Json) -> Answer:
        """The server's answer to a new object, without storing it. Raises NoAnswerError."""
        return self._send("create", crd, version, obj, dry_run="All")

    @contextlib.contextmanager
    def holding(self, crd: Mapping[str, Any], version: str, obj: Json) -> Iterator[Answer]:
        """Store an object while the block runs; the server's answer. Raises NoAnswerError, RefusedError."""
        answer = self._send("create", crd, version, obj)
        try:
            yield answer
        finally:
            if answer.object is not None:
                self._ask("delete", crd, version, obj["metadata"]["name"])

    def update(self, crd: Mapping[str, Any], version: str, obj: Json, held: Json) -> Answer:
        """The server's answer to an update of a stored object, without storing it. Raises NoAnswerError."""
        meta = {**obj["metadata"], "resourceVersion": held["metadata"]["resourceVersion"]}
        return self._send("replace", crd, version, meta["name"], {**obj, "metadata": meta}, dry_run="All")

    def _send(self, what: str, crd: Mapping[str, Any], version: str, *about: Any, **more: Any) -> Answer:
        try:
            return Answer(self._ask(what, crd, version, *about, **more))
        except RefusedError as error:
            return _refusal(error)

    def _ask(self, what: str, crd: Mapping[str, Any], version: str, *about: Any, **more: Any) -> Json:
        kind = _resource(crd, version)
        if crd["spec"]["scope"] == "Namespaced":
            return self._client.ask(f"{what}_namespaced", kind, NAMESPACE, *about, **more)
        return self._client.ask(f"{what}_cluster", kind, *about, **more)

    # -- the end -------------------------------------------------------------------------------

    @property
    def installed(self) -> str:
        """The name of the CRD that this run has installed and not removed; "" if there is none."""
        return self._installed["metadata"]["name"] if self._installed is not None else ""

    def clear(self) -> None:
        """Remove the CRD that this run installed, if any, and wait for it. Raises RefusedError, NoAnswerError."""
        if not self.installed:
            return
        until = time.monotonic() + _WAIT_SECONDS
        try:
            self._client.ask("delete_cluster", _CRDS, self.installed)
            while time.monotonic() < until:
                self._client.ask("get_cluster", _CRDS, self.installed)
                time.sleep(_PAUSE_SECONDS)
        except RefusedError as error:
            if error.status != _NOT_THERE:
                raise
            self._installed = None
            return
        raise NoAnswerError("it is deleted, but still there")


def _resource(crd: Mapping[str, Any], version: str) -> Resource:
    return Resource(crd["spec"]["group"], version, crd["spec"]["names"]["plural"])


def _lasting(crd: Mapping[str, Any]) -> tuple[Any, ...]:
    """The parts of an installed CRD that a server does not allow to change."""
    spec = crd["spec"]
    versions = [version["name"] for version in spec["versions"]]
    return crd["metadata"]["name"], spec["scope"], spec["names"]["kind"], versions


def _marked(crd: Mapping[str, Any], column: str) -> Json:
    """The CRD as it is sent: marked as ours, with a printer column of its own."""
    made: Json = copy.deepcopy({key: crd[key] for key in ("apiVersion", "kind", "metadata", "spec")})
    meta = made["metadata"]
    annotations = {**(meta.get("annotations") or {}), MARK: "crdcompat verify"}
    made["metadata"] = {"name": meta["name"], "annotations": annotations}
    for version in made["spec"]["versions"]:
        columns = [*(version.get("additionalPrinterColumns") or ())]
        columns.append({"name": column, "type": "string", "jsonPath": ".metadata.uid"})
        version["additionalPrinterColumns"] = columns
    return made


def _refusal(error: RefusedError) -> Answer:
    """The message of the server, and one sentence for each cause that its Status lists."""
    try:
        body = orjson.loads(error.body)
        message, found = str(body["message"]), (body.get("details") or {}).get("causes") or ()
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        message, found = str(error), ()
    causes = tuple(sorted({f"{each.get('field', '')}: {each.get('message', '')}" for each in found}))
    return Answer(None, error.status, message, causes)
