"""Selects the unchanged files that a comparison can skip.

A file that is equal on every side causes no difference by itself. A comparison needs it if it contains another variant
of a changed CRD, or if it is the only file with a context of the tree. The facts of its lines decide that without
parsing; undecided files are read. A CRD whose name does not begin with its plural is not found by its name; no API
server accepts such a CRD.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from crdcompat.crds.reader import CrdDocument, CrdReader
from crdcompat.crds.shipped import is_shipped
from crdcompat.crds.variants import CHANNEL, GATE
from crdcompat.errors import SourceError
from crdcompat.prefilter.candidates import is_candidate, is_gate_list, unchanged
from crdcompat.prefilter.collect import FactsByBlob, PendingFacts
from crdcompat.sources.tree import Entry, Tree

_ANNOTATION = re.compile(r"""\s*["']?(?P<key>[^\s"':]+)["']?\s*:\s*(?P<quote>["']?)(?P<value>.*?)(?P=quote)\s*,?\s*""")
#: Rounds in which one file per line is read; after them all remaining files with the line are read.
_ROUNDS = 3


def unneeded_files(
    trees: Sequence[Tree],
    reader: CrdReader,
    wants: Callable[[str], bool],
    facts: PendingFacts,
    crds: Iterable[str] = (),
    variants: Sequence[str] = (),
) -> frozenset[str]:
    """The paths of files that are equal in all ``trees`` and that no comparison of these needs.

    ``facts`` cover files that are equal in the first tree and some others; a file without facts is needed. ``crds``
    are names of CRDs that are always needed, ``variants`` further annotations that distinguish variants. Raises
    SourceError.
    """
    base, same = trees[0], unchanged(trees)

    def is_wanted(path: str) -> bool:
        return is_candidate(path) and wants(path)

    def read(tree: Tree, entries: Iterable[Entry]) -> list[CrdDocument]:
        return [*reader.documents(tree, (entry for entry in entries if is_wanted(entry.path)))]

    differing = [read(tree, (entry for entry in tree.entries() if entry.path not in same)) for tree in trees]
    try:
        known = facts()
    except SourceError:
        return frozenset()  # a failed search may be incomplete; reading the files reports the cause
    changed = [document.crd for side in differing for document in side]
    names = {*crds, *(crd.name for crd in changed)}
    plurals = {crd.plural for crd in changed} | {name.partition(".")[0] for name in names}
    equal = [entry for entry in same.values() if entry.oid in known and is_wanted(entry.path)]
    needed = _with_names(base, [entry for entry in equal if known[entry.oid].may_hold(plurals)], names)
    by_line: dict[str, list[Entry]] = {}
    for entry in _surest_first(equal, known, reader.ships):
        for line in known[entry.oid].annotation_lines:
            by_line.setdefault(line, []).append(entry)

    def annotations(documents: Iterable[CrdDocument]) -> set[tuple[str, str]]:
        return {pair for document in documents for pair in _annotations(document, variants)}

    shown = set.intersection(*map(annotations, differing)) | annotations(read(base, needed))
    if any(is_gate_list(path) and path not in same for tree in trees for path in _paths(tree)):
        needed |= {entry for line, entries in by_line.items() if GATE in line for entry in entries}
    needed |= _representatives(by_line, shown, lambda entries: annotations(read(base, entries)))
    return frozenset(entry.path for entry in equal if entry not in needed)


def _paths(tree: Tree) -> Iterator[str]:
    return (entry.path for entry in tree.entries())


def _surest_first(entries: Iterable[Entry], facts: FactsByBlob, ships: Sequence[str]) -> list[Entry]:
    """The files, those first whose documents count for sure: the payload overrides others of the same CRDs."""
    shipped = {entry.path for entry in entries if is_shipped(entry.path, ships)}
    plurals = {plural for entry in entries if entry.path in shipped for plural in facts[entry.oid].plurals}
    return sorted(
        entries,
        key=lambda entry: (entry.path not in shipped, plurals.issuperset(facts[entry.oid].plurals)),
    )


def _with_names(base: Tree, entries: Sequence[Entry], names: Collection[str]) -> set[Entry]:
    """Those of the files that contain one of these names; a file that is not UTF-8 may contain any."""
    wanted = [name.encode() for name in names]
    read = base.read(entries)
    without = {entry for entry, data in read if not any(name in data for name in wanted) and _is_utf8(data)}
    return set(entries) - without


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeError:
        return False
    return True


def _representatives(
    by_line: Mapping[str, Sequence[Entry]],
    shown: set[tuple[str, str]],
    read: Callable[[Iterable[Entry]], set[tuple[str, str]]],
) -> set[Entry]:
    """For each line that may be an annotation a file that has it, unless every side has ``shown`` it already.

    ``read`` gives the annotations of the CRDs in some files.
    """
    found: set[Entry] = set()
    for attempt in range(_ROUNDS + 1):
        missing = {line: entries for line, entries in by_line.items() if not _is_shown(line, shown)}
        if attempt == _ROUNDS:
            return found.union(*missing.values())
        wanted = {entries[attempt] for entries in missing.values() if attempt < len(entries)}
        found |= wanted
        shown = shown | read(wanted)
    return found


def _annotations(document: CrdDocument, variants: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The annotations of a CRD that count: the first of ``variants`` that it has overrides its channel and the rest."""
    annotations = document.crd.raw["metadata"].get("annotations")
    raw = {str(key): str(value) for key, value in annotations.items()} if isinstance(annotations, dict) else {}
    flavour = next((raw[key] for key in variants if key in raw), None)
    for key, value in raw.items():
        if flavour is None or value == flavour or key not in (CHANNEL, *variants):
            yield key, value


def _is_shown(line: str, shown: set[tuple[str, str]]) -> bool:
    """Whether a line is exactly an annotation in ``shown``; any other line may mean anything."""
    found = _ANNOTATION.fullmatch(line)
    return found is not None and (found["key"], found["value"]) in shown
