"""Selects the files that the comparisons of a check can skip.

A file that is equal on every side causes no difference by itself. A comparison needs it if it contains another variant
of a changed CRD, or if it is the only file with a context of the tree. Where only CRDs that the change touches are
compared with targets, the same is true of every file of a target. The facts of its lines decide that without parsing;
undecided files are read. A CRD whose name does not begin with its plural is not found by its name; no API server
accepts such a CRD.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from crdcompat.crds.context import CHANNEL, GATE
from crdcompat.crds.model import CrdDocument
from crdcompat.crds.reader import CrdReader
from crdcompat.crds.shipped import is_shipped
from crdcompat.errors import SourceError
from crdcompat.prefilter.candidates import is_candidate, is_gate_list, may_have, unchanged
from crdcompat.prefilter.collect import FactsByBlob, PendingFacts
from crdcompat.sources.tree import Entry, Tree

_ANNOTATION = re.compile(r"""\s*["']?(?P<key>[^\s"':]+)["']?\s*:\s*(?P<quote>["']?)(?P<value>.*?)(?P=quote)\s*,?\s*""")
#: Rounds in which one file per line is read; after them all remaining files with the line are read.
_ROUNDS = 3
_ANY_GATE = "any"

Sides = tuple[Tree, Tree]
"""Base and head of a change."""
_Annotation = tuple[str, str]


def unneeded_files(
    sides: Sides,
    targets: Sequence[Tree],
    search: FileSearch,
    facts: PendingFacts,
    crds: Iterable[str] = (),
    *,
    all_crds: bool,
) -> list[frozenset[str]]:
    """The paths of files that no comparison needs: for both sides of the change, then for each target.

    The first is about files that are equal on all sides. ``all_crds``: CRDs that the change does not touch are compared
    with targets, too. A file without ``facts`` is needed. ``crds`` are names of CRDs that are always needed. Raises
    SourceError.
    """
    compared = (*sides, *targets) if all_crds else sides
    same = unchanged(compared)
    differing = [search.read(tree, (entry for entry in tree.entries() if entry.path not in same)) for tree in compared]
    try:
        known = facts()
    except SourceError:  # a failed search may be incomplete; reading the files reports the cause
        return [frozenset()] * (1 + len(targets))
    of_change = _Skippable(sides[0], same.values(), known, search)
    paths = (entry.path for tree in compared for entry in tree.entries())
    gated = of_change.need_line(GATE) if any(is_gate_list(path) and path not in same for path in paths) else []
    changed = {document.crd.name: document.crd for side in (*differing, gated) for document in side}
    of_head = {document.crd.name for document in (*differing[1], *of_change.need_names({*crds, *changed}))}
    of_targets = [] if all_crds else [_Skippable(tree, tree.entries(), known, search) for tree in targets]
    for target in of_targets:
        there = {document.crd.name for document in target.need_names({*crds, *changed})}
        # One of these may have another name in the other tree: its kind stays.
        kinds = {crd.kind for name, crd in changed.items() if name not in there or name not in of_head}
        if kinds:
            target.need_words(kinds)
            of_change.need_words(kinds)
    of_change.need_contexts(differing)
    for target in of_targets:
        target.need_contexts(())
    return [part.unneeded() for part in (of_change, *(of_targets or [of_change] * len(targets)))]


class FileSearch:
    """Reads files of trees: those that ``wants`` includes. ``variants``: more annotations that distinguish variants."""

    def __init__(self, reader: CrdReader, wants: Callable[[str], bool], variants: Sequence[str]) -> None:
        self._reader, self._wants, self._variants = reader, wants, variants
        self.ships = reader.ships

    def is_wanted(self, path: str) -> bool:
        """Whether the file may contain a CRD that counts."""
        return is_candidate(path) and self._wants(path)

    def read(self, tree: Tree, entries: Iterable[Entry]) -> list[CrdDocument]:
        """The CRDs in these files."""
        found = (e for e in entries if self._wants(e.path) and self._reader.passes_over(tree, e.path) is None)
        return [*self._reader.documents(tree, found)]

    def annotations(self, documents: Iterable[CrdDocument], payload: Collection[str] = ()) -> set[_Annotation]:
        """The annotations that distinguish variants; the sources of CRDs that a ``payload`` contains do not count."""
        counting = (item for item in documents if item.crd.name not in payload or is_shipped(item.file, self.ships))
        return {pair for document in counting for pair in _annotations(document, self._variants)}

    def payload(self, documents: Iterable[CrdDocument]) -> set[str]:
        """The names of the CRDs that ship: on a side with them, their sources do not count."""
        return {document.crd.name for document in documents if is_shipped(document.file, self.ships)}


class _Skippable:
    """Files of one tree that have facts: most can be skipped, some are needed."""

    def __init__(self, tree: Tree, entries: Iterable[Entry], facts: FactsByBlob, search: FileSearch) -> None:
        self._tree, self._facts, self._search = tree, facts, search
        self._entries = [entry for entry in entries if entry.oid in facts and search.is_wanted(entry.path)]
        self._needed: set[Entry] = set()

    def need_names(self, names: Collection[str]) -> list[CrdDocument]:
        """Mark the files that may contain a CRD of these names as needed. Returns the CRDs in them."""
        plurals = {name.partition(".")[0] for name in names}
        return self._need_words([e for e in self._entries if self._facts[e.oid].may_hold(plurals)], names)

    def need_words(self, words: Collection[str]) -> list[CrdDocument]:
        """Mark files that contain one of these words, maybe behind escapes, as needed. Returns the CRDs in them."""
        return self._need_words(self._entries, words)

    def _need_words(self, entries: Sequence[Entry], words: Collection[str]) -> list[CrdDocument]:
        wanted = [word.encode() for word in words]
        without = {entry for entry, data in self._tree.read(entries) if not may_have(data, wanted) and _is_utf8(data)}
        return self._need(set(entries) - without)

    def need_line(self, key: str) -> list[CrdDocument]:
        """Mark files with a line that may be an annotation of this key as needed. Returns the CRDs in them."""
        return self._need(e for e in self._entries if any(key in line for line in self._facts[e.oid].annotation_lines))

    def need_contexts(self, changed: Sequence[Sequence[CrdDocument]]) -> None:
        """Need a file for each annotation that neither all sides of ``changed`` nor the needed files show."""
        needed = self._read(self._needed)
        payload = self._search.payload(chain(needed, *changed))
        shown = self._search.annotations(needed, payload)
        if changed:
            shown |= set.intersection(*(self._search.annotations(side, payload) for side in changed))
        holders: dict[_Annotation | str, list[Entry]] = {}
        for entry in _surest_first(self._entries, self._facts, self._search.ships, payload):
            for line in self._facts[entry.oid].annotation_lines:
                holders.setdefault(_of_line(line), []).append(entry)
        self._needed |= _representatives(
            holders, shown, lambda files: self._search.annotations(self._read(files), payload)
        )

    def unneeded(self) -> frozenset[str]:
        """The paths of the files that nothing needs."""
        return frozenset(entry.path for entry in self._entries if entry not in self._needed)

    def _need(self, entries: Iterable[Entry]) -> list[CrdDocument]:
        needed = set(entries)
        self._needed |= needed
        return self._read(needed)

    def _read(self, entries: Iterable[Entry]) -> list[CrdDocument]:
        return self._search.read(self._tree, sorted(entries, key=lambda entry: entry.path))


def _surest_first(
    entries: Iterable[Entry], facts: FactsByBlob, ships: Sequence[str], payload: Iterable[str]
) -> list[Entry]:
    """The files in an order: first those whose documents surely count, because the payload overrides other files."""
    shipped = {entry.path for entry in entries if is_shipped(entry.path, ships)}
    plurals = {plural for entry in entries if entry.path in shipped for plural in facts[entry.oid].plurals}
    plurals |= {name.partition(".")[0] for name in payload}
    return sorted(
        entries,
        key=lambda entry: (entry.path not in shipped, plurals.issuperset(facts[entry.oid].plurals)),
    )


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeError:
        return False
    return True


def _representatives(
    holders: Mapping[_Annotation | str, Sequence[Entry]],
    shown: set[_Annotation],
    read: Callable[[Iterable[Entry]], set[_Annotation]],
) -> set[Entry]:
    """For each line that may be an annotation one of its ``holders``, unless it is in ``shown``.

    ``read`` gives the annotations of the CRDs in some files.
    """
    found: set[Entry] = set()
    for attempt in range(_ROUNDS + 1):
        missing = {line: entries for line, entries in holders.items() if line not in shown}
        if attempt == _ROUNDS:
            return found.union(*missing.values())
        wanted = {entries[attempt] for entries in missing.values() if attempt < len(entries)}
        found |= wanted
        shown = shown | read(wanted)
    return found


def _annotations(document: CrdDocument, variants: Sequence[str]) -> Iterator[_Annotation]:
    """The annotations of a CRD that count: the first of ``variants`` that it has overrides its channel and the rest."""
    annotations = document.crd.raw["metadata"].get("annotations")
    raw = {str(key): str(value) for key, value in annotations.items()} if isinstance(annotations, dict) else {}
    flavour = next((raw[key] for key in variants if key in raw), None)
    for key, value in raw.items():
        if flavour is None or value == flavour or key not in (CHANNEL, *variants):
            yield _without_gates(key, value)


def _of_line(line: str) -> _Annotation | str:
    """The annotation that a line is, or the line itself: it may mean anything."""
    found = _ANNOTATION.fullmatch(line)
    return line if found is None else _without_gates(found["key"], found["value"])


def _without_gates(key: str, value: str) -> _Annotation:
    """The annotation; one that needs feature gates shows all contexts of the gate lists, whichever gates it names."""
    return (key, _ANY_GATE) if key == GATE and value.strip(", ") else (key, value)
