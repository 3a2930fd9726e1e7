"""The verdicts that depend on who installs the CRDs, a line for each move."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.models.check import CheckReport, sections
from crdcompat.models.installers import InstallerVerdict, answers_by_installer, by_installer
from crdcompat.vocabulary import Direction
from crdcompat.vocabulary.installers import Installer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from crdcompat.models.diff import DiffReport
    from crdcompat.models.matrix import MatrixReport
    from crdcompat.models.preflight import PreflightReport

_INSTALLERS: Mapping[Installer, str] = {
    Installer.CVO: "cluster-version operator",
    Installer.OLM_V0: "OLM v0",
    Installer.OLM_V1: "OLM v1",
    Installer.HELM_TEMPLATES: "helm (templates/)",
    Installer.HELM_CRDS: "helm (crds/)",
    Installer.APPLY: "kubectl apply",
}


def installer_lines(report: DiffReport | CheckReport) -> Iterator[str]:
    """A line for each direction of a comparison in which the verdict depends on the installer."""
    for section in sections(report):
        found: dict[Direction, list[InstallerVerdict]] = {}
        for each in by_installer(section.report):
            found.setdefault(each.direction, []).append(each)
        for direction, verdicts in found.items():
            way = f"{direction} to" if direction is Direction.ROLLBACK else f"{direction} from"
            yield _line(f"{way} {section.report.old.title}" if isinstance(report, CheckReport) else direction, verdicts)


def cell_lines(report: MatrixReport) -> Iterator[str]:
    """The same for each way of a matrix."""
    return (_line(f"{cell.origin} -> {cell.target}", cell.installers) for cell in report.cells if cell.installers)


def answer_lines(report: PreflightReport) -> Iterator[str]:
    """A line if the answer on a cluster depends on the installer."""
    if answers := answers_by_installer(report):
        yield _said("rollback", dict(answers))


def _line(move: str, verdicts: Iterable[InstallerVerdict]) -> str:
    return _said(move, {each.installer: each.verdict for each in verdicts})


def _said(move: str, answers: Mapping[Installer, str | None]) -> str:
    words = {installer: answer.upper() if answer else "not supported" for installer, answer in answers.items()}
    shown = "; ".join(f"{_INSTALLERS[installer]}: {word}" for installer, word in words.items())
    return f"{move} by installer (docs/installers.md): {shown}."
