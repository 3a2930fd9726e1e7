"""The quick answer of check: does the change touch any CRD at all? Most commits do not, and must not wait for it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from crdcompat.manifests.lookout import may_hold_crds
from crdcompat.report.model import CheckReport, Release
from crdcompat.sources import open_source
from crdcompat.sources.git import Repository, unstaged_files

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crdcompat.jobs.change import Change
    from crdcompat.sources.tree import Entry, Tree


def sides(change: Change, repo: str | None) -> tuple[Tree, Tree]:
    """What was there before a change, and what is there after it."""
    return open_source(change.old, repo=repo), open_source(change.new, repo=repo)


def untouched(
    change: Change, trees: tuple[Tree, Tree], wants: Callable[[str], bool], repo: str | None
) -> CheckReport | None:
    """The report of a change that touches no CRD, ``trees`` its sides; None where there is something to compare."""
    before, after = trees
    if touches_crds(before, after, wants):
        return None
    report = nothing(f"{compared_with(before, change)}, no CRD changed", after.name)
    if after.name == "index:" and any(map(may_hold_crds, unstaged_files(Repository(repo)))):
        return replace(report, notes=(*report.notes, "what is not staged is not looked at: --head worktree:"))
    return report


def compared_with(before: Tree, change: Change) -> str:
    """What a change is compared with, and why with that."""
    return f"compared with {short(before)}" + (f", where it left {change.why}" if change.why else "")


def nothing(why: str, head: str = "nothing") -> CheckReport:
    """The report of a run that had nothing to check, and ``why``."""
    return CheckReport(Release(head, None, None), (), (f"{why}: nothing to check",))


def touches_crds(before: Tree, after: Tree, wants: Callable[[str], bool]) -> bool:
    """Whether any file that differs may hold a CRD; files that were only moved do not differ. Nothing is parsed."""
    same = unchanged((before, after))
    sides = [
        [
            entry
            for entry in tree.entries()
            if entry.path not in same and may_hold_crds(entry.path) and wants(entry.path)
        ]
        for tree in (before, after)
    ]
    counted = [Counter(entry.oid for entry in entries) for entries in sides]
    for tree, entries in ((before, sides[0]), (after, sides[1])):
        differing = [e for e in entries if e.oid is None or counted[0][e.oid] != counted[1][e.oid]]
        if any(may_hold_crds(entry.path, data) for entry, data in tree.read(differing)) or tree.problems:
            return True
    return False


def unchanged(trees: Sequence[Tree]) -> dict[str, Entry]:
    """The files that are known to be the same, at the same path, in all ``trees``."""
    same = {entry.path: entry for entry in trees[0].entries() if entry.oid is not None}
    for tree in trees[1:]:
        theirs = {entry.path: entry.oid for entry in tree.entries()}
        same = {path: entry for path, entry in same.items() if theirs.get(path) == entry.oid}
    return same


def short(tree: Tree) -> str:
    """The commit of a tree, short, or what it is called."""
    if tree.commit:
        return tree.commit[:12]
    return "nothing" if tree.name == "empty:" else tree.name
