"""Files that are the same on every side: which of them a comparison must read all the same.

Such a file makes no difference by itself. It matters where it holds another variant of a CRD that does differ, and
where it tells of a context that the tree has. Its lines say so without anything being parsed, and what they say is
remembered by blob id; the files are read, and only what is read counts. All others are left out, however many there
are. A CRD whose name does not begin with its plural, which no server takes, is not looked for by its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from crdcompat.errors import SourceError
from crdcompat.jobs.quick import unchanged
from crdcompat.jobs.telltales import Telltales
from crdcompat.manifests.contexts import CHANNEL
from crdcompat.manifests.crdset import CrdDocument, CrdReader
from crdcompat.manifests.lookout import may_hold_crds
from crdcompat.sources.tree import Entry, Tree

_ANNOTATION = re.compile(r"""\s*["']?(?P<key>[^\s"':]+)["']?\s*:\s*(?P<quote>["']?)(?P<value>.*?)(?P=quote)\s*,?\s*""")
#: Files that say the same are tried in so many rounds; then all of them are read.
_ROUNDS = 3


def unread(
    trees: Sequence[Tree],
    reader: CrdReader,
    wants: Callable[[str], bool],
    telltales: Telltales,
    crds: Iterable[str] = (),
    variants: Sequence[str] = (),
) -> frozenset[str]:
    """The paths of files that are the same in all ``trees`` and that no comparison of these needs.

    ``telltales`` tell of the files that are the same in some of the trees, the first among them: a file that is not
    told of is needed. ``crds`` are names that are needed whatever differs, ``variants`` more annotations that tell
    variants apart. Raises SourceError.
    """
    base, same = trees[0], unchanged(trees)

    def eligible(path: str) -> bool:
        return may_hold_crds(path) and wants(path)

    def read(tree: Tree, entries: Iterable[Entry]) -> list[CrdDocument]:
        return [*reader.documents(tree, (entry for entry in entries if eligible(entry.path)))]

    differing = [read(tree, (entry for entry in tree.entries() if entry.path not in same)) for tree in trees]
    try:
        told_by = telltales()
    except SourceError:
        return frozenset()  # a search that failed has missed something: whoever reads the files meets the reason
    changed = [document.crd for side in differing for document in side]
    names = {*crds, *(crd.name for crd in changed)}
    plurals = {crd.plural for crd in changed} | {name.partition(".")[0] for name in names}
    alike = [entry for entry in same.values() if entry.oid in told_by and eligible(entry.path)]
    needed = _with_names(base, [entry for entry in alike if told_by[entry.oid].may_hold(plurals)], names)
    telling: dict[str, list[Entry]] = {}
    for entry in alike:
        for line in told_by[entry.oid].notes:
            telling.setdefault(line, []).append(entry)

    def annotations(documents: Iterable[CrdDocument]) -> set[tuple[str, str]]:
        return {pair for document in documents for pair in _annotations(document, variants)}

    told = set.intersection(*map(annotations, differing)) | annotations(read(base, needed))
    needed |= _witnesses(telling, told, lambda entries: annotations(read(base, entries)))
    return frozenset(entry.path for entry in alike if entry not in needed)


def _with_names(base: Tree, entries: Sequence[Entry], names: Collection[str]) -> set[Entry]:
    """Those of the files in which one of these names stands; what is not in UTF-8 may hold and tell anything."""
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


def _witnesses(
    telling: Mapping[str, Sequence[Entry]],
    told: set[tuple[str, str]],
    read: Callable[[Iterable[Entry]], set[tuple[str, str]]],
) -> set[Entry]:
    """For each line that an annotation may stand in, a file where one does, unless every side has been told it."""
    found: set[Entry] = set()
    for attempt in range(_ROUNDS + 1):
        open_ = {line: entries for line, entries in telling.items() if not _is_told(line, told)}
        if attempt == _ROUNDS:
            return found.union(*open_.values())
        wanted = {entries[attempt] for entries in open_.values() if attempt < len(entries)}
        found |= wanted
        told = told | read(wanted)
    return found


def _annotations(document: CrdDocument, variants: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The annotations of a CRD that count: the first that tells its flavour goes over its channel and the others."""
    notes = document.crd.raw["metadata"].get("annotations")
    raw = {str(key): str(value) for key, value in notes.items()} if isinstance(notes, dict) else {}
    flavour = next((raw[key] for key in variants if key in raw), None)
    for key, value in raw.items():
        if flavour is None or value == flavour or key not in (CHANNEL, *variants):
            yield key, value


def _is_told(line: str, told: set[tuple[str, str]]) -> bool:
    """Whether a line is nothing but an annotation that was told; of any other line nobody knows what it says."""
    found = _ANNOTATION.fullmatch(line)
    return found is not None and (found["key"], found["value"]) in told
