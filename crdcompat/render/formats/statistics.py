"""Findings counted by rule, severity and owner, the most frequent first: what is there to do, and how much of it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from crdcompat.findings.entries import entries
from crdcompat.findings.rules import rule
from crdcompat.models.check import CheckReport
from crdcompat.render.escape import Style, finish
from crdcompat.render.wording.entries import counted
from crdcompat.render.wording.findings import problem_line
from crdcompat.render.wording.verdict import counts_line, verdicts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.models.diff import DiffReport

NAME, KINDS = "statistics", ("diff", "check")


def render(report: DiffReport | CheckReport, style: Style) -> str:
    """The table, the problems, and the verdicts."""
    return "".join(f"{line}\n" for line in finish(_lines(report, style)))


def _lines(report: DiffReport | CheckReport, style: Style) -> Iterator[str]:
    found = {(finding.id, finding.direction): finding for finding in reversed(report.findings) if finding.counts}
    rows = Counter((each.severity, each.rule, each.direction, each.owner) for each in found.values())
    ranked = sorted(rows.items(), key=lambda row: (row[0][0].rank, -row[1], row[0][1:]))
    width = max((len(name) for _, name, *_ in rows), default=0)
    for (severity, name, direction, owner), count in ranked:
        shown = style.paint(f"{severity:<8}", severity)
        yield f"{count:>6}  {shown} {name:<{width}}  {direction:<8}  {owner:<8}  {rule(name).title}"
    if undecided := _undecided(report):
        yield f"{undecided:>6}  undecided"
    for problem in report.problems:
        yield problem_line(problem, style)
    for verdict in verdicts(report, entries(report)):
        yield verdict.sentence
    yield f"{counted(report)}." if isinstance(report, CheckReport) else counts_line(report)


def _undecided(report: DiffReport | CheckReport) -> int:
    parts = [each.report for each in report.sections] if isinstance(report, CheckReport) else [report]
    return sum(len(part.undecided) for part in parts)
