"""The report for terminals: rollback errors first, a block per finding, a footer with all counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.models.reports import Report
from crdcompat.render.escape import Style, finish
from crdcompat.render.text.check import check_text
from crdcompat.render.text.diff import diff_text
from crdcompat.vocabulary import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.models.fleet import FleetReport
    from crdcompat.models.matrix import MatrixReport
    from crdcompat.models.preflight import PreflightReport
    from crdcompat.models.servers import ServersReport
    from crdcompat.models.verification import VerificationReport
    from crdcompat.models.versions import VersionsReport

NAME = "text"
EXCERPTS = Severity.ERROR


def render(report: Report, style: Style) -> str:
    """The report as text; colour and wrapping only where ``style`` asks for them."""
    if report.KIND == "simulation":
        from crdcompat.render.text.simulation import simulation_text

        lines = simulation_text(report, style)
    else:
        lines = check_text(report, style) if report.KIND == "check" else diff_text(report, style)
    return "".join(f"{line}\n" for line in finish(lines))


def render_fleet(report: FleetReport, style: Style) -> Iterator[str]:
    """A report on many clusters as text."""
    from crdcompat.render.text.fleet import fleet_text

    return (f"{line}\n" for line in finish(fleet_text(report, style)))


def render_matrix(report: MatrixReport, style: Style) -> str:
    """A matrix as text."""
    from crdcompat.render.text.matrix import matrix_text

    return "".join(f"{line}\n" for line in finish(matrix_text(report, style)))


def render_preflight(report: PreflightReport, style: Style) -> str:
    """Whether a cluster may go back, as text."""
    from crdcompat.render.text.preflight import preflight_text

    return "".join(f"{line}\n" for line in finish(preflight_text(report, style)))


def render_verification(report: VerificationReport, style: Style) -> str:
    """The answers of a server as text."""
    from crdcompat.render.text.verification import verification_text

    return "".join(f"{line}\n" for line in finish(verification_text(report, style)))


def render_servers(report: ServersReport, style: Style) -> str:
    """Which servers take which CRDs, as text."""
    from crdcompat.render.text.servers import servers_text

    return "".join(f"{line}\n" for line in finish(servers_text(report, style)))


def render_versions(report: VersionsReport, style: Style) -> str:
    """The life of versions, as text."""
    from crdcompat.render.text.versions import versions_text

    return "".join(f"{line}\n" for line in finish(versions_text(report, style)))
