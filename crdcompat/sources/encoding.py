"""Text encodings by the byte order mark, which Kubernetes' YAML reader respects, too."""

from __future__ import annotations

import codecs

_BOMS = (  # UTF-32 first: its little-endian mark begins with UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
#: Every mark of UTF-16 and UTF-32 contains one of these; UTF-8 text contains none.
WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def to_utf8(data: bytes) -> bytes:
    """Recode text to UTF-8 without a byte order mark. Raises UnicodeError."""
    return _recoded(data, "strict")


def is_wide(data: bytes) -> bool:
    """Whether bytes begin with the mark of UTF-16 or UTF-32: words cannot be searched in them."""
    return data.startswith((*WIDE_MARKS, codecs.BOM_UTF32_BE))


def legible(data: bytes) -> bytes:
    """The bytes for a search of words: UTF-16 and UTF-32 recoded to UTF-8, with invalid bytes replaced."""
    return _recoded(data, "replace") if is_wide(data) else data


def _recoded(data: bytes, errors: str) -> bytes:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            body = data[len(mark) :]
            return body if encoding == "utf-8" else body.decode(encoding, errors).encode()
    return data
