"""A simulation as parts of a page: rejected values by field, and every object with its writes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from crdcompat.models.simulation import SimulatedObject, SimulationReport
from crdcompat.render.html.facets import Facet, Facets
from crdcompat.render.html.findings import skipped_lines
from crdcompat.render.html.item import Group
from crdcompat.render.wording.findings import crd_name, plural
from crdcompat.render.wording.simulation import REPAIRS, cause_fix, cause_line, judging
from crdcompat.vocabulary.writes import RepairVerdict, WriteResult

if TYPE_CHECKING:
    from collections.abc import Iterator


FACETS = (
    Facet("verdict", "Worst write", tuple(WriteResult)),
    Facet("repair", "Repair", tuple(RepairVerdict)),
    Facet("crd", "CRD"),
    Facet("source", "Source"),
)
_TITLES = {
    WriteResult.REJECTED: "with a write that is rejected",
    WriteResult.UNKNOWN: "whose answer is not known",
    WriteResult.LOSES_DATA: "that lose data with the next write",
    WriteResult.ACCEPTED: "accepted as they are",
}


class Write(Struct, frozen=True):
    """One kind of write; ``message`` is the number of its answer among the messages of the object."""

    name: str
    verdict: WriteResult
    note: str
    message: int | None


class Replayed(Struct, frozen=True):
    """A recorded object as the page shows it."""

    anchor: str
    verdict: WriteResult
    label: str
    crd: str
    source: str
    summary: str
    writes: tuple[Write, ...]
    messages: tuple[str, ...]
    lost: tuple[str, ...]
    defaulted: tuple[str, ...]
    repair: str
    patch: Any
    repair_note: str


class Cause(Struct, frozen=True):
    """A rejected value in one or more objects, and its fix."""

    crd: str
    text: str
    fix: str
    example: str


class Replay(Struct, frozen=True):
    """A simulation: its groups of objects, worst first."""

    causes: tuple[Cause, ...]
    groups: tuple[Group[Replayed], ...]
    not_simulated: tuple[tuple[str, tuple[str, ...]], ...]
    skipped: tuple[str, ...]


def replay(report: SimulationReport) -> tuple[Replay, Facets]:
    """The parts of the page, and the filters."""
    facets, groups = Facets(FACETS), list[Group[Replayed]]()
    for verdict in WriteResult:
        items = [item for item in report.objects if item.worst == verdict]
        if items:
            start = facets.total
            shown = tuple(_object(item, start + number, facets) for number, item in enumerate(items, 1))
            groups.append(Group(verdict, f"{plural(len(items), 'object')} {_TITLES[verdict]}", shown))
    return Replay(
        causes_of(report), tuple(groups), tuple(_not_simulated(report)), tuple(skipped_lines(report.skipped))
    ), facets


def causes_of(report: SimulationReport) -> tuple[Cause, ...]:
    """Rejected values, by field."""
    reader = judging(report)
    return tuple(
        Cause(cause.crd, cause_line(cause), cause_fix(cause, reader), cause.example) for cause in report.causes
    )


def _object(item: SimulatedObject, number: int, facets: Facets) -> Replayed:
    repair = item.repair.verdict
    crd = crd_name(item.crd, item.version)
    facets.add(verdict=item.worst, repair=repair, crd=item.crd, source=item.source.partition(": ")[0])
    messages = tuple(dict.fromkeys(write.message for write in item.writes.values() if write.message))
    return Replayed(
        anchor=f"o-{number}",
        verdict=item.worst,
        label=item.label,
        crd=crd,
        source=item.source,
        summary=_summary(item),
        writes=tuple(
            Write(name, write.verdict, write.note, messages.index(write.message) + 1 if write.message else None)
            for name, write in item.writes.items()
        ),
        messages=messages,
        lost=item.pruned,
        defaulted=item.defaulted,
        repair="" if repair == RepairVerdict.NOT_NEEDED else REPAIRS[repair],
        patch=item.repair.patch or None,
        repair_note=item.repair.note,
    )


def _summary(item: SimulatedObject) -> str:
    """Number of writes by verdict, in words."""
    counted = Counter(write.verdict for write in item.writes.values())
    if len(counted) == 1:
        return f"all {len(item.writes)} kinds of write: {item.worst}"
    return ", ".join(f"{counted[verdict]} {verdict}" for verdict in WriteResult if counted[verdict])


def _not_simulated(report: SimulationReport) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What was not simulated, by reason, the most frequent first."""
    reasons = Counter(item.reason for item in report.not_simulated)
    for reason, count in reasons.most_common():
        named = [item for item in report.not_simulated if item.reason == reason]
        objects = (" in ".join(part for part in (item.object, item.source) if part) for item in named)
        yield f"{reason}: {count}", tuple(objects)
