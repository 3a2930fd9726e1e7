"""The report of matrix: a verdict for every ordered pair of releases, its blockers, and since when they block."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from msgspec import Struct, field

from crdcompat.models.outcome import Judgement, WithVerdict, counted, joined
from crdcompat.schema.listed_values import member_key
from crdcompat.vocabulary import Direction, Owner, Severity
from crdcompat.vocabulary.writes import ReleaseVerdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crdcompat.errors import Problem
    from crdcompat.models.diff import DiffReport
    from crdcompat.models.finding import Finding
    from crdcompat.models.installers import InstallerVerdict
    from crdcompat.models.release import Release
    from crdcompat.models.simulation import SimulationReport


class Since(Struct, frozen=True):
    """A value that blocks; ``release`` is the first listed release since which it blocks without interruption.

    Every release from there to the newer one of the cell blocks, each compared directly with the older one.
    """

    value: Any
    release: str


class Blocker(Struct, frozen=True):
    """A counting finding of severity error.

    ``values`` are its ``added``, then its ``removed`` values, each with its release; empty if the finding has no
    values. ``since`` is the earliest of these releases.
    """

    finding: Finding
    since: str
    values: tuple[Since, ...] = ()


class Cell(Struct, frozen=True):
    """One ordered pair: the CRDs of ``target`` (TO) judge objects written under ``origin`` (FROM).

    ``direction`` is ``rollback`` to an older release, ``upgrade`` to a newer one. ``report`` comes from ``diff`` in
    this direction only; its ``old`` is the older release. ``verdict`` is the first that applies:

    * ``blocked``: an error counts (neither waived nor excluded by a filter);
    * ``unknown``: something was not judged (``unjudged`` lists it), or nothing was compared;
    * ``at risk``: a warning counts;
    * ``clean``: everything was judged, and neither an error nor a warning counts.

    A blocked cell may have ``unjudged`` parts, too: these may block as well.

    ``upgrade`` is the key by which a catalog of OLM offers the upgrade from the older release to the newer one
    (``replaces``, ``skips``, ``skipRange``); "" without such an upgrade. ``installers``: verdicts that depend on who
    installs the CRDs.
    """

    origin: str
    target: str
    direction: Direction
    verdict: ReleaseVerdict
    report: DiffReport
    blockers: tuple[Blocker, ...] = ()
    unjudged: tuple[str, ...] = ()
    upgrade: str = ""
    installers: tuple[InstallerVerdict, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of this direction, including waived ones, in the order of reports."""
        return self.report.findings

    def by_severity(self) -> dict[Severity, int]:
        """The number of counting findings per severity."""
        return self.report.by_severity()

    def by_owner(self) -> dict[Owner, dict[Severity, int]]:
        """The number of counting findings per owner that occurs, then per severity."""
        counted = Counter((finding.owner, finding.severity) for finding in self.findings if finding.counts)
        owners = sorted({owner for owner, _ in counted})
        return {owner: {severity: counted[owner, severity] for severity in Severity} for owner in owners}

    @property
    def blocking_crds(self) -> tuple[str, ...]:
        """The sorted names of the CRDs with blockers."""
        return tuple(sorted({blocker.finding.crd for blocker in self.blockers}))


class ClusterTarget(Struct, frozen=True):
    """Whether the recorded cluster can be rolled back to one release.

    ``report`` comes from ``simulate``. ``verdict`` is the first that applies: ``blocked``: a write is rejected;
    ``unknown``: a write or an object could not be judged (``unjudged`` lists them), or there are no objects; ``at
    risk``: an accepted write loses data; ``clean``.
    """

    target: str
    verdict: ReleaseVerdict
    report: SimulationReport
    unjudged: tuple[str, ...] = ()


class MatrixCluster(Struct, frozen=True):
    """The recorded cluster: its release, and the verdict on every older one.

    ``sources`` are the recordings as named. ``version`` is the recorded version (``4.18.3``), None if there is none.
    ``origin`` is the listed release that the cluster is assumed to run, None if no listed release has its version.
    ``targets`` are newest first; ``notes`` list assumptions.
    """

    sources: tuple[str, ...]
    version: str | None
    origin: str | None
    targets: tuple[ClusterTarget, ...]
    notes: tuple[str, ...] = ()


class MatrixReport(WithVerdict, frozen=True):
    """The result of ``matrix``: ``releases``, oldest first, and a cell for every ordered pair of them.

    ``cells`` are sorted row by row (``origin``), oldest first in both dimensions; an unrequested direction has no
    cells. ``cluster`` is None without recordings. ``notes`` list assumptions, such as the order of the releases.
    """

    KIND: ClassVar[Literal["matrix"]] = "matrix"

    releases: tuple[Release, ...]
    cells: tuple[Cell, ...]
    cluster: MatrixCluster | None = None
    notes: tuple[str, ...] = ()
    command: str = "matrix"

    def cell(self, origin: str, target: str) -> Cell | None:
        """The cell of two releases by name; None on the diagonal and for an unrequested direction."""
        return next((cell for cell in self.cells if (cell.origin, cell.target) == (origin, target)), None)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Input that could not be read, each problem once, however many cells it affects."""
        problems = (problem for report in self._reports() for problem in report.problems)
        return tuple({(each.file, each.line, each.message): each for each in problems}.values())

    @property
    def not_compared(self) -> tuple[str, ...]:
        """The CRDs that both releases of a pair have and that were not compared, with the reasons."""
        return tuple(sorted({line for cell in self.cells for line in cell.report.not_compared}))

    @property
    def idle(self) -> tuple[str, ...]:
        """Messages on pairs without a common CRD, and on recordings without an object."""
        pairs = {
            (cell.report.old.name, cell.report.new.name) for cell in self.cells if cell.report.has_nothing_compared
        }
        messages = [f"nothing to compare between {old} and {new}" for old, new in sorted(pairs)]
        if self.cluster is not None and self.cluster.targets:
            replayed = self.cluster.targets[0].report
            empty = not replayed.objects and not replayed.not_simulated
            messages += [f"no objects in {', '.join(self.cluster.sources)}"] if empty else []
        return tuple(messages)

    def by_verdict(self, direction: Direction | None = None) -> dict[ReleaseVerdict, int]:
        """The number of cells (of one direction, if given) with each verdict, worst first."""
        return counted(ReleaseVerdict, (each.verdict for each in self.cells if direction in (None, each.direction)))

    @property
    def judgement(self) -> Judgement:
        """What decides the verdict on all cells together, and on the replay of the cluster against each release."""
        return joined(report.judgement for report in self._reports())

    def _reports(self) -> Iterator[DiffReport | SimulationReport]:
        yield from (cell.report for cell in self.cells)
        yield from (target.report for target in self.cluster.targets) if self.cluster is not None else ()


# The blockers of all cells of a matrix: each place once, its values by the release since which they block.


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
