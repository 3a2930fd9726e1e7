"""The recorded objects of a simulation on a page: a mark for each, and an entry with its writes and its repair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from crdcompat.models.simulation import SimulatedObject, SimulationReport
from crdcompat.render.escape import json_text
from crdcompat.render.pages.blocks import Cell, Code, Entry, Facet, Facts, Line, Said, Table
from crdcompat.render.pages.page import Mark, MarkedRow, Number, marked_row
from crdcompat.render.wording.findings import crd_name, plural
from crdcompat.render.wording.replay import replayed_kinds
from crdcompat.render.wording.simulation import is_write, repair_command, repair_sentence
from crdcompat.vocabulary.texts import cut
from crdcompat.vocabulary.writes import RepairVerdict, WriteResult

#: Characters of a sentence beside a name.
MAX_SAID = 240
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
_WORDS = {WriteResult.LOSES_DATA: "loses data"}


def title_of(verdict: WriteResult, count: int) -> str:
    """The number of objects with a verdict, in words."""
    return f"{plural(count, 'object')} {_TITLES[verdict]}"


def numbers(report: SimulationReport) -> tuple[Number, ...]:
    """The number of objects by their worst write."""
    counted = report.by_verdict().items()
    return tuple(Number(name, count, _MEANING[name]) for name, count in counted if count or name != WriteResult.UNKNOWN)


def marked_rows(report: SimulationReport) -> tuple[MarkedRow, ...]:
    """The objects of each kind that are not simply accepted, as marks."""
    anchors, rows = _anchors(report), []
    for kind in replayed_kinds(report):
        bad = [item for item in kind.objects if item.worst != WriteResult.ACCEPTED]
        counts = _tally(Counter(item.worst for item in kind.objects))
        marks = [Mark(anchors[id(item)], item.worst, item.label) for item in bad]
        rows += [marked_row(kind.kind, marks, counts)] if marks else []
    return tuple(rows)


def _anchors(report: SimulationReport) -> dict[int, str]:
    """The place of each object, by its identity: objects with the worst verdict come first."""
    listed = (item for verdict in WriteResult for item in report.objects if item.worst == verdict)
    return {id(item): f"o-{number}" for number, item in enumerate(listed, 1)}


def _tally(counted: Counter[WriteResult]) -> str:
    return ", ".join(f"{counted[each]} {_WORDS.get(each, each)}" for each in WriteResult if counted[each])


def entries(report: SimulationReport, verdict: WriteResult) -> Iterator[Entry]:
    """The objects with a verdict."""
    anchors = _anchors(report)
    return (_entry(item, anchors[id(item)]) for item in report.objects if item.worst == verdict)


def _entry(item: SimulatedObject, anchor: str) -> Entry:
    messages = tuple(dict.fromkeys(write.message for write in item.writes.values() if write.message))
    counted = Counter(write.verdict for write in item.writes.values())
    every = f"every write: {_WORDS.get(item.worst, item.worst)}"
    return Entry(
        name=item.label,
        tone=item.worst,
        beside=(crd_name(item.crd, item.version), every if len(counted) == 1 else _tally(counted)),
        said=cut(messages[0], MAX_SAID) if messages else "",
        blocks=(_writes(item, messages), *((Said(messages),) if messages else ()), *_repair(item), Facts(_facts(item))),
        anchor=anchor,
        facets={
            "verdict": item.worst,
            "repair": _REPAIRED_BY[item.repair.verdict],
            "crd": item.crd,
            "source": item.source.partition(": ")[0],
        },
    )


def _writes(item: SimulatedObject, messages: tuple[str, ...]) -> Table:
    """Each kind of write; of several answers the number of its own."""
    rows = []
    for name, write in item.writes.items():
        number = str(messages.index(write.message) + 1) if write.message else ""
        answer = (Cell(number),) if len(messages) > 1 else ()
        rows.append((Cell(name), Cell(write.verdict, write.verdict), *answer, Cell(write.note)))
    answers = ("answer",) if len(messages) > 1 else ()
    return Table(f"Each kind of write of {item.label}", ("write", "verdict", *answers, "note"), tuple(rows))


def _repair(item: SimulatedObject) -> Iterator[Line | Code]:
    if item.repair.verdict != RepairVerdict.NOT_NEEDED:
        yield Line(f"{repair_sentence(item).rstrip('.')}.", "Repair:")
    if item.repair.note:
        yield Line(item.repair.note)
    if is_write(item):
        yield Code("Command", (repair_command(item),))
    if item.repair.patch:
        yield Code("Merge patch", (json_text(item.repair.patch),))


def _facts(item: SimulatedObject) -> tuple[tuple[str, tuple[str, ...]], ...]:
    lost = (("Lost with the next accepted write", (", ".join(item.pruned),)),) if item.pruned else ()
    made = (("Set by default", (", ".join(item.defaulted),)),) if item.defaulted else ()
    return (*lost, *made, ("Recorded in", (item.source,)))
