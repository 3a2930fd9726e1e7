"""The quick answers of ``check``: nothing changed that can contain a CRD, or no CRD did.

Most changes touch no CRD and should not wait: neither the YAML parser nor the comparison is imported here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from crdcompat.errors import SourceError
from crdcompat.features.check.accepted import markers_ahead
from crdcompat.features.check.base import EMPTY, Change, base_commit
from crdcompat.features.check.marker_notes import added_markers
from crdcompat.features.check.opened import open_sides
from crdcompat.golang.packages import is_go_types
from crdcompat.models.check import CheckReport
from crdcompat.models.release import Release
from crdcompat.prefilter.candidates import is_candidate, may_matter
from crdcompat.sources.differing import Difference, names_files, read_index
from crdcompat.sources.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from crdcompat.features.check.changed import Changed
    from crdcompat.sources.tree import Tree


def nothing_to_check(why: str, head: str = "nothing") -> CheckReport:
    """The report without sections, with the reason."""
    return CheckReport(Release(head, None, None), (), (f"{why}: nothing to check",))


def no_crd_changed(
    change: Change, base: str | None, after: Tree, repo: str | None, what: str = "no CRD changed"
) -> CheckReport:
    """The report on files that changed since the commit ``base``, but no CRD (or ``what``). Raises SourceError."""
    report = _compared(change, base, what)
    if after.name == "index:" and any(map(is_candidate, read_index(Repository(repo)).changed())):
        return replace(
            report, notes=(*report.notes, "changes that are not staged do not count: --head worktree: counts them")
        )
    return report


def quick_by_names(
    change: Change, differences: Sequence[Difference], wants: Callable[[str], bool], repo: str | None
) -> CheckReport | None:
    """The report if no candidate is among the ``differences``; None if the names do not decide."""
    repository = Repository(repo)
    if change.old == EMPTY or change.new == "worktree:":  # git does not list new files
        return None
    if any(each.is_conflict or each.names_files for each in differences):
        return None
    names = [each.path for each in differences if not each.is_submodule]
    try:
        base = base_commit(change, repository)
        if _any_candidate(names, wants) or names_files(repository, base):  # any file can be a candidate then
            return None
        if change.new == "index:":
            staged = read_index(repository)
            if staged.has_links or _any_candidate(staged.changed(), wants):
                return None
        report = _compared(change, base)
        return with_markers(report, open_sides(change, repo)) if any(map(is_go_types, names)) else report
    except SourceError:  # the full comparison reports it
        return None


def with_markers(report: CheckReport, sides: tuple[Tree, Tree]) -> CheckReport:
    """A report without findings, with the waivers that the change adds to the Go source. Raises SourceError."""
    return replace(report, rules=(*report.rules, *markers_ahead(added_markers(sides), ())))


def _any_candidate(names: Iterable[str], wants: Callable[[str], bool]) -> bool:
    return any(may_matter(name) and wants(name) for name in names)


def quick_by_contents(change: Change, changed: Changed, repo: str | None) -> CheckReport | None:
    """The report if no file that differs between the sides of the change can contain a CRD; else None.

    Raises SourceError.
    """
    if changed.touches():
        return None
    before, after = changed.trees
    report = no_crd_changed(change, before.commit, after, repo)
    return replace(report, unseen=changed.unseen(), files=changed.files())


def _compared(change: Change, base: str | None, what: str = "no CRD changed") -> CheckReport:
    return nothing_to_check(f"{change.compared_with(base)}, {what}", change.new)
