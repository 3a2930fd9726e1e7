"""Which of the files that are the same on every side a comparison must read all the same.

Such a file makes no difference by itself. It matters if it holds another variant of a CRD that differs, or if it is
the one that shows a context of the tree. The facts of its lines say so without it being parsed; whatever they leave
open is read. A CRD whose name does not begin with its plural, which no API server accepts, is not found by its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from crdcompat.crds.reader import CrdDocument, CrdReader
from crdcompat.crds.variants import CHANNEL
from crdcompat.errors import SourceError
from crdcompat.prefilter.candidates import is_candidate, unchanged
from crdcompat.prefilter.collect import PendingFacts
from crdcompat.sources.tree import Entry, Tree

_ANNOTATION = re.compile(r"""\s*["']?(?P<key>[^\s"':]+)["']?\s*:\s*(?P<quote>["']?)(?P<value>.*?)(?P=quote)\s*,?\s*""")
#: Files with the same line are tried one by one in so many rounds; then all of them are read.
_ROUNDS = 3


def unneeded_files(
    trees: Sequence[Tree],
    reader: CrdReader,
    wants: Callable[[str], bool],
    facts: PendingFacts,
    crds: Iterable[str] = (),
    variants: Sequence[str] = (),
) -> frozenset[str]:
    """The paths of files that are the same in all ``trees`` and that no comparison of these needs.

    ``facts`` are of the files that are the same in some of the trees, the first among them: a file without facts is
    needed. ``crds`` are names that are needed whatever differs, ``variants`` more annotations that tell variants
    apart. Raises SourceError.
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
        return frozenset()  # a failed search may have missed something; reading the files meets the reason
    changed = [document.crd for side in differing for document in side]
    names = {*crds, *(crd.name for crd in changed)}
    plurals = {crd.plural for crd in changed} | {name.partition(".")[0] for name in names}
    alike = [entry for entry in same.values() if entry.oid in known and is_wanted(entry.path)]
    needed = _with_names(base, [entry for entry in alike if known[entry.oid].may_hold(plurals)], names)
    by_line: dict[str, list[Entry]] = {}
    for entry in alike:
        for line in known[entry.oid].annotation_lines:
            by_line.setdefault(line, []).append(entry)

    def annotations(documents: Iterable[CrdDocument]) -> set[tuple[str, str]]:
        return {pair for document in documents for pair in _annotations(document, variants)}

    shown = set.intersection(*map(annotations, differing)) | annotations(read(base, needed))
    needed |= _representatives(by_line, shown, lambda entries: annotations(read(base, entries)))
    return frozenset(entry.path for entry in alike if entry not in needed)


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
    """Whether a line is nothing but an annotation in ``shown``; any other line may say anything."""
    found = _ANNOTATION.fullmatch(line)
    return found is not None and (found["key"], found["value"]) in shown
