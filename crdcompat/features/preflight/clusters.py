"""The cluster of a preflight: a live cluster, or recordings of one. Both list the kinds that could not be read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain
from typing import Protocol

from crdcompat.crds.reader import CrdReader, CrdSet
from crdcompat.errors import Problem, SourceError
from crdcompat.features.preflight.scope import Scope, access_rule
from crdcompat.models.preflight import Missing
from crdcompat.recordings.capture import CaptureFacts, unfit
from crdcompat.recordings.objects import ObjectItem, read_objects
from crdcompat.sources.cluster import ClusterTree
from crdcompat.sources.recording import CrdTree, holds_crds, may_hold_crds
from crdcompat.sources.tree import Tree
from crdcompat.vocabulary import Side

_FORBIDDEN = 403


class Cluster(Protocol):
    """A cluster: its CRDs, the version of its server ("": unknown), and its objects.

    ``is_live``: ``objects`` yields each object once, and the cluster can change meanwhile. ``hides``: the recording has
    other names or values of objects than the cluster.
    """

    source: tuple[str, ...]
    is_live: bool
    hides: bool
    installed: CrdSet
    server_version: str

    def objects(self, names: Collection[str]) -> Iterable[ObjectItem]:
        """The objects of these CRDs, and possibly of others."""
        ...

    def missing(self, scope: Scope, recorded: Collection[str]) -> Iterator[Missing]:
        """The needed kinds that were not read whole; ``recorded`` are the CRDs with an object or an empty list."""
        ...


class LiveCluster:
    """A live cluster. It gets only list requests, and one for its version. Raises SourceError."""

    is_live = True
    hides = False

    def __init__(self, tree: ClusterTree, reader: CrdReader, on_file: Callable[[], object] | None = None) -> None:
        self._tree, self._on_file = tree, on_file
        self.source: tuple[str, ...] = (tree.context,)
        self.server_version = tree.server_version()
        self.installed = reader.read(CrdTree(tree, holds_crds), Side.NEW)

    def objects(self, names: Collection[str]) -> Iterator[ObjectItem]:
        """The objects of these CRDs, page by page; ``missing`` yields the lists that could not be read."""
        self._tree.only = frozenset(names)
        for item in read_objects(self._tree, self._on_file):
            if not (isinstance(item, Problem) and item.file in self._unlisted()):
                yield item

    def _unlisted(self) -> set[str]:
        return {f"{self._tree.label}: {problem.file}" for problem in self._tree.problems}

    def missing(self, scope: Scope, recorded: Collection[str]) -> Iterator[Missing]:
        """The needed kinds that were not listed to the end, and the CRDs that changed meanwhile."""
        reasons = {problem.file: problem.message for problem in self._tree.problems}
        reasons |= {skipped.file: skipped.reason for skipped in self._tree.skipped}
        for name in sorted(scope.needed.keys() - self._tree.listed):
            crd = scope.news[name].crd
            reason = reasons.get(f"{crd.group}/{crd.plural}", "not listed: the cluster no longer answered")
            rule = access_rule(scope, name) if self._tree.refused.get(name) == _FORBIDDEN else None
            yield Missing(name, reason, rule)
        yield from self._changed(scope)

    def _changed(self, scope: Scope) -> Iterator[Missing]:
        try:
            now = self._tree.revisions()
        except SourceError as error:
            yield Missing("CRDs", f"they may have been changed meanwhile: {error}")
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
    """Recordings of one cluster. Its CRDs are the recorded ones, or those of ``installed`` if given."""

    is_live = False

    def __init__(
        self,
        trees: Collection[Tree],
        reader: CrdReader,
        installed: CrdSet | None,
        on_file: Callable[[], object] | None = None,
    ) -> None:
        self._trees, self._on_file = trees, on_file
        self.source = tuple(tree.name for tree in trees)
        sets = (reader.read(CrdTree(tree, may_hold_crds), Side.NEW) for tree in trees)
        first, *others = [installed] if installed is not None else sets
        self.installed = next((each for each in (first, *others) if each.documents), first)
        self._facts = [item for item in self.objects(()) if isinstance(item, CaptureFacts)]
        self.server_version = next((each.facts.server for each in self._facts if each.facts.server), "")
        self.hides = any(each.facts.hides for each in self._facts)

    def objects(self, names: Collection[str]) -> Iterable[ObjectItem]:
        """All recorded objects."""
        return chain.from_iterable(read_objects(tree, self._on_file) for tree in self._trees)

    def missing(self, scope: Scope, recorded: Collection[str]) -> Iterator[Missing]:
        """The gaps that the recordings list, and the needed kinds with neither an object nor an empty list in them."""
        if why := next(filter(None, (unfit(each, scope.old) for each in self._facts)), ""):
            yield Missing(", ".join(self.source), why)
        for what, reason in dict.fromkeys(each for found in self._facts for each in found.facts.missing):
            yield Missing(what, f"not recorded: {reason}")
        for name in sorted(scope.needed.keys() - set(recorded)):
            yield Missing(name, "not recorded: the recording has no list")
