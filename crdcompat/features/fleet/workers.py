"""Chooses who judges the recordings of a fleet: this process in a loop, or the workers of a Dask cluster.

Why Dask: it lists, starts and replaces workers, retries their work, and its clusters exist on Kubernetes, SSH, Slurm
and clouds. Ray brings a second object store and a daemon of its own. ``concurrent.futures``, joblib and loky fail all
pending work when one process dies. pebble kills a process after a time limit, but stays on one machine. Spark needs a
JVM, and its unit is a row of a table.
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec

from msgspec import Struct

from crdcompat.errors import UsageError

_MAX_DEFAULT_JOBS = 8
_DEFAULT_SECONDS = 600.0


class Workers(Struct, frozen=True):
    """Who judges: the workers of ``scheduler`` (the address or the file of a Dask scheduler), else ``jobs`` processes.

    ``seconds`` limits the time for one recording. The loop of one process has no limit unless it is asked for: only a
    process of its own can be ended.
    """

    jobs: int = 1
    scheduler: str | None = None
    seconds: float | None = None

    @property
    def is_loop(self) -> bool:
        """Whether this process judges by itself."""
        return self.scheduler is None and self.seconds is None and self.jobs == 1

    @property
    def limit(self) -> float:
        """The seconds after which a worker gives up a recording."""
        return self.seconds or _DEFAULT_SECONDS


def workers_for(recordings: int, jobs: int | None, scheduler: str | None, seconds: float | None) -> Workers:
    """The workers that the options ask for. Raises UsageError for options that need the extra ``[fleet]``.

    Without ``jobs`` there is one process for each processor, but no more than recordings. Without the extra, this
    process judges alone, whatever ``jobs`` is.
    """
    has_dask = find_spec("distributed") is not None
    if scheduler or seconds:
        require("distributed", "--scheduler" if scheduler else "--timeout")
    usual = min(_usable_processors(), _MAX_DEFAULT_JOBS, max(recordings, 1))
    return Workers(jobs or usual if has_dask else 1, scheduler, seconds)


def require(package: str, option: str) -> None:
    """Raises UsageError if the package of an option is not installed."""
    if find_spec(package) is None:
        raise UsageError(f"{option} needs the package {package}: pip install 'crdcompat[fleet]'")


def _usable_processors() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
