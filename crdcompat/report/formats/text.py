"""The report for people: rollback errors first, one block a finding, a footer that counts everything."""

from __future__ import annotations

from crdcompat.report.fleet_model import FleetReport
from crdcompat.report.model import CheckReport, Report, SimulationReport
from crdcompat.report.style import Style, finish
from crdcompat.report.text_check import check_text
from crdcompat.report.text_diff import diff_text

NAME = "text"
FLEETS = True


def render(report: Report | FleetReport, style: Style) -> str:
    """The report as text; colour and wrapping only where ``style`` asks for them."""
    if isinstance(report, FleetReport):
        from crdcompat.report.text_fleet import fleet_text

        lines = fleet_text(report, style)
    elif isinstance(report, SimulationReport):
        from crdcompat.report.text_simulation import simulation_text

        lines = simulation_text(report, style)
    else:
        lines = check_text(report, style) if isinstance(report, CheckReport) else diff_text(report, style)
    return "".join(f"{line}\n" for line in finish(lines))
