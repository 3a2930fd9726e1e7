"""The progress of long work: packages report steps, and the command line may show them.

A listener belongs to one run. Without a listener, a step costs a look-up and has no effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")

#: Gets a name of the counted items (``CRDs compared``), the number done, and the total (None: unknown).
Listener = Callable[[str, int, int | None], object]

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Call the listener for each step while the block runs."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def is_watched() -> bool:
    """Whether anybody sees the steps: work that only a total needs is not done otherwise."""
    return _listener.get() is not None


def step(what: str, done: int, total: int | None = None) -> None:
    """Report that ``done`` of ``total`` items are done."""
    if (listener := _listener.get()) is not None:
        listener(what, done, total)


def stepping(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """The items. An item counts as done when the next one is requested."""
    done = 0
    for done, item in enumerate(items, 1):
        step(what, done - 1, total)
        yield item
    step(what, done, done)
