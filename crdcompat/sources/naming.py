"""How paths and what the system says are put into words."""

from __future__ import annotations

import os


def display_path(path: str | bytes) -> str:
    """Give a path as text; bytes that are no UTF-8 are shown as escapes, so that every report can hold it."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def reason_of(error: OSError | ValueError) -> str:
    """Say what the system said, for the middle of a sentence."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[:1].lower() + error.strerror[1:]
    return str(error)
