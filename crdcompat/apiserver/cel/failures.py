"""Errors of the CEL library in the words of cel-go, which Kubernetes uses."""

from __future__ import annotations

import re
from functools import lru_cache

from crdcompat.apiserver.cel.library import MARK

NO_OVERLOAD = "no such overload"
_NO_KEY = "no such key: "

#: The CEL library's text -> cel-go's. Tried in order; groups are inserted.
_TEXTS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.DOTALL), text)
    for pattern, text in (
        (rf".*{MARK}(.*)", r"\1"),
        (r'Key not found in map : "(.*)"', _NO_KEY + r"\1"),
        (r"Key not found in map : (.*)", _NO_KEY + r"\1"),
        (r"Index error: index=(-?\d+) size=\d+", r"index out of bounds: \1"),
        (r"No matching overloads found.*", NO_OVERLOAD),
        (r"Applying SELECT to non-message type.*", NO_OVERLOAD),
        (r"divide by zero", "division by zero"),
        (r"modulus by zero", "modulus by zero"),
        (r"integer overflow", "integer overflow"),
        (r"cannot convert string to (\w+)", r"type conversion error from 'string' to '\1'"),
        (
            r"String to (Duration|Timestamp) conversion failed",
            r"type conversion error from 'string' to 'google.protobuf.\1'",
        ),
        (r"malformed UTF-8 bytes", "invalid UTF-8 in bytes, cannot convert to string"),
        (r"invalid regular expression: (.*)", r"error parsing regexp: \1"),
    )
)


@lru_cache(maxsize=1024)
def in_go(text: str) -> str:
    """One error's text. What is not in the table keeps the library's words."""
    plain = re.sub(r"^[A-Z_]+: ", "", text)
    for pattern, words in _TEXTS:
        found = pattern.fullmatch(plain)
        if found:
            return found.expand(words)
    return plain


def missing_key(text: str) -> str | None:
    """The key that an error in cel-go's words says is missing."""
    return text.removeprefix(_NO_KEY) if text.startswith(_NO_KEY) else None
