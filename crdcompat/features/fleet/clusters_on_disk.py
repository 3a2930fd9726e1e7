"""The clusters of a run, on disk: first their counts, then their entries in the report. Memory holds one at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import msgpack

from crdcompat.features.fleet.cluster_counts import ClusterTally
from crdcompat.features.fleet.spill import Spill
from crdcompat.models.fleet import FleetCluster

_TALLY = msgpack.Decoder(ClusterTally)
_CLUSTER = msgpack.Decoder(FleetCluster)


class ClusterTallies:
    """The counts of clusters, in the order of their numbers."""

    def __init__(self, tallies: Iterable[ClusterTally]) -> None:
        self._spill = Spill("tallies (number INTEGER PRIMARY KEY, data BLOB)")
        self._spill.write_all("INSERT INTO tallies (data) VALUES (?)", ((msgpack.encode(each),) for each in tallies))

    def __iter__(self) -> Iterator[ClusterTally]:
        return (_TALLY.decode(data) for (data,) in self._spill.rows("SELECT data FROM tallies ORDER BY number"))


class StoredClusters:
    """The clusters of a report, by name or the worst first. Two are equal if their clusters are."""

    def __init__(self) -> None:
        self._spill = Spill(
            "clusters (number INTEGER PRIMARY KEY, name TEXT, reach INTEGER, blocking INTEGER, data BLOB)"
        )
        self._count = 0

    def add(self, cluster: FleetCluster) -> None:
        """Add one more cluster."""
        self._count += 1
        row = (cluster.name, cluster.reach, cluster.blocking, msgpack.encode(cluster))
        self._spill.write("INSERT INTO clusters (name, reach, blocking, data) VALUES (?, ?, ?, ?)", *row)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[FleetCluster]:
        return self._by("name, number")

    def worst_first(self) -> Iterator[FleetCluster]:
        """The clusters that can go back least far first; of equal ones, those that more targets block."""
        return self._by("reach, blocking DESC, name, number")

    def _by(self, order: str) -> Iterator[FleetCluster]:
        rows = self._spill.rows(f"SELECT data FROM clusters ORDER BY {order}")
        return (_CLUSTER.decode(data) for (data,) in rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StoredClusters) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]
