"""One line that tells how far a long reading has come; only for a person at a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

_SECONDS_BETWEEN = 0.2
_ERASE = "\r\x1b[K"


class Progress:
    """Counts files and objects, and shows the counts on standard error if that is a terminal."""

    def __init__(self, *, wanted: bool = True) -> None:
        self._shown = wanted and sys.stderr.isatty()
        self._next = time.monotonic() + _SECONDS_BETWEEN  # what is done at once needs no line
        self._drawn = False
        self.files = 0
        self.objects = 0

    def file(self) -> None:
        """One more file."""
        self.files += 1
        self._draw()

    def each(self, items: Iterable[T]) -> Iterator[T]:
        """Count the items on their way through; the line is erased at the end, whatever ends it."""
        try:
            for item in items:
                self.objects += 1
                self._draw()
                yield item
        finally:
            self.close()

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
        text = f"{self.files} files, {self.objects} objects read"
        print(f"{_ERASE}{text}", end="", file=sys.stderr, flush=True)
