"""The quick answer of check: does the change touch any CRD at all? Most commits do not, and must not wait for it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from crdcompat.errors import SourceError
from crdcompat.jobs.change import EMPTY
from crdcompat.manifests.lookout import may_hold_crds
from crdcompat.report.check_model import CheckReport
from crdcompat.report.model import Release
from crdcompat.sources.differing import between_commits, since_commit, unstaged
from crdcompat.sources.refs import is_commit_id, resolve
from crdcompat.sources.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crdcompat.jobs.change import Change
    from crdcompat.sources.tree import Entry, Tree


def glance(change: Change, wants: Callable[[str], bool], repo: str | None) -> CheckReport | None:
    """The report of a change to no file that could hold a CRD, by names alone; None where that is not known."""
    repository = Repository(repo)
    head = change.new.removeprefix("git:")
    if change.old == EMPTY or head == "worktree:":  # new files are not git's to know
        return None
    try:
        base = change.old.removeprefix("git:")
        base = base if is_commit_id(base) else resolve(repository, base).commit
        if head == "index:":
            listings = [partial(since_commit, repository, base), partial(unstaged, repository)]
        else:
            listings = [partial(between_commits, repository, base, resolve(repository, head).commit)]
        if any(may_hold_crds(path) and wants(path) for listing in listings for path in listing()):
            return None
    except SourceError:  # the careful way says what is wrong
        return None
    return _no_crd(base, change)


def sides(change: Change, repo: str | None) -> tuple[Tree, Tree]:
    """What was there before a change, and what is there after it."""
    from crdcompat.sources import open_source
    from crdcompat.sources.git import GitTree

    base = change.old.removeprefix("git:")
    if is_commit_id(base):  # git has told it
        return GitTree(Repository(repo), change.old, base), open_source(change.new, repo=repo)
    return open_source(change.old, repo=repo), open_source(change.new, repo=repo)


def untouched(
    change: Change, trees: tuple[Tree, Tree], wants: Callable[[str], bool], repo: str | None
) -> CheckReport | None:
    """The report of a change that touches no CRD, ``trees`` its sides; None where there is something to compare."""
    before, after = trees
    if touches_crds(before, after, wants):
        return None
    report = _no_crd(before.commit, change)
    if after.name == "index:" and any(map(may_hold_crds, unstaged(Repository(repo)))):
        return replace(report, notes=(*report.notes, "what is not staged is not looked at: --head worktree:"))
    return report


def _no_crd(base: str | None, change: Change) -> CheckReport:
    return nothing(f"{compared_with(base, change)}, no CRD changed", change.new)


def compared_with(base: str | None, change: Change) -> str:
    """What a change is compared with, the commit ``base`` or nothing, and why with that."""
    return f"compared with {short(base)}" + (f", where it left {change.why}" if change.why else "")


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


def short(commit: str | None) -> str:
    """A commit's id, short; before the first one there is nothing."""
    return commit[:12] if commit else "nothing"
