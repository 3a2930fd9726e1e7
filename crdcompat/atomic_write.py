"""Write a file whole or not at all: a full disk must not cut a report or a waiver file short."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path


def write_file(path: Path, data: bytes) -> None:
    """Write ``data`` beside ``path`` and rename it to ``path``; an existing file keeps its mode.

    A link is kept, its target is replaced. Raises OSError; then an existing file is unchanged, and no other file is
    left.
    """
    target = path.resolve() if path.is_symlink() else path
    own = target.with_name(f".{os.getpid()}-{time.monotonic_ns()}")
    try:
        with own.open("xb") as written:
            written.write(data)
        with suppress(FileNotFoundError):
            own.chmod(target.stat().st_mode & 0o7777)
        own.replace(target)
    finally:
        own.unlink(missing_ok=True)
