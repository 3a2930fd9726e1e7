"""A live cluster as a tree: its CRDs and custom resources, with read-only requests of the official client.

Lists are read in pages, with one page in memory at a time. An API that refuses a list is a problem and does not hide
the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import orjson
from msgspec import Struct, field

from crdcompat.errors import Problem, Skipped, SourceError
from crdcompat.sources.cluster_client import UNVERIFIED, Client, NoAnswerError, RefusedError, Resource, Timeouts
from crdcompat.sources.tree import Entry

MAX_PAGES = 20_000

_MAX_SILENT = 3  # consecutive resources without an answer before the rest is not read
_GONE = 410
_NOT_THERE = 404
_NO_API_SERVER = (
    "this is no API server that has CRDs: check the server's address in the kubeconfig, and `kubectl get crds` with"
    " this context"
)
_CRDS = Resource("apiextensions.k8s.io", "v1", "customresourcedefinitions")


class ClusterTree(Struct):
    """The CRDs of the cluster of a kubeconfig context, and its objects of their kinds.

    An empty context is the current one. Paths are ``GROUP/PLURAL/[NAMESPACE/]NAME.json``. Raises UsageError where
    the client is not installed or there is no such context, SourceError where its CRDs cannot be listed: the first page
    is read at once, so that a wrong context is reported before anything else is read.
    """

    name: str
    context: str
    timeouts: Timeouts = Timeouts()
    commit: str | None = None
    notes: tuple[str, ...] = ()
    problems: list[Problem] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    _client: Client = None  # type: ignore[assignment]
    _silent: int = 0
    _first: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        self._client = Client(self.name, self.context, timeouts=self.timeouts)
        if not self.context:
            self.notes = (f"{self.name} read as the current context, {self._client.context}",)
        if self._client.is_unverified:
            self.notes = (*self.notes, f"{self.name}: {UNVERIFIED}")
        with self._client.session(), self._tried():
            self._first = self._client.page(_CRDS, "")

    @property
    def label(self) -> str:
        """The context as the user named it."""
        return self.name

    @property
    def is_one_file(self) -> bool:
        """False: a cluster has any number of objects."""
        return False

    def entries(self) -> list[Entry]:
        """List all objects, CRDs included, by reading them."""
        return sorted((entry for entry, _ in self.stream(lambda _: True)), key=lambda entry: entry.path)

    def read(self, entries: Iterable[Entry]) -> Iterator[tuple[Entry, bytes]]:
        """Read these objects; one that was deleted after ``entries`` is left out."""
        order = list(entries)
        found = dict(self.stream({entry.path for entry in order}.__contains__))
        return ((entry, found[entry]) for entry in order if entry in found)

    def stream(self, wanted: Callable[[str], bool]) -> Iterator[tuple[Entry, bytes]]:
        """Read the wanted objects; a kind is not listed if ``wanted`` rejects an object of it with the name ``*``."""
        self._silent = 0
        kinds: list[Resource] = []
        with self._client.session():
            for crd in self._list(_CRDS):
                kind = _kind_of(crd)
                if kind.version:
                    kinds.append(kind)
                elif wanted(f"{kind.path}/*.json"):
                    self._problem(kind, f"no version of {_name_of(crd)} is served: its objects, if any, cannot be read")
                yield from _file(_CRDS, crd, wanted)
            for kind in sorted(kinds, key=lambda kind: kind.path):
                if self._silent >= _MAX_SILENT:
                    self._problem(_CRDS, f"given up after {_MAX_SILENT} kinds in a row without an answer")
                    return
                if wanted(f"{kind.path}/*.json"):
                    for found in self._list(kind):
                        yield from _file(kind, found, wanted)

    def _list(self, kind: Resource) -> Iterator[dict[str, Any]]:
        """List a kind page by page; if the continue token has expired (410), list it once more from the start."""
        token, restarted, given = "", False, set[str]()
        try:
            for _ in range(MAX_PAGES):
                try:
                    page = self._page(kind, token)
                except RefusedError as error:
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
        except RefusedError as error:
            if error.status == _NOT_THERE:
                self.skipped.append(Skipped(kind.path, f"not served here: {error}"))
            else:
                self._problem(kind, f"cannot be listed: {error}")
        except NoAnswerError as error:
            self._silent += 1
            self._problem(kind, f"cannot be listed: {error}")

    def _page(self, kind: Resource, token: str) -> dict[str, Any]:
        """A page of a list; the CRDs' first page, which tried the context, is used once."""
        if kind is not _CRDS:
            return self._client.page(kind, token)
        if self._first is not None:
            first, self._first = self._first, None
            return first
        with self._tried():
            return self._client.page(kind, token)

    @contextmanager
    def _tried(self) -> Iterator[None]:
        """Without the CRDs nothing of a cluster can be read. Raises SourceError, that says what to do."""
        try:
            yield
        except RefusedError as error:
            if error.status == _GONE:
                raise
            what = f"CRDs cannot be listed: {error}"
            if error.status == _NOT_THERE:
                what += f"; {_NO_API_SERVER}"
            raise SourceError(f"{self.name}: {what}") from None
        except NoAnswerError as error:
            raise SourceError(f"{self.name}: {error}") from None

    def _problem(self, kind: Resource, message: str) -> None:
        problem = Problem(kind.path, None, message)
        if problem not in self.problems:
            self.problems.append(problem)


def _items(page: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The items of a list with kind and apiVersion, which the server omits for built-in kinds such as CRDs."""
    kind, version = str(page.get("kind", "")).removesuffix("List"), page.get("apiVersion")
    for item in page.get("items") or ():
        if isinstance(item, dict):
            yield item if "kind" in item else {"apiVersion": version, "kind": kind, **item}


def _continue(page: Mapping[str, Any]) -> str:
    metadata = page.get("metadata")
    token = metadata.get("continue") if isinstance(metadata, dict) else None
    return token if isinstance(token, str) else ""


def _kind_of(crd: Mapping[str, Any]) -> Resource:
    """The resource of a CRD's objects at the storage version if it is served, else at a served version.

    Without a served version it has none.
    """
    plural, _, group = _name_of(crd).partition(".")
    try:
        spec = crd["spec"]
        group, plural = str(spec["group"]), str(spec["names"]["plural"])
        served = [version for version in spec["versions"] if version["served"]]
        chosen = next((version for version in served if version["storage"]), served[0])
        return Resource(group, str(chosen["name"]), plural)
    except (KeyError, TypeError, IndexError):
        return Resource(group, "", plural)


def _name_of(crd: Mapping[str, Any]) -> str:
    metadata = crd.get("metadata")
    return str(metadata.get("name", "")) if isinstance(metadata, dict) else ""


def _path(kind: Resource, item: Mapping[str, Any]) -> str:
    metadata = item.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    parts = (metadata.get("namespace"), metadata.get("name"))
    return "/".join((kind.path, *(part for part in parts if isinstance(part, str) and part))) + ".json"


def _file(kind: Resource, item: Mapping[str, Any], wanted: Callable[[str], bool]) -> Iterator[tuple[Entry, bytes]]:
    path = _path(kind, item)
    if wanted(path):
        yield Entry(path), orjson.dumps(item)
