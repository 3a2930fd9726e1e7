"""diff as a configuration asks for it: its severities, waivers and declarations, recorded objects, lines of files."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec.structs import replace

from crdcompat.config.applied import apply_config
from crdcompat.config.configuration import Config
from crdcompat.crds.reader import CrdSet
from crdcompat.errors import Problem, problem_order
from crdcompat.features.diff.diff_options import DiffOptions
from crdcompat.features.diff.diff_workflow import diff, suggest_patch
from crdcompat.features.requirement.requirement_workflow import with_gates
from crdcompat.findings.source_waivers import ignores_of
from crdcompat.findings.split import FindingSplitter
from crdcompat.findings.waiver_file import read_accepted
from crdcompat.models.diff import DiffReport
from crdcompat.recordings.recorded_objects import ObjectItem
from crdcompat.vocabulary import Severity, Side
from crdcompat.vocabulary.filters import UNFILTERED, Filters


def configured_diff(
    old: CrdSet,
    new: CrdSet,
    config: Config,
    filters: Filters,
    *,
    locate: bool = True,
    recordings: Iterable[Iterable[ObjectItem]] = (),
    excerpts: Callable[[DiffReport], Severity | None] | None = None,
) -> DiffReport:
    """Compare two sets. ``recordings`` have the objects of one cluster each: they are evidence for findings.

    ``excerpts`` gives the lowest severity of findings whose lines the formats of a report show, None: of none. Raises
    UsageError for a filter name that matches nothing, ConfigError for the waiver file.
    """
    report = with_evidence(
        diff(old, new, DiffOptions(filters, advise=config.advises, locate=locate)), old, new, recordings
    )
    accepted = read_accepted(config.waiver_file)
    report = apply_config(report, config, accepted, FindingSplitter(old, new), new.go)
    report = with_gates(_with_broken_markers(report, new), old)
    least = excerpts(report) if excerpts is not None else None
    if least is None:
        return report
    from crdcompat.findings.excerpts import with_excerpts

    return with_excerpts(report, old, new, least)


def _with_broken_markers(report: DiffReport, new: CrdSet) -> DiffReport:
    """The report with remarks on waivers in the Go source of NEW that accept nothing, beside its findings."""
    kinds = {(each.crd.partition(".")[2], each.version, each.kind): None for each in report.findings}
    found = (each for kind in kinds for each in ignores_of(new.go, *kind) if each.fault)
    remarks = {Problem(each.file, each.line, f"{each.fault}; it accepts nothing", Side.NEW): None for each in found}
    return replace(report, remarks=tuple(sorted({*report.remarks, *remarks}, key=problem_order)))


def patch_for(old: CrdSet, new: CrdSet, report: DiffReport, filters: Filters = UNFILTERED) -> str:
    """The patch of OLD's files for a report on both sets: see ``suggest_patch``; what the report waives stays out."""
    waived = [finding for finding in report.findings if finding.waiver is not None]
    return suggest_patch(old, new, filters, waived=waived)


def with_evidence(
    report: DiffReport, old: CrdSet, new: CrdSet, recordings: Iterable[Iterable[ObjectItem]]
) -> DiffReport:
    """The report with the evidence of recordings; as it is without any."""
    found = tuple(recordings)
    if not found:
        return report
    from crdcompat.findings import recorded_evidence

    return recorded_evidence.with_evidence(report, old, new, found)
