"""The number of findings of each rule, severity and owner; the largest number comes first."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from crdcompat.findings.entries import entries
from crdcompat.findings.rules import rule
from crdcompat.models.check import CheckReport
from crdcompat.render.escape import Style, finish
from crdcompat.render.text.text_page import blocks_text
from crdcompat.render.wording.check import trust_lines
from crdcompat.render.wording.entry_sentences import counted
from crdcompat.render.wording.findings import problem_line
from crdcompat.render.wording.verdict import counts_line, verdicts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.models.diff import DiffReport
    from crdcompat.models.finding import Finding

NAME, KINDS = "statistics", ("diff", "check")


def render(report: DiffReport | CheckReport, style: Style) -> str:
    """The table, the problems, and the verdicts."""
    return "".join(f"{line}\n" for line in finish(_lines(report, style)))


def _lines(report: DiffReport | CheckReport, style: Style) -> Iterator[str]:
    yield from (style.title(line, "warning") for line in trust_lines(report))
    counted_once: dict[tuple[str, str], Finding] = {}
    for each in report.findings:  # a check has a finding in several comparisons: its worst severity counts
        worst = counted_once.get((each.id, each.direction))
        if each.counts and (worst is None or each.severity.rank < worst.severity.rank):
            counted_once[each.id, each.direction] = each
    rows = Counter((each.severity, each.rule, each.direction, each.owner) for each in counted_once.values())
    ranked = sorted(rows.items(), key=lambda row: (row[0][0].rank, -row[1], row[0][1:]))
    width = max((len(name) for _, name, *_ in rows), default=0)
    for (severity, name, direction, owner), count in ranked:
        shown = style.paint(f"{severity:<8}", severity)
        yield f"{count:>6}  {shown} {name:<{width}}  {direction:<8}  {owner:<8}  {rule(name).title}"
    if undecided := _undecided(report):
        yield f"{undecided:>6}  undecided"
    yield from blocks_text(map(problem_line, report.problems), style)
    if isinstance(report, CheckReport) and report.has_nothing:
        yield "no CRD changed: nothing to check"
        return
    for verdict in verdicts(report, entries(report)):
        yield verdict.sentence
    yield f"{counted(report)}." if isinstance(report, CheckReport) else counts_line(report)


def _undecided(report: DiffReport | CheckReport) -> int:
    parts = [each.report for each in report.sections] if isinstance(report, CheckReport) else [report]
    return sum(len(part.undecided) for part in parts)
