"""A simulation as parts of a page: rejected values by field, and every object with its writes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from crdcompat.models.simulation import SimulatedObject, SimulationReport
from crdcompat.render.html.facets import Facet, Facets
from crdcompat.render.html.overview import Mark, MarkedRow, Rows, folded, marked_row
from crdcompat.render.html.page import words
from crdcompat.render.pages.blocks import Number
from crdcompat.render.wording.findings import plural
from crdcompat.render.wording.replay import KindReplay, replayed_kinds
from crdcompat.render.wording.simulation import repair_sentence
from crdcompat.vocabulary.writes import RepairVerdict, WriteResult

if TYPE_CHECKING:
    from collections.abc import Iterator

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


class Replay:
    """The objects by their worst verdict, the worst first, each with its place on the page."""

    def __init__(self, report: SimulationReport) -> None:
        self.facets = Facets(FACETS)
        self.groups = {
            verdict: found
            for verdict in WriteResult
            if (found := [item for item in report.objects if item.worst == verdict])
        }
        listed = [item for found in self.groups.values() for item in found]
        self._anchors = {id(item): f"o-{number}" for number, item in enumerate(listed, 1)}
        for item in listed:
            source, repair = item.source.partition(": ")[0], _REPAIRED_BY[item.repair.verdict]
            self.facets.add(verdict=item.worst, repair=repair, crd=item.crd, source=source)

    def anchor(self, item: SimulatedObject) -> str:
        """The place of an object."""
        return self._anchors[id(item)]

    def title(self, verdict: WriteResult) -> str:
        """The number of objects with a verdict, in words."""
        return f"{plural(len(self.groups[verdict]), 'object')} {_TITLES[verdict]}"

    def row(self, kind: KindReplay) -> MarkedRow:
        """The objects of a kind that are not simply accepted, as marks."""
        counted = Counter(item.worst for item in kind.objects)
        marks = [
            Mark(self.anchor(item), item.worst, item.label)
            for item in kind.objects
            if item.worst != WriteResult.ACCEPTED
        ]
        counts = ", ".join(f"{counted[verdict]} {words(verdict)}" for verdict in WriteResult if counted[verdict])
        return marked_row(kind.kind, marks, counts)


def kinds(report: SimulationReport, replay: Replay) -> Rows:
    """The kinds of the objects, but those of which all are accepted."""
    return folded([replay.row(kind) for kind in replayed_kinds(report) if kind.worst != WriteResult.ACCEPTED])


def numbers(report: SimulationReport) -> list[Number]:
    """The number of objects by their worst write."""
    counted = report.by_verdict().items()
    return [Number(name, count, _MEANING[name]) for name, count in counted if count or name != WriteResult.UNKNOWN]


def repair(item: SimulatedObject) -> str:
    """What repairs an object; "" if nothing has to."""
    return "" if item.repair.verdict == RepairVerdict.NOT_NEEDED else f"{repair_sentence(item).rstrip('.')}."


def messages(item: SimulatedObject) -> list[str]:
    """The answers of the server to the writes of an object, each once."""
    return list(dict.fromkeys(write.message for write in item.writes.values() if write.message))


def summary(item: SimulatedObject) -> str:
    """Number of writes by verdict, in words."""
    counted = Counter(write.verdict for write in item.writes.values())
    if len(counted) == 1:
        return f"every write: {words(item.worst)}"
    return ", ".join(f"{counted[verdict]} {words(verdict)}" for verdict in WriteResult if counted[verdict])


def not_simulated(report: SimulationReport) -> Iterator[tuple[str, list[str]]]:
    """What was not simulated, by reason, the most frequent first."""
    reasons = Counter(item.reason for item in report.not_simulated)
    for reason, count in reasons.most_common():
        named = [item for item in report.not_simulated if item.reason == reason]
        yield f"{reason}: {count}", [" in ".join(filter(None, (item.object, item.source))) for item in named]
