"""What a simulation of many clusters reports: what blocks how many of them, and how far back each can go.

Plain values, as in ``report.model``. A verdict is that of ``report.matrix_model``: ``blocked`` (a write is rejected),
``unknown`` (something could not be judged), ``at risk`` (an accepted write loses data), ``clean``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from crdcompat.records import dataclass
from crdcompat.vocabulary import Direction, FailOn
from crdcompat.vocabulary.writes import Endpoint, ReleaseVerdict, WriteResult

if TYPE_CHECKING:
    from crdcompat.errors import Problem, Skipped
    from crdcompat.models.finding import Location
    from crdcompat.models.report import Release

#: The verdicts with which a cluster can go to a release.
OPEN = (ReleaseVerdict.CLEAN, ReleaseVerdict.AT_RISK)


@dataclass(frozen=True, slots=True)
class Unread:
    """A recording that could not be read at all, and why."""

    recording: str
    reason: str


@dataclass(frozen=True, slots=True)
class Standing:
    """One cluster in front of one target.

    ``objects`` counts those replayed by their worst verdict, ``findings`` are ids of the report's findings, in its
    order. ``unjudged`` says what keeps anything better than ``unknown`` from being said, ``unjudged_objects`` of how
    many objects that is.
    """

    target: str
    verdict: ReleaseVerdict
    objects: Mapping[WriteResult, int]
    findings: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    unjudged_objects: int = 0


@dataclass(frozen=True, slots=True)
class FleetCluster:
    """One cluster: its recordings, which say the same ``id`` (spec.clusterID of its ClusterVersion), and its standings.

    ``version`` is what it runs by the recording, ``objects`` how many were read, ``outside`` how many of them are of
    kinds that neither release defines. ``standings`` are in the order of the report's targets.
    """

    name: str
    recordings: tuple[str, ...]
    id: str | None
    version: str | None
    objects: int
    outside: int
    standings: tuple[Standing, ...]

    @property
    def farthest(self) -> str | None:
        """The last target, of those in order, that it can go to; None if there is none."""
        return next((each.target for each in reversed(self.standings) if each.verdict in OPEN), None)


@dataclass(frozen=True, slots=True)
class HeldValue:
    """A value that is rejected, and how many clusters hold it."""

    value: Any
    clusters: int


@dataclass(frozen=True, slots=True)
class TargetShare:
    """How many clusters and objects a finding stops in front of one target, and the line that rejects them there."""

    target: str
    clusters: int
    objects: int
    values: tuple[HeldValue, ...]
    location: Location | None


@dataclass(frozen=True, slots=True)
class FleetFinding:
    """What recorded objects of one kind hold at one path that a target rejects, over all clusters.

    ``id`` is that of the same cause in other reports. ``clusters`` hold it for some target. ``endpoint`` is where a
    write can take it out (``main`` or ``status``), ``targets`` those that reject it, in the report's order.
    """

    id: str
    crd: str
    kind: str
    path: str
    type: str
    endpoint: Endpoint
    clusters: int
    targets: tuple[TargetShare, ...]
    example: str


@dataclass(frozen=True, slots=True)
class Unjudged:
    """Why objects could not be judged: in front of which targets, in how many clusters, how many, one of them.

    ``objects`` are those of the target with most; 0 where it is not known how many there are.
    """

    reason: str
    targets: tuple[str, ...]
    clusters: int
    objects: int
    example: str


@dataclass(frozen=True, slots=True)
class FleetReport:
    """The result of ``simulate --fleet``: the rollback NEW -> target of every cluster, for every target.

    ``targets`` are the nearest to NEW first; OLD is one of them. ``findings`` and ``unjudged`` come with most clusters
    first, ``clusters`` by name. ``problems`` are what could not be read beside the ``unread`` recordings; of one
    recording only the first. With ``direction`` ``upgrade`` the only target is NEW, and the objects are OLD's.
    """

    KIND: ClassVar[Literal["fleet"]] = "fleet"

    old: Release
    new: Release
    direction: Direction
    targets: tuple[Release, ...]
    clusters: tuple[FleetCluster, ...]
    findings: tuple[FleetFinding, ...]
    unjudged: tuple[Unjudged, ...]
    unread: tuple[Unread, ...]
    problems: tuple[Problem, ...]
    left_out: tuple[Skipped, ...]
    notes: tuple[str, ...] = ()
    command: str = "simulate-fleet"

    @property
    def recordings(self) -> int:
        """How many there are, those that could not be read included."""
        return sum(len(cluster.recordings) for cluster in self.clusters) + len(self.unread)

    @property
    def objects(self) -> int:
        """How many were read."""
        return sum(cluster.objects for cluster in self.clusters)

    def by_verdict(self, target: str) -> dict[ReleaseVerdict, int]:
        """How many clusters have which verdict in front of a target, worst first."""
        standings = (each for cluster in self.clusters for each in cluster.standings)
        counted = Counter(each.verdict for each in standings if each.target == target)
        return {verdict: counted[verdict] for verdict in ReleaseVerdict}

    def fails(self, threshold: FailOn) -> bool:
        """A rejected write of any cluster fails, in front of any target; lower thresholds as in ``simulate``."""
        failing = {ReleaseVerdict.BLOCKED} if threshold != FailOn.NEVER else set()
        if threshold in (FailOn.WARNING, FailOn.INFO, FailOn.UNDECIDED):
            failing.add(ReleaseVerdict.UNKNOWN)
        if threshold in (FailOn.WARNING, FailOn.INFO):
            failing.add(ReleaseVerdict.AT_RISK)
        return any(each.verdict in failing for cluster in self.clusters for each in cluster.standings)
