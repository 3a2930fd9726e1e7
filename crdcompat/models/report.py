"""All kinds of reports, as types. Formats read reports and never change them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from crdcompat.models.check import CheckReport
    from crdcompat.models.diff import DiffReport
    from crdcompat.models.fleet import FleetReport
    from crdcompat.models.matrix import MatrixReport
    from crdcompat.models.preflight import PreflightReport
    from crdcompat.models.servers import ServersReport
    from crdcompat.models.simulation import SimulationReport
    from crdcompat.models.verification import VerificationReport
    from crdcompat.models.versions import VersionsReport

FORMAT = "1"
Report: TypeAlias = "DiffReport | SimulationReport | CheckReport"
AnyReport: TypeAlias = (
    "Report | MatrixReport | FleetReport | VerificationReport | ServersReport | PreflightReport | VersionsReport"
)
