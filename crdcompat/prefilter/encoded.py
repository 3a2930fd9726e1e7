"""Base64 in a text, and gzip in it: a manifest there is read as well, and no word of it is found by a search.

Kubernetes decodes ``binaryData`` and the data of Secrets, other programs decode whatever they are given. Base64 is
found by its alphabet alone; most of what looks like it (prose, digests, pictures) is no text when it is decoded.
"""

from __future__ import annotations

import binascii
import re
import zlib
from collections.abc import Iterator

#: No packed CRD is shorter than this; a run can have line breaks anywhere.
_SHORTEST = 150
_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
_OTHERS_TO_NUL = bytes(code if code in _ALPHABET + b" \t\r\n" else 0 for code in range(256))
#: Where base64 begins in a run with other words before it.
_LONG_WORD = re.compile(rb"[A-Za-z0-9+/]{32,}+")
_LINE_END = re.compile(rb"\\\\*[nrt]")
_GZIP = b"\x1f\x8b"
#: YAML packs by less than this; a larger result is a bomb and not read.
_MAX_RATIO = 64
#: Base64 in base64, as Helm stores its releases.
_MAX_DEPTH = 3
_MARKS_OF_TEXT = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")
#: Control characters are not allowed in YAML and JSON.
_CONTROL = re.compile(rb"[\0-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]")


def contents(text: bytes) -> Iterator[bytes | None]:
    """What the base64 in a text says; None for what is packed too often or too large to look into."""
    pending = [(text, 0, False)]
    while pending:
        outer, depth, was_packed = pending.pop()
        for coded in _coded(outer):
            data = unpacked(coded)
            if data is None or (was_packed and data is not coded):
                yield None
                continue
            yield data
            if depth < _MAX_DEPTH and is_text(data):
                pending.append((data, depth + 1, was_packed or data is not coded))


def decoded(value: str) -> bytes | None:
    """The bytes of a string that is base64 and nothing else, with any line breaks; None for any other string."""
    try:
        return binascii.a2b_base64("".join(value.split()), strict_mode=True)
    except ValueError:
        return None


def is_long(value: str) -> bool:
    """Whether a string is long enough to hold a CRD in base64."""
    return len(value) >= _SHORTEST


def unpacked(data: bytes) -> bytes | None:
    """The content of gzip, any other bytes themselves; None if it is too large."""
    if not data.startswith(_GZIP):
        return data
    reader = zlib.decompressobj(wbits=31)
    try:
        content = reader.decompress(data, _MAX_RATIO * len(data))
    except zlib.error:
        return data
    return None if reader.unconsumed_tail else content


def is_text(data: bytes) -> bool:
    """Whether bytes begin as a text does. No picture, key or archive does."""
    return data.startswith(_MARKS_OF_TEXT) or _CONTROL.search(data[:_SHORTEST]) is None


def _coded(text: bytes) -> Iterator[bytes]:
    words = _LINE_END.sub(b"\n", text).translate(_OTHERS_TO_NUL)
    for run in (part.strip() for part in words.split(b"\0") if len(part) >= _SHORTEST):
        if len(run) < _SHORTEST:
            continue
        first = _LONG_WORD.search(run)
        for start in sorted({0, first.start() if first else 0}):
            coded = b"".join(run[start:].split())
            try:
                yield binascii.a2b_base64(coded[: len(coded) // 4 * 4])
            except binascii.Error:
                continue
