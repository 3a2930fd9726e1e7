"""Writes the results of a fleet as Parquet files.

Rows are written as they are made, a bounded number at a time. ``SCHEMAS`` describes every column; docs/fleet.md shows
queries.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from crdcompat.errors import UsageError
from crdcompat.features.fleet.cluster_counts import finding_id
from crdcompat.features.fleet.judged import Judged
from crdcompat.features.fleet.recording_outcome import Outcome
from crdcompat.models.fleet import FleetReport
from crdcompat.sources.naming import failing_as
from crdcompat.vocabulary import HIDDEN, Direction
from crdcompat.vocabulary.writes import WriteResult

_ROWS_AT_A_TIME = 5_000
_TEXTS = pa.list_(pa.string())


def _schema(columns: dict[str, tuple[pa.DataType, str]]) -> pa.Schema:
    return pa.schema([pa.field(name, kind, metadata={"is": text}) for name, (kind, text) in columns.items()])


_OF_A_CLUSTER = {
    "cluster": (pa.string(), "the cluster's name: its first recording"),
    "target": (pa.string(), "the release to go to"),
}
_OF_A_CAUSE = {
    "finding": (pa.string(), "the id of the finding, the same in all runs"),
    "crd": (pa.string(), "the CRD, <plural>.<group>"),
    "kind": (pa.string(), "the kind of the objects"),
    "path": (pa.string(), "the rejected field"),
    "type": (pa.string(), "the API server's type of the error"),
}
#: The columns of each file, by the file's name.
SCHEMAS = {
    "clusters": _schema(
        {
            **_OF_A_CLUSTER,
            "id": (pa.string(), "spec.clusterID of its ClusterVersion; null if not recorded"),
            "version": (pa.string(), "the recorded version; null if unknown"),
            "platform": (pa.string(), "the recorded platform, such as AWS; null if unknown"),
            "verdict": (pa.string(), "blocked, unknown, at risk or clean"),
            "farthest": (pa.string(), "the farthest target that the cluster can go to; null if none"),
            "objects": (pa.int64(), "objects read"),
            "outside": (pa.int64(), "objects of kinds that neither release defines"),
            "rejected": (pa.int64(), "objects of which a write is rejected"),
            "loses_data": (pa.int64(), "objects that lose data by an accepted write"),
            "unjudged": (pa.int64(), "objects that were not judged"),
            "reasons": (_TEXTS, "why the verdict is not better than unknown"),
            "recordings": (_TEXTS, "its recordings"),
        }
    ),
    "findings": _schema(
        {
            **_OF_A_CLUSTER,
            **_OF_A_CAUSE,
            "recording": (pa.string(), "the recording"),
            "objects": (pa.int64(), "objects of the recording with the finding"),
            "values": (_TEXTS, "rejected values as JSON, the first ones"),
            "example": (pa.string(), "one of the objects"),
        }
    ),
    "objects": _schema(
        {
            **_OF_A_CLUSTER,
            "recording": (pa.string(), "the recording"),
            "object": (pa.string(), "kind, namespace and name"),
            "findings": (_TEXTS, "the ids of its findings"),
        }
    ),
    "problems": _schema(
        {
            "recording": (pa.string(), "the recording; of a release, its file"),
            "file": (pa.string(), "the file in it; null if all of it is meant"),
            "line": (pa.int64(), "the line; null if unknown"),
            "message": (pa.string(), "the problem and its reason"),
            "read": (pa.bool_(), "whether the rest of the recording was read"),
        }
    ),
}


def write_tables(folder: str, report: FleetReport, recordings: Iterable[Judged], *, redact: bool = False) -> None:
    """Write the files of `SCHEMAS`; ``recordings`` are the recordings of the report that were read.

    Raises UsageError; then files of an earlier run are as they were, and there is no part of a new one.
    """
    targets = [target.name for target in report.targets]
    with failing_as(UsageError, f"--output {folder}"), ExitStack() as stack:
        files = {name: stack.enter_context(_Table(Path(folder), name)) for name in SCHEMAS}
        for row in _clusters(report):
            files["clusters"].add(row)
        for judged in recordings:
            place = {"cluster": judged.cluster, "recording": judged.name}
            for name, row in rows_of(judged.outcome, targets, report.direction, redact=redact):
                files[name].add({**place, **row})
        for row in _problems(report):
            files["problems"].add(row)
        for file in files.values():
            file.end()
        for file in files.values():
            file.rename()


def make_folder(folder: str) -> None:
    """Make the folder of the tables before the work begins. Raises UsageError."""
    with failing_as(UsageError, f"--output {folder}"):
        Path(folder).mkdir(parents=True, exist_ok=True)


class _Table:
    """One file of rows. It has a temporary name until it is complete."""

    def __init__(self, folder: Path, name: str) -> None:
        self._path = folder / f"{name}.parquet"
        self._temporary = folder / f".{name}-{os.getpid()}.parquet"
        self._schema = SCHEMAS[name]
        self._rows: list[dict[str, Any]] = []

    def __enter__(self) -> _Table:
        self._writer = pq.ParquetWriter(self._temporary, self._schema)
        return self

    def __exit__(self, *_: object) -> None:
        try:
            with suppress(OSError):  # the error of the write, which has ended the block, says why
                self._writer.close()
        finally:
            self._temporary.unlink(missing_ok=True)

    def end(self) -> None:
        """Write the rest of the rows and the end of the file. Raises OSError."""
        self._flush()
        self._writer.close()

    def rename(self) -> None:
        """Give the complete file its name."""
        self._temporary.replace(self._path)

    def add(self, row: dict[str, Any]) -> None:
        self._rows.append({name: row.get(name) for name in self._schema.names})
        if len(self._rows) == _ROWS_AT_A_TIME:
            self._flush()

    def _flush(self) -> None:
        if not self._rows:
            return
        self._writer.write_table(pa.Table.from_pylist(self._rows, self._schema))
        self._rows.clear()


def _clusters(report: FleetReport) -> Iterator[dict[str, Any]]:
    for cluster in report.clusters:
        for verdict in cluster.verdicts:
            yield {
                "cluster": cluster.name,
                "target": verdict.target,
                "id": cluster.id,
                "version": cluster.version,
                "platform": cluster.platform,
                "verdict": str(verdict.verdict),
                "farthest": cluster.farthest,
                "objects": cluster.objects,
                "outside": cluster.outside,
                "rejected": verdict.objects.get(WriteResult.REJECTED, 0),
                "loses_data": verdict.objects.get(WriteResult.LOSES_DATA, 0),
                "unjudged": verdict.unjudged_objects,
                "reasons": list(verdict.unjudged),
                "recordings": list(cluster.recordings),
            }


def rows_of(
    outcome: Outcome, targets: list[str], direction: Direction, *, redact: bool
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of one recording: the file's name, and the columns besides the cluster and the recording."""
    for at, (target, result) in enumerate(zip(targets, outcome.targets, strict=False)):
        ids = [finding_id(cause, direction) for cause in result.causes]
        for id_, cause in zip(ids, result.causes, strict=True):
            values = [
                HIDDEN if redact and hidden else orjson.dumps(value).decode()
                for value, hidden in zip(cause.values, cause.hidden, strict=True)
            ]
            yield "findings", {
                "target": target, "finding": id_, "crd": cause.crd, "kind": cause.kind, "path": cause.path,
                "type": cause.type, "objects": cause.objects, "values": values, "example": cause.example,
            }  # fmt: skip
        for item in outcome.rejected:
            if places := item.causes[at]:
                yield "objects", {"target": target, "object": item.object, "findings": [ids[place] for place in places]}


def _problems(report: FleetReport) -> Iterator[dict[str, Any]]:
    for unread in report.unread:
        yield {"recording": unread.recording, "message": unread.reason, "read": False}
    for problem in report.problems:
        recording, _, inside = problem.file.partition(": ")
        yield {
            "recording": recording, "file": inside or None, "line": problem.line, "message": problem.message,
            "read": True,
        }  # fmt: skip
