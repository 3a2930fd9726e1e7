"""The origin of a finding: the Go source that generates its schema, and the commit that introduced the line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from crdcompat.compare.result import Judged
from crdcompat.crds.reader import CrdSet
from crdcompat.models.diff import DiffReport
from crdcompat.models.finding import Finding, IntroducedBy, Location
from crdcompat.sources.blame import first_release, introduced, is_ancestor
from crdcompat.sources.refs import release_refs
from crdcompat.sources.repository import Repository
from crdcompat.vocabulary import Side

if TYPE_CHECKING:
    from crdcompat.golang.go_fields import GoTypes


def go_places(types: GoTypes | None, item: Judged) -> tuple[Location, ...]:
    """The marker or field of a change in the newer side's Go source; () if no Go type matches its kind."""
    change = item.change
    if change.of_crd or types is None:
        return ()
    at = change.new_at or change.old_at
    keywords = [step for step in at if isinstance(step, str)]
    keyword = "" if not keywords or at[-2:-1] == ("properties",) else keywords[-1]
    value = next(iter((*change.added, *change.removed)), None)
    group = item.crd.partition(".")[2]
    found = types.place(group, item.version, item.kind, change.path, keyword, value)
    return () if found is None else (Location(Side.NEW, found.file, found.line, found.column, "go"),)


def with_introduced(
    report: DiffReport, change: tuple[str | None, CrdSet], repo: str | None, *, of_index: bool
) -> tuple[DiffReport, tuple[str, ...]]:
    """The report with the commits that introduced the lines of counting findings, and notes on failures.

    ``change`` is the base's commit and the head. A line that the base has, too, marks a removal, and gets no commit.
    ``of_index``: the lines are lines of the index, which no commit contains yet.
    """
    base, new = change
    repository = Repository(repo)
    lines = {finding.id: place for finding in report.findings if (place := _line(finding)) is not None}
    if not lines:
        return report, ()
    contents = dict(new.read(sorted({file for file, _ in lines.values()}))) if of_index else None
    blamed = introduced(repository, new.commit, set(lines.values()), contents)
    commits = {who.commit for who in blamed.lines.values() if who is not None and who.commit}
    commits = {commit for commit in commits if base is None or not is_ancestor(repository, commit, base)}
    refs = release_refs(repository) if commits else {}
    since = {commit: first_release(repository, commit, refs) for commit in sorted(commits)}

    def introduced_by(finding: Finding) -> IntroducedBy | None:
        who = blamed.lines.get(lines[finding.id]) if finding.id in lines else None
        if who is None or (who.commit and who.commit not in since):
            return None
        return IntroducedBy(who.commit or None, who.date or None, who.subject, since.get(who.commit))

    findings = tuple(replace(finding, introduced_by=introduced_by(finding)) for finding in report.findings)
    return replace(report, findings=findings), blamed.notes


def _line(finding: Finding) -> tuple[str, int] | None:
    """File and line on the newer side of a counting finding; None if there is none."""
    newer = (place for place in finding.locations if place.side == Side.NEW and place.kind == "yaml")
    return next(((place.file, place.line) for place in newer if finding.counts and place.line is not None), None)
