"""Progress of long work on standard error: rich's bars, only on a terminal, gone when the work is done."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from crdcompat.vocabulary.steps import listening, step, stepping

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

T = TypeVar("T")

#: Shorter work shows nothing, and does not import rich.
_SECONDS_BEFORE = 1.0
_SECONDS_BETWEEN = 0.1
#: The seconds over which the speed is measured. One recording takes several.
_SECONDS_OF_PACE = 60.0
#: The terminals without a moving cursor, by their names.
_CANNOT_ERASE = ("dumb", "unknown")


@contextmanager
def progress(*, wanted: bool = True) -> Iterator[None]:
    """Show the steps of the work inside, if they are wanted and standard error is a terminal that can erase them."""
    if not wanted or not sys.stderr.isatty() or os.environ.get("TERM") in _CANNOT_ERASE:
        yield
        return
    bars = Bars()
    try:
        with listening(bars.count):
            yield
    finally:
        bars.close()


class Bars:
    """A bar for each kind of step that is under way. No thread of its own draws: worker processes are forked."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _SECONDS_BEFORE
        self._counts: dict[str, tuple[int, int | None]] = {}
        self._tasks: dict[str, TaskID] = {}
        self._shown: Progress | None = None

    def count(self, what: str, done: int, total: int | None) -> None:
        """Remember a step, and draw all bars if it is time to."""
        self._counts[what] = (done, total)
        if (now := time.monotonic()) >= self._next:
            self._next = now + _SECONDS_BETWEEN
            self._draw()

    def close(self) -> None:
        """Erase the bars."""
        if self._shown is not None:
            self._shown.stop()
            self._shown = None

    def _draw(self) -> None:
        if self._shown is None:
            self._shown = _started()
        for what, (done, total) in self._counts.items():
            of = f" of {total:,}" if total is not None else ""
            known: Any = {"completed": done, "total": total, "visible": done != total, "count": f"{done:,}{of}"}
            if what in self._tasks:
                self._shown.update(self._tasks[what], **known)
            else:
                self._tasks[what] = self._shown.add_task(what, **known)
        self._shown.refresh()


def _started() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.text import Text

    class Pace(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(pace(task.speed, task.time_remaining))

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(30),
        TextColumn("{task.fields[count]}"),
        Pace(),
    )
    shown = Progress(
        *columns,
        console=Console(stderr=True),
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
        speed_estimate_period=_SECONDS_OF_PACE,
    )
    shown.start()
    return shown


def pace(speed: float | None, seconds_left: float | None) -> str:
    """``4/s, 1:05:00 left``; empty if the speed (steps in a second) is unknown, the speed alone if the rest is."""
    if not speed:
        return ""
    rate = f"{speed:,.0f}/s" if speed >= 1 else f"{speed * 60:.0f}/min"
    return rate if seconds_left is None else f"{rate}, {timedelta(seconds=round(seconds_left))} left"


class RecordedProgress:
    """Counts the files and objects that are read from recordings."""

    def __init__(self) -> None:
        self._files = 0

    def file(self) -> None:
        """Count one more file."""
        self._files += 1
        step("Files read", self._files)

    def each(self, items: Iterable[T]) -> Iterator[T]:
        """Yield the objects and count them."""
        yield from stepping(items, "Objects replayed")


class FleetProgress:
    """Counts finished and failed recordings."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._done = self._failed = 0
        step("Recordings judged", 0, count)

    def done(self, outcome: str) -> None:
        """Count one more recording: ``read``, ``failed`` or ``known`` (from a journal)."""
        self._done += 1
        self._failed += outcome == "failed"
        if self._failed:
            step("Recordings that could not be read", self._failed)
        step("Recordings judged", self._done, self._count)
