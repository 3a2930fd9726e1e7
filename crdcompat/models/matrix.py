"""What the matrix of releases holds: a verdict for every ordered pair, what blocks it, and since when.

Plain values, as in ``report.model``: every format reads them and none changes them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from crdcompat.vocabulary import Direction, FailOn, Owner, Severity
from crdcompat.vocabulary.writes import ReleaseVerdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crdcompat.errors import Problem
    from crdcompat.models.diff import DiffReport
    from crdcompat.models.finding import Finding
    from crdcompat.models.report import Release
    from crdcompat.models.simulation import SimulationReport


@dataclass(frozen=True, slots=True)
class Since:
    """A value that blocks, and since when: ``release`` is the first of those listed from which on it does.

    Every release from there to the newer one of the cell blocks so, each held directly against the older one.
    """

    value: Any
    release: str


@dataclass(frozen=True, slots=True)
class Blocker:
    """A finding of severity error that counts.

    ``values`` are those of its ``added``, then of its ``removed``, each with its release; empty where the finding is
    about no values. ``since`` is the first release of all.
    """

    finding: Finding
    since: str
    values: tuple[Since, ...] = ()


@dataclass(frozen=True, slots=True)
class Cell:
    """One ordered pair: objects written under ``origin`` meet the CRDs of ``target`` (FROM and TO).

    ``direction`` is ``rollback`` to an older release, ``upgrade`` to a newer one. ``report`` is what ``diff`` of the
    two in this direction alone reports: its ``old`` is the older release. ``verdict`` is the first that holds:

    * ``blocked``: an error counts (neither waived nor left out by a filter);
    * ``unknown``: something was not judged (``unjudged`` says what), or nothing was compared;
    * ``at risk``: a warning counts;
    * ``clean``: everything was judged, and neither an error nor a warning counts.

    A blocked cell may have ``unjudged`` parts, too: there may be more that blocks.
    """

    origin: str
    target: str
    direction: Direction
    verdict: ReleaseVerdict
    report: DiffReport
    blockers: tuple[Blocker, ...] = ()
    unjudged: tuple[str, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of this direction, waived ones included, in the order of reports."""
        return self.report.findings

    def by_severity(self) -> dict[Severity, int]:
        """Counts of the findings that count."""
        return self.report.by_severity()

    def by_owner(self) -> dict[Owner, dict[Severity, int]]:
        """The same by owner (those that occur), then by severity."""
        counted = Counter((finding.owner, finding.severity) for finding in self.findings if finding.counts)
        owners = sorted({owner for owner, _ in counted})
        return {owner: {severity: counted[owner, severity] for severity in Severity} for owner in owners}

    @property
    def blocking_crds(self) -> tuple[str, ...]:
        """The CRDs that block, by name."""
        return tuple(sorted({blocker.finding.crd for blocker in self.blockers}))


@dataclass(frozen=True, slots=True)
class ClusterTarget:
    """Whether the cluster of the recordings can go back to one release.

    ``report`` is what ``simulate`` reports: its objects, what is rejected (``causes``), what was not simulated.
    ``verdict`` is the first that holds: ``blocked``: a write is rejected; ``unknown``: a write or an object could not
    be judged (``unjudged`` says what), or there was none; ``at risk``: an accepted write loses data; ``clean``.
    """

    target: str
    verdict: ReleaseVerdict
    report: SimulationReport
    unjudged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MatrixCluster:
    """The cluster of the recordings: which release it runs, and every older one it could go back to.

    ``sources`` are the recordings as named. ``version`` is what they say it runs (``4.18.3``), None if nothing.
    ``origin`` is the listed release that it is taken to run, None where it is newer than all of them. ``targets`` are
    newest first; ``notes`` say what was taken for granted.
    """

    sources: tuple[str, ...]
    version: str | None
    origin: str | None
    targets: tuple[ClusterTarget, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MatrixReport:
    """The result of ``matrix``: ``releases``, oldest first, and a cell for every ordered pair of them.

    ``cells`` come row by row (``origin``), oldest first in both; those of a direction that was not asked for are not
    there. ``cluster`` is None without recordings. ``notes`` say what the run took for granted, such as the order of the
    releases.
    """

    KIND: ClassVar[Literal["matrix"]] = "matrix"

    releases: tuple[Release, ...]
    cells: tuple[Cell, ...]
    cluster: MatrixCluster | None = None
    notes: tuple[str, ...] = ()
    command: str = "matrix"

    def cell(self, origin: str, target: str) -> Cell | None:
        """The cell of two releases by name; None on the diagonal and for a direction that was not asked for."""
        return next((cell for cell in self.cells if (cell.origin, cell.target) == (origin, target)), None)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read, each file once however many cells it is missing from."""
        problems = (problem for report in self._reports() for problem in report.problems)
        return tuple({(each.file, each.line, each.message): each for each in problems}.values())

    @property
    def idle(self) -> tuple[str, ...]:
        """What came to nothing: ways on which nothing was compared, recordings without an object."""
        pairs = {(cell.report.old.name, cell.report.new.name) for cell in self.cells if not cell.report.counts.compared}
        said = [f"nothing to compare between {old} and {new}" for old, new in sorted(pairs)]
        if self.cluster is not None and self.cluster.targets:
            replayed = self.cluster.targets[0].report
            empty = not replayed.objects and not replayed.not_simulated
            said += [f"no objects in {', '.join(self.cluster.sources)}"] if empty else []
        return tuple(said)

    def by_verdict(self, direction: Direction | None = None) -> dict[ReleaseVerdict, int]:
        """How many cells (of one direction, if it is named) have which verdict, worst first."""
        return _counted(cell.verdict for cell in self.cells if direction in (None, cell.direction))

    def fails(self, threshold: FailOn) -> bool:
        """Whether any cell does, or what was replayed of the cluster towards any release."""
        return any(report.fails(threshold) for report in self._reports())

    def _reports(self) -> Iterator[DiffReport | SimulationReport]:
        yield from (cell.report for cell in self.cells)
        yield from (target.report for target in self.cluster.targets) if self.cluster is not None else ()


def _counted(verdicts: Iterable[ReleaseVerdict]) -> dict[ReleaseVerdict, int]:
    counted = Counter(verdicts)
    return {verdict: counted[verdict] for verdict in ReleaseVerdict}
