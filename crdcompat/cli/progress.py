"""A progress line for long reads, shown only on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

_SECONDS_BETWEEN = 0.2
_ERASE = "\r\x1b[K"


class _Line:
    """A line on standard error that is redrawn, if standard error is a terminal."""

    def __init__(self, *, wanted: bool) -> None:
        self._shown = wanted and sys.stderr.isatty()
        self._next = time.monotonic() + _SECONDS_BETWEEN  # a short read shows no line
        self._drawn = False

    def close(self) -> None:
        """Erase the line."""
        if self._drawn:
            print(_ERASE, end="", file=sys.stderr, flush=True)
            self._drawn = False

    def _draw(self) -> None:
        if not self._shown or (now := time.monotonic()) < self._next:
            return
        self._next = now + _SECONDS_BETWEEN
        self._drawn = True
        print(f"{_ERASE}{self}", end="", file=sys.stderr, flush=True)


class Progress(_Line):
    """Counts files and objects."""

    def __init__(self, *, wanted: bool = True) -> None:
        super().__init__(wanted=wanted)
        self.files = 0
        self.objects = 0

    def __str__(self) -> str:
        return f"{self.files} files, {self.objects} objects read"

    def file(self) -> None:
        """Count one more file."""
        self.files += 1
        self._draw()

    def each(self, items: Iterable[T]) -> Iterator[T]:
        """Yield the items and count them; erase the line at the end, also after an error."""
        try:
            for item in items:
                self.objects += 1
                self._draw()
                yield item
        finally:
            self.close()


class TrialProgress(Progress):
    """Counts the findings that a server has answered."""

    def __str__(self) -> str:
        return f"{self.objects} findings answered"


class FleetProgress(_Line):
    """Counts finished and failed recordings, and the rate per second."""

    def __init__(self, count: int, *, wanted: bool = True) -> None:
        super().__init__(wanted=wanted)
        self._count = count
        self._start = time.monotonic()
        self._done = self._known = self._failed = 0

    def __str__(self) -> str:
        fresh, took = self._done - self._known, time.monotonic() - self._start
        failed = f", {self._failed} could not be read" if self._failed else ""
        known = f", {self._known} known from before" if self._known else ""
        rate = f", {fresh / took:.1f} a second" if fresh and took else ""
        return f"{self._done} of {self._count} recordings{failed}{known}{rate}"

    def done(self, outcome: str) -> None:
        """Count one more recording: ``read``, ``failed`` or ``known`` (from a journal)."""
        self._done += 1
        self._failed += outcome == "failed"
        self._known += outcome == "known"
        self._draw()
