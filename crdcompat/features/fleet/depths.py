"""Makes the entries of clusters in the fleet report from their counts: the verdict for each target, and its reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

from crdcompat.config.releases import minor_of
from crdcompat.crds.reader import CrdSet
from crdcompat.features.fleet.cluster_counts import ClusterTally, Distinct, TargetTally
from crdcompat.features.fleet.clusters_on_disk import StoredClusters
from crdcompat.models.fleet import ClusterVerdict, FleetCluster, FleetTotals, UnjudgedReason
from crdcompat.models.outcome import judged_writes
from crdcompat.models.simulation import Unrecorded
from crdcompat.render.wording.findings import plural
from crdcompat.render.wording.simulation import unrecorded_line
from crdcompat.vocabulary import Direction
from crdcompat.vocabulary.writes import ReleaseVerdict


class _Missing(Struct):
    """Clusters that lack the same kinds. ``first`` has the target and the number of ``example``, the first one."""

    first: tuple[int, int]
    example: str
    targets: set[int] = field(default_factory=set)
    clusters: Distinct = field(default_factory=Distinct)


class ClusterLister:
    """Lists clusters one by one, and adds up the totals of the report."""

    def __init__(
        self,
        readers: Sequence[CrdSet],
        direction: Direction,
        order: Mapping[str, int],
        unrecorded: Sequence[Sequence[Unrecorded]],
    ) -> None:
        """``order`` has the sort position of each finding's id. ``readers``, ``unrecorded``: see ``summarize``."""
        self._readers = readers
        self._direction = direction
        self._order = order
        self._unrecorded = unrecorded
        self._missing: dict[str, _Missing] = {}
        self._counts: Counter[str] = Counter()
        self._verdicts = {crds.name: dict.fromkeys(ReleaseVerdict, 0) for crds in readers}
        self.clusters = StoredClusters()

    def add(self, cluster: ClusterTally) -> None:
        """List one more cluster."""
        verdicts = tuple(self._verdict(cluster, at) for at in range(len(self._readers)))
        names = tuple(sorted(cluster.recordings))
        self.clusters.add(
            FleetCluster(
                names[0],
                names,
                cluster.id,
                cluster.version,
                cluster.platform,
                cluster.objects,
                cluster.outside,
                verdicts,
            )
        )
        self._counts["recordings"] += len(names)
        self._counts["several"] += len(names) > 1
        self._counts["objects"] += cluster.objects
        self._counts["outside"] += cluster.outside
        self._counts["judged"] += sum(sum(each.objects.values()) for each in verdicts)
        self._counts["judged"] += sum(each.deleted for each in cluster.targets)
        for each in verdicts:
            self._verdicts[each.target][each.verdict] += 1

    def totals(self) -> FleetTotals:
        """The counts over all clusters."""
        counted = {name: self._counts[name] for name in FleetTotals.__struct_fields__ if name != "verdicts"}
        return FleetTotals(**counted, verdicts=self._verdicts)

    def unrecorded(self) -> Iterator[UnjudgedReason]:
        """The kinds with findings that were not recorded, with the targets and clusters that lack them."""
        for reason, found in sorted(self._missing.items(), key=lambda item: item[1].first):
            targets = tuple(self._readers[at].name for at in sorted(found.targets))
            yield UnjudgedReason(reason, targets, found.clusters.count, 0, found.example)

    def _verdict(self, cluster: ClusterTally, at: int) -> ClusterVerdict:
        """The verdict on a cluster for the target with the index ``at``."""
        crds, counted = self._readers[at], cluster.targets[at]
        unjudged = (
            *(_not_a_rollback(cluster, crds) if self._direction == Direction.ROLLBACK else ()),
            *_unread_crds(crds),
            *_reasons(counted),
            *self._not_recorded(cluster, at),
        )
        return ClusterVerdict(
            target=crds.name,
            verdict=judged_writes(counted.verdicts, unjudged=bool(unjudged), fails=counted.fails).verdict,
            objects=counted.verdicts,
            findings=tuple(sorted(counted.findings, key=self._order.__getitem__)),
            unjudged=unjudged,
            unjudged_objects=counted.unjudged,
        )

    def _not_recorded(self, cluster: ClusterTally, at: int) -> Iterator[str]:
        """The reason why a cluster is not judged if kinds with findings were not recorded."""
        missing = [item for item in self._unrecorded[at] if item.crd not in cluster.recorded]
        if not missing:
            return
        reason, number = unrecorded_line(missing), len(self.clusters)
        found = self._missing.setdefault(reason, _Missing((at, number), cluster.recordings[0]))
        if (at, number) < found.first:
            found.first, found.example = (at, number), cluster.recordings[0]
        found.targets.add(at)
        found.clusters.add(number)
        yield reason


def _not_a_rollback(cluster: ClusterTally, target: CrdSet) -> Iterator[str]:
    """The reason why a target is not judged if it is not older than the cluster."""
    current, wanted = (minor_of(name) if name else None for name in (cluster.version, target.name))
    if current is not None and wanted is not None and wanted >= current:
        yield f"it runs {cluster.version}, and {target.name} is not older"


def _unread_crds(target: CrdSet) -> Iterator[str]:
    """The reason why a target with unreadable CRDs is not judged: their objects seem to be of unknown kinds."""
    if target.problems:
        yield f"{plural(len(target.problems), 'problem')} in {target.name}: what it has is not known"


def _reasons(target: TargetTally) -> Iterator[str]:
    for reason, objects in target.reasons.items():
        yield f"{plural(objects, 'object')}: {reason}" if objects else reason
    if target.other_reasons:
        yield plural(target.other_reasons, "other reason")
    if target.problems:
        yield f"{plural(target.problems, 'problem')} while it was read"
