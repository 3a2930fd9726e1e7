"""One self-contained HTML file, to open from a disk or a CI artifact, filter and print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdcompat.findings.entries import entries
from crdcompat.models.check import CheckReport
from crdcompat.models.diff import DiffReport
from crdcompat.render.escape import Style
from crdcompat.render.formats import COMPARISONS
from crdcompat.render.html import matrix
from crdcompat.render.html.blocks import page_html
from crdcompat.render.html.findings import contents, parts, rules_of, side_line, without_excerpts
from crdcompat.render.html.overview import other_counts, overviews
from crdcompat.render.html.page import page
from crdcompat.render.pages import page_of
from crdcompat.render.pages.blocks import MAX_BLOCKED
from crdcompat.render.wording import matrix as matrix_words
from crdcompat.render.wording.check import trust_lines
from crdcompat.render.wording.findings import crd_name, plural, tally
from crdcompat.render.wording.report import NOTHING, notes, promotions
from crdcompat.render.wording.simulation import verdict_tally
from crdcompat.render.wording.verdict import allowed_line
from crdcompat.vocabulary import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.models.fleet import FleetReport
    from crdcompat.models.matrix import MatrixReport
    from crdcompat.models.preflight import PreflightReport
    from crdcompat.models.report import Report
    from crdcompat.models.servers import ServersReport

NAME, KINDS = "html", (*COMPARISONS, "matrix", "fleet", "servers", "preflight")

#: This format shows lines of files: commands read them.
EXCERPTS = Severity.INFO


def render(
    report: Report | MatrixReport | FleetReport | ServersReport | PreflightReport, style: Style
) -> str | Iterator[str]:
    """The report as a page, that on a fleet in parts; uses ``existing`` and ``allowed`` of ``style``."""
    match report.KIND:
        case "diff" | "check":
            return _findings(report, style)
        case "matrix":
            return _matrix(report, style)
    verbosity = int(report.KIND in ("preflight", "simulation"))
    parts = page_html(page_of(report, Style(verbosity=verbosity, allowed=style.allowed)))
    return parts if report.KIND == "fleet" else "".join(parts)


def _matrix(report: MatrixReport, style: Style) -> str:
    ways, facets = matrix.ways(report)
    blocking, unjudged = matrix.blocking(report), matrix_words.reasons(report)
    findings = [finding for cell in report.cells for finding in cell.findings]
    listed = {
        "map": "The picture",
        "reach": "How far back",
        "cluster": "The recorded cluster" if report.cluster is not None else "",
        **{f"blocking-{number}": title for number, (title, _, _) in enumerate(blocking, 1)},
        "unjudged": "What was not judged" if unjudged else "",
        "ways": "The findings",
        "rules": "Rules: why, and fixes",
    }
    return page(
        "matrix.j2",
        command="matrix",
        title="Which release can go back to which",
        sides=[("", release.name, side_line(release)) for release in report.releases],
        tally=tally,
        notes=(*matrix_words.matrix_notes(report), *allowed_line(style)),
        problems=report.problems,
        report=report,
        picture=matrix.Picture(report),
        blocking=blocking,
        unjudged=unjudged,
        ways=ways,
        rules=rules_of(findings),
        without_excerpts=without_excerpts(each for each in findings if each.severity != Severity.INFO),
        matrix=matrix,
        said=matrix_words,
        crd_name=crd_name,
        plural=plural,
        verdict_tally=verdict_tally,
        contents=[(anchor, name, ()) for anchor, name in listed.items() if name],
        facets=facets,
        what="findings",
    )


def _findings(report: DiffReport | CheckReport, style: Style) -> str:
    made, facets = parts(report, existing=style.existing)
    findings, listed = report.findings, entries(report)
    views = overviews(report, listed, made)
    return page(
        "findings.j2",
        **(_check(report) if isinstance(report, CheckReport) else _sides(report)),
        trust=trust_lines(report),
        views=views,
        main_ways=[way for view in views for way in view.directions],
        others=other_counts(report, listed),
        contents=contents(made, has_rules=bool(findings)),
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


def _sides(report: DiffReport) -> dict[str, Any]:
    old, new = report.old, report.new
    return {
        "command": "diff",
        "title": f"{old.title} → {new.title}",
        "sides": [("OLD", old.full, side_line(old)), ("NEW", new.full, side_line(new))],
    }
