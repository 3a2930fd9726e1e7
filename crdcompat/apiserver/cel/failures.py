"""Errors of the CEL library, translated to those of cel-go, which Kubernetes uses."""

from __future__ import annotations

import re
from functools import lru_cache

from crdcompat.apiserver.cel.library import MARK

NO_OVERLOAD = "no such overload"
_NO_KEY = "no such key: "
_NO_VARIABLE = re.compile(r'No value with name "(self|oldSelf)" found in Activation')

#: Pattern of the CEL library's message -> template of cel-go's. The first match counts.
_TRANSLATIONS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
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
        (r"int64 out of uint64 range", "unsigned integer overflow"),
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
    """The message of cel-go for a message of the CEL library. Unknown messages stay unchanged."""
    plain = re.sub(r"^[A-Z_]+: ", "", text)
    for pattern, template in _TRANSLATIONS:
        if found := pattern.fullmatch(plain):
            return found.expand(template)
    return plain


def missing_variable(text: str) -> str | None:
    """The variable that has no value, by a message of the CEL library; None for other messages."""
    found = _NO_VARIABLE.fullmatch(text)
    return found[1] if found else None


def missing_key(text: str) -> str | None:
    """The key that a map lacks, by a message of cel-go; None for other messages."""
    return text.removeprefix(_NO_KEY) if text.startswith(_NO_KEY) else None
