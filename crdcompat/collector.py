"""Python's cyclic garbage collector, where it would only be in the way."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def gc_paused() -> Iterator[None]:
    """Hold the cyclic collector: it would walk the growing tree again and again, nine tenths of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
