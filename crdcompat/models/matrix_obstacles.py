"""The blockers of all cells of a matrix: each place once, its values by the release since which they block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from crdcompat.schema.enums import member_key
from crdcompat.vocabulary import Direction

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crdcompat.models.finding import Finding
    from crdcompat.models.matrix import MatrixReport

#: The origin and target of a cell.
Way = tuple[str, str]


class ObstaclePart(Struct, frozen=True):
    """Values that block since one release (none if the finding has no values), and the ways that they block.

    ``usual``: exactly the ways between a release before that one and one from it on.
    """

    since: str
    values: tuple[Any, ...]
    ways: tuple[Way, ...]
    usual: bool


class Obstacle(Struct, frozen=True):
    """The same blockers at one or more places of a CRD; ``finding`` is one of them."""

    finding: Finding
    paths: tuple[str, ...]
    parts: tuple[ObstaclePart, ...]

    @property
    def ways(self) -> int:
        """The number of ways that it blocks."""
        return len({way for part in self.parts for way in part.ways})


class _Place(Struct):
    """The blockers at one place: the blocked ways by value and release."""

    finding: Finding
    values: dict[Any, Any] = field(default_factory=dict)
    ways: dict[tuple[Any, str], list[Way]] = field(default_factory=dict)


def obstacles(report: MatrixReport, direction: Direction) -> list[Obstacle]:
    """The obstacles of one direction; those that block most ways first."""
    order = {release.name: index for index, release in enumerate(report.releases)}
    found: dict[Any, Obstacle] = {}
    for place in _places(report, direction):
        finding, parts = place.finding, tuple(_parts(place, order))
        facts = tuple((part.since, tuple(map(member_key, part.values)), part.ways) for part in parts)
        key = (finding.crd, finding.versions, finding.rule, facts)
        known = found.get(key, Obstacle(finding, (), parts))
        found[key] = Obstacle(known.finding, (*known.paths, finding.path), parts)
    return sorted(found.values(), key=lambda item: (-item.ways, item.finding.crd, item.paths, item.finding.rule))


def _places(report: MatrixReport, direction: Direction) -> Iterator[_Place]:
    found: dict[tuple[str, ...], _Place] = {}
    for cell in report.cells:
        for blocker in cell.blockers if cell.direction == direction else ():
            finding = blocker.finding
            key = finding.crd, finding.versions, finding.rule, finding.path
            place = found.setdefault(key, _Place(finding))
            place.finding = finding  # the one of the newest release: its locations are shown
            way = cell.origin, cell.target
            for each in blocker.values:
                place.values[member_key(each.value)] = each.value
                place.ways.setdefault((member_key(each.value), each.release), []).append(way)
            if not blocker.values:
                place.ways.setdefault((None, blocker.since), []).append(way)
    return iter(found.values())


def _parts(place: _Place, order: Mapping[str, int]) -> Iterator[ObstaclePart]:
    """The values grouped by the release since which they block and the ways blocked, oldest release first."""
    groups: dict[tuple[str, tuple[Way, ...]], list[Any]] = {}
    for (name, since), ways in place.ways.items():
        values = groups.setdefault((since, tuple(ways)), [])
        values += [place.values[name]] if name is not None else []
    for (since, blocked), found in sorted(groups.items(), key=lambda item: (order[item[0][0]], item[0][1])):
        older = [name for name in order if order[name] < order[since]]
        newer = [name for name in order if order[name] >= order[since]]
        usual = {frozenset((old, new)) for old in older for new in newer} == set(map(frozenset, blocked))
        yield ObstaclePart(since, tuple(found), blocked, usual)
