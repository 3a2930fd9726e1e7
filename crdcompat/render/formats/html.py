"""One self-contained HTML file, to open from a disk or a CI artifact, filter and print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdcompat.findings.entries import entries
from crdcompat.models.check import CheckReport
from crdcompat.models.diff import DiffReport
from crdcompat.models.reports import Report
from crdcompat.models.simulation import SimulationReport
from crdcompat.vocabulary import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.models.fleet import FleetReport
    from crdcompat.models.matrix import MatrixReport
    from crdcompat.models.preflight import PreflightReport
    from crdcompat.models.servers import ServersReport
    from crdcompat.render.escape import Style

NAME = "html"

#: This format shows lines of files: commands read them.
EXCERPTS = Severity.INFO


def render(report: Report, style: Style) -> str:
    """The report as a page; uses ``existing`` and ``allowed`` of ``style``."""
    return _simulation(report, style) if isinstance(report, SimulationReport) else _findings(report, style)


def render_matrix(report: MatrixReport, style: Style) -> str:
    """A matrix as a page; of ``style`` only ``allowed`` counts."""
    from crdcompat.render.html.contents import of_matrix
    from crdcompat.render.html.findings import rules_of, side_line, without_excerpts
    from crdcompat.render.html.matrix import matrix_map
    from crdcompat.render.html.page import page
    from crdcompat.render.wording.matrix import coverage, matrix_notes, verdicts
    from crdcompat.render.wording.verdict import allowed_line

    shown, facets = matrix_map(report)
    findings = [finding for cell in report.cells for finding in cell.findings if finding.severity != Severity.INFO]
    return page(
        "matrix.j2",
        command="matrix",
        title="Which release can go back to which",
        sides=[("", release.name, side_line(release)) for release in report.releases],
        tally=(),
        notes=(*matrix_notes(report), *allowed_line(style)),
        problems=report.problems,
        matrix=shown,
        verdicts=verdicts(report),
        coverage=coverage(report),
        rules=rules_of(finding for cell in report.cells for finding in cell.findings),
        without_excerpts=without_excerpts(findings),
        contents=of_matrix(shown),
        facets=facets,
        what="findings",
    )


def render_fleet(report: FleetReport, style: Style) -> Iterator[str]:
    """Many clusters as a page; of ``style`` only ``allowed`` counts."""
    from crdcompat.render.html.contents import of_fleet
    from crdcompat.render.html.findings import side_line
    from crdcompat.render.html.fleet import fleet
    from crdcompat.render.html.page import page_parts
    from crdcompat.render.wording.fleet import coverage, fleet_notes, fleet_title, how_far
    from crdcompat.render.wording.verdict import allowed_line

    shown, facets = fleet(report)
    return page_parts(
        "fleet.j2",
        command="simulate",
        title=fleet_title(report).replace(" -> ", " → "),
        sides=[("", release.name, side_line(release)) for release in (report.new, *report.targets)],
        tally=(),
        notes=(*fleet_notes(report), *allowed_line(style)),
        problems=report.problems,
        fleet=shown,
        how_far=how_far(report),
        coverage=coverage(report),
        contents=of_fleet(shown),
        facets=facets,
        what="clusters",
    )


def render_servers(report: ServersReport, style: Style) -> str:
    """Which servers take which CRDs, as a page; of ``style`` only ``allowed`` counts."""
    from crdcompat.render.html.contents import of_servers
    from crdcompat.render.html.findings import side_line
    from crdcompat.render.html.page import page
    from crdcompat.render.html.servers import parts
    from crdcompat.render.wording.servers import verdict

    shown, facets = parts(report)
    return page(
        "servers.j2",
        command="servers",
        title="Which servers take these CRDs",
        sides=[("", source.title, side_line(source)) for source in report.sources],
        tally=list(report.by_answer().items()),
        notes=report.notes,
        problems=report.problems,
        verdict=verdict(report),
        shown=shown,
        contents=of_servers(shown),
        facets=facets,
        what="CRDs",
    )


def render_preflight(report: PreflightReport, style: Style) -> str:
    """Whether a cluster may go back, as a page; of ``style`` only ``allowed`` counts."""
    from crdcompat.render.html.contents import of_preflight
    from crdcompat.render.html.findings import side_line
    from crdcompat.render.html.page import page
    from crdcompat.render.html.preflight import parts
    from crdcompat.render.wording.preflight import servers_line

    shown, facets = parts(report)
    old, new = report.old, report.new
    return page(
        "preflight.j2",
        command="preflight",
        title=shown.question,
        sides=[("OLD", old.full, side_line(old)), ("cluster", new.full, side_line(new))],
        tally=(),
        notes=(*old.notes, *new.notes, *report.notes),
        problems=(),
        servers=servers_line(report),
        shown=shown,
        contents=of_preflight(shown),
        facets=facets,
        what="objects",
    )


def _findings(report: DiffReport | CheckReport, style: Style) -> str:
    from crdcompat.render.html.contents import of_findings
    from crdcompat.render.html.findings import parts, rules_of, without_excerpts
    from crdcompat.render.html.overview import other_counts, overviews
    from crdcompat.render.html.page import page
    from crdcompat.render.wording.report import NOTHING, notes, promotions
    from crdcompat.render.wording.trust import trust_lines
    from crdcompat.render.wording.verdict import MAX_BLOCKED, allowed_line

    made, facets = parts(report, existing=style.existing)
    findings, listed = report.findings, entries(report)
    views = overviews(report, listed, made)
    return page(
        "findings.j2",
        **(_check(report) if isinstance(report, CheckReport) else _sides(report)),
        tally=(),
        trust=trust_lines(report),
        views=views,
        main_ways=[way for view in views for way in view.directions],
        others=other_counts(report, listed),
        contents=of_findings(made, has_rules=bool(findings)),
        most=MAX_BLOCKED,
        nothing=NOTHING if isinstance(report, CheckReport) and report.has_nothing else "",
        promotions=[*promotions(report)],
        notes=(*notes(report), *allowed_line(style)),
        problems=report.problems,
        parts=made,
        rules=rules_of(findings),
        without_excerpts=without_excerpts(findings),
        facets=facets,
        what="findings",
    )


def _check(report: CheckReport) -> dict[str, Any]:
    return {"command": "check", "title": f"Check of {report.head.title}", "sides": ()}


def _sides(report: DiffReport | SimulationReport) -> dict[str, Any]:
    from crdcompat.render.html.findings import side_line

    old, new = report.old, report.new
    return {
        "command": "diff" if isinstance(report, DiffReport) else "simulate",
        "title": f"{old.title} → {new.title}",
        "sides": [("OLD", old.full, side_line(old)), ("NEW", new.full, side_line(new))],
    }


def _simulation(report: SimulationReport, style: Style) -> str:
    from crdcompat.render.html.contents import of_replay
    from crdcompat.render.html.page import page
    from crdcompat.render.html.replay import replay
    from crdcompat.render.wording.report import notes
    from crdcompat.render.wording.simulation import judging, replay_title
    from crdcompat.render.wording.verdict import MAX_BLOCKED, allowed_line

    shown, facets = replay(report)
    return page(
        "simulation.j2",
        **{**_sides(report), "title": replay_title(report).replace(" -> ", " → ")},
        tally=(),
        not_simulated=len(report.not_simulated),
        most=MAX_BLOCKED,
        notes=(*notes(report), *allowed_line(style)),
        problems=report.problems,
        reader=judging(report),
        replay=shown,
        contents=of_replay(shown),
        facets=facets,
        what="objects",
    )
