"""A cache for a row of comparisons, of which each has most in common with the one before."""

from __future__ import annotations

from typing import Generic, TypeVar

_K = TypeVar("_K")
_V = TypeVar("_V")


class Recent(Generic[_K, _V]):
    """Values by key. A value that nobody asks for during a whole turn is forgotten."""

    def __init__(self) -> None:
        self._now: dict[_K, _V] = {}
        self._before: dict[_K, _V] = {}

    def get(self, key: _K) -> _V | None:
        """The value of a key, which is kept for another turn; None without one."""
        if key not in self._now and key in self._before:
            self._now[key] = self._before[key]
        return self._now.get(key)

    def put(self, key: _K, value: _V) -> _V:
        """Keep a value, and give it."""
        self._now[key] = value
        return value

    def turn(self) -> None:
        """Begin another turn."""
        self._before, self._now = self._now, {}
