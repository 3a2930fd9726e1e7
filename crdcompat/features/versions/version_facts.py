"""What each release says about the versions of its CRDs: which it has, serves, deprecates and stores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.crds.context import DEFAULT, no_context
from crdcompat.crds.model import Crd, CrdDocument
from crdcompat.crds.reader import CrdReader, CrdSet
from crdcompat.crds.resolving import usual_context
from crdcompat.crds.variants import contexts_of
from crdcompat.errors import Problem, UsageError
from crdcompat.features.preflight.asked_cluster import WITHOUT_CRD
from crdcompat.recordings.clusters import ClusterFacts
from crdcompat.recordings.recorded_objects import Recorded, read_objects
from crdcompat.recordings.telling_kinds import CLUSTER_VERSION
from crdcompat.sources.cluster import ClusterTree
from crdcompat.sources.recording import CrdTree, holds_crds, may_hold_crds
from crdcompat.sources.tree import Tree
from crdcompat.vocabulary import Side

#: By version: whether it is served, deprecated, stored.
Flags = Mapping[str, tuple[bool, bool, bool]]


class CrdFacts(Struct, frozen=True):
    """The versions of a CRD in a release. ``dispute`` says which files disagree about them, "" if none do."""

    kind: str
    flags: Flags
    dispute: str = ""

    @property
    def storage(self) -> str:
        """The version that objects are stored in; "" if no manifest says so."""
        return next((name for name, (_, _, is_stored) in self.flags.items() if is_stored), "")


#: By the name of a CRD.
Facts = dict[str, CrdFacts]


def facts_of(sets: Sequence[CrdSet], wanted: str | None) -> tuple[str, list[Facts], list[str]]:
    """The context of all sets, the facts of each of them, and notes.

    ``wanted`` names the context (None: the context of most clusters). Raises UsageError for a set without it.
    """
    newest, everything = sets[-1], tuple(document for crds in sets for document in crds.documents)
    name = wanted or usual_context(newest, replace(newest, documents=everything))
    chosen = []
    for crds in sets:
        contexts = {str(each): each for each in contexts_of(crds.documents, everything)}
        if name not in contexts:
            raise UsageError(no_context(name, f"in {crds.name}", contexts))
        chosen.append([each for each in crds.documents if each.is_in(contexts[name])])
    everywhere = _files_of_all(chosen)
    facts = [_facts(documents, everywhere, has_variants=name != DEFAULT) for documents in chosen]
    inside = {crd for each in facts for crd in each}
    outside = {document.crd.name for document in everything} - inside
    count = f"{len(outside)} CRD{'s are' if len(outside) > 1 else ' is'}"
    notes = [f"{count} in other contexts only, and not judged here (--context names one)"] if outside else []
    return name, facts, notes


def _files_of_all(chosen: Iterable[Sequence[CrdDocument]]) -> dict[str, frozenset[str]]:
    """The files of each CRD that all releases with the CRD have, by its name."""
    common: dict[str, frozenset[str]] = {}
    for documents in chosen:
        for name, found in _by_name(documents).items():
            files = frozenset(each.file for each in found)
            common[name] = common.get(name, files) & files
    return common


def _facts(documents: Sequence[CrdDocument], everywhere: Mapping[str, frozenset[str]], *, has_variants: bool) -> Facts:
    return {
        name: _settled(found, everywhere[name], has_variants=has_variants)
        for name, found in sorted(_by_name(documents).items())
    }


def _settled(documents: Sequence[CrdDocument], everywhere: frozenset[str], *, has_variants: bool) -> CrdFacts:
    """The facts on which all copies of a CRD agree, else the facts on which the copies agree that every release has.

    Documents of variants can have one version each: there, the versions of all count, if no two say different things.
    """
    kind = documents[0].crd.kind
    for copies in (documents, [each for each in documents if each.file in everywhere]):
        said = [flags_of(each.crd) for each in copies]
        if said and all(each == said[0] for each in said):
            return CrdFacts(kind, said[0])
    if has_variants:
        joined = {name: flags for each in documents for name, flags in flags_of(each.crd).items()}
        agree = all(joined[name] == flags for each in documents for name, flags in flags_of(each.crd).items())
        if agree and sum(is_stored for _, _, is_stored in joined.values()) == 1:
            return CrdFacts(kind, joined)
    files = ", ".join(sorted({each.file for each in documents}))
    return CrdFacts(kind, {}, f"copies disagree on the versions (exclude the one that does not ship): {files}")


def flags_of(crd: Crd) -> Flags:
    """The flags of each version of one CRD."""
    return {each.name: (each.served, each.raw.get("deprecated") is True, each.storage) for each in crd.versions}


def _by_name(documents: Iterable[CrdDocument]) -> dict[str, list[CrdDocument]]:
    found: dict[str, list[CrdDocument]] = {}
    for document in documents:
        found.setdefault(document.crd.name, []).append(document)
    return found


# The CRDs of a cluster, or of recordings of one, and how many objects it has of some of them.


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
