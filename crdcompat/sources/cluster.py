"""A live cluster as a tree: its CRDs and custom resources, read with the official client and nothing but read.

The client is an extra of the installation, imported when a cluster is named. Lists come in pages, one page in
memory at a time; an API that refuses is a problem of its own and does not hide the others.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from difflib import get_close_matches
from typing import Any

import orjson

from crdcompat.errors import SourceError, UsageError
from crdcompat.problems import Problem, Skipped
from crdcompat.records import dataclass
from crdcompat.sources.tree import Entry

PAGE = 500
"""Objects asked for at a time."""

MAX_PAGE_BYTES = 512 << 20
MAX_PAGES = 20_000
TIMEOUTS = (10, 60)
"""Seconds to wait for a connection, and for the next bytes of an answer."""

_MAX_SILENT = 3  # resources in a row that get no answer, before the cluster is given up
_GONE = 410
_NOT_THERE = 404
_WHY = {
    401: "the credentials are missing or expired: log in again",
    403: "these credentials may not list it",
}


@dataclass(frozen=True, slots=True)
class _Resource:
    group: str
    version: str
    plural: str

    @property
    def path(self) -> str:
        return f"{self.group}/{self.plural}"


_CRDS = _Resource("apiextensions.k8s.io", "v1", "customresourcedefinitions")


class _RefusedError(Exception):
    """The server answered, but not with a list: ``status`` is HTTP's."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _NoAnswerError(Exception):
    """No connection, no certificate, no answer in time, or one that is cut short."""


@dataclass(slots=True)
class ClusterTree:
    """The CRDs of the cluster that a kubeconfig's context leads to, and its objects of their kinds.

    An empty context is the current one. Paths are ``GROUP/PLURAL/[NAMESPACE/]NAME.json``. Raises UsageError where
    the client is not installed or there is no such context.
    """

    name: str
    context: str
    commit: str | None = None
    notes: tuple[str, ...] = ()
    problems: list[Problem] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    _client: Any = None
    _silent: int = 0

    def __post_init__(self) -> None:
        self._client = _Client(self.name, self.context)
        if not self.context:
            self.notes = (f"{self.name} read as the current context, {self._client.context}",)

    @property
    def label(self) -> str:
        """What the user wrote."""
        return self.name

    @property
    def is_one_file(self) -> bool:
        """A cluster has any number of objects."""
        return False

    def entries(self) -> list[Entry]:
        """List all objects, CRDs included, by reading them."""
        return sorted((entry for entry, _ in self.stream(lambda _: True)), key=lambda entry: entry.path)

    def read(self, entries: Iterable[Entry]) -> Iterator[tuple[Entry, bytes]]:
        """Read these objects; an object that was there when it was listed may be gone."""
        order = list(entries)
        found = dict(self.stream({entry.path for entry in order}.__contains__))
        return ((entry, found[entry]) for entry in order if entry in found)

    def stream(self, wanted: Callable[[str], bool]) -> Iterator[tuple[Entry, bytes]]:
        """Read the objects wanted; a kind is left out where an object of it named ``*`` would not be wanted."""
        self._silent = 0
        kinds: list[_Resource] = []
        with self._client.session():
            for crd in self._list(_CRDS):
                kind = _kind_of(crd)
                if kind is not None:
                    kinds.append(kind)
                yield from _file(_CRDS, crd, wanted)
            for kind in sorted(kinds, key=lambda kind: kind.path):
                if self._silent >= _MAX_SILENT:
                    self._problem(_CRDS, f"given up after {_MAX_SILENT} kinds in a row without an answer")
                    return
                if wanted(f"{kind.path}/*.json"):
                    for found in self._list(kind):
                        yield from _file(kind, found, wanted)

    def _list(self, kind: _Resource) -> Iterator[dict[str, Any]]:
        """List a kind page by page; when the server has forgotten the list meanwhile, once again from its start."""
        token, restarted, given = "", False, set[str]()
        try:
            for _ in range(MAX_PAGES):
                try:
                    page = self._client.page(kind, token)
                except _RefusedError as error:
                    if error.status != _GONE or not token or restarted:
                        raise
                    token, restarted = "", True
                    continue
                self._silent = 0
                for item in _items(page):
                    path = _path(kind, item)
                    if path not in given:
                        given.add(path)
                        yield item
                token = _continue(page)
                if not token:
                    return
            self._problem(kind, f"has more than {MAX_PAGES} pages: the rest is not read")
        except _RefusedError as error:
            if error.status == _NOT_THERE:
                self.skipped.append(Skipped(kind.path, f"not served here: {error}"))
            else:
                self._problem(kind, f"cannot be listed: {error}")
        except _NoAnswerError as error:
            self._silent += 1
            if kind is _CRDS:
                raise SourceError(f"{self.name}: {error}") from None
            self._problem(kind, f"cannot be listed: {error}")

    def _problem(self, kind: _Resource, message: str) -> None:
        problem = Problem(kind.path, None, message)
        if problem not in self.problems:
            self.problems.append(problem)


