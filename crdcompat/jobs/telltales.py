"""What files of a commit tell without being parsed: remembered from earlier runs, else looked for in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

from crdcompat.cache import MOST_BLOBS, recall, remember
from crdcompat.jobs.quick import unchanged
from crdcompat.manifests.contexts import CHANNEL, FEATURE_SET, PROFILE
from crdcompat.manifests.lookout import FOLDERS_ELSEWHERE, may_hold_crds
from crdcompat.manifests.telltale import FORM, WORDS, Telltale, telling_lines, told_by
from crdcompat.sources.blobs import read_blobs
from crdcompat.sources.git import GitTree, grep
from crdcompat.sources.tree import Entry, Tree

#: So many files that are new since an earlier run are read one by one; beyond, git searches the whole commit.
_FEW = 8

#: What blobs tell, by their ids.
ByBlob = dict[str | None, Telltale]
Telltales = Callable[[], ByBlob]


def telltales(
    trees: Sequence[Tree], variants: Iterable[str] = (), *, cached: bool, all_needed: bool = False
) -> Telltales:
    """Find out what the files tell that are the same in all ``trees``; ``variants`` tell variants apart, too.

    git searches beside what the caller does next; what is given waits for it, and raises SourceError where something
    could not be searched. ``cached``: what earlier runs found is taken and added to. Nothing is told of any file, so
    that each is needed, where ``all_needed`` says so or the first tree is no commit. Raises SourceError.
    """
    base, annotations = trees[0], (FEATURE_SET, PROFILE, CHANNEL, *variants)
    if all_needed or not isinstance(base, GitTree):
        return dict
    entries = [entry for entry in unchanged(trees).values() if may_hold_crds(entry.path)]
    question = repr((FORM, *annotations))
    cached = cached and len(entries) <= MOST_BLOBS
    known = _known(question) if cached else {}
    unknown = [entry for entry in entries if entry.oid not in known]
    look = (_search if len(unknown) > min(len(known), _FEW) else _open)(base, unknown, annotations)

    def found() -> ByBlob:
        fresh = look()
        told = {entry.oid: known.get(entry.oid) or fresh.get(entry.oid) for entry in entries}
        if cached and fresh:
            remember(question, {oid: [t.plurals, t.notes, t.is_open] for oid, t in told.items() if oid and t})
        return {oid: telltale or Telltale(is_open=True) for oid, telltale in told.items()}

    return found


def _known(question: str) -> ByBlob:
    rows = recall(question)
    return {oid: telltale for oid, row in rows.items() if (telltale := _of_row(row)) is not None}


def _of_row(row: Any) -> Telltale | None:
    """What was remembered of a blob; None for anything else that stands in the file."""
    match row:
        case [list() as plurals, list() as notes, bool() as is_open]:
            with suppress(TypeError):  # something that is no text
                "".join(plurals + notes)
                return Telltale(plurals, notes, is_open)
    return None


def _open(base: GitTree, entries: Sequence[Entry], annotations: tuple[str, ...]) -> Telltales:
    """Read each file; git searches those that are too large to be read."""

    def found() -> ByBlob:
        read = read_blobs(base.repo, entries, [])  # whoever reads them for what is in them tells of problems
        told: ByBlob = {entry.oid: told_by(telling_lines(data, annotations), annotations) for entry, data in read}
        large = [entry for entry in entries if entry.oid not in told and _is_told_apart(entry.path)]
        return told | (_search(base, large, annotations)() if large else {})

    return found


def _search(base: GitTree, entries: Sequence[Entry], annotations: tuple[str, ...]) -> Telltales:
    """Let git search the commit; files whose path it could not tell are read."""
    oids = {entry.path: entry.oid for entry in entries if _is_told_apart(entry.path)}
    search = grep(base, (*WORDS, *annotations), leaving_out=FOLDERS_ELSEWHERE)
    others = _open(base, [entry for entry in entries if entry.path not in oids], annotations)

    def found() -> ByBlob:
        lines: dict[str | None, list[str]] = {oid: [] for oid in oids.values()}
        for path, line in search():
            if path in oids:
                lines[oids[path]].append(line)
        return {oid: told_by(told, annotations) for oid, told in lines.items()} | others()

    return found


def _is_told_apart(path: str) -> bool:
    """Whether the path in a line of git's answer is this one: no line break cuts it, and no escape stands in it."""
    return "\n" not in path and "\\" not in path
