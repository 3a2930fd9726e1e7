"""Errors that leave a question about patterns open: a limit, or unknown syntax. Callers say "undecided"."""

from __future__ import annotations

from crdcompat.schema.work import WORK

#: Units of a question about patterns that count as one step of the whole work.
_UNITS_OF_A_STEP = 2


class Unsupported(Exception):  # noqa: N818 - not an error: an answer was not found
    """A question about a pattern has no answer; ``reason`` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Budget:
    """The remaining work or memory of a task; a unit is about eight bytes or a microsecond."""

    __slots__ = ("left", "spent", "what")

    def __init__(self, units: int, what: str) -> None:
        self.left = units
        self.spent = 0
        self.what = what

    def spend(self, units: int) -> None:
        WORK.spend(units // _UNITS_OF_A_STEP)
        self.left -= units
        self.spent += units
        if self.left < 0:
            raise Unsupported(self.what)
