"""The report of verify as lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.models.verification import Outcome
from crdcompat.render.wording.findings import crd_name, plural, problem_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.models.verification import VerificationReport, VerifiedFinding
    from crdcompat.render.escape import Style

_COLOURS = {Outcome.REFUTED: "error", Outcome.NOT_TESTABLE: "warning", Outcome.CONFIRMED: "good"}


def verify_text(report: VerificationReport, style: Style) -> Iterator[str]:
    """All lines of the report; a quiet one has only the refuted findings."""
    count = plural(len(report.findings), "finding")
    yield style.paint(f"{count} of {report.file}, put to {report.context} (Kubernetes {report.server})", "bold")
    for problem in report.problems:
        yield problem_line(problem, style)
    for item in report.findings:
        if style.verbosity >= 0 or item.outcome == Outcome.REFUTED:
            yield from _finding(item, style)
    counted = report.by_outcome()
    worst = next((outcome for outcome, count in counted.items() if count), Outcome.CONFIRMED)
    tally = ", ".join(f"{counted[outcome]} {outcome}" for outcome in reversed(Outcome))
    yield f"{style.paint(tally, _COLOURS[worst])}."


def _finding(item: VerifiedFinding, style: Style) -> Iterator[str]:
    outcome = style.paint(item.outcome, _COLOURS[item.outcome])
    claim = item.claim
    yield f"{outcome}  {claim.direction} {claim.rule} {crd_name(claim.crd, claim.version)} {claim.path}  {claim.id}"
    if item.reason:
        yield style.wrap(item.reason, indent="    ")
    for line in item.said:
        yield style.wrap(f"API server: {line}", indent="    ")
