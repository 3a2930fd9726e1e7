"""The verdict on a comparison, or on a cluster, for each installer that the trees support (docs/installers.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.models.diff import outcome, unjudged
from crdcompat.models.outcome import Judgement, worst_of
from crdcompat.models.preflight import GoBack, PreflightReport
from crdcompat.vocabulary import Direction, Effect, Severity
from crdcompat.vocabulary.installers import WITHOUT_API, Installer, Window, window_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.models.diff import DiffReport
    from crdcompat.models.finding import Finding
    from crdcompat.vocabulary.writes import ReleaseVerdict


class InstallerVerdict(Struct, frozen=True):
    """The verdict on one direction with one installer; None: the installer does not support that direction."""

    installer: Installer
    direction: Direction
    verdict: ReleaseVerdict | None


def by_installer(report: DiffReport) -> tuple[InstallerVerdict, ...]:
    """The verdicts of all installers, in each direction in which an installer's verdict differs from the report's."""
    found = []
    for direction in report.directions:
        verdicts = [
            InstallerVerdict(installer, direction, _verdict(report, installer, direction))
            for installer in Installer
            if installer in report.installers.values() and _is_judged(report, installer, direction)
        ]
        usual = outcome(report, direction)
        found += verdicts if any(each.verdict is not usual for each in verdicts) else []
    return tuple(found)


def answers_by_installer(report: PreflightReport) -> tuple[tuple[Installer, GoBack | None], ...]:
    """The answer for each installer of the CRDs, if one of them differs; None: no rollback with that installer."""
    found = {installer for installers in report.installers.values() for installer in installers}
    answers = tuple((each, _answer(report, each)) for each in Installer if each in found)
    return answers if any(answer is not report.answer for _, answer in answers) else ()


def _answer(report: PreflightReport, installer: Installer) -> GoBack | None:
    if installer is Installer.OLM_V0:
        return None
    has = {crd for crd, installers in report.installers.items() if installer in installers}
    is_helm = installer in (Installer.HELM_TEMPLATES, Installer.HELM_CRDS)
    deleted = report.deleted if installer is Installer.HELM_TEMPLATES else ()
    replaced = has if installer is not Installer.HELM_CRDS else frozenset()
    alone = replace(
        report,
        installed=len(has),
        kinds=tuple(each for each in report.kinds if each.crd in replaced),
        refused=tuple(each for each in report.refused if each.crd in replaced),
        causes=tuple(each for each in report.causes if each.crd in replaced),
        losses=tuple(each for each in report.losses if each.crd in replaced),
        deleted=deleted,
    )
    is_open = not is_helm and any(each.crd in has for each in report.deleted)  # its objects were not replayed
    return GoBack.UNKNOWN if is_open and alone.answer is not GoBack.NO else alone.answer


def _is_judged(report: DiffReport, installer: Installer, direction: Direction) -> bool:
    return installer is not Installer.HELM_CRDS or len(report.directions) == len(Direction)


def _verdict(report: DiffReport, installer: Installer, direction: Direction) -> ReleaseVerdict | None:
    if installer is Installer.OLM_V0 and direction is Direction.ROLLBACK:
        return None
    worst = worst_of(_severities(report, installer, direction))
    return Judgement(worst, is_unjudged=any(unjudged(report))).verdict


def _severities(report: DiffReport, installer: Installer, direction: Direction) -> Iterator[Severity]:
    """How severe the findings are that the direction has with the installer."""
    for finding in report.findings:
        if not finding.counts or not _concerns(report, finding, installer):
            continue
        moved: tuple[Direction, Severity | None] = finding.direction, finding.severity
        if finding.change == "crd.deleted" and installer is not Installer.HELM_TEMPLATES:
            # No other installer deletes: the CRD is added, or no longer there.
            is_gone = finding.direction is Direction.UPGRADE
            moved = finding.direction, Severity.ERROR if is_gone else Severity.INFO
        elif installer is Installer.HELM_CRDS and finding.window is None:
            moved = _if_it_stays(finding)
        if moved[0] is direction and moved[1] is not None:
            yield moved[1]


def _if_it_stays(finding: Finding) -> tuple[Direction, Severity | None]:
    """When a finding on a CRD that other installers replace occurs with Helm, and how severe it is then."""
    window, is_refused = window_of(finding.change, finding.direction), finding.effect is Effect.CRD_REJECTED
    if window is None:
        is_gone = is_refused and finding.direction is Direction.ROLLBACK
        return finding.direction, None if is_gone else finding.severity
    if finding.change in WITHOUT_API:
        return window.move, Severity.ERROR if window is Window.OLD_CRD_NEW_WRITER else None
    return window.move, None if is_refused else finding.severity


def _concerns(report: DiffReport, finding: Finding, installer: Installer) -> bool:
    """Whether the installer has one of the manifests of a finding, or a copy of its CRD that was set aside.

    Without locations, each may have it.
    """
    files = {location.file for location in finding.locations} & report.installers.keys()
    aside = {file for crd, file, _ in report.counts.superseded if crd == finding.crd}
    return not files or any(report.installers.get(file) is installer for file in files | aside)
