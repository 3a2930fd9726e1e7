"""What files of a commit tell without being parsed: remembered from earlier runs, else looked for in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from crdcompat.cache import MOST_BLOBS, recall, remember
from crdcompat.jobs.quick import unchanged
from crdcompat.manifests.contexts import CHANNEL, FEATURE_SET, PROFILE
from crdcompat.manifests.lookout import FOLDERS_ELSEWHERE, may_hold_crds
from crdcompat.manifests.telltale import WORDS, Telltale, telling_lines, told_by
from crdcompat.sources.git import GitTree, grep
from crdcompat.sources.tree import Entry, Tree

#: So many files that are new since an earlier run are read one by one; beyond, git searches the whole commit.
_FEW = 8

#: What blobs tell, by their ids.
ByBlob = dict[str | None, Telltale]
Telltales = Callable[[], ByBlob]


def all_needed() -> ByBlob:
    """Tell nothing: then every file is needed."""
    return {}


def telltales(trees: Sequence[Tree], variants: Iterable[str] = (), *, cached: bool) -> Telltales:
    """Find out what the files tell that are the same in all ``trees``; ``variants`` tell variants apart, too.

    git searches beside what the caller does next; what is given waits for it, and raises SourceError where something
    could not be searched. ``cached``: what earlier runs found is taken and added to. Raises SourceError.
    """
    base, annotations = trees[0], (FEATURE_SET, PROFILE, CHANNEL, *variants)
    if not isinstance(base, GitTree):  # nothing else can be searched
        return all_needed
    entries = [entry for entry in unchanged(trees).values() if may_hold_crds(entry.path)]
    question = " ".join(annotations)
    cached = cached and len(entries) <= MOST_BLOBS
    known = _known(question) if cached else {}
    unknown = [entry for entry in entries if entry.oid not in known]
    if len(unknown) > min(len(known), _FEW):
        look = _search(base, unknown, annotations)
    else:
        look = partial(_open, base, unknown, annotations)

    def found() -> ByBlob:
        fresh = look()
        of_all = {entry.oid: known.get(entry.oid) or fresh[entry.oid] for entry in entries}
        if cached and fresh:
            remember(question, {oid: [t.plurals, t.groups, t.notes, t.is_open] for oid, t in of_all.items() if oid})
        return of_all

    return found


def _known(question: str) -> ByBlob:
    return {oid: Telltale(*row) for oid, row in recall(question).items() if _is_row(row)}


def _is_row(row: Any) -> bool:
    return isinstance(row, list) and [type(part) for part in row] == [list, list, list, bool]


def _open(base: GitTree, entries: Sequence[Entry], annotations: tuple[str, ...]) -> ByBlob:
    told: ByBlob = {entry.oid: Telltale(is_open=True) for entry in entries}  # what is too large to be read stays so
    for entry, data in base.read(entries):
        told[entry.oid] = told_by(telling_lines(data, annotations), annotations)
    return told


def _search(base: GitTree, entries: Sequence[Entry], annotations: tuple[str, ...]) -> Telltales:
    oids = {entry.path: entry.oid for entry in entries}
    told: dict[str | None, list[str]] = {entry.oid: [] for entry in entries}
    search = grep(base, (*WORDS, *annotations), leaving_out=FOLDERS_ELSEWHERE)

    def found() -> ByBlob:
        for path, line in search():
            if path in oids:
                told[oids[path]].append(line)
        return {oid: told_by(lines, annotations) for oid, lines in told.items()}

    return found
