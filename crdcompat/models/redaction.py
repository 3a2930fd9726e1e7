"""A report without the values of recorded objects: each value has a form to publish, which takes its place."""

from __future__ import annotations

from typing import TypeVar

from msgspec.structs import replace

from crdcompat.models.check import CheckReport
from crdcompat.models.diff import DiffReport
from crdcompat.models.fleet import FleetFinding, FleetReport, RejectedValue
from crdcompat.models.matrix import MatrixReport
from crdcompat.models.preflight import PreflightReport
from crdcompat.models.report import AnyReport
from crdcompat.models.simulation import RejectedCause, SimulatedObject, SimulationReport, WriteVerdict
from crdcompat.vocabulary import HIDDEN

NOTE = "values of recorded objects are hidden, except members of enums (--no-redact shows them)"

_Noted = TypeVar("_Noted", DiffReport, SimulationReport, FleetReport, PreflightReport)


def redacted(report: AnyReport) -> AnyReport:
    """The report to publish; its notes say so if it hides something. Example objects are made from schemas and stay."""
    if isinstance(report, SimulationReport):
        return _noted(report, _simulation(report))
    if isinstance(report, FleetReport):
        return _noted(report, replace(report, findings=tuple(map(_fleet_finding, report.findings))))
    if isinstance(report, PreflightReport):
        return _noted(report, _preflight(report))
    if isinstance(report, MatrixReport):
        return _matrix(report)
    if isinstance(report, CheckReport):
        parts = (replace(section, report=_diff(section.report)) for section in report.sections)
        return replace(report, sections=tuple(parts))
    return _diff(report) if isinstance(report, DiffReport) else report


def _noted(report: _Noted, hiding: _Noted) -> _Noted:
    return report if hiding == report else replace(hiding, notes=(*hiding.notes, NOTE))


def _diff(report: DiffReport) -> DiffReport:
    hidden = tuple(replace(item, error=item.redacted) for item in report.unexplained)
    return _noted(report, replace(report, unexplained=hidden))


def _preflight(report: PreflightReport) -> PreflightReport:
    steps = (replace(step, patch=step.redacted) for step in report.steps)
    causes, tolerated = (tuple(map(_cause, found)) for found in (report.causes, report.tolerated))
    return replace(report, causes=causes, tolerated=tolerated, steps=tuple(steps))


def _matrix(report: MatrixReport) -> MatrixReport:
    if report.cluster is None:
        return report
    targets = tuple(replace(target, report=_simulation(target.report)) for target in report.cluster.targets)
    if targets == report.cluster.targets:
        return report
    return replace(report, cluster=replace(report.cluster, targets=targets, notes=(*report.cluster.notes, NOTE)))


def _simulation(report: SimulationReport) -> SimulationReport:
    return replace(
        report,
        objects=tuple(map(_object, report.objects)),
        causes=tuple(map(_cause, report.causes)),
        already=tuple(map(_cause, report.already)),
    )


def _object(item: SimulatedObject) -> SimulatedObject:
    writes = {name: _write(write) for name, write in item.writes.items()}
    return replace(item, writes=writes, repair=replace(item.repair, patch=item.repair.redacted))


def _write(write: WriteVerdict) -> WriteVerdict:
    said = write.redacted
    return write if said is None else replace(write, errors=said.errors, message=said.message)


def _cause(cause: RejectedCause) -> RejectedCause:
    return replace(cause, values=cause.redacted)


def _fleet_finding(finding: FleetFinding) -> FleetFinding:
    targets = (replace(target, values=_values(target.values)) for target in finding.targets)
    return replace(finding, targets=tuple(targets))


def _values(values: tuple[RejectedValue, ...]) -> tuple[RejectedValue, ...]:
    """The values, with one in the place of all hidden values.

    At least as many clusters hold a hidden value as hold the most frequent one: that number is shown.
    """
    shown = [value for value in values if not value.is_hidden]
    clusters = max((value.clusters for value in values if value.is_hidden), default=0)
    return (*shown, RejectedValue(HIDDEN, clusters, is_hidden=True)) if clusters else values
