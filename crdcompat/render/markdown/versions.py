"""The life of versions as GitHub Markdown: what blocks jumps, the table, what a cluster has to migrate to unfold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.render.escape import escape_lines
from crdcompat.render.markdown.markup import block, bullets, cell, code, details, span
from crdcompat.render.wording.findings import plural, some
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
    from collections.abc import Iterator

    from crdcompat.models.versions import StoredKind, VersionsCluster, VersionsReport

_MAX_ROWS = 200


def versions_head(report: VersionsReport) -> Iterator[str]:
    """The verdict, and what could not be read or was not judged."""
    yield f"## crdcompat: {code(verdict_sentence(report))}"
    if problems := [f"{each.file}:{each.line or 1}: {each.message}" for each in report.problems]:
        yield f"**Could not be read:**\n\n{bullets(problems)}"
    if report.unjudged:
        yield f"**Not judged:**\n\n{bullets(report.unjudged)}"


def versions_entries(report: VersionsReport) -> Iterator[tuple[str, int]]:
    """Parts that may be left out, most important first, each with the number of entries in it."""
    for item in blocks(report):
        yield f"{span(some(item.crds))} {span(item.sentence)}\n\n{bullets(item.lines)}", 1
    if report.cluster is not None:
        for kind in report.cluster.due:
            yield _kind(report.cluster, kind), 1
    if rows := _rows(report):
        yield "\n".join(rows), len(rows)


def versions_tail(report: VersionsReport) -> Iterator[str]:
    """What the table leaves out, and notes."""
    if hidden := steady(report):
        yield f"Left out: {plural(len(hidden), 'CRD')} with one version, which is served and stored throughout."
    if report.releases:
        yield span(legend(report))
    if report.notes:
        yield bullets(report.notes)


def _rows(report: VersionsReport) -> list[str]:
    hidden = steady(report)
    lives = [life for life in report.lives if life not in hidden]
    lines = [["", *COLUMNS], ["---"] * (len(COLUMNS) + 1)]
    for life in lives[:_MAX_ROWS]:
        lines.append([cell(f"{life.crd}/{life.version}"), *(cell(text) if text else "" for text in cells(life))])
    more = [f"| and {len(lives) - _MAX_ROWS} more |"] if len(lives) > _MAX_ROWS else []
    return [*(f"| {' | '.join(line)} |" for line in lines), *more] if lives else []


def _kind(cluster: VersionsCluster, kind: StoredKind) -> str:
    steps = [line for step in shown_steps(cluster, kind) for line in (f"# {step.sentence}", *step.commands)]
    return details(code(f"{kind.crd}: {kind_sentence(kind)}"), block(escape_lines("\n".join(steps))))
