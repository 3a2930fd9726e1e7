"""The union of the reports that every format can write."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from crdcompat.models.check import CheckReport
    from crdcompat.models.diff import DiffReport
    from crdcompat.models.simulation import SimulationReport

Report: TypeAlias = "DiffReport | SimulationReport | CheckReport"