class _Client:
    """The official client, narrowed to what is needed: one page of one list."""

    def __init__(self, name: str, context: str) -> None:
        self._name = name
        try:
            self._kubernetes = importlib.import_module("kubernetes.client")
            config = importlib.import_module("kubernetes.config")
            self._urllib3 = importlib.import_module("urllib3")
        except ImportError:
            raise UsageError(
                f"{name}: clusters are read with the official Kubernetes client, which is not installed: "
                "pip install 'crdcompat[cluster]'"
            ) from None
        file = os.environ.get("KUBECONFIG") or None
        self._configuration = self._kubernetes.Configuration()
        self._configuration.retries = self._urllib3.Retry(1, redirect=0, respect_retry_after_header=False)
        try:
            contexts, current = config.list_kube_config_contexts(config_file=file)
            names = [str(one["name"]) for one in contexts]
            self.context = context or str(current["name"])
            if self.context not in names:
                raise UsageError(f"{name}: no context {self.context} in the kubeconfig{_near(self.context, names)}")
            config.load_kube_config(
                config_file=file,
                context=self.context,
                client_configuration=self._configuration,
                persist_config=False,  # reading a cluster writes nothing, not even a renewed token
            )
        except (config.ConfigException, OSError, ValueError, TypeError, KeyError) as error:
            raise SourceError(f"{name}: the kubeconfig cannot be used: {error}") from None
        self._api: Any = None

    def session(self) -> Any:
        """A context in which the client has connections; they are closed at its end."""
        self._api = self._kubernetes.ApiClient(self._configuration)
        return self._api

    def page(self, kind: _Resource, token: str) -> dict[str, Any]:
        """GET one page of a list. Raises _RefusedError, _NoAnswerError."""
        objects = self._kubernetes.CustomObjectsApi(self._api)
        more = {"_continue": token} if token else {}
        try:
            answer = objects.list_cluster_custom_object(
                kind.group,
                kind.version,
                kind.plural,
                limit=PAGE,
                _preload_content=False,
                _request_timeout=TIMEOUTS,
                **more,
            )
            try:
                data = answer.read(MAX_PAGE_BYTES + 1)
            finally:
                answer.release_conn()
        except self._kubernetes.ApiException as error:
            if not error.status:
                raise _NoAnswerError(_first_line(error.reason)) from None
            raise _RefusedError(error.status, _told(error)) from None
        except self._urllib3.exceptions.HTTPError as error:
            raise _NoAnswerError(_first_line(getattr(error, "reason", None) or error)) from None
        if len(data) > MAX_PAGE_BYTES:
            raise _NoAnswerError(f"a page of more than {MAX_PAGE_BYTES} bytes")
        try:
            page = orjson.loads(data)
        except orjson.JSONDecodeError as error:
            raise _NoAnswerError(f"an answer that is not JSON: {error}") from None
        if not isinstance(page, dict):
            raise _NoAnswerError("an answer that is no list")
        return page


def _told(error: Any) -> str:
    """What the server says of a refusal: the message of its Status, else the first line of its text."""
    message: object
    try:
        message = orjson.loads(error.body)["message"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        message = error.body or error.reason or ""
    why = _WHY.get(error.status)
    return f"{error.status} {_first_line(message)}{f' ({why})' if why else ''}"


def _first_line(told: object) -> str:
    text = told.decode("utf-8", "backslashreplace") if isinstance(told, bytes) else str(told)
    return text.strip().partition("\n")[0][:300]


def _near(wanted: str, names: list[str]) -> str:
    near = get_close_matches(wanted, names[:1000], n=3, cutoff=0.5) or names[:5]
    return f": there is {', '.join(near)}" if near else ": it has none"


def _items(page: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Give the items of a list, named: of built-in kinds, CRDs among them, only the list itself says what they are."""
    kind, version = str(page.get("kind", "")).removesuffix("List"), page.get("apiVersion")
    for item in page.get("items") or ():
        if isinstance(item, dict):
            yield item if "kind" in item else {"apiVersion": version, "kind": kind, **item}


def _continue(page: Mapping[str, Any]) -> str:
    metadata = page.get("metadata")
    token = metadata.get("continue") if isinstance(metadata, dict) else None
    return token if isinstance(token, str) else ""


def _kind_of(crd: Mapping[str, Any]) -> _Resource | None:
    """The list that holds a CRD's objects: at the version they are stored in, or one that is served."""
    try:
        spec = crd["spec"]
        served = [version for version in spec["versions"] if version["served"]]
        chosen = next((version for version in served if version["storage"]), served[0])
        return _Resource(str(spec["group"]), str(chosen["name"]), str(spec["names"]["plural"]))
    except (KeyError, TypeError, IndexError):
        return None


def _path(kind: _Resource, item: Mapping[str, Any]) -> str:
    metadata = item.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    parts = (metadata.get("namespace"), metadata.get("name"))
    return "/".join((kind.path, *(part for part in parts if isinstance(part, str) and part))) + ".json"


def _file(kind: _Resource, item: Mapping[str, Any], wanted: Callable[[str], bool]) -> Iterator[tuple[Entry, bytes]]:
    path = _path(kind, item)
    if wanted(path):
        yield Entry(path), orjson.dumps(item)
