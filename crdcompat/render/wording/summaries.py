"""What formats share: the order of findings, their primary place, their sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from crdcompat.findings.entries import Entry, entries
from crdcompat.findings.finding import fingerprint
from crdcompat.models.check import CheckReport, sections
from crdcompat.models.diff import DiffReport, PromotedGate
from crdcompat.models.finding import Finding, Location
from crdcompat.models.report import Report
from crdcompat.models.simulation import RejectedCause, SimulatedObject, SimulationReport
from crdcompat.render.escape import escape_text, finish
from crdcompat.render.wording.entry_sentences import counted, mirror_lines
from crdcompat.render.wording.findings import crd_name, expired_waiver_sentence, fix_line, in_contexts, promoted_lines
from crdcompat.render.wording.growth import declared_lines
from crdcompat.render.wording.installers import installer_lines
from crdcompat.render.wording.simulation import (
    cause_fix,
    cause_line,
    judging,
    replay_title,
    unrecorded_line,
    verdict_tally,
)
from crdcompat.vocabulary import Side
from crdcompat.vocabulary.writes import NOT_FOUND, WriteResult

NOTHING = "there was nothing to check"


def headline(report: Report) -> str:
    """The result in one sentence, as plain text."""
    if isinstance(report, SimulationReport):
        return escape_text(f"{replay_title(report)}, by their worst write: {verdict_tally(report)}")
    if isinstance(report, CheckReport) and report.has_nothing:
        return NOTHING
    return counted(report)


def notes(report: Report) -> tuple[str, ...]:
    """Notes on what the run assumed, each once."""
    if isinstance(report, SimulationReport):
        unknown = (f"unknown: {unrecorded_line(report.unrecorded)}",) if report.unrecorded else ()
        return (*report.old.notes, *report.new.notes, *report.notes, *unknown)
    own: tuple[str, ...] = ()
    if isinstance(report, CheckReport):
        own = (*report.notes, *(f"not judged: {reason}" for reason in report.unseen), *report.waivers)
    sides = [note for item in sections(report) for side in (item.report.old, item.report.new) for note in side.notes]
    hiding = [note for item in sections(report) for note in item.report.notes]
    declared = [line for item in sections(report) for line in declared_lines(item.report)]
    return tuple(dict.fromkeys((*own, *sides, *hiding, *declared, *installer_lines(report))))


def promotions(report: Report) -> dict[str, PromotedGate]:
    """The feature gates that a report is about, by the sentence on each: comparisons with the same one share it."""
    if isinstance(report, SimulationReport):
        return {}
    found: dict[str, PromotedGate] = {}
    for item in sections(report):
        for line, gate in zip(promoted_lines(item.report), item.report.promoted, strict=True):
            found.setdefault(line, gate)
    return found


def counting(report: DiffReport | CheckReport) -> list[Entry]:
    """The entries of findings that count, most severe first."""
    found = (entry for entry in entries(report) if entry.finding.counts)
    return sorted(found, key=lambda entry: entry.finding.severity.rank)


def primary(locations: Sequence[Location]) -> Location | None:
    """Where to change it: in the newer side's files, in one that the change has touched if there is any, in Go source
    rather than in YAML generated from it.

    None where only the older side has a place: review tools show the newer tree.
    """
    newer = [location for location in locations if location.side == Side.NEW]
    return min(newer, key=lambda place: (not place.touched, place.kind != "go", place.line is None), default=None)


def first_place(locations: Sequence[Location]) -> Location | None:
    """Where to change it, else where the older side has it; None without any place."""
    return primary(locations) or next(iter(locations), None)


def subject(finding: Finding) -> str:
    """``CRD/version path``."""
    return f"{crd_name(finding.crd, finding.version)} {finding.path}".strip()


def title(finding: Finding) -> str:
    """``rule (direction)``."""
    return f"{finding.rule} ({finding.direction})"


def sentences(entry: Entry) -> list[str]:
    """An entry in few lines: message, first error of the API server, its other places and comparisons, fix."""
    finding = entry.finding
    sets = in_contexts(finding, entry.home.report.counts.contexts)
    lines = [f"{crd_name(finding.crd, finding.version)}{sets}: {finding.message}."]
    lines += [f"API server: {error}" for error in finding.witness.errors[:1]]
    lines += mirror_lines(entry)
    lines += [f"{expired_waiver_sentence(finding)}."] if finding.ended else []
    return [escape_text(line) for line in (*lines, f"Way out: {fix_line(finding)}")]


def cause_id(report: SimulationReport, cause: RejectedCause) -> str:
    """Twelve hex digits of what is rejected; values and counts may change."""
    return fingerprint(f"rejected {cause.type}", report.direction, cause.crd, "", cause.path)


def cause_sentences(report: SimulationReport, cause: RejectedCause) -> list[str]:
    """A rejected value in recorded objects, and its fix."""
    reader = judging(report)
    so = "" if cause.type == NOT_FOUND or cause.growth is not None else f", and {reader.name} rejects it"
    lines = (
        f"{cause.crd}: {cause_line(cause)}{so} (e.g. {cause.example})",
        f"Way out: {cause_fix(cause, reader)}",
    )
    return [escape_text(line) for line in lines]


def rejected(report: SimulationReport) -> list[SimulatedObject]:
    """The objects with a rejected write."""
    return [item for item in report.objects if item.worst == WriteResult.REJECTED]


def plain(lines: Iterable[str]) -> str:
    """Lines as plain text, escaped."""
    return "\n".join(finish(lines))
