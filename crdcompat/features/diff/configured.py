"""diff as a configuration asks for it: its severities, waivers and declarations, recorded objects, lines of files."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from crdcompat.config.applied import apply_config
from crdcompat.config.configuration import Config
from crdcompat.crds.reader import CrdSet
from crdcompat.features.diff.options import DiffOptions
from crdcompat.features.diff.workflow import diff, suggest_patch
from crdcompat.findings.split import FindingSplitter
from crdcompat.findings.waiver_file import read_accepted
from crdcompat.models.diff import DiffReport
from crdcompat.recordings.objects import ObjectItem
from crdcompat.vocabulary import Severity
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
    report = apply_config(report, config, accepted, FindingSplitter(old, new))
    least = excerpts(report) if excerpts is not None else None
    if least is None:
        return report
    from crdcompat.findings.excerpts import with_excerpts

    return with_excerpts(report, old, new, least)


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
    from crdcompat.findings import evidence

    return evidence.with_evidence(report, old, new, found)
