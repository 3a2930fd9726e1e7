"""The CRDs of a cluster, or of recordings of one, and how many objects it has of some of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from crdcompat.crds.model import Crd
from crdcompat.crds.reader import CrdReader
from crdcompat.errors import Problem, UsageError
from crdcompat.features.preflight.asked_cluster import WITHOUT_CRD
from crdcompat.recordings.clusters import ClusterFacts
from crdcompat.recordings.kinds import CLUSTER_VERSION
from crdcompat.recordings.objects import Recorded, read_objects
from crdcompat.sources.cluster import ClusterTree
from crdcompat.sources.recording import CrdTree, holds_crds, may_hold_crds
from crdcompat.sources.tree import Tree
from crdcompat.vocabulary import Side


class Installed:
    """The CRDs of the cluster of ``trees``, by name. A live one gets only list requests.

    ``count`` finds its objects: afterwards ``counts`` has their number by CRD, without the kinds that could not be
    listed, ``unlisted`` has the kinds with recorded objects and without a CRD, ``clusters`` the number of
    ClusterVersions with an id. Raises SourceError, and UsageError for recordings without any CRD.
    """

    def __init__(self, trees: Sequence[Tree], reader: CrdReader, on_file: Callable[[], object]) -> None:
        self._trees, self._on_file = trees, on_file
        self._live = [tree for tree in trees if isinstance(tree, ClusterTree)]
        self.is_live = bool(self._live)
        self.source = tuple(tree.context if isinstance(tree, ClusterTree) else tree.name for tree in trees)
        wanted = holds_crds if self.is_live else may_hold_crds
        sets = [reader.read(CrdTree(tree, wanted), Side.OBJECTS) for tree in trees]
        self.crds: dict[str, Crd] = {each.crd.name: each.crd for found in sets for each in found.documents}
        self.problems: tuple[Problem, ...] = tuple(problem for found in sets for problem in found.problems)
        if not self.crds and not self.problems:
            raise UsageError(f"no CRD in {', '.join(self.source)}: only CRDs say which versions a cluster has stored")
        self.counts: dict[str, int] = {}
        self.unlisted: frozenset[str] = frozenset()
        self.clusters = 0

    def count(self, due: Collection[str], known: Mapping[str, str]) -> None:
        """Count the objects of the CRDs ``due``. ``known`` has the kind of each CRD that a release has, by name."""
        if self.is_live and not due:
            return
        names = {(crd.partition(".")[2], kind): crd for crd, kind in known.items()}
        names |= {(crd.group, crd.kind): name for name, crd in self.crds.items()}
        facts, seen = ClusterFacts(), set()
        counted: Counter[str] = Counter()
        whole = {(CLUSTER_VERSION.group, CLUSTER_VERSION.name)}
        for tree in self._trees:
            if isinstance(tree, ClusterTree):
                tree.only = frozenset(due)
            for item in facts.observe(read_objects(tree, self._on_file, kinds=whole)):
                name = _crd_of(item, names) if isinstance(item, Recorded) else None
                if name is not None and isinstance(item, Recorded) and (identity := item.identity) not in seen:
                    seen.add(identity)
                    counted[name] += 1
        listed = {name for tree in self._live for name in tree.listed}
        self.counts = {name: counted[name] for name in due if not self.is_live or name in listed}
        self.unlisted = frozenset(counted.keys() - self.crds.keys() - WITHOUT_CRD)
        self.clusters = len(facts.ids)


def _crd_of(item: Recorded, names: Mapping[tuple[str, str], str]) -> str | None:
    """The name of the CRD of an object, if it is one of these."""
    if item.hint is not None:
        name = f"{item.hint.resource}.{item.hint.group}"
        return name if name in names.values() else None
    if not isinstance(item.data, dict):
        return None
    version, kind = item.data.get("apiVersion"), item.data.get("kind")
    return names.get((version.partition("/")[0], kind)) if isinstance(version, str) and isinstance(kind, str) else None
