"""What earlier runs found out about blobs, in the user's cache directory.

It is kept by blob id, so that it never gets old, as JSON, and one file for each version of the program and each
question that was asked. Whoever loses it, or may not write there, loses time and nothing else.
"""

from __future__ import annotations

import os
import stat
import time
import zlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from crdcompat.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

#: So many blobs are remembered for each question: some 4 MB.
MOST_BLOBS = 1 << 15
_MOST_BYTES = 1 << 25
#: So many files stay: those of former versions, and of runs that were cut off, go in time.
_MOST_FILES = 8


def recall(question: str) -> dict[str, Any]:
    """What is known in answer to ``question``, by blob id; nothing where nothing can be read."""
    file = _file(question)
    try:
        if file is None or not stat.S_ISREG((facts := file.stat()).st_mode) or facts.st_size > _MOST_BYTES:
            return {}
        kept = orjson.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    if not isinstance(kept, dict) or kept.get("question") != _whole(question):
        return {}
    blobs = kept.get("blobs")
    return blobs if isinstance(blobs, dict) else {}


def remember(question: str, answers: Mapping[str, Any]) -> None:
    """Add these answers, by blob id, to what is known; beyond ``MOST_BLOBS`` the oldest are forgotten.

    Of two that write at the same time one loses its additions, and nobody reads half a file.
    """
    file = _file(question)
    if file is None:
        return
    known = recall(question)
    for oid, answer in answers.items():
        known.pop(oid, None)
        known[oid] = answer
    kept = dict(list(known.items())[-MOST_BLOBS:])
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        ignored = file.parent / ".gitignore"
        if not ignored.exists():  # a home can be a checkout
            _write(ignored, b"*\n")
        _write(file, orjson.dumps({"question": _whole(question), "blobs": kept}))
        files = [path for path in file.parent.iterdir() if path != ignored]
        for old in sorted(files, key=lambda path: -path.stat().st_mtime)[_MOST_FILES:]:
            old.unlink(missing_ok=True)


def _write(file: Path, data: bytes) -> None:
    """Put a whole file in its place. Raises OSError."""
    own = file.with_name(f".{os.getpid()}-{time.monotonic_ns()}")
    try:
        with own.open("xb") as written:
            written.write(data)
        own.replace(file)
    finally:
        own.unlink(missing_ok=True)


def _whole(question: str) -> str:
    return f"{__version__} {question}"


def _file(question: str) -> Path | None:
    """Where the answers to a question are: below XDG_CACHE_HOME if that is set, as programs keep it; None: nowhere."""
    named, home = (Path(os.environ.get(name, "")) for name in ("XDG_CACHE_HOME", "HOME"))
    folder = named if named.is_absolute() else home / ".cache"
    if not folder.is_absolute():
        return None
    return folder / "crdcompat" / f"blobs-{zlib.crc32(_whole(question).encode()):08x}.json"
