"""The cluster of a preflight: a live cluster, or recordings of one. Both list the kinds that could not be read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain
from typing import Protocol

from msgspec.structs import replace

from crdcompat.crds.model import Crd, CrdDocument
from crdcompat.crds.reader import CrdReader, CrdSet
from crdcompat.errors import Problem, SourceError
from crdcompat.features.preflight.admitters import not_judged
from crdcompat.features.preflight.affected_kinds import CRDS_API, Scope, access_rule, list_path
from crdcompat.models.preflight import Admitters, Missing, StepKind
from crdcompat.recordings.capture import CaptureFacts, unfit
from crdcompat.recordings.clusters import ClusterFacts
from crdcompat.recordings.recorded_objects import ObjectItem, Recorded, read_objects
from crdcompat.sources.cluster import ClusterTree, Keeper
from crdcompat.sources.recording import CrdTree, holds_crds, may_hold_crds
from crdcompat.sources.tree import Tree
from crdcompat.vocabulary import Side
from crdcompat.vocabulary.texts import some

_FORBIDDEN = 403
#: Kinds that the aggregated API server of OpenShift serves: a CRD of them is installed only where that server is not.
WITHOUT_CRD = frozenset({"routes.route.openshift.io"})


class Cluster(Protocol):
    """A cluster: its CRDs, the version of its server ("": unknown), and its objects.

    ``is_live``: ``objects`` yields each object once, and the cluster can change meanwhile. ``of_release``: the CRDs are
    those of a release, with all variants. ``hides``: the recording has other names or values of objects than the
    cluster. ``facts`` are what the objects say about the cluster, of a live one those that were read so far.
    """

    source: tuple[str, ...]
    is_live: bool
    hides: bool
    installed: CrdSet
    of_release: bool
    server_version: str
    facts: ClusterFacts

    def objects(self, names: Collection[str]) -> Iterable[ObjectItem]:
        """The objects of these CRDs, and possibly of others."""
        ...

    def not_judged(self, scope: Scope) -> Iterator[Admitters]:
        """What decides on writes of the needed kinds beside schemas, as far as it can be listed."""
        ...

    def notes(self) -> Iterator[str]:
        """What a report must say about how the objects were read; complete once all were read."""
        ...

    def missing(self, scope: Scope, recorded: Collection[str]) -> Iterator[Missing]:
        """The needed kinds that were not read whole; ``recorded`` are the CRDs with an object or an empty list."""
        ...


class LiveCluster:
    """A live cluster. It gets only list requests, and one for its version. Raises SourceError."""

    is_live = True
    hides = False
    of_release = False

    def __init__(self, tree: ClusterTree, reader: CrdReader, on_file: Callable[[], object] | None = None) -> None:
        self._tree, self._on_file = tree, on_file
        self.source: tuple[str, ...] = (tree.context,)
        self.server_version = tree.server_version()
        self.installed = reader.read(CrdTree(tree, holds_crds), Side.NEW)
        self.facts = ClusterFacts()

    def objects(self, names: Collection[str]) -> Iterator[ObjectItem]:
        """The objects of these CRDs, page by page; ``missing`` yields the lists that could not be read."""
        self._tree.only = frozenset(names)
        for item in self.facts.observe(read_objects(self._tree, self._on_file)):
            if not (isinstance(item, Problem) and item.file in self._unlisted()):
                yield item

    def _unlisted(self) -> set[str]:
        return {f"{self._tree.label}: {problem.file}" for problem in self._tree.problems}

    @property
    def server(self) -> str:
        """The address of the server."""
        return self._tree.server

    def keep(self, keeper: Keeper) -> None:
        """Read only the kinds that were not finished before."""
        self._tree.keeper = keeper

    def not_judged(self, scope: Scope) -> Iterator[Admitters]:
        """The admission policies and webhooks of the needed kinds."""
        if scope.needed:
            yield from not_judged(self._tree.admission(), scope.news, scope.needed)

    def notes(self) -> Iterator[str]:
        """What changed while the objects were read."""
        if expired := sorted(self._tree.expired):
            lists = "list expired and was" if len(expired) == 1 else "lists expired and were"
            yield (
                f"the {lists} continued ({some(expired)}): objects that changed meanwhile are judged as they were "
                "read, and new ones may not have been read"
            )

    def missing(self, scope: Scope, recorded: Collection[str]) -> Iterator[Missing]:
        """The needed kinds that were not listed to the end, and the CRDs that changed meanwhile."""
        reasons = {problem.file: problem.message for problem in self._tree.problems}
        reasons |= {skipped.file: skipped.reason for skipped in self._tree.skipped}
        for name in sorted(scope.needed.keys() - self._tree.listed):
            crd = scope.news[name].crd
            reason = reasons.get(f"{crd.group}/{crd.plural}", "not listed: the cluster no longer answered")
            rule = access_rule(scope, name) if self._tree.refused.get(name) == _FORBIDDEN else None
            step = StepKind.READ if rule is None else StepKind.ALLOW
            yield Missing(name, reason, rule, step, list_path(scope, name))
        yield from self._changed(scope)

    def _changed(self, scope: Scope) -> Iterator[Missing]:
        try:
            now = self._tree.revisions()
        except SourceError as error:
            why = f"they may have been changed meanwhile: {error}"
            yield Missing("CRDs", why, step=StepKind.READ, api=CRDS_API)
            return
        before = {name: self._revision(scope, name) for name in scope.news}
        for name in sorted(scope.old.named()):
            if now.get(name) != before.get(name):
                what = "created" if name not in before else "changed" if name in now else "deleted"
                yield Missing(name, f"the CRD was {what} while the cluster was read: run preflight again")

    @staticmethod
    def _revision(scope: Scope, name: str) -> str:
        metadata = scope.news[name].crd.raw["metadata"]
        return str(metadata.get("resourceVersion", ""))


class RecordedCluster:
    """Recordings of one cluster.

    Its CRDs are the recorded ones. ``release``, if given, has their schemas: then those of the release count that the
    recordings list, or all of them if the recordings do not list the cluster's CRDs.
    """

    is_live = False

    def __init__(
        self,
        trees: Collection[Tree],
        reader: CrdReader,
        release: CrdSet | None,
        on_file: Callable[[], object] | None = None,
    ) -> None:
        self._trees, self._on_file = trees, on_file
        self.source = tuple(tree.name for tree in trees)
        sets = [reader.read(CrdTree(tree, may_hold_crds), Side.NEW) for tree in trees]
        own = next((each for each in sets if each.documents), sets[0])
        self.facts, self._kinds = ClusterFacts(), _Kinds()
        self._captures = [
            item for item in self._kinds.observe(self.facts.observe(self._read(()))) if isinstance(item, CaptureFacts)
        ]
        self.of_release = release is not None
        self.installed = own if release is None else replace(release, documents=(*self._had(release, own),))
        self.server_version = next((each.facts.server for each in self._captures if each.facts.server), "")
        self.hides = any(each.facts.hides for each in self._captures)

    def _had(self, release: CrdSet, own: CrdSet) -> Iterator[CrdDocument]:
        """The CRDs of a release that the cluster can have: those that it lists, or those that clusters have."""
        unlisted = self._kinds.without_crd(release, own)
        listed = own.named().keys() if own.documents and not unlisted else None
        for document in release.documents:
            name = document.crd.name
            if name in unlisted or (name in listed if listed is not None else _is_installed(document.crd)):
                yield document

    def objects(self, names: Collection[str]) -> Iterable[ObjectItem]:
        """All recorded objects; those of other CRDs without their contents."""
        return self._read(self.installed.kinds(names))

    def _read(self, kinds: Collection[tuple[str, str]]) -> Iterator[ObjectItem]:
        return chain.from_iterable(read_objects(tree, self._on_file, kinds=kinds) for tree in self._trees)

    def not_judged(self, scope: Scope) -> Iterator[Admitters]:
        """None: a recording lists no policies and webhooks."""
        return iter(())

    def notes(self) -> Iterator[str]:
        """None: a recording does not change."""
        return iter(())

    def missing(self, scope: Scope, recorded: Collection[str]) -> Iterator[Missing]:
        """The gaps that the recordings list, the needed kinds with neither an object nor an empty list, and CRDs."""
        if len(ids := self.facts.ids) > 1:
            why = f"the recordings are of {len(ids)} clusters, of which one after the other has to be judged"
            yield Missing("the cluster", why, step=StepKind.ONE_CLUSTER)
        if why := next(filter(None, (unfit(each, scope.old) for each in self._captures)), ""):
            yield Missing(", ".join(self.source), why, step=StepKind.RECORD_ANEW)
        for what, reason in dict.fromkeys(each for found in self._captures for each in found.facts.missing):
            yield Missing(what, f"not recorded: {reason}", step=StepKind.RECORD_ANEW)
        for name in sorted(self._kinds.without_crd(scope.old, self.installed)):
            yield Missing(name, "its CRD was not recorded, but objects of it were", step=StepKind.NAME_RELEASE)
        for name in sorted(scope.needed.keys() - set(recorded)):
            path = list_path(scope, name)
            yield Missing(name, "not recorded: the recording has no list", step=StepKind.RECORD, api=path)


class _Kinds:
    """The kinds of recorded objects, as (group, kind or resource in lower case)."""

    def __init__(self) -> None:
        self._found: set[tuple[str, str]] = set()

    def observe(self, objects: Iterable[ObjectItem]) -> Iterator[ObjectItem]:
        """Pass on the objects, and add the kind of each of them."""
        for item in objects:
            if isinstance(item, Recorded) and (kind := _kind_of(item)) is not None:
                self._found.add(kind)
            yield item

    def without_crd(self, release: CrdSet, listed: CrdSet) -> frozenset[str]:
        """The names of the release's CRDs that have recorded objects and are not in ``listed``."""
        names = listed.named()
        found = (each.crd for each in release.documents if each.crd.name not in {*names, *WITHOUT_CRD})
        return frozenset(
            crd.name for crd in found if {(crd.group, crd.kind.lower()), (crd.group, crd.plural)} & self._found
        )


def _kind_of(item: Recorded) -> tuple[str, str] | None:
    if item.hint is not None:
        return item.hint.group, item.hint.resource
    if not isinstance(item.data, dict):
        return None
    api_version, kind = item.data.get("apiVersion"), item.data.get("kind")
    if not isinstance(api_version, str) or not isinstance(kind, str):
        return None
    return api_version.rpartition("/")[0], kind.lower()


def _is_installed(crd: Crd) -> bool:
    """Whether clusters have a CRD of a release: no cluster has one of a group such as ``example.openshift.io``, which
    shows how CRDs are written. ``example.com`` itself is a domain, whose groups stand for anyone's.
    """
    first, _, domain = crd.group.partition(".")
    return crd.name not in WITHOUT_CRD and not (first == "example" and "." in domain)
