"""A simulation report as lines of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import orjson

from crdcompat.policy.findings import listed
from crdcompat.report.model import SimulatedObject, SimulationReport
from crdcompat.report.style import Style, harmless
from crdcompat.report.text_diff import place, problem_line

_MOST_OBJECTS = 20
_COLOUR = {"rejected": "error", "unknown": "warning", "loses-data": "info", "accepted": "good"}
_REPAIRS = {
    "main": "a single write to the object without the bad values is accepted; as a merge patch",
    "status": "a single write to /status without the bad values is accepted; as a merge patch (--subresource=status)",
    "deadlock": "no single write is accepted: widen the old CRD by these values, or delete and recreate the object",
    "unknown": "what would repair it depends on the Kubernetes version",
}


def simulation_text(report: SimulationReport, style: Style) -> Iterator[str]:
    """All lines of the report."""
    old, new = harmless(report.old.name), harmless(report.new.name)
    reader = report.old if report.direction == "rollback" else report.new
    server = f"Kubernetes {reader.kubernetes}" if reader.kubernetes else "Kubernetes version unknown"
    what = f"Rollback {new} -> {old}" if report.direction == "rollback" else f"Upgrade {old} -> {new}"
    yield style.paint(f"{what} replayed on {len(report.objects)} recorded objects ({server})", "bold")
    for note in (*report.old.notes, *report.new.notes, *report.notes):
        yield f"  note: {harmless(note)}"
    for problem in report.problems:
        yield problem_line(problem, style)
    worst = [item for item in report.objects if item.worst != "accepted"]
    worst.sort(key=lambda item: ("rejected", "unknown", "loses-data").index(item.worst))
    shown = worst if style.verbosity > 0 else worst[:_MOST_OBJECTS]
    for item in shown if style.verbosity >= 0 else ():
        yield ""
        yield from _object(item, style)
    if len(shown) < len(worst):
        yield ""
        yield f"and {len(worst) - len(shown)} more objects (-v shows all)"
    yield from _causes(report, style)
    yield ""
    yield from _footer(report, style)


def _object(item: SimulatedObject, style: Style) -> Iterator[str]:
    yield f"{style.paint(harmless(item.label), 'path')}  ({item.crd}/{item.version}, {harmless(item.source)})"
    for name, write in item.writes.items():
        note = f"  {harmless(write.note)}" if write.note else ""
        yield f"  {name:<23} {style.paint(write.verdict, _COLOUR[write.verdict])}{note}"
    messages = dict.fromkeys(write.message for write in item.writes.values() if write.message)
    for message in messages if style.verbosity > 0 else list(messages)[:1]:
        yield style.wrap(harmless(message), indent="      ", first="  API server: ")
    if item.pruned:
        yield style.wrap(
            f"lost with the next accepted write: {', '.join(map(harmless, item.pruned))}",
            indent="    ",
            first="  ",
        )
    verdict = item.repair["verdict"]
    if verdict != "not-needed":
        yield style.wrap(_REPAIRS[verdict], indent="    ", first="  repair: ")
        if item.repair["patch"]:
            yield f"    {harmless(orjson.dumps(item.repair['patch']).decode())}"
        if item.repair.get("note"):
            yield f"    {harmless(item.repair['note'])}"


def _causes(report: SimulationReport, style: Style) -> Iterator[str]:
    """Summed up: how many objects hold what, and the two ways out."""
    if not report.causes:
        return
    reader = report.old if report.direction == "rollback" else report.new
    yield ""
    yield style.paint(f"What {harmless(reader.name)} rejects, by field", "bold")
    for cause in report.causes if style.verbosity > 0 else report.causes[:_MOST_OBJECTS]:
        what = f": {listed(cause.values)}" if cause.values else f" ({cause.type})"
        hold = (
            f"{cause.objects} of {cause.total} {cause.kind} hold at {cause.path or 'the root'} what is rejected{what}"
        )
        yield style.wrap(harmless(hold), indent="    ", first="  ")
        endpoint = "/status" if cause.endpoint == "status" else "the object itself"
        where = f", or widen {place(cause.location)} of {reader.name}" if cause.location is not None else ""
        yield style.wrap(harmless(f"take it out by a write to {endpoint}{where}"), indent="      ", first="    ")


def _footer(report: SimulationReport, style: Style) -> Iterator[str]:
    counted = report.by_verdict()
    told = ", ".join(f"{count} {verdict}" for verdict, count in counted.items() if count) or "none"
    colour = next((_COLOUR[verdict] for verdict, count in counted.items() if count), "good")
    yield f"{style.paint(f'Objects by their worst write: {told}', colour)}."
    if report.not_simulated:
        reasons = Counter(item.reason for item in report.not_simulated)
        yield f"Not simulated: {len(report.not_simulated)}"
        for reason, count in reasons.most_common():
            example = next(item for item in report.not_simulated if item.reason == reason)
            named = f", e.g. {harmless(example.object or example.source)}"
            yield style.wrap(f"{count}: {harmless(reason)}{named}", indent="    ", first="  ")
    yield f"Skipped {len(report.skipped)} files, {len(report.problems)} problems."
