"""The report of ``simulate --fleet``: which findings block how many clusters, and how far back each cluster can go.

The verdicts are the same as in a matrix: ``blocked`` (a write is rejected), ``unknown`` (something could not be
judged), ``at risk`` (an accepted write loses data), ``clean``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from msgspec import Struct

from crdcompat.models.outcome import Judgement, WithVerdict, judged_verdicts
from crdcompat.vocabulary import Direction
from crdcompat.vocabulary.writes import Endpoint, ReleaseVerdict, WriteResult

if TYPE_CHECKING:
    from crdcompat.errors import Problem, Skipped
    from crdcompat.models.finding import Growth, Location
    from crdcompat.models.release import Release

#: The verdicts with which a cluster can move to a release.
REACHABLE = (ReleaseVerdict.CLEAN, ReleaseVerdict.AT_RISK)


class UnreadRecording(Struct, frozen=True):
    """A recording that could not be read at all, and why."""

    recording: str
    reason: str


class ClusterVerdict(Struct, frozen=True):
    """The verdict on one cluster against one target.

    ``objects`` counts the replayed objects by their worst verdict, ``findings`` are ids of the report's findings, in
    its order. ``unjudged`` are the reasons why the verdict is not better than ``unknown``, ``unjudged_objects`` the
    number of objects that were not judged.
    """

    target: str
    verdict: ReleaseVerdict
    objects: Mapping[WriteResult, int]
    findings: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    unjudged_objects: int = 0


class FleetCluster(Struct, frozen=True):
    """One cluster: its recordings, all with the same ``id`` (spec.clusterID of ClusterVersion), and its verdicts.

    ``version`` and ``platform`` (``AWS``) are the recorded ones, None if unknown. ``objects`` counts the objects read,
    ``outside`` those of kinds that neither release defines. ``verdicts`` are in the order of the report's targets.
    """

    name: str
    recordings: tuple[str, ...]
    id: str | None
    version: str | None
    platform: str | None
    objects: int
    outside: int
    verdicts: tuple[ClusterVerdict, ...]

    @property
    def farthest(self) -> str | None:
        """The last of the ordered targets that the cluster can move to; None if there is none."""
        return self.verdicts[self.reach].target if self.reach >= 0 else None

    @property
    def reach(self) -> int:
        """The place of ``farthest`` in the targets; -1 if there is none."""
        return max((at for at, each in enumerate(self.verdicts) if each.verdict in REACHABLE), default=-1)

    @property
    def blocking(self) -> int:
        """The number of targets to which a write of the cluster is blocked."""
        return sum(each.verdict == ReleaseVerdict.BLOCKED for each in self.verdicts)


class Clusters(Protocol):
    """The clusters of a report by name. They may be on disk: each iteration reads them again."""

    def __len__(self) -> int:
        """The number of clusters."""
        ...

    def __iter__(self) -> Iterator[FleetCluster]:
        """The clusters by name."""
        ...

    def worst_first(self) -> Iterator[FleetCluster]:
        """The clusters that can go back least far first; of equal ones, those that more targets block."""
        ...


class FleetTotals(Struct, frozen=True):
    """Counts over all clusters.

    ``recordings`` were read, ``several`` clusters have more than one of them. ``judged`` counts verdicts on objects,
    one for each target. ``verdicts`` counts clusters: target -> verdict -> number, worst first.
    """

    recordings: int
    several: int
    objects: int
    outside: int
    judged: int
    verdicts: Mapping[str, Mapping[ReleaseVerdict, int]]


class RejectedValue(Struct, frozen=True):
    """A rejected value, the number of clusters that hold it, and whether it is not to be published."""

    value: Any
    clusters: int
    is_hidden: bool = False


class TargetShare(Struct, frozen=True):
    """The clusters and objects that a finding blocks from one target, and the line that rejects them there."""

    target: str
    clusters: int
    objects: int
    values: tuple[RejectedValue, ...]
    location: Location | None


class FleetFinding(Struct, frozen=True):
    """Values at one path of one kind's objects that a target rejects, over all clusters.

    ``id`` is the same for the same cause in all reports. ``clusters`` counts the clusters blocked from any target.
    ``endpoint`` (``main`` or ``status``) is where a write can remove the values. ``targets`` are those that reject
    them, in the report's order. ``growth`` is the declaration that values of the type ``ValueTooEarly`` break: the
    targets may accept them. Of the type ``DeletedWithCrd`` are objects that Helm deletes on the way to the targets.
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
    growth: Growth | None = None


class UnjudgedReason(Struct, frozen=True):
    """Objects not judged for one reason: against which targets, in how many clusters, and one as an example.

    ``objects`` is the number for the target with most; 0 if the number is unknown.
    """

    reason: str
    targets: tuple[str, ...]
    clusters: int
    objects: int
    example: str


class FleetReport(WithVerdict, frozen=True):
    """The result of ``simulate --fleet``: the rollback NEW -> target of every cluster, for every target.

    ``targets`` include OLD; the nearest to NEW is first. ``findings`` and ``unjudged`` are sorted by clusters, most
    first. ``unread`` are recordings that could not be read at all; ``problems`` are parts that
    could not be read, the first few per recording. With ``direction`` ``upgrade`` the only target is NEW, and the
    objects are OLD's.
    """

    KIND: ClassVar[Literal["fleet"]] = "fleet"

    old: Release
    new: Release
    direction: Direction
    targets: tuple[Release, ...]
    clusters: Clusters
    totals: FleetTotals
    findings: tuple[FleetFinding, ...]
    unjudged: tuple[UnjudgedReason, ...]
    unread: tuple[UnreadRecording, ...]
    problems: tuple[Problem, ...]
    left_out: tuple[Skipped, ...]
    notes: tuple[str, ...] = ()
    command: str = "simulate-fleet"

    @property
    def recordings(self) -> int:
        """The number of recordings, unread ones included."""
        return self.totals.recordings + len(self.unread)

    @property
    def objects(self) -> int:
        """The number of objects read."""
        return self.totals.objects

    def by_verdict(self, target: str) -> Mapping[ReleaseVerdict, int]:
        """The number of clusters with each verdict against a target, worst first."""
        return self.totals.verdicts[target]

    @property
    def judgement(self) -> Judgement:
        """What decides the verdict on all clusters and targets together."""
        found = (name for counted in self.totals.verdicts.values() for name, count in counted.items() if count)
        return judged_verdicts(found, undone=bool(self.problems or self.unread) or not self.totals.judged)
