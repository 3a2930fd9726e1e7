"""Compares the verdicts of a fleet run with the tables of an earlier one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from crdcompat.errors import UsageError
from crdcompat.models.fleet import FleetReport
from crdcompat.sources.naming import reason_of
from crdcompat.vocabulary.writes import ReleaseVerdict

_ORDER = [str(verdict) for verdict in ReleaseVerdict]


class Earlier:
    """The verdicts of an earlier run by cluster and target; a cluster without an id has its name as the key."""

    def __init__(self, folder: str) -> None:
        """Read ``clusters.parquet`` in the folder. Raises UsageError."""
        path = Path(folder) / "clusters.parquet"
        self._folder = folder
        self._verdicts: dict[tuple[str, str], str] = {}
        try:
            with path.open("rb") as opened, pq.ParquetFile(opened) as file:
                for batch in file.iter_batches(columns=["cluster", "id", "target", "verdict"]):
                    for row in batch.to_pylist():
                        self._verdicts[row["id"] or row["cluster"], row["target"]] = row["verdict"]
        except (OSError, pa.ArrowException, KeyError) as error:
            reason = reason_of(error) if isinstance(error, OSError) else str(error)
            raise UsageError(f"--since {folder}: no tables of a fleet: {reason}") from None

    def notes(self, report: FleetReport) -> Iterator[str]:
        """For each target, the number of clusters whose verdict is better or worse than in the earlier run."""
        for target in report.targets:
            now = {
                cluster.id or cluster.name: str(verdict.verdict)
                for cluster in report.clusters
                for verdict in cluster.verdicts
                if verdict.target == target.name
            }
            before = {cluster: verdict for (cluster, of), verdict in self._verdicts.items() if of == target.name}
            changes = Counter(_change(before.get(cluster), now.get(cluster)) for cluster in before.keys() | now.keys())
            counts = ", ".join(f"{changes[name]} {name}" for name in _CHANGES if changes[name])
            yield f"since {self._folder}: to {target.name}: {counts or 'no clusters'}"


_CHANGES = ("worse", "better", "as before", "new", "gone")


def _change(before: str | None, now: str | None) -> str:
    if before is None or now is None:
        return "new" if before is None else "gone"
    if before == now:
        return "as before"
    return "worse" if _ORDER.index(now) < _ORDER.index(before) else "better"
