"""Signals of child processes, whatever the process that runs the tests inherited.

A shell starts a background command of a script with SIGINT ignored, and each process below inherits that.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

_INTERRUPTIONS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def interruptible() -> Iterator[None]:
    """A process that is started inside ends by SIGINT and SIGTERM, as in the foreground of a terminal."""
    with ExitStack() as stack:
        _set(stack, signal.SIGINT, signal.default_int_handler)
        _set(stack, signal.SIGTERM, signal.SIG_DFL)
        yield


@contextmanager
def uninterruptible() -> Iterator[None]:
    """A process that is started inside inherits SIGINT and SIGTERM ignored, as in the background of a script."""
    with ExitStack() as stack:
        for number in _INTERRUPTIONS:
            _set(stack, number, signal.SIG_IGN)
        yield


def _set(stack: ExitStack, number: signal.Signals, handler: Any) -> None:
    stack.callback(signal.signal, number, signal.signal(number, handler))
