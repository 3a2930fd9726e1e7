"""Text for paths and system errors in messages."""

from __future__ import annotations

import os


def display_path(path: str | bytes) -> str:
    """A path as text; bytes that are not UTF-8 become escapes, so that every report format can contain it."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def reason_of(error: OSError | ValueError) -> str:
    """The reason of a system error in lower case, for the middle of a sentence."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[:1].lower() + error.strerror[1:]
    return str(error)
