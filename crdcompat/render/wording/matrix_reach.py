"""The farthest rollback of each release in a matrix, and the findings that block the next one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.models.fleet import REACHABLE
from crdcompat.render.wording.blocks import fold, siblings
from crdcompat.render.wording.findings import first_and_count, some
from crdcompat.render.wording.matrix import cluster_answer, coverage, verdicts
from crdcompat.render.wording.verdict import COLOURS, allowed_line
from crdcompat.vocabulary import Direction, Effect
from crdcompat.vocabulary.writes import ReleaseVerdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.models.finding import Finding
    from crdcompat.models.matrix import Cell, MatrixReport
    from crdcompat.render.escape import Style

_MAX_BLOCKERS = 2


class Reach(Struct, frozen=True):
    """The rollbacks of one release, the nearest older target first: those that work, and the first that does not.

    ``stop`` is None if the release can go back to every older one.
    """

    origin: str
    works: tuple[Cell, ...]
    stop: Cell | None

    @property
    def verdict(self) -> ReleaseVerdict:
        """The verdict on the first rollback that does not work; the worst verdict if all work."""
        if self.stop is not None:
            return self.stop.verdict
        return min((cell.verdict for cell in self.works), key=lambda verdict: verdict.rank)


def reaches(report: MatrixReport) -> list[Reach]:
    """The reach of each release, the newest release first; empty if no rollback was judged."""
    made = []
    for release in reversed(report.releases):
        rows = [cell for cell in report.cells if (cell.origin, cell.direction) == (release.name, Direction.ROLLBACK)]
        if rows:
            works = tuple(cell for cell in reversed(rows) if cell.verdict in REACHABLE)
            made.append(Reach(release.name, works, next((each for each in reversed(rows) if each not in works), None)))
    return made


def reach_sentence(reach: Reach) -> str:
    """``back to release-4.15; BLOCKED to release-4.14 by ClusterVersion status.a``."""
    parts = []
    if reach.works:
        risk = [cell for cell in reach.works if cell.verdict == ReleaseVerdict.AT_RISK]
        names = ", ".join(f"{cell.target}{' (AT RISK)' if cell in risk else ''}" for cell in reach.works)
        parts.append(f"back to {names}")
    if reach.stop is not None:
        word = reach.stop.verdict.upper()
        parts.append(f"{word} to {reach.stop.target}{why(reach.stop)}")
    return "; ".join(parts)


def matrix_verdict(report: MatrixReport, style: Style) -> Iterator[str]:
    """The answer for a recorded cluster, a line for each release that can go back, then the counts."""
    if report.cluster is not None:
        yield style.fill(cluster_answer(report.cluster), indent="  ", first="")
    for reach in reaches(report):
        text = style.clip(f"{reach.origin}: {reach_sentence(reach)}", indent="    ", first="")
        yield style.paint(text, COLOURS[reach.verdict])
    yield style.fill(f"{verdicts(report)}.", indent="  ", first="")
    yield style.fill(coverage(report), indent="  ", first="")
    yield from allowed_line(style)


def why(cell: Cell) -> str:
    """The obstacles (`` by ClusterVersion status.a``), else the first reason why objects or CRDs were not judged."""
    if cell.verdict == ReleaseVerdict.BLOCKED:
        groups = siblings(
            (blocker.finding for blocker in cell.blockers), lambda finding: finding.path, lambda finding: finding.crd
        )
        groups.sort(key=lambda group: group[0].effect != Effect.WRITE_REJECTED)
        return f" by {some([_subject(group) for group in groups], _MAX_BLOCKERS)}"
    return f" ({first_and_count(cell.unjudged or ('nothing was judged',))})"


def _subject(group: list[Finding]) -> str:
    return f"{group[0].kind} {fold([finding.path for finding in group])}".strip()
