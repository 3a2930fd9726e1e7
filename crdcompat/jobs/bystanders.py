"""Files that are the same on every side: which of them a comparison must read all the same.

Such a file makes no difference by itself. It matters where it holds another variant of a CRD that does differ, and
where it tells of a context that the tree has. git finds the lines that say so without anything being parsed; the
files they stand in are read, and only what is read counts. All others are left out, however many there are. What is
in UTF-16 git cannot search: files with its byte order mark are read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence

from crdcompat.errors import SourceError
from crdcompat.jobs.quick import unchanged
from crdcompat.manifests.contexts import CHANNEL, FEATURE_SET, PROFILE
from crdcompat.manifests.crdset import CrdDocument, CrdReader
from crdcompat.manifests.lookout import FOLDERS_ELSEWHERE, may_hold_crds
from crdcompat.sources.encoding import WIDE_MARKS
from crdcompat.sources.git import GitTree, grep
from crdcompat.sources.tree import Entry, Tree

#: So many names are searched for one by one. Beyond, the lines of this key are, which every CRD has: its name begins
#: with the value.
_FEW, _PLURAL = 8, "plural"
_PLURAL_LINE = re.compile(r"""\s*(?:-\s+)?["']?plural["']?\s*:\s*["']?([a-z0-9-]+)["']?\s*,?\s*""")
_ANNOTATION = re.compile(r"""\s*["']?(?P<key>[^\s"':]+)["']?\s*:\s*(?P<quote>["']?)(?P<value>.*?)(?P=quote)\s*,?\s*""")
#: What stands in a line for bytes that are no UTF-8.
_NOT_UTF8 = "\ufffd"
#: Files that say the same are tried in so many rounds; then all of them are read.
_ROUNDS = 3


def unread(
    trees: Sequence[Tree],
    reader: CrdReader,
    wants: Callable[[str], bool],
    crds: Iterable[str] = (),
    variants: Iterable[str] = (),
) -> frozenset[str]:
    """The paths of files that are the same in all ``trees`` and that no comparison of these needs.

    ``crds`` are names that are needed whatever differs, ``variants`` more annotations that tell variants apart.
    Only commits can be searched: nothing is left out where the first tree is none. Raises SourceError.
    """
    base = trees[0]
    if not isinstance(base, GitTree):
        return frozenset()
    same = unchanged(trees)

    def read(tree: Tree, entries: Iterable[Entry]) -> list[CrdDocument]:
        return [*reader.documents(tree, (e for e in entries if may_hold_crds(e.path) and wants(e.path)))]

    differing = [read(tree, (entry for entry in tree.entries() if entry.path not in same)) for tree in trees]
    names = {*crds, *(document.crd.name for side in differing for document in side)}
    words = sorted(names) if len(names) <= _FEW else [_PLURAL]
    marks = (FEATURE_SET, PROFILE, CHANNEL, *variants)
    needed: set[Entry] = set()
    telling: dict[str, list[Entry]] = {}
    try:
        wanted = (*words, *marks, *map(os.fsdecode, WIDE_MARKS))
        lines = list(grep(base, wanted, leaving_out=FOLDERS_ELSEWHERE))
    except SourceError:
        return frozenset()  # a search that failed has missed something: whoever reads the files meets the reason
    for path, line in lines:
        entry = same.get(path)
        if entry is None:
            continue
        if _NOT_UTF8 in line or (any(word in line for word in words) and _may_name(line, names)):
            needed.add(entry)
        if any(mark in line for mark in marks):
            telling.setdefault(line.strip(), []).append(entry)
    told = set.intersection(*map(_annotations, differing)) | _annotations(read(base, needed))
    needed |= _witnesses(telling, told, lambda entries: read(base, entries))
    return frozenset(same.keys() - {entry.path for entry in needed})


def _may_name(line: str, names: set[str]) -> bool:
    """Whether a line may be that of a CRD of these names."""
    if len(names) <= _FEW:
        return True
    found = _PLURAL_LINE.fullmatch(line)
    return found is None or any(name.startswith(f"{found[1]}.") for name in names)


def _witnesses(
    telling: dict[str, list[Entry]],
    told: set[tuple[str, str]],
    read: Callable[[Iterable[Entry]], Iterable[CrdDocument]],
) -> set[Entry]:
    """For each line that an annotation may stand in, a file where one does, unless every side has been told it."""
    found: set[Entry] = set()
    for attempt in range(_ROUNDS + 1):
        open_ = {line: entries for line, entries in telling.items() if not _is_told(line, told)}
        if attempt == _ROUNDS:
            return found.union(*open_.values())
        wanted = {entries[attempt] for entries in open_.values() if attempt < len(entries)}
        found |= wanted
        told = told | _annotations(read(wanted))
    return found


def _annotations(documents: Iterable[CrdDocument]) -> set[tuple[str, str]]:
    raw = (document.crd.raw["metadata"].get("annotations") for document in documents)
    return {(str(key), str(value)) for notes in raw if isinstance(notes, dict) for key, value in notes.items()}


def _is_told(line: str, told: set[tuple[str, str]]) -> bool:
    """Whether a line is nothing but an annotation that was told; of any other line nobody knows what it says."""
    found = _ANNOTATION.fullmatch(line)
    return found is not None and (found["key"], found["value"]) in told
