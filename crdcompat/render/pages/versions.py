"""The life of versions as a page: the verdict, what blocks jumps, what a cluster has to migrate, the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.render.escape import shortened
from crdcompat.render.pages.blocks import Answer, Block, Cell, Fold, Line, Listing, Notes, Page, Section, Table, listing
from crdcompat.render.wording.findings import plural, some
from crdcompat.render.wording.verdict import allowed_by
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
    from crdcompat.render.escape import Style

_MAX_LABEL, _MAX_CELL, _MAX_UNJUDGED = 64, 40, 12


def page(report: VersionsReport, style: Style) -> Page:
    """The page; CRDs with nothing but one version that stays as it is are counted, without ``-v``."""
    unjudged = listing("What was not judged", tuple(map(Line, report.unjudged)), most=_MAX_UNJUDGED)
    kinds = [_kind(report.cluster, kind) for kind in report.cluster.due] if report.cluster is not None else []
    blocking = tuple(
        Line(item.sentence, some(item.crds), fold=Fold.NEVER, below=_below(item.lines)) for item in blocks(report)
    )
    return Page(
        command="versions",
        answers=(Answer(f"{verdict_sentence(report)}{allowed_by(report.verdict, style)}", report.verdict),),
        problems=report.problems,
        head=(Listing(blocking),),
        body=(*unjudged, *kinds, *_lives(report, style), Notes(report.notes)) if style.verbosity >= 0 else (),
    )


def _below(lines: tuple[str, ...]) -> tuple[Line, ...]:
    return tuple(Line(line, depth=2) for line in lines)


def _kind(cluster: VersionsCluster, kind: StoredKind) -> Section:
    steps = tuple(Line(step.sentence, commands=step.commands) for step in shown_steps(cluster, kind))
    return Section(kind_sentence(kind), (Listing(steps),), mark=kind.crd)


def _lives(report: VersionsReport, style: Style) -> Iterator[Block]:
    if not report.lives:
        return
    hidden = () if style.verbosity > 0 else steady(report)
    lives = [life for life in report.lives if life not in hidden]
    rows = [(f"{life.crd}/{life.version}", *cells(life)) for life in lives]
    if rows:
        yield Table("Versions", ("", *COLUMNS), tuple(tuple(map(Cell, _shortened(*row))) for row in rows))
    if hidden:
        what = "has one version, which is" if len(hidden) == 1 else "have one version each, which is"
        sentence = f"{plural(len(hidden), 'CRD')} {what} served and stored throughout (-v lists them)."
        yield Line(sentence, depth=0)
    yield Line(legend(report), depth=0, hang=0)


def _shortened(label: str, *texts: str) -> Iterator[str]:
    yield shortened(label, _MAX_LABEL)
    yield from (shortened(text, _MAX_CELL) or "-" for text in texts)
