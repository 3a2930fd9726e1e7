"""A simulation report as lines of text."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import orjson

from crdcompat.policy.findings import listed
from crdcompat.report.text_diff import many, place, problem_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.report.model import Release
    from crdcompat.report.simulation_model import RejectedCause, SimulatedObject, SimulationReport
    from crdcompat.report.style import Style

_MOST_OBJECTS = 20
_COLOUR = {"rejected": "error", "unknown": "warning", "loses-data": "info", "accepted": "good"}
#: What each verdict on a repair says.
REPAIRS = {
    "main": "a single write to the object without the bad values is accepted; as a merge patch",
    "status": "a single write to /status without the bad values is accepted; as a merge patch (--subresource=status)",
    "deadlock": "no single write is accepted: widen the old CRD by these values, or delete and recreate the object",
    "unknown": "what would repair it depends on the Kubernetes version",
}


def simulation_text(report: SimulationReport, style: Style) -> Iterator[str]:
    """All lines of the report."""
    reader = judging(report)
    server = f"Kubernetes {reader.kubernetes}" if reader.kubernetes else "Kubernetes version unknown"
    yield style.paint(f"{replay_title(report)} ({server})", "bold")
    for note in (*report.old.notes, *report.new.notes, *report.notes):
        yield style.paint(f"  {note}", "warning") if note.startswith("warning: ") else f"  note: {note}"
    for problem in report.problems:
        yield problem_line(problem, style)
    worst = [item for item in report.objects if item.worst != "accepted"]
    worst.sort(key=lambda item: ("rejected", "unknown", "loses-data").index(item.worst))
    shown = worst if style.verbosity > 0 else worst[:_MOST_OBJECTS]
    for item in shown if style.verbosity >= 0 else ():
        yield ""
        yield from object_lines(item, style)
    if len(shown) < len(worst):
        yield ""
        yield f"and {len(worst) - len(shown)} more objects (-v shows all)"
    yield from _causes(report, style)
    yield ""
    yield from _footer(report, style)


def object_lines(item: SimulatedObject, style: Style) -> Iterator[str]:
    """One object: every kind of write with its verdict, and what would repair it."""
    yield f"{style.paint(item.label, 'path')}  ({item.crd}/{item.version}, {item.source})"
    for name, write in item.writes.items():
        note = f"  {write.note}" if write.note else ""
        yield f"  {name:<23} {style.paint(write.verdict, _COLOUR[write.verdict])}{note}"
    messages = dict.fromkeys(write.message for write in item.writes.values() if write.message)
    for message in messages if style.verbosity > 0 else list(messages)[:1]:
        yield style.wrap(message, indent="      ", first="  API server: ")
    if item.pruned:
        yield style.wrap(
            f"lost with the next accepted write: {', '.join(item.pruned)}",
            indent="    ",
            first="  ",
        )
    verdict = item.repair["verdict"]
    if verdict != "not-needed":
        yield style.wrap(REPAIRS[verdict], indent="    ", first="  repair: ")
        if item.repair["patch"]:
            yield f"    {orjson.dumps(item.repair['patch']).decode()}"
        if item.repair.get("note"):
            yield f"    {item.repair['note']}"


def _causes(report: SimulationReport, style: Style) -> Iterator[str]:
    """Summed up: how many objects hold what, and the two ways out."""
    if not report.causes:
        return
    reader = judging(report)
    yield ""
    yield style.paint(f"What {reader.name} rejects, by field", "bold")
    for cause in report.causes if style.verbosity > 0 else report.causes[:_MOST_OBJECTS]:
        yield style.wrap(cause_line(cause), indent="    ", first="  ")
        yield style.wrap(cause_way_out(cause, reader), indent="      ", first="    ")


def cause_way_out(cause: RejectedCause, reader: Release) -> str:
    """What to do about it: a write, or a wider schema in the judging release."""
    endpoint = "/status" if cause.endpoint == "status" else "the object itself"
    where = f", or widen {place(cause.location)} of {reader.name}" if cause.location is not None else ""
    verb = "set it" if cause.type == "FieldValueRequired" else "take it out"
    return f"{verb} by a write to {endpoint}{where}"


def cause_line(cause: RejectedCause) -> str:
    """How many objects hold what is rejected."""
    where, share = cause.path or "the root", f"{cause.objects} of {cause.total} {cause.kind}"
    if cause.type == "FieldValueRequired":
        return f"{share}: {where} is missing, and required"
    if cause.values:
        return f"{share}: {where} holds {listed(cause.values)}"
    return f"{share}: what {where} holds is rejected ({cause.type})"


def replay_title(report: SimulationReport) -> str:
    """What was replayed on how much."""
    old, new = report.old.name, report.new.name
    what = f"Rollback {new} -> {old}" if report.direction == "rollback" else f"Upgrade {old} -> {new}"
    return f"{what} replayed on {many(len(report.objects), 'recorded object')}"


def judging(report: SimulationReport) -> Release:
    """The release whose server judges."""
    return report.old if report.direction == "rollback" else report.new


def verdict_tally(report: SimulationReport) -> str:
    """``2 rejected, 5 accepted``; ``none`` without objects."""
    return ", ".join(f"{count} {verdict}" for verdict, count in report.by_verdict().items() if count) or "none"


def _footer(report: SimulationReport, style: Style) -> Iterator[str]:
    counted = report.by_verdict()
    colour = next((_COLOUR[verdict] for verdict, count in counted.items() if count), "good")
    yield f"{style.paint(f'Objects by their worst write: {verdict_tally(report)}', colour)}."
    if report.not_simulated:
        reasons = Counter(item.reason for item in report.not_simulated)
        yield f"Not simulated: {len(report.not_simulated)}"
        for reason, count in reasons.most_common():
            example = next(item for item in report.not_simulated if item.reason == reason)
            named = f", e.g. {example.object or example.source}"
            yield style.wrap(f"{count}: {reason}{named}", indent="    ", first="  ")
    yield f"Skipped {many(len(report.skipped), 'file')}, {many(len(report.problems), 'problem')}."
