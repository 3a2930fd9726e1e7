"""A matrix as parts of a page: heat map, obstacles, cluster, and every pair of releases with its findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.findings.entries import alone
from crdcompat.findings.finding import listed
from crdcompat.models.matrix_obstacles import obstacles
from crdcompat.render.html.facets import Facet, Facets
from crdcompat.render.html.findings import CONTEXT, CRD, DIRECTION, OWNER, RULE, SEVERITY, STATUS
from crdcompat.render.html.item import DirectionPart
from crdcompat.render.html.items import Items, is_large, without_info
from crdcompat.render.wording.findings import crd_name, plural, some, tally
from crdcompat.render.wording.matrix import BLOCKING, cluster_answer, cluster_title, part_line, reasons, target_lines
from crdcompat.render.wording.matrix_grid import labels, shortest_names
from crdcompat.render.wording.matrix_reach import Reach, reach_sentence, reaches, why
from crdcompat.render.wording.simulation import verdict_tally
from crdcompat.vocabulary import Direction, Effect, Severity
from crdcompat.vocabulary.writes import ReleaseVerdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crdcompat.models.matrix import Blocker, Cell, MatrixCluster, MatrixReport
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
#: Shades of a verdict's colour.
_SHADES = 3
#: Kinds with warnings that a cell names.
_MAX_KINDS = 4


class Square(Struct, frozen=True):
    """A cell of the heat map: its link, verdict, counts and shade (1 to 3). ``doubt``: not all of it was judged.

    ``title`` and ``why`` are shown while a reader points at it.
    """

    anchor: str
    title: str
    why: str
    verdict: ReleaseVerdict
    counts: tuple[tuple[str, int], ...]
    doubt: bool
    shade: int


class Row(Struct, frozen=True):
    """A release as origin, and a square per target; None on the diagonal.

    ``words`` is the common beginning of all names, without folders and remotes; ``short`` is the rest, which narrow
    screens show alone. ``back`` is how far back it
    can go, with the ``verdict`` on that; the oldest release has neither.
    """

    words: str
    short: str
    squares: tuple[Square | None, ...]
    back: str
    verdict: ReleaseVerdict | None


class Blocking(Struct, frozen=True):
    """What blocks in one direction."""

    title: str
    legend: str
    places: tuple[Place, ...]


class Place(Struct, frozen=True):
    """An obstacle at one or more paths, and since when it exists."""

    crd: str
    rule: str
    effect: Effect
    paths: tuple[str, ...]
    lines: tuple[str, ...]
    ways: str


class Way(Struct, frozen=True):
    """One cell in full; ``left_out``: number of items that do not fit on the page."""

    anchor: str
    title: str
    verdict: ReleaseVerdict
    tally: str
    crds: tuple[str, ...]
    unjudged: tuple[str, ...]
    directions: tuple[DirectionPart, ...]
    left_out: int


class Goal(Struct, frozen=True):
    """Whether the cluster can go back to one release."""

    name: str
    verdict: ReleaseVerdict
    tally: str
    lines: tuple[str, ...]
    unjudged: tuple[str, ...]


class Recorded(Struct, frozen=True):
    """How far back the cluster of the recordings can go."""

    title: str
    answer: str
    notes: tuple[str, ...]
    goals: tuple[Goal, ...]


class Map(Struct, frozen=True):
    """The whole matrix. ``answer`` is the number of rollbacks with the worst verdict, ``worst``."""

    answer: str
    worst: ReleaseVerdict
    reaches: tuple[tuple[str, ReleaseVerdict, str], ...]
    rows: tuple[Row, ...]
    blocking: tuple[Blocking, ...]
    unjudged: tuple[str, ...]
    ways: tuple[Way, ...]
    cluster: Recorded | None


def matrix_map(report: MatrixReport) -> tuple[Map, Facets]:
    """The matrix, and what its findings can be filtered by."""
    items = Items(Facets(_FACETS))
    brief = is_large(cell.report for cell in report.cells)
    anchors = {(cell.origin, cell.target): f"way-{number}" for number, cell in enumerate(report.cells, 1)}
    worst = {verdict: max((_weight(c) for c in report.cells if c.verdict == verdict), default=0)
             for verdict in report.by_verdict()}  # fmt: skip
    names, shown = [release.name for release in report.releases], labels(report)
    squares = {way: _square(cell, anchors[way], worst) for cell in report.cells for way in [(cell.origin, cell.target)]}
    back = {reach.origin: reach for reach in reaches(report)}
    rows = tuple(
        Row(
            shown[name].removesuffix(short).rpartition("/")[2],
            short,
            tuple(squares.get((name, target)) for target in names),
            _back(back[name], shortest_names(report)) if name in back else "",
            back[name].verdict if name in back else None,
        )
        for name, short in shortest_names(report).items()
    )
    result, answer = _answer(report)
    blocking = (Blocking(*heading, tuple(map(_place, obstacles(report, way)))) for way, heading in BLOCKING.items())
    whole = Map(
        answer=answer,
        worst=result,
        reaches=tuple((each.origin, each.verdict, reach_sentence(each)) for each in back.values()),
        rows=rows,
        blocking=tuple(each for each in blocking if each.places),
        unjudged=tuple(f"{reason} ({plural(ways, 'way')})" for reason, ways in reasons(report).items()),
        ways=tuple(_way(cell, anchors[cell.origin, cell.target], items, brief=brief) for cell in report.cells),
        cluster=_recorded(report.cluster) if report.cluster is not None else None,
    )
    return whole, items.facets


def _weight(cell: Cell) -> int:
    """The number that the shade shows: errors where they block, else warnings."""
    counted = cell.by_severity()
    return counted[Severity.ERROR] if cell.verdict == ReleaseVerdict.BLOCKED else counted[Severity.WARNING]


def _square(cell: Cell, anchor: str, worst: Mapping[ReleaseVerdict, int]) -> Square:
    counted = cell.by_severity()
    counts = tuple(
        (severity, counted[severity]) for severity in (Severity.ERROR, Severity.WARNING) if counted[severity]
    )
    shade = 1 + (_SHADES - 1) * _weight(cell) // max(worst[cell.verdict], 1)
    doubt = cell.verdict == ReleaseVerdict.BLOCKED and bool(cell.unjudged)
    return Square(anchor, f"{cell.origin} → {cell.target}", _why(cell), cell.verdict, counts, doubt, shade)


def _why(cell: Cell) -> str:
    """Why the cell has its verdict, in a line."""
    if cell.verdict in (ReleaseVerdict.BLOCKED, ReleaseVerdict.UNKNOWN):
        return why(cell).strip()
    kinds = dict.fromkeys(each.kind for each in cell.findings if each.counts and each.severity == Severity.WARNING)
    if not kinds:
        return "no error and no warning"
    return f"no error; {plural(cell.by_severity()[Severity.WARNING], 'warning')} for {some([*kinds], _MAX_KINDS)}"


def _answer(report: MatrixReport) -> tuple[ReleaseVerdict, str]:
    """The worst verdict on a rollback, and how many rollbacks have it."""
    counted = report.by_verdict(Direction.ROLLBACK)
    worst = next((verdict for verdict, count in counted.items() if count), ReleaseVerdict.UNKNOWN)
    return worst, f"{counted[worst]} of {plural(sum(counted.values()), 'rollback')}"


def _back(reach: Reach, short: Mapping[str, str]) -> str:
    return ", ".join(short[cell.target] for cell in reach.works) or "none"


def _place(item: Obstacle) -> Place:
    finding = item.finding
    return Place(
        crd=crd_name(finding.crd, finding.versions),
        rule=finding.rule,
        effect=finding.effect,
        paths=tuple(path for path in item.paths if path),
        lines=tuple(part_line(part).replace(" -> ", " → ") for part in item.parts),
        ways=plural(item.ways, "way"),
    )


def _way(cell: Cell, anchor: str, items: Items, *, brief: bool) -> Way:
    items.more = {"from": cell.origin, "to": cell.target}
    report, left_out = without_info(cell.report) if brief else (cell.report, 0)
    since = {blocker.finding.id: tuple(_since(blocker)) for blocker in cell.blockers}
    made = (items.direction(report, alone(report), cell.direction, since), items.undecided(report))
    return Way(
        anchor=anchor,
        title=f"{cell.origin} → {cell.target}",
        verdict=cell.verdict,
        tally=tally(cell.by_severity()),
        crds=cell.blocking_crds,
        unjudged=cell.unjudged,
        directions=tuple(each for each in made if each.groups),
        left_out=left_out,
    )


def _since(blocker: Blocker) -> Iterator[str]:
    """``since release-4.14: "MachineAPI", "Build"``."""
    by_release: dict[str, list[object]] = {}
    for each in blocker.values:
        by_release.setdefault(each.release, []).append(each.value)
    yield from (f"since {release}: {listed(values, 50)}" for release, values in by_release.items())
    if not by_release:
        yield f"since {blocker.since}"


def _recorded(cluster: MatrixCluster) -> Recorded:
    goals = tuple(
        Goal(
            name=target.target,
            verdict=target.verdict,
            tally=verdict_tally(target.report),
            lines=tuple(target_lines(target.report)),
            unjudged=target.unjudged,
        )
        for target in cluster.targets
    )
    answer = cluster_answer(cluster)
    return Recorded(cluster_title(cluster), answer, cluster.notes, goals)
