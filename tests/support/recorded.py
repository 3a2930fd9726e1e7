"""The items of a recording by kind: objects, skipped files, problems."""

from __future__ import annotations

from pathlib import Path

from crdcompat.errors import Problem, Skipped
from crdcompat.recordings.recorded_objects import Recorded, read_objects
from crdcompat.sources import open_objects


def items(path: str | Path) -> list[Recorded | Problem | Skipped]:
    return list(read_objects(open_objects(str(path))))


def from_cluster(context: str = "prod") -> list[Recorded | Problem | Skipped]:
    return items(f"cluster:{context}")


def objects(path: str | Path) -> list[Recorded]:
    return [item for item in items(path) if isinstance(item, Recorded)]


def left_out(path: str | Path) -> list[tuple[str, str]]:
    return [(item.file, item.reason) for item in items(path) if isinstance(item, Skipped)]


def problems(path: str | Path) -> list[Problem]:
    return [item for item in items(path) if isinstance(item, Problem)]
