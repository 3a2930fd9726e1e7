"""Best-effort cache of facts about blobs, in the user's cache directory.

The key is the blob id, so an entry never becomes stale. There is one JSON file for each version of the program and each
question. Without the cache, a run is slower and has the same result.
"""

from __future__ import annotations

import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import orjson

from crdcompat.atomic_write import write_file
from crdcompat.user_cache import cache_file, is_trusted, make_folder, tidy
from crdcompat.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

#: Blobs in the cache for each question: about 4 MB.
MAX_BLOBS = 1 << 15
_MAX_BYTES = 1 << 25


def recall(question: str) -> dict[str, Any]:
    """The cached answers to ``question``, by blob id; none if the cache cannot be read."""
    file = _file(question)
    try:
        if file is None or not is_trusted(file, _MAX_BYTES):
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
        if make_folder(file.parent):
            write_file(file, orjson.dumps({"question": _key(question), "blobs": cached}))
            tidy(file.parent)


def _key(question: str) -> str:
    return f"{__version__} {question}"


def _file(question: str) -> Path | None:
    return cache_file(f"blobs-{zlib.crc32(_key(question).encode()):08x}.json")
