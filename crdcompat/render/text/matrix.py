"""A matrix of releases as lines of text: the grid, what blocks and since when, what was not judged, the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.models.matrix_obstacles import Obstacle, obstacles
from crdcompat.render.pages.blocks import Line, Listing, listing
from crdcompat.render.text.page import blocks_text
from crdcompat.render.wording.findings import crd_name, plural, tally
from crdcompat.render.wording.matrix import (
    BLOCKING,
    cluster_title,
    matrix_notes,
    matrix_verdict,
    part_line,
    reasons,
    target_lines,
)
from crdcompat.render.wording.matrix_grid import grid
from crdcompat.render.wording.simulation import verdict_tally
from crdcompat.render.wording.verdict import COLOURS, with_verdict
from crdcompat.vocabulary import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crdcompat.models.matrix import Cell, MatrixCluster, MatrixReport
    from crdcompat.render.escape import Style

_MAX_LINES = 12


def matrix_text(report: MatrixReport, style: Style) -> Iterator[str]:
    """All lines of the report, then how far back each release can go; a long report begins with that, too."""
    yield from with_verdict([*_body(report, style)], [*matrix_verdict(report, style)], style)


def _body(report: MatrixReport, style: Style) -> Iterator[str]:
    yield from grid(report, style)
    for note in matrix_notes(report):
        yield style.wrap(f"note: {note}", indent="")
    for direction, (title, legend) in BLOCKING.items():
        yield from _blocking(title, legend, obstacles(report, direction), style)
    if style.verbosity >= 0:
        lines = tuple(Line(f"{reason} ({plural(ways, 'way')})") for reason, ways in reasons(report).items())
        yield from blocks_text(listing("What was not judged", lines, most=_MAX_LINES), style)
    if style.verbosity > 0:
        for cell in report.cells:
            yield from _findings(cell, style)
    if report.cluster is not None:
        yield ""
        yield from _cluster(report.cluster, style)


def _blocking(title: str, legend: str, found: Sequence[Obstacle], style: Style) -> Iterator[str]:
    if found:
        yield ""
        yield style.paint(title, "bold")
        yield style.wrap(legend, indent="")
    for item in found:
        finding = item.finding
        name = crd_name(finding.crd, finding.versions)
        is_wide = len(name) + len(finding.rule) + len(finding.effect) + 4 > style.page
        what = f"{style.paint(finding.rule, 'error')}, {finding.effect}"
        if is_wide:
            yield style.paint(name, "path")
        yield f"  {what}" if is_wide else f"{style.paint(name, 'path')}  {what}"
        if any(item.paths):
            yield style.wrap(", ".join(item.paths), indent="    ", first="  ")
        for part in item.parts:
            yield style.wrap(part_line(part), indent="      ", first="    ")


def _findings(cell: Cell, style: Style) -> Iterator[str]:
    """Errors and warnings of a cell, a line each; ``diff`` shows them in full."""
    shown = [finding for finding in cell.findings if finding.counts and finding.severity != Severity.INFO]
    if not shown:
        return
    yield ""
    yield style.title(f"{cell.origin} -> {cell.target}: {cell.verdict}, {tally(cell.by_severity())}")
    for finding in shown:
        kind = style.paint(f"{finding.severity}[{finding.rule}]", finding.severity)
        yield f"  {kind} {crd_name(finding.crd, finding.version)} {finding.path}  {finding.id}"


def _cluster(cluster: MatrixCluster, style: Style) -> Iterator[str]:
    yield style.title(cluster_title(cluster))
    for note in cluster.notes:
        yield style.wrap(f"note: {note}", indent="    ", first="  ")
    for target in cluster.targets:
        verdict = style.paint(target.verdict, COLOURS[target.verdict])
        yield f"  to {target.target}: {verdict} (objects by their worst write: {verdict_tally(target.report)})"
        for line in target_lines(target.report):
            yield style.wrap(line, indent="      ", first="    ")
        unjudged = tuple(Line(f"not judged: {line}", depth=2, hang=0) for line in target.unjudged)
        yield from blocks_text((Listing(unjudged, _MAX_LINES),), style)
