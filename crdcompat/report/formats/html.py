"""One HTML file that needs nothing else: to open from a disk or a CI artifact, to filter, to print, to send."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.report.model import CheckReport, DiffReport, Report, SimulationReport

if TYPE_CHECKING:
    from crdcompat.report.style import Style

NAME = "html"

#: This format shows lines of the files: the jobs gather them.
EXCERPTS = True


def render(report: Report, style: Style) -> str:
    """The report as a page; ``style`` plays no part."""
    return _simulation(report) if isinstance(report, SimulationReport) else _findings(report)


def _findings(report: DiffReport | CheckReport) -> str:
    from crdcompat.report.common import NOTHING, notes
    from crdcompat.report.html.findings import parts, rules_of, side_line, tally_of, without_excerpts
    from crdcompat.report.html.page import page

    made, facets = parts(report)
    whole = isinstance(report, CheckReport)
    head = report.head if isinstance(report, CheckReport) else report.new
    return page(
        "findings.j2",
        command="check" if whole else "diff",
        title=f"check of {head.name}" if isinstance(report, CheckReport) else f"{report.old.name} → {report.new.name}",
        sides=() if isinstance(report, CheckReport) else [
            ("OLD", report.old.name, side_line(report.old)), ("NEW", report.new.name, side_line(report.new))
        ],
        tally=tally_of(report),
        nothing=NOTHING if not made else "",
        notes=notes(report),
        problems=report.problems,
        parts=made,
        rules=rules_of(report),
        without_excerpts=without_excerpts(report),
        facets=facets,
        what="findings",
    )  # fmt: skip


def _simulation(report: SimulationReport) -> str:
    from crdcompat.report.common import notes
    from crdcompat.report.html.findings import side_line
    from crdcompat.report.html.page import page
    from crdcompat.report.html.replay import replay
    from crdcompat.report.text_simulation import judging, replay_title

    shown, facets = replay(report)
    reader = judging(report)
    return page(
        "simulation.j2",
        command="simulate",
        title=replay_title(report).replace(" -> ", " → "),
        sides=[("OLD", report.old.name, side_line(report.old)), ("NEW", report.new.name, side_line(report.new))],
        tally=[*report.by_verdict().items(), ("not simulated", len(report.not_simulated))],
        notes=notes(report),
        problems=report.problems,
        reader=reader,
        replay=shown,
        facets=facets,
        what="objects",
    )
