"""A live cluster as a tree: its CRDs and custom resources, with read-only requests of the official client.

Lists are read in pages, with one page in memory at a time. An API that refuses a list is a problem and does not hide
the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

import orjson
from msgspec import Struct, field

from crdcompat.errors import Problem, Skipped, SourceError
from crdcompat.sources.cluster_admission import AdmissionLists, read_admission
from crdcompat.sources.cluster_client import (
    METADATA,
    UNVERIFIED,
    Client,
    NoAnswerError,
    RefusedError,
    Resource,
    Timeouts,
)
from crdcompat.sources.cluster_pages import Item, Page, Yielded, next_token
from crdcompat.sources.tree import Entry
from crdcompat.vocabulary.steps import is_watched, step, stepping

MAX_PAGES = 20_000

_READ = "Objects read"
_MAX_SILENT = 3  # consecutive resources without an answer before the rest is not read
_GONE = 410
_FORBIDDEN = 403
_NOT_THERE = 404
_NO_API_SERVER = (
    "this is no API server that has CRDs: check the server's address in the kubeconfig, and `kubectl get crds` with"
    " this context"
)
_CRDS = Resource("apiextensions.k8s.io", "v1", "customresourcedefinitions")


class Keeper(Protocol):
    """Keeps the kinds that an earlier run has read to the end, and learns which ones this run has."""

    def known(self, crd: str) -> Iterable[tuple[str, bytes]] | None:
        """The objects of a kind by their paths; None if it has to be read, which begins now."""
        ...

    def finished(self, crd: str) -> None:
        """All objects of the kind that began last were read."""
        ...


class UnreadableClusterError(SourceError):
    """A cluster whose CRDs cannot be listed; ``is_forbidden``: these credentials may not."""

    def __init__(self, message: str, *, is_forbidden: bool = False) -> None:
        super().__init__(message)
        self.is_forbidden = is_forbidden


class ClusterTree(Struct):
    """The CRDs of the cluster of a kubeconfig context, and its objects of their kinds.

    An empty context is the current one. Paths are ``GROUP/PLURAL/[NAMESPACE/]NAME.json``. ``only``: the CRDs whose
    objects are read, None for all. ``listed`` are the CRDs whose objects were read to the end, ``refused`` the HTTP
    status for the others that the server refused to list; ``expired`` are those whose list changed while it was read.
    ``keeper`` has kinds that need not be read.
    Raises UsageError where the client is not installed or there
    is no such context, SourceError where its CRDs cannot be listed: the first page is read at once, so that a wrong
    context is reported before anything else is read.
    """

    name: str
    context: str
    timeouts: Timeouts = Timeouts()
    only: frozenset[str] | None = None
    commit: str | None = None
    notes: tuple[str, ...] = ()
    problems: list[Problem] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    listed: set[str] = field(default_factory=set)
    refused: dict[str, int] = field(default_factory=dict)
    expired: set[str] = field(default_factory=set)
    keeper: Keeper | None = None
    _kinds: list[Resource] | None = None
    _client: Client = None  # type: ignore[assignment]
    _silent: int = 0
    _first: Page | None = None

    def __post_init__(self) -> None:
        self._client = Client(self.name, self.context, timeouts=self.timeouts)
        if not self.context:
            self.context = self._client.context
            self.notes = (f"{self.name} read as the current context, {self.context}",)
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
        """Read the wanted objects; a kind is not listed if ``wanted`` rejects an object of it with the name ``*``.

        The CRDs are listed once, unless they are wanted again.
        """
        self._silent = 0
        with self._client.session():
            if self._kinds is None or wanted(f"{_CRDS.path}/*.json"):
                kinds: list[Resource] = []
                for crd in self._list(_CRDS):
                    kinds.append(_kind_of(crd))
                    yield from _file(_CRDS, crd, wanted)
                self._kinds = sorted(kinds, key=lambda kind: kind.path)
            kinds = [kind for kind in self._kinds if self.only is None or kind.crd in self.only]
            kinds = [kind for kind in kinds if wanted(f"{kind.path}/*.json")]
            counts, before = self._counts(kinds), 0
            total = sum(counts.values()) or None
            for kind in stepping(kinds, "Kinds read", len(kinds)):
                read = before
                if self.keeper is not None and (known := self.keeper.known(kind.crd)) is not None:
                    yield from ((Entry(path), data) for path, data in known)
                    self.listed.add(kind.crd)
                    before += counts.get(kind.crd, 0)
                    continue
                if not kind.version:
                    self._problem(kind, f"no version of {kind.crd} is served: its objects, if any, cannot be read")
                    continue
                if self._silent >= _MAX_SILENT:
                    self._problem(_CRDS, f"given up after {_MAX_SILENT} kinds in a row without an answer")
                    return
                for read, found in enumerate(self._list(kind), before + 1):
                    step(_READ, read if total is None else min(read, total), total)
                    yield from _file(kind, found, wanted)
                before = before + counts[kind.crd] if counts else read
                if self.keeper is not None and kind.crd in self.listed - self.expired:
                    self.keeper.finished(kind.crd)

            if kinds:
                step(_READ, before, before)

    def _counts(self, kinds: list[Resource]) -> dict[str, int]:
        """The number of objects of each kind, if somebody watches and the server says it; else {}.

        A kind that cannot be listed has none. Objects come and go meanwhile: the time left is an estimate.
        """
        counts: dict[str, int] = {}
        for kind in kinds if is_watched() else ():
            try:
                count = self._client.count(kind) if kind.version else 0
            except RefusedError:
                count = 0
            except NoAnswerError:
                count = None
            if count is None:
                return {}
            counts[kind.crd] = count
        return counts

    @property
    def server(self) -> str:
        """The address of the server."""
        return self._client.server

    def server_version(self) -> str:
        """The version of the server: ``v1.31.4``; "" if it does not answer this question."""
        with self._client.session(), suppress(RefusedError, NoAnswerError):
            return self._client.server_version()
        return ""

    def admission(self) -> AdmissionLists:
        """The admission policies and webhook configurations. Raises nothing: lists can be refused."""
        with self._client.session():
            return read_admission(self._client)

    def revisions(self) -> dict[str, str]:
        """The resourceVersion of each CRD as it is now, by name; only their metadata is asked for. Raises SourceError.

        A server that does not know this form of the answer sends the whole CRDs.
        """
        with self._client.session():
            return {crd.name: crd.revision for crd in self._list(_CRDS, METADATA)}

    def _list(self, kind: Resource, accept: str = "") -> Iterator[Item]:
        """List a kind page by page.

        If the continue token has expired (410), the list goes on where it stopped, with the token of the answer.
        Without one, or if that token brings nothing, it begins anew, without the objects that were yielded. It fails if
        that brings nothing new.
        """
        token, given, last, restarted = "", Yielded(), -1, False
        try:
            for _ in range(MAX_PAGES):
                try:
                    page = self._page(kind, token, accept)
                except RefusedError as error:
                    is_new = given.count > last
                    if error.status != _GONE or not token or (restarted and not is_new):
                        raise
                    token, last = next_token(error.body) if is_new else "", given.count
                    restarted = not token
                    self.expired.add(kind.crd)
                    continue
                self._silent = 0
                yield from (item for item in page.items() if given.is_new(item.place))
                token = page.token
                if not token:
                    self.listed.add(kind.crd)
                    return
            self._problem(kind, f"has more than {MAX_PAGES} pages: the rest is not read")
        except RefusedError as error:
            self.refused[kind.crd] = error.status
            if error.status == _NOT_THERE:
                self.skipped.append(Skipped(kind.path, f"not served here: {error}"))
            else:
                self._problem(kind, f"cannot be listed: {error}")
        except NoAnswerError as error:
            self._silent += 1
            self._problem(kind, f"cannot be listed: {error}")

    def _page(self, kind: Resource, token: str, accept: str) -> Page:
        """A page of a list; the CRDs' first page, which tried the context, is used once."""
        if kind is not _CRDS:
            return self._client.page(kind, token, accept)
        if self._first is not None:
            first, self._first = self._first, None
            return first
        with self._tried(token):
            return self._client.page(kind, token, accept)

    @contextmanager
    def _tried(self, token: str = "") -> Iterator[None]:
        """Raises SourceError, which says what to do: without the CRDs nothing of a cluster can be read.

        An expired ``token`` raises RefusedError: the list begins anew.
        """
        try:
            yield
        except RefusedError as error:
            if error.status == _GONE and token:
                raise
            what = f"CRDs cannot be listed: {error}"
            if error.status == _NOT_THERE:
                what += f"; {_NO_API_SERVER}"
            raise UnreadableClusterError(f"{self.name}: {what}", is_forbidden=error.status == _FORBIDDEN) from None
        except NoAnswerError as error:
            raise UnreadableClusterError(f"{self.name}: {error}") from None

    def _problem(self, kind: Resource, message: str) -> None:
        problem = Problem(kind.path, None, message)
        if problem not in self.problems:
            self.problems.append(problem)


def _kind_of(crd: Item) -> Resource:
    """The resource of a CRD's objects at the storage version if it is served, else at a served version.

    Without a served version it has none.
    """
    plural, _, group = crd.name.partition(".")
    try:
        spec = orjson.loads(crd.data)["spec"]
        group, plural = str(spec["group"]), str(spec["names"]["plural"])
        served = [version for version in spec["versions"] if version["served"]]
        chosen = next((version for version in served if version["storage"]), served[0])
        return Resource(group, str(chosen["name"]), plural)
    except (KeyError, TypeError, IndexError, orjson.JSONDecodeError):
        return Resource(group, "", plural)


def _file(kind: Resource, item: Item, wanted: Callable[[str], bool]) -> Iterator[tuple[Entry, bytes]]:
    path = "/".join(filter(None, (kind.path, item.place))) + ".json"
    if wanted(path):
        yield Entry(path), item.data
