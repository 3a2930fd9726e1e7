"""The title of a section of a check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.models.check import CheckReport, Section
from crdcompat.models.outcome import severities, unjudged
from crdcompat.render.wording.findings import fix_line
from crdcompat.vocabulary import Against, Direction, Severity
from crdcompat.vocabulary.writes import ReleaseVerdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crdcompat.findings.entries import Entry

#: Why an unreleased finding does not fail.
UNRELEASED_REASON = "no rollback target has what it breaks, so it does not fail"


def next_steps(listed: Sequence[Entry]) -> list[str]:
    """What to do about the worst error: fix it, accept it, or read more; nothing without an error."""
    worst = next((entry for entry in listed if entry.finding.counts), None)
    if worst is None or worst.finding.severity != Severity.ERROR:
        return []
    ids = " ".join(worst.ids)
    return [
        f"To fix it: {fix_line(worst.finding)}",
        f'To accept it, then git add the waiver file: crdcompat waive {ids} --reason "…"',
    ]


def check_verdict(report: CheckReport) -> tuple[ReleaseVerdict, str]:
    """The verdict on a change, and ``BLOCKED (rollback to main, release-4.15)`` with what it rests on."""
    ways = [
        f"{direction} {'to' if direction == Direction.ROLLBACK else 'from'} {', '.join(names)}"
        for direction in Direction
        if (names := [each.report.old.title for each in report.sections if _blocks(each, direction)])
    ]
    if ways:
        return ReleaseVerdict.BLOCKED, f"BLOCKED ({'; '.join(ways)})"
    reasons = dict.fromkeys(reason for section in report.sections for reason in unjudged(section.report))
    if reasons:
        first, *others = reasons
        more = f", and {len(others)} more" if others else ""
        return ReleaseVerdict.UNKNOWN, f"UNKNOWN (not judged: {first}{more})"
    result = ReleaseVerdict.AT_RISK if report.by_severity()[Severity.WARNING] else ReleaseVerdict.CLEAN
    compared = " and ".join(dict.fromkeys(section.report.old.title for section in report.sections))
    return result, f"{result.upper()} (compared with {compared})"


def _blocks(section: Section, direction: Direction) -> bool:
    return bool(severities(section.report, direction)[Severity.ERROR])


def section_title(section: Section) -> str:
    """``What this change does``, or which rollback target it is compared with."""
    return (
        "What this change does"
        if section.against == Against.BASE
        else f"Against the rollback target {section.report.old.title}"
    )
