"""The life of versions as lines of text: the verdict, what blocks jumps, the table, what a cluster has to migrate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.render.escape import columns_of, justified, shortened
from crdcompat.render.wording.findings import more_lines, plural, problem_line, some
from crdcompat.render.wording.verdict import COLOURS, allowed_by, verdict_first
from crdcompat.render.wording.versions import (
    COLUMNS,
    blocks,
    cells,
    kind_sentence,
    legend,
    shown_steps,
    steady,
    verdict_sentence,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crdcompat.models.versions import VersionsCluster, VersionsReport
    from crdcompat.render.escape import Style

_GAP = "  "
_MAX_LABEL, _MAX_CELL, _MAX_UNJUDGED = 64, 40, 12


def versions_text(report: VersionsReport, style: Style) -> Iterator[str]:
    """The verdict and what blocks, then the details; a quiet report has no details."""
    sentence = f"{verdict_sentence(report)}{allowed_by(report.verdict, style)}"
    head = [style.title(sentence, COLOURS[report.verdict])]
    head += [problem_line(problem, style) for problem in report.problems]
    for item in blocks(report):
        head.append(f"  {style.paint(some(item.crds), 'path')}  {item.sentence}")
        head += [style.wrap(line, indent="      ", first="    ") for line in item.lines]
    yield from verdict_first(head, [] if style.verbosity < 0 else [*_body(report, style)], style)


def _body(report: VersionsReport, style: Style) -> Iterator[str]:
    if report.unjudged:
        yield ""
        yield style.paint("What was not judged", "bold")
        shown = report.unjudged if style.verbosity > 0 else report.unjudged[:_MAX_UNJUDGED]
        yield from (style.wrap(line, indent="    ", first="  ") for line in shown)
        yield from more_lines(len(report.unjudged) - len(shown))
    if report.cluster is not None:
        yield from _cluster(report.cluster, style)
    if report.lives:
        yield ""
        yield from _table(report, style)
    for note in report.notes:
        yield style.wrap(f"note: {note}", indent="")


def _cluster(cluster: VersionsCluster, style: Style) -> Iterator[str]:
    for kind in cluster.due:
        yield ""
        yield f"{style.paint(kind.crd, 'path')}  {kind_sentence(kind)}"
        for step in shown_steps(cluster, kind):
            yield style.wrap(step.sentence, indent="    ", first="  ")
            yield from (f"    {command}" for command in step.commands)


def _table(report: VersionsReport, style: Style) -> Iterator[str]:
    """A line for each version; CRDs with nothing but one version that stays as it is are counted, without ``-v``."""
    hidden = () if style.verbosity > 0 else steady(report)
    lives = [life for life in report.lives if life not in hidden]
    rows = [(shortened(f"{life.crd}/{life.version}", _MAX_LABEL), *map(_cell, cells(life))) for life in lives]
    if rows:
        yield from _columns([("", *COLUMNS), *rows], style)
    if hidden:
        what = "has one version, which is" if len(hidden) == 1 else "have one version each, which is"
        yield style.wrap(f"{plural(len(hidden), 'CRD')} {what} served and stored throughout (-v lists them).", first="")
    yield style.wrap(legend(report), indent="")


def _columns(rows: Sequence[Sequence[str]], style: Style) -> Iterator[str]:
    widths = [max(columns_of(row[at]) for row in rows) for at in range(len(rows[0]))]
    for number, row in enumerate(rows):
        line = _GAP.join(justified(text, width) for text, width in zip(row, widths, strict=True)).rstrip()
        yield style.paint(line, "bold") if not number else line


def _cell(text: str) -> str:
    return shortened(text, _MAX_CELL) or "-"
