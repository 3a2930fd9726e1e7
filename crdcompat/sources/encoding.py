"""Text in another encoding than UTF-8, which its byte order mark tells; Kubernetes' YAML reader goes by it, too."""

from __future__ import annotations

import codecs

_BOMS = (  # UTF-32 first: its little-endian mark begins with UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
#: In every mark of UTF-16 and UTF-32 one of these stands, and in no text of UTF-8.
WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def to_utf8(data: bytes) -> bytes:
    """Take the byte order mark away, and recode what it marks. Raises UnicodeError."""
    return _recoded(data, "strict")


def is_wide(data: bytes) -> bool:
    """Whether a byte order mark says that the text is in UTF-16 or UTF-32: no word of it stands in the bytes."""
    return data.startswith((*WIDE_MARKS, codecs.BOM_UTF32_BE))


def legible(data: bytes) -> bytes:
    """The bytes to look for words in: those of a text in UTF-16 or UTF-32 as UTF-8, as far as they are text."""
    return _recoded(data, "replace") if is_wide(data) else data


def _recoded(data: bytes, errors: str) -> bytes:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            body = data[len(mark) :]
            return body if encoding == "utf-8" else body.decode(encoding, errors).encode()
    return data
