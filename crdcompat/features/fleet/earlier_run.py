"""Compares the verdicts of a fleet run with the tables of an earlier one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from crdcompat.errors import UsageError
from crdcompat.features.fleet.spill import Spill
from crdcompat.models.fleet import ClusterVerdict, FleetReport
from crdcompat.sources.naming import reason_of
from crdcompat.vocabulary.writes import ReleaseVerdict

_CHANGES = ("worse", "better", "as before", "new", "gone")
_ORDER = [str(verdict) for verdict in ReleaseVerdict]


class Earlier:
    """The verdicts of an earlier run by cluster and target. The key of a cluster is its id, else its name."""

    def __init__(self, folder: str) -> None:
        """Read ``clusters.parquet`` in the folder. Raises UsageError."""
        path = Path(folder) / "clusters.parquet"
        self._folder = folder
        self._spill = Spill("earlier (cluster TEXT, target TEXT, verdict TEXT, PRIMARY KEY (cluster, target))")
        try:
            with path.open("rb") as opened, pq.ParquetFile(opened) as file:
                for batch in file.iter_batches(columns=["cluster", "id", "target", "verdict"]):
                    rows = ((row["id"] or row["cluster"], row["target"], row["verdict"]) for row in batch.to_pylist())
                    self._spill.write_all("INSERT OR REPLACE INTO earlier VALUES (?, ?, ?)", rows)
        except (OSError, pa.ArrowException, KeyError) as error:
            reason = reason_of(error) if isinstance(error, OSError) else str(error)
            raise UsageError(f"--since {folder}: no tables of a fleet: {reason}") from None

    def notes(self, report: FleetReport) -> Iterator[str]:
        """For each target, the number of clusters whose verdict is better or worse than in the earlier run."""
        changes = {target.name: Counter[str]() for target in report.targets}
        for cluster in report.clusters:
            for item in cluster.verdicts:
                changes[item.target][self._change(cluster.id or cluster.name, item)] += 1
        for name, counted in changes.items():
            known = self._spill.one("SELECT count(*) FROM earlier WHERE target = ?", name)
            counted["gone"] = known - (counted.total() - counted["new"])
            counts = ", ".join(f"{counted[change]} {change}" for change in _CHANGES if counted[change])
            yield f"since {self._folder}: to {name}: {counts or 'no clusters'}"

    def _change(self, cluster: str, now: ClusterVerdict) -> str:
        query = "SELECT verdict FROM earlier WHERE cluster = ? AND target = ?"
        before = self._spill.one(query, cluster, now.target)
        if before is None:
            return "new"
        if before == now.verdict:
            return "as before"
        return "worse" if _ORDER.index(now.verdict) < _ORDER.index(before) else "better"
