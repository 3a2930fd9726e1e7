"""Sentences on a simulation: causes, repairs, and the verdicts on one object."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import orjson

from crdcompat.findings.finding import listed
from crdcompat.render.wording.findings import place, plural
from crdcompat.vocabulary import Direction
from crdcompat.vocabulary.writes import NOT_FOUND, Endpoint, RepairVerdict, WriteResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crdcompat.models.report import Release
    from crdcompat.models.simulation import RejectedCause, SimulatedObject, SimulationReport, Unrecorded
    from crdcompat.render.escape import Style


VERDICT_COLOURS = {
    WriteResult.REJECTED: "error",
    WriteResult.UNKNOWN: "warning",
    WriteResult.LOSES_DATA: "info",
    WriteResult.ACCEPTED: "good",
}


#: Verdict on a repair -> sentence.
REPAIRS = {
    RepairVerdict.MAIN: "a single write to the object without the bad values is accepted; as a merge patch",
    RepairVerdict.STATUS: (
        "a single write to /status without the bad values is accepted; as a merge patch (--subresource=status)"
    ),
    RepairVerdict.DEADLOCK: (
        "no single write is accepted: widen the old CRD by these values, or delete and recreate the object"
    ),
    RepairVerdict.UNKNOWN: "what would repair it depends on the Kubernetes version",
}


def object_lines(item: SimulatedObject, style: Style) -> Iterator[str]:
    """One object: every kind of write with its verdict, and what would repair it."""
    yield f"{style.paint(item.label, 'path')}  ({item.crd}/{item.version}, {item.source})"
    for name, write in item.writes.items():
        note = f"  {write.note}" if write.note else ""
        yield f"  {name:<23} {style.paint(write.verdict, VERDICT_COLOURS[write.verdict])}{note}"
    messages = dict.fromkeys(write.message for write in item.writes.values() if write.message)
    for message in messages if style.verbosity > 0 else list(messages)[:1]:
        yield style.wrap(message, indent="      ", first="  API server: ")
    if item.pruned:
        yield style.wrap(
            f"lost with the next accepted write: {', '.join(item.pruned)}",
            indent="    ",
            first="  ",
        )
    verdict = item.repair.verdict
    if verdict != RepairVerdict.NOT_NEEDED:
        yield style.wrap(REPAIRS[verdict], indent="    ", first="  repair: ")
        if item.repair.patch:
            yield f"    {orjson.dumps(item.repair.patch).decode()}"
        if item.repair.note:
            yield f"    {item.repair.note}"


def cause_fix(cause: RejectedCause, reader: Release) -> str:
    """The fix: a write, or a wider schema in the judging release."""
    if cause.type == NOT_FOUND:
        at = f" at {place(cause.location)}" if cause.location is not None else ""
        return f"{not_found_fix(cause.path)}{at} of {reader.name}"
    endpoint = "/status" if cause.endpoint == Endpoint.STATUS else "the object itself"
    where = f", or widen {place(cause.location)} of {reader.name}" if cause.location is not None else ""
    verb = "set it" if cause.type == "FieldValueRequired" else "take it out"
    return f"{verb} by a write to {endpoint}{where}"


def not_found(path: str, versions: Sequence[object]) -> str:
    """The requests for which the server finds nothing: those to /status, or to versions that the CRD lacks."""
    if path:
        return "the CRD has no /status endpoint, a write to it is answered 404"
    return f"the CRD lacks version {', '.join(map(str, versions))}, every request for it is answered 404"


def not_found_fix(path: str) -> str:
    """The change of the CRD after which the server finds it."""
    return "declare the status subresource" if path else "declare the version"


def cause_line(cause: RejectedCause) -> str:
    """Number of objects with the rejected value, path and value."""
    if cause.type == NOT_FOUND:
        return f"{cause.objects} of {cause.total} {cause.kind}: {not_found(cause.path, cause.values)}"
    where, share = cause.path or "the root", f"{cause.objects} of {cause.total} {cause.kind}"
    if cause.type == "FieldValueRequired":
        return f"{share}: {where} is missing, and required"
    if cause.values:
        return f"{share}: {where} holds {listed(cause.values)}"
    return f"{share}: what {where} holds is rejected ({cause.type})"


def unrecorded_line(kinds: Sequence[Unrecorded], most: int = 3) -> str:
    """``nothing was recorded of 5 kinds with findings: A, B, C and 2 more``; kinds of one name are named by CRD."""
    counted = Counter(item.kind for item in kinds)
    names = [item.kind if counted[item.kind] == 1 else item.crd for item in kinds]
    rest = len(names) - most
    shown = f"{', '.join(names[:most])} and {rest} more" if rest > 0 else ", ".join(names)
    return f"nothing was recorded of {plural(len(names), 'kind')} with findings: {shown}"


def replay_title(report: SimulationReport) -> str:
    """Direction, releases, number of objects."""
    old, new = report.old.title, report.new.title
    what = f"Rollback {new} -> {old}" if report.direction == Direction.ROLLBACK else f"Upgrade {old} -> {new}"
    return f"{what} replayed on {plural(len(report.objects), 'recorded object')}"


def judging(report: SimulationReport) -> Release:
    """The release whose server judges."""
    return report.old if report.direction == Direction.ROLLBACK else report.new


def verdict_tally(report: SimulationReport) -> str:
    """``2 rejected, 5 accepted``; ``none`` without objects."""
    return ", ".join(f"{count} {verdict}" for verdict, count in report.by_verdict().items() if count) or "none"
