"""A matrix of releases as a page: how far back each can go, the grid, what blocks and since when, the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.models.matrix_obstacles import Obstacle, obstacles
from crdcompat.render.pages.blocks import (
    Answer,
    Block,
    Cell,
    Fold,
    Line,
    Listing,
    Notes,
    Page,
    Section,
    Table,
    listing,
)
from crdcompat.render.wording.findings import crd_name, plural, tally
from crdcompat.render.wording.matrix import (
    BLOCKING,
    cell_text,
    cluster_answer,
    cluster_title,
    coverage,
    labels,
    legend,
    matrix_notes,
    part_line,
    reach_sentence,
    reaches,
    reasons,
    shortest_names,
    target_lines,
    verdicts,
)
from crdcompat.render.wording.simulation import verdict_tally
from crdcompat.render.wording.verdict import allowed_line
from crdcompat.vocabulary import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from crdcompat.models.matrix import Cell as Way
    from crdcompat.models.matrix import MatrixCluster, MatrixReport
    from crdcompat.render.escape import Style

_MAX_LINES = 12


def page(report: MatrixReport, style: Style) -> Page:
    """The page; with ``-v`` it has the findings of each way, a quiet one has the grid and what blocks."""
    counts = (f"{verdicts(report)}.", coverage(report), *allowed_line(style))
    return Page(
        command="matrix",
        heading=verdicts(report),
        answers=tuple(_answers(report)),
        head=tuple(Line(each, depth=0, fold=Fold.ALWAYS) for each in counts),
        body=tuple(_body(report, style)),
        is_last=True,
    )


def _answers(report: MatrixReport) -> Iterator[Answer]:
    """The answer on a recorded cluster, then one for each release that was to go back."""
    if report.cluster is not None:
        yield Answer(cluster_answer(report.cluster), "bold")
    for reach in reaches(report):
        yield Answer(f"{reach.origin}: {reach_sentence(reach)}", reach.verdict, most=2)


def _body(report: MatrixReport, style: Style) -> Iterator[Block]:
    yield _grid(report)
    yield Notes(matrix_notes(report))
    for direction, (title, reading) in BLOCKING.items():
        if found := obstacles(report, direction):
            blocks = (Line(reading, depth=0, hang=0), Listing(tuple(map(_obstacle, found))))
            yield Section(title, blocks, anchor=f"blocking-{direction}")
    if style.verbosity >= 0:
        lines = tuple(Line(f"{reason} ({plural(ways, 'way')})") for reason, ways in reasons(report).items())
        yield from listing("What was not judged", lines, most=_MAX_LINES, anchor="unjudged")
    if style.verbosity > 0:
        for cell in report.cells:
            yield from _findings(cell)
    if report.cluster is not None:
        yield _cluster(report.cluster)


def _grid(report: MatrixReport) -> Table:
    """Rows are origins, columns targets. A narrow terminal gets short names, then letters for verdicts, too."""
    full, short = labels(report), shortest_names(report)
    narrow = _table(report, short, letters=False), _table(report, short, letters=True)
    return _table(report, full, letters=False, narrower=narrow)


def _table(report: MatrixReport, names: Mapping[str, str], *, letters: bool, narrower: Sequence[Table] = ()) -> Table:
    cells = {(cell.origin, cell.target): cell for cell in report.cells}

    def shown(origin: str, target: str) -> Cell:
        cell = cells.get((origin, target))
        if cell is None:
            return Cell("-" if origin == target else "")
        return Cell(cell_text(cell, letters=letters), cell.verdict)

    rows = ((Cell(label), *(shown(origin, target) for target in names)) for origin, label in names.items())
    head = ("from \\ to", *names.values())
    title, how = "Which release can go back to which", legend(report, letters=letters)
    return Table(title, head, tuple(rows), legend=how, narrower=tuple(narrower))


def _obstacle(item: Obstacle) -> Line:
    finding = item.finding
    paths = (Line(", ".join(item.paths)),) if any(item.paths) else ()
    since = (Line(part_line(part), depth=2) for part in item.parts)
    what, name = f"{finding.rule}, {finding.effect}", crd_name(finding.crd, finding.versions)
    return Line(what, name, "error", finding.rule, depth=0, fold=Fold.ALWAYS, below=(*paths, *since))


def _findings(cell: Way) -> tuple[Block, ...]:
    """Errors and warnings of a cell, a line each; ``diff`` shows them in full."""
    lines = (
        Line(
            f"{kind} {crd_name(finding.crd, finding.version)} {finding.path}  {finding.id}",
            part=kind,
            tone=finding.severity,
            fold=Fold.NEVER,
        )
        for finding in cell.findings
        if finding.counts and finding.severity != Severity.INFO and (kind := f"{finding.severity}[{finding.rule}]")
    )
    return listing(f"{cell.origin} -> {cell.target}: {cell.verdict}, {tally(cell.by_severity())}", tuple(lines))


def _cluster(cluster: MatrixCluster) -> Section:
    blocks: list[Block] = [Notes(cluster.notes, depth=1, hang=1)]
    for target in cluster.targets:
        counted = f"to {target.target}: {target.verdict} (objects by their worst write: {verdict_tally(target.report)})"
        below = tuple(Line(line, depth=2) for line in target_lines(target.report))
        blocks.append(Line(counted, tone=target.verdict, part=target.verdict, fold=Fold.NEVER, below=below))
        unjudged = (Line(f"not judged: {line}", depth=2, hang=0) for line in target.unjudged)
        blocks.append(Listing(tuple(unjudged), _MAX_LINES))
    return Section(cluster_title(cluster), tuple(blocks), anchor="cluster")
