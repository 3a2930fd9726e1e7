"""Best-effort cache of facts about blobs, in the user's cache directory.

The key is the blob id, so an entry never becomes stale. There is one JSON file for each version of the program and each
question. Without the cache, a run is slower and has the same result. Only this user may have written it: a pull
request that brings a cache along must not decide which files are read.
"""

from __future__ import annotations

import os
import stat
import zlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from crdcompat.atomic_write import write_file
from crdcompat.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Blobs in the cache for each question: about 4 MB.
MAX_BLOBS = 1 << 15
_MAX_BYTES = 1 << 25
#: Files in the cache; beyond, the oldest are deleted: those of former versions and of interrupted runs.
_MAX_FILES = 8


def recall(question: str) -> dict[str, Any]:
    """The cached answers to ``question``, by blob id; none if the cache cannot be read."""
    file = _file(question)
    try:
        if file is None or not _is_own(file.parent):
            return {}
        facts = file.lstat()
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > _MAX_BYTES or not _is_own(file):
            return {}
        cached = orjson.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    if not isinstance(cached, dict) or cached.get("question") != _key(question):
        return {}
    blobs = cached.get("blobs")
    return blobs if isinstance(blobs, dict) else {}


def remember(question: str, answers: Mapping[str, Any]) -> None:
    """Add these answers, by blob id, to the cache; beyond ``MAX_BLOBS`` the oldest are dropped.

    Files are replaced atomically: when two processes write at once, one loses its additions.
    """
    file = _file(question)
    if file is None:
        return
    known = recall(question)
    for oid, answer in answers.items():
        known.pop(oid, None)
        known[oid] = answer
    cached = dict(list(known.items())[-MAX_BLOBS:])
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not _is_own(file.parent):
            return
        write_file(file, orjson.dumps({"question": _key(question), "blobs": cached}))
        for old in sorted(file.parent.iterdir(), key=lambda path: -path.stat().st_mtime)[_MAX_FILES:]:
            old.unlink(missing_ok=True)


def _is_own(path: Path) -> bool:
    """Whether this user owns a file or folder, and nobody else may write to it. Raises OSError."""
    facts = path.lstat()
    return facts.st_uid == os.getuid() and not facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _key(question: str) -> str:
    return f"{__version__} {question}"


def _file(question: str) -> Path | None:
    """The cache file of a question, below XDG_CACHE_HOME or ~/.cache; None without either, or in a git checkout.

    Links are followed first: one may lead into a checkout.
    """
    named, home = (Path(os.environ.get(name, "")) for name in ("XDG_CACHE_HOME", "HOME"))
    folder = named if named.is_absolute() else home / ".cache"
    if not folder.is_absolute():
        return None
    folder = Path(os.path.realpath(folder / "crdcompat"))
    if any((parent / ".git").exists() for parent in (folder, *folder.parents)):
        return None
    return folder / f"blobs-{zlib.crc32(_key(question).encode()):08x}.json"
