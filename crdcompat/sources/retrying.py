"""Requests to a server that has a bad day: which failures are worth another try, and how long to wait before it.

API servers restart during every upgrade of a cluster. What client-go waits for is the model: 429 and 5xx with
``Retry-After``, else an exponential backoff. A request waits for a minute at most, and all requests of a run together
for five: a server that is gone must not hold a run for hours.
"""

from __future__ import annotations

import time

from msgspec import Struct

MAX_WAIT = 60.0
"""Seconds that one request waits in all."""

MAX_WAIT_OF_RUN = 300.0
"""Seconds that all requests of a client wait in all."""

BUSY = 429
_INTERNAL = 500
#: Answers of a server, or of a proxy before it, that may be others a little later.
PASSING = frozenset({BUSY, _INTERNAL, 502, 503, 504})
#: A 500 is more often an object that the server cannot convert than a server that starts: it is not waited for as long.
_MAX_INTERNAL = 3
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 16.0


def pause(seconds: float) -> None:
    """Sleep. The tests put a clock of their own here."""
    time.sleep(seconds)


class Patience(Struct):
    """The time that is left to wait for a server, in seconds."""

    left: float = MAX_WAIT_OF_RUN


class Waiting:
    """The waits of one request. ``patience`` is shared by all requests of the run."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._left = MAX_WAIT
        self._tries = 0

    def again(self, asked: float | None = None, *, status: int = 0) -> bool:
        """Wait before another try, for the ``asked`` seconds if the server says how long; False: give up."""
        if status == _INTERNAL and self._tries >= _MAX_INTERNAL:
            return False
        backoff = min(_FIRST_WAIT * 2.0**self._tries, _LONGEST_WAIT)
        wait = max(_FIRST_WAIT, asked) if asked is not None else backoff
        if wait > min(self._left, self._patience.left):
            return False
        self._tries += 1
        self._left -= wait
        self._patience.left -= wait
        pause(wait)
        return True
