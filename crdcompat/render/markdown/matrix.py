"""A matrix as GitHub Markdown: the grid as a table, then what blocks, what was not judged and the cluster to unfold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.models.matrix_obstacles import obstacles
from crdcompat.render.escape import escape_text
from crdcompat.render.markdown.markup import block, bullets, code, details, folded
from crdcompat.render.wording.findings import crd_name, plural
from crdcompat.render.wording.matrix import (
    BLOCKING,
    cluster_answer,
    cluster_title,
    coverage,
    matrix_notes,
    part_line,
    reasons,
    target_lines,
    verdicts,
)
from crdcompat.render.wording.matrix_grid import cell_text, labels, legend

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.models.matrix import Cell, MatrixCluster, MatrixReport
    from crdcompat.models.matrix_obstacles import Obstacle

#: A wider table is unreadable, and does not fit into a comment.
_MAX_COLUMNS = 20
_MARKS = {"blocked": "🛑", "unknown": "❔", "at risk": "⚠️", "clean": "✅"}


def matrix_head(report: MatrixReport) -> Iterator[str]:
    """The heading and the table."""
    yield f"## crdcompat: {verdicts(report)}"
    shown = labels(report)
    names = [release.name for release in report.releases][-_MAX_COLUMNS:]
    lines = [["from \\ to", *(_in_table(shown[name]) for name in names)], ["---"] * (len(names) + 1)]
    for origin in names:
        lines.append([_in_table(shown[origin]), *(_cell(report.cell(origin, target)) for target in names)])
    yield "\n".join(f"| {' | '.join(line)} |" for line in lines)
    left_out = len(report.releases) - len(names)
    yield legend(report) + (f" The {left_out} oldest releases are left out here." if left_out else "")


def matrix_entries(report: MatrixReport) -> Iterator[tuple[str, int]]:
    """Parts that may be left out, most important first, each with the number of entries in it."""
    if report.cluster is not None:
        yield _cluster(report.cluster), len(report.cluster.targets)
    for direction, (title, reading) in BLOCKING.items():
        for number, item in enumerate(obstacles(report, direction)):
            yield (f"### {title}\n\n{reading}\n\n" if not number else "") + _obstacle(item), 1
    lines = [f"{reason} ({plural(ways, 'way')})" for reason, ways in reasons(report).items()]
    if lines:
        yield "".join(folded(lines, f"{len(lines)} not judged")), len(lines)


def matrix_tail(report: MatrixReport) -> Iterator[str]:
    """Coverage, and notes on assumptions."""
    yield coverage(report)
    if notes := matrix_notes(report):
        yield bullets(notes)


def _cell(cell: Cell | None) -> str:
    return f"{_MARKS[cell.verdict]} {cell_text(cell)}" if cell is not None else ""


def _in_table(name: str) -> str:
    """A name as code in a cell: ``|`` ends a cell even inside code."""
    return code(name).replace("|", "&#124;")


def _obstacle(item: Obstacle) -> str:
    finding = item.finding
    subject = code(f"{crd_name(finding.crd, finding.versions)} {', '.join(item.paths)}".strip())
    lines = "\n".join(escape_text(part_line(part)) for part in item.parts)
    return details(f"{finding.rule}, {plural(item.ways, 'way')}: {subject}", block(lines))


def _cluster(cluster: MatrixCluster) -> str:
    lines = [cluster_answer(cluster), *cluster.notes]
    for target in cluster.targets:
        lines.append(f"to {target.target}: {target.verdict}")
        lines += (f"  {line}" for line in target_lines(target.report))
        lines += (f"  not judged: {line}" for line in target.unjudged)
    return "".join(folded(lines, code(cluster_title(cluster))))
