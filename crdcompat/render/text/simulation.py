"""A simulation report as lines of text."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from crdcompat.render.wording.findings import plural, problem_line
from crdcompat.render.wording.simulation import (
    VERDICT_COLOURS,
    cause_fix,
    cause_line,
    judging,
    object_lines,
    replay_title,
    unrecorded_line,
    verdict_tally,
)
from crdcompat.vocabulary.writes import WriteResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.models.simulation import SimulationReport
    from crdcompat.render.escape import Style

_MAX_OBJECTS = 20
_MAX_KINDS = 3


def simulation_text(report: SimulationReport, style: Style) -> Iterator[str]:
    """All lines of the report."""
    reader = judging(report)
    server = f"Kubernetes {reader.kubernetes}" if reader.kubernetes else "Kubernetes version unknown"
    yield style.paint(f"{replay_title(report)} ({server})", "bold")
    for note in (*report.old.notes, *report.new.notes, *report.notes):
        yield style.paint(f"  {note}", "warning") if note.startswith("warning: ") else f"  note: {note}"
    for problem in report.problems:
        yield problem_line(problem, style)
    worst = [item for item in report.objects if item.worst != WriteResult.ACCEPTED]
    worst.sort(key=lambda item: ("rejected", "unknown", "loses-data").index(item.worst))
    shown = worst if style.verbosity > 0 else worst[:_MAX_OBJECTS]
    for item in shown if style.verbosity >= 0 else ():
        yield ""
        yield from object_lines(item, style)
    if len(shown) < len(worst):
        yield ""
        yield f"and {len(worst) - len(shown)} more objects (-v shows all)"
    yield from _causes(report, style)
    yield ""
    yield from _footer(report, style)


def _causes(report: SimulationReport, style: Style) -> Iterator[str]:
    """Rejected values by field: number of objects, and the fix."""
    if not report.causes:
        return
    reader = judging(report)
    yield ""
    yield style.paint(f"What {reader.name} rejects, by field", "bold")
    for cause in report.causes if style.verbosity > 0 else report.causes[:_MAX_OBJECTS]:
        yield style.wrap(cause_line(cause), indent="    ", first="  ")
        yield style.wrap(cause_fix(cause, reader), indent="      ", first="    ")


def _footer(report: SimulationReport, style: Style) -> Iterator[str]:
    counted = report.by_verdict()
    colour = next((VERDICT_COLOURS[verdict] for verdict, count in counted.items() if count), "good")
    yield f"{style.paint(f'Objects by their worst write: {verdict_tally(report)}', colour)}."
    if report.unrecorded:
        most = len(report.unrecorded) if style.verbosity > 0 else _MAX_KINDS
        yield style.wrap(f"Unknown: {unrecorded_line(report.unrecorded, most)}.", indent="    ", first="")
    if report.not_simulated:
        reasons = Counter(item.reason for item in report.not_simulated)
        yield f"Not simulated: {len(report.not_simulated)}"
        for reason, count in reasons.most_common():
            example = next(item for item in report.not_simulated if item.reason == reason)
            named = f", e.g. {example.object or example.source}"
            yield style.wrap(f"{count}: {reason}{named}", indent="    ", first="  ")
    yield f"Skipped {plural(len(report.skipped), 'file')}, {plural(len(report.problems), 'problem')}."
