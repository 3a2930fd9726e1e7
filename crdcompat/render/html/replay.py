"""A simulation as parts of a page: rejected values by field, and every object with its writes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from crdcompat.models.simulation import SimulatedObject, SimulationReport
from crdcompat.render.html.facets import Facet, Facets
from crdcompat.render.html.findings import skipped_lines
from crdcompat.render.html.item import Group
from crdcompat.render.html.marks import Mark, MarkedRow, Number, Rows, arrow, folded, marked_row
from crdcompat.render.html.page import words
from crdcompat.render.wording.findings import crd_name, plural
from crdcompat.render.wording.replay import KindReplay, replay_verdict, replayed_kinds, rests_on
from crdcompat.render.wording.simulation import (
    REPAIRS,
    WRITTEN_AGAIN,
    cause_fix,
    cause_line,
    judging,
    repair_command,
)
from crdcompat.vocabulary.writes import RepairVerdict, WriteResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crdcompat.render.wording.verdict import Verdict

#: What repairs an object, in words for the filter.
_REPAIRED_BY = {
    RepairVerdict.MAIN: "a write to the object",
    RepairVerdict.STATUS: "a write to /status",
    RepairVerdict.DEADLOCK: "no single write",
    RepairVerdict.UNKNOWN: "depends on the version",
    RepairVerdict.NOT_NEEDED: "nothing to repair",
}
FACETS = (
    Facet("verdict", "Worst write", tuple(WriteResult)),
    Facet("repair", "Repair", tuple(_REPAIRED_BY.values())),
    Facet("crd", "CRD"),
    Facet("source", "Source"),
)
_MEANING = {
    WriteResult.REJECTED: "a write fails",
    WriteResult.UNKNOWN: "not judged",
    WriteResult.LOSES_DATA: "the next write erases fields",
    WriteResult.ACCEPTED: "work as before",
}
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
    command: str
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

    verdict: Verdict
    rests_on: str
    numbers: tuple[Number, ...]
    kinds: Rows
    causes: tuple[Cause, ...]
    groups: tuple[Group[Replayed], ...]
    not_simulated: tuple[tuple[str, tuple[str, ...]], ...]
    skipped: tuple[str, ...]


def replay(report: SimulationReport) -> tuple[Replay, Facets]:
    """The parts of the page, and the filters."""
    facets, groups, anchors = Facets(FACETS), list[Group[Replayed]](), dict[int, Mark]()
    for verdict in WriteResult:
        items = [item for item in report.objects if item.worst == verdict]
        if items:
            start = facets.total
            shown = tuple(_object(item, start + number, facets) for number, item in enumerate(items, 1))
            marks = (Mark(made.anchor, verdict, made.label) for made in shown)
            anchors.update(zip(map(id, items), marks, strict=True))
            groups.append(Group(verdict, f"{plural(len(items), 'object')} {_TITLES[verdict]}", shown))
    return Replay(
        arrow(replay_verdict(report)),
        rests_on(report),
        tuple(
            Number(name, count, _MEANING[name])
            for name, count in report.by_verdict().items()
            if count or name != WriteResult.UNKNOWN
        ),
        folded([_kind(kind, anchors) for kind in replayed_kinds(report) if kind.worst != WriteResult.ACCEPTED]),
        causes_of(report),
        tuple(groups),
        tuple(_not_simulated(report)),
        tuple(skipped_lines(report.skipped)),
    ), facets


def _kind(kind: KindReplay, marks: Mapping[int, Mark]) -> MarkedRow:
    """The objects of a kind that are not simply accepted, as marks."""
    counted = Counter(item.worst for item in kind.objects)
    found = [marks[id(item)] for item in kind.objects if item.worst != WriteResult.ACCEPTED]
    counts = ", ".join(f"{counted[verdict]} {words(verdict)}" for verdict in WriteResult if counted[verdict])
    return marked_row(kind.kind, found, counts)


def causes_of(report: SimulationReport) -> tuple[Cause, ...]:
    """Rejected values, by field."""
    reader = judging(report)
    return tuple(
        Cause(cause.crd, cause_line(cause), cause_fix(cause, reader), cause.example) for cause in report.causes
    )


def _object(item: SimulatedObject, number: int, facets: Facets) -> Replayed:
    repair = item.repair.verdict
    by_write = repair in (RepairVerdict.MAIN, RepairVerdict.STATUS)
    crd = crd_name(item.crd, item.version)
    facets.add(verdict=item.worst, repair=_REPAIRED_BY[repair], crd=item.crd, source=item.source.partition(": ")[0])
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
        repair="" if repair == RepairVerdict.NOT_NEEDED else f"{REPAIRS[repair]}. {WRITTEN_AGAIN if by_write else ''}",
        command=repair_command(item) if by_write else "",
        patch=item.repair.patch or None,
        repair_note=item.repair.note,
    )


def _summary(item: SimulatedObject) -> str:
    """Number of writes by verdict, in words."""
    counted = Counter(write.verdict for write in item.writes.values())
    if len(counted) == 1:
        return f"every write: {words(item.worst)}"
    return ", ".join(f"{counted[verdict]} {words(verdict)}" for verdict in WriteResult if counted[verdict])


def _not_simulated(report: SimulationReport) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What was not simulated, by reason, the most frequent first."""
    reasons = Counter(item.reason for item in report.not_simulated)
    for reason, count in reasons.most_common():
        named = [item for item in report.not_simulated if item.reason == reason]
        objects = (" in ".join(part for part in (item.object, item.source) if part) for item in named)
        yield f"{reason}: {count}", tuple(objects)
