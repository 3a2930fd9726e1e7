"""The reports that every format can show."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from crdcompat.report.check_model import CheckReport
    from crdcompat.report.diff_model import DiffReport
    from crdcompat.report.simulation_model import SimulationReport

Report: TypeAlias = "DiffReport | SimulationReport | CheckReport"
