"""Steps of work, counted where schemas, values and rules are gone through; a block of work may have a limit of them.

Steps do not depend on the machine or its load: the same input ends at the same step in every run. A step costs some
microseconds.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class OverBudgetError(Exception):
    """A block of work took more steps than it may. Its caller says what is open."""


class Work(threading.local):
    """The steps ``done`` by this thread since its start, and the number at which the current block ends."""

    def __init__(self) -> None:
        self.done = 0
        self.end = math.inf

    # Where calls would cost more than the work, ``done`` is counted up alone, and the next ``spend`` ends the block.

    def spend(self, steps: int = 1) -> None:
        """Count steps. Raises OverBudgetError beyond the end of the current block."""
        self.done += steps
        if self.done > self.end:
            raise OverBudgetError

    @contextmanager
    def limited(self, steps: int) -> Iterator[None]:
        """A block of at most so many steps, and of no more than the block around it still has."""
        before = self.end
        self.end = min(before, self.done + max(steps, 0))
        try:
            yield
        finally:
            self.end = before


WORK = Work()


class Budget:
    """Steps that blocks of work share: each block takes what the ones before it have left."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self._left = steps
        self._is_open = False

    @contextmanager
    def spending(self) -> Iterator[None]:
        """A block of work. Raises OverBudgetError where the steps end. A block inside of one is part of it."""
        if self._is_open:
            yield
            return
        before = WORK.done
        self._is_open = True
        try:
            with WORK.limited(self._left):
                yield
        finally:
            self._is_open = False
            self._left -= WORK.done - before
