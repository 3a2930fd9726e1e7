"""The JSON report, format "1" (design, section 7): sorted, byte-identical over two runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from crdcompat.report.check_model import CheckReport
from crdcompat.report.reports import Report
from crdcompat.report.simulation_model import SimulationReport

if TYPE_CHECKING:
    from crdcompat.report.fleet_model import FleetReport
    from crdcompat.report.matrix_model import MatrixReport
    from crdcompat.report.style import Style

NAME = "json"


def render(report: Report, style: Style) -> str:
    """The report as JSON text; ``style`` plays no part."""
    if isinstance(report, SimulationReport):
        from crdcompat.report.data.simulation import simulation_data

        return _text(simulation_data(report))
    from crdcompat.report.data.diff import check_data, diff_data

    return _text(check_data(report) if isinstance(report, CheckReport) else diff_data(report))


def render_fleet(report: FleetReport, style: Style) -> str:
    """A report on many clusters as JSON text; ``style`` plays no part."""
    from crdcompat.report.data.fleet import fleet_data

    return _text(fleet_data(report))


def render_matrix(report: MatrixReport, style: Style) -> str:
    """A matrix as JSON text; ``style`` plays no part."""
    from crdcompat.report.data.matrix import matrix_data

    return _text(matrix_data(report))


def _text(data: dict[str, Any]) -> str:
    return orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()
