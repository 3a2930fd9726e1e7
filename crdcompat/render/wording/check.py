"""The title of a section of a check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.models.check import Section
from crdcompat.render.wording.findings import fix_line
from crdcompat.vocabulary import Against, Severity

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
    return [
        f"To fix it: {fix_line(worst.finding)}",
        f"To accept it, then git add the waiver file: {waive_command(worst.ids)}",
    ]


def waive_command(ids: Sequence[str], report: str = "") -> str:
    """The command that accepts findings; ``report`` is the JSON report that has them, unless a check does."""
    source = f"--report {report} " if report else ""
    return f'crdcompat waive {" ".join(ids)} {source}--reason "…"'


def section_title(section: Section) -> str:
    """``What this change does``, or which rollback target it is compared with."""
    return (
        "What this change does"
        if section.against == Against.BASE
        else f"Against the rollback target {section.report.old.title}"
    )
