"""The answers of a server to the findings of a report, as a page: how many it confirms, then each finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.models.verification import Outcome, VerificationReport, VerifiedFinding
from crdcompat.render.pages.blocks import Fold, Line, Listing
from crdcompat.render.pages.page import Answer, Page
from crdcompat.render.wording.findings import crd_name, plural

if TYPE_CHECKING:
    from crdcompat.render.escape import Style


def page(report: VerificationReport, style: Style) -> Page:
    """The page; a quiet one has only the refuted findings."""
    counted = report.by_outcome()
    worst = next((outcome for outcome, count in counted.items() if count), Outcome.CONFIRMED)
    tally = ", ".join(f"{counted[outcome]} {outcome}" for outcome in reversed(Outcome))
    count = plural(len(report.findings), "finding")
    put = f"{count} of {report.file}, put to {report.context} (Kubernetes {report.server})"
    shown = [each for each in report.findings if style.verbosity >= 0 or each.outcome == Outcome.REFUTED]
    return Page(
        command="verify",
        answers=(Answer(f"{put}: {tally}.", worst),),
        problems=report.problems,
        body=(Listing(tuple(map(_finding, shown))),),
    )


def _finding(item: VerifiedFinding) -> Line:
    claim = item.claim
    text = (
        f"{item.outcome}  {claim.direction} {claim.rule} {crd_name(claim.crd, claim.version)} {claim.path}  {claim.id}"
    )
    said = (*((item.reason,) if item.reason else ()), *(f"API server: {line}" for line in item.said))
    below = tuple(Line(line, depth=2, hang=0) for line in said)
    return Line(text, part=item.outcome, tone=item.outcome, depth=0, fold=Fold.NEVER, below=below)
