"""A matrix as parts of a page: heat map, obstacles, cluster, and every pair of releases with its findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.findings.entries import alone
from crdcompat.findings.finding import listed
from crdcompat.models.matrix_obstacles import obstacles
from crdcompat.render.html.facets import Facets
from crdcompat.render.html.findings import CONTEXT, CRD, DIRECTION, OWNER, RULE, SEVERITY, STATUS
from crdcompat.render.html.items import DirectionPart, Items, is_large, without_info
from crdcompat.render.pages.blocks import Facet
from crdcompat.render.wording.findings import plural, some
from crdcompat.render.wording.matrix import BLOCKING, Reach, labels, reaches, shortest_names, why
from crdcompat.vocabulary import Direction, Severity
from crdcompat.vocabulary.writes import ReleaseVerdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crdcompat.models.matrix import Blocker, Cell, MatrixReport
    from crdcompat.models.matrix_obstacles import Obstacle

_FACETS = (
    SEVERITY,
    DIRECTION,
    OWNER,
    STATUS,
    Facet("from", "From"),
    Facet("to", "To"),
    CRD,
    CONTEXT,
    RULE,
)
#: Findings of a page; where a matrix has more of them, each has its details in one cell, and the others refer to it.
_MAX_WHOLE = 2_000
#: Shades of a verdict's colour.
_SHADES = 3
#: Kinds with warnings that a cell names.
_MAX_KINDS = 4


class Way(Struct, frozen=True):
    """The findings of one cell; ``left_out``: number of items that do not fit on the page."""

    cell: Cell
    directions: tuple[DirectionPart, ...]
    left_out: int


class Picture:
    """The heat map: its releases with short names, and the anchor and the shade of each cell."""

    def __init__(self, report: MatrixReport) -> None:
        self.releases = [release.name for release in report.releases]
        self.short, self.reaches = shortest_names(report), {reach.origin: reach for reach in reaches(report)}
        self._cells = {(cell.origin, cell.target): cell for cell in report.cells}
        self._labels = labels(report)
        self._anchors = {way: f"way-{number}" for number, way in enumerate(self._cells, 1)}
        self._most = {
            verdict: max((_weight(cell) for cell in report.cells if cell.verdict == verdict), default=0)
            for verdict in report.by_verdict()
        }

    def cell(self, origin: str, target: str) -> Cell | None:
        """The cell of two releases; None on the diagonal."""
        return self._cells.get((origin, target))

    def words(self, name: str) -> str:
        """The common beginning of all names, without folders and remotes: a narrow screen leaves it out."""
        return self._labels[name].removesuffix(self.short[name]).rpartition("/")[2]

    def anchor(self, cell: Cell) -> str:
        """The place of the findings of a cell."""
        return self._anchors[cell.origin, cell.target]

    def shade(self, cell: Cell) -> int:
        """1 to 3, from few to many errors, or warnings where nothing blocks."""
        return 1 + (_SHADES - 1) * _weight(cell) // max(self._most[cell.verdict], 1)

    def back(self, reach: Reach) -> str:
        """How far back a release can go."""
        return ", ".join(self.short[cell.target] for cell in reach.works) or "none"


def ways(report: MatrixReport) -> tuple[tuple[Way, ...], Facets]:
    """Every cell with its findings, and what they can be filtered by."""
    items = Items(Facets(_FACETS))
    reports = [cell.report for cell in report.cells]
    homes = _homes(report) if is_large(reports, _MAX_WHOLE) else None
    return tuple(_way(cell, items, homes, brief=is_large(reports)) for cell in report.cells), items.facets


def _homes(report: MatrixReport) -> dict[str, Cell]:
    """By id of a finding the cell that has its details: of those with it the one of the closest releases."""
    at = {release.name: number for number, release in enumerate(report.releases)}
    homes: dict[str, Cell] = {}
    for cell in sorted(report.cells, key=lambda each: abs(at[each.origin] - at[each.target])):
        for finding in cell.findings:
            homes.setdefault(finding.id, cell)
    return homes


def _weight(cell: Cell) -> int:
    """The number that the shade shows: errors where they block, else warnings."""
    counted = cell.by_severity()
    return counted[Severity.ERROR] if cell.verdict == ReleaseVerdict.BLOCKED else counted[Severity.WARNING]


def doubt(cell: Cell) -> bool:
    """Whether not all of a blocked cell was judged."""
    return cell.verdict == ReleaseVerdict.BLOCKED and bool(cell.unjudged)


def reason(cell: Cell) -> str:
    """Why the cell has its verdict, in a line."""
    if cell.verdict in (ReleaseVerdict.BLOCKED, ReleaseVerdict.UNKNOWN):
        return why(cell).strip()
    kinds = dict.fromkeys(each.kind for each in cell.findings if each.counts and each.severity == Severity.WARNING)
    if not kinds:
        return "no error and no warning"
    return f"no error; {plural(cell.by_severity()[Severity.WARNING], 'warning')} for {some([*kinds], _MAX_KINDS)}"


def answer(report: MatrixReport) -> tuple[str, ReleaseVerdict]:
    """How many rollbacks have the worst verdict on a rollback, and that verdict."""
    counted = report.by_verdict(Direction.ROLLBACK)
    worst = next((verdict for verdict, count in counted.items() if count), ReleaseVerdict.UNKNOWN)
    return f"{counted[worst]} of {plural(sum(counted.values()), 'rollback')}", worst


def blocking(report: MatrixReport) -> list[tuple[str, str, list[Obstacle]]]:
    """What blocks, by direction: a title, how to read it, the obstacles."""
    found = ((*heading, obstacles(report, way)) for way, heading in BLOCKING.items())
    return [each for each in found if each[-1]]


def _way(cell: Cell, items: Items, homes: Mapping[str, Cell] | None, *, brief: bool) -> Way:
    items.more = {"from": cell.origin, "to": cell.target}
    if homes is not None:
        items.elsewhere = {each.id for each in cell.findings if homes[each.id] is not cell}
    report, left_out = without_info(cell.report) if brief else (cell.report, 0)
    since = {blocker.finding.id: tuple(_since(blocker)) for blocker in cell.blockers}
    made = (items.direction(report, alone(report), cell.direction, since), items.undecided(report))
    return Way(cell, tuple(each for each in made if each.groups), left_out)


def _since(blocker: Blocker) -> Iterator[str]:
    """``since release-4.14: "MachineAPI", "Build"``."""
    by_release: dict[str, list[object]] = {}
    for each in blocker.values:
        by_release.setdefault(each.release, []).append(each.value)
    yield from (f"since {release}: {listed(values, 50)}" for release, values in by_release.items())
    if not by_release:
        yield f"since {blocker.since}"
