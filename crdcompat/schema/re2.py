"""Regular expressions of CRDs, matched as the API server matches them: in linear time, with RE2's semantics.

Go's ``regexp`` and RE2 share syntax and limits; the few constructs that only RE2 knows are refused here.
Python's own ``re`` never sees a pattern that comes from a manifest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

#: What one compiled pattern may use; enough for every repetition Go accepts (up to 1000 of a Unicode class).
_MAX_MEMORY = 32 << 20
#: A program of more instructions (those of real manifests have some dozens) is compiled whenever needed.
_LARGE_PROGRAM = 100_000

#: What parsing needs at most; a pattern whose program is larger is not compiled to the end within it.
_LITTLE_MEMORY = 1 << 16

_REPLACEMENT = "\ufffd"


@dataclass(frozen=True, slots=True)
class PatternError:
    """A pattern that does not compile, and why."""

    reason: str


class Pattern:
    """A compiled pattern. ``search`` is Go's ``MatchString``: the pattern may match anywhere."""

    __slots__ = ("_kept", "source")

    def __init__(self, source: str, compiled: Any) -> None:
        self.source = source
        self._kept = compiled if compiled.programsize <= _LARGE_PROGRAM else None

    def search(self, text: str) -> bool:
        compiled = self._kept or _compiled(self.source)
        return compiled.search(go_text(text).encode()) is not None

    def __repr__(self) -> str:
        return f"Pattern({self.source!r})"


def go_text(text: str) -> str:
    """The text as Go has it after decoding JSON: a lone surrogate is U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return "".join(_REPLACEMENT if "\ud800" <= char <= "\udfff" else char for char in joined)
    return text


@lru_cache(maxsize=4096)
def compile_pattern(pattern: str) -> Pattern | PatternError:
    """Compile a pattern of a manifest; what does not compile is an answer, not an exception."""
    import re2

    try:
        compiled = _compiled(pattern)
    except re2.error as error:
        return PatternError(f"error parsing regexp: {_reason(error)}")
    if _has_byte_escape(pattern):
        return PatternError(_BYTE_ESCAPE)
    for name in compiled.groupindex:
        if not name.isascii():
            return PatternError(f"error parsing regexp: invalid named capture: `{name}`")
    return Pattern(pattern, compiled)


@lru_cache(maxsize=4096)
def syntax_error(pattern: str) -> str:
    """Why a pattern does not parse, in Go's words; "" if it does. Takes no longer for one with a large program."""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _LITTLE_MEMORY
    try:
        re2.compile(go_text(pattern), options)
    except re2.error as error:
        if not _is_large(error):
            return f"error parsing regexp: {_reason(error)}"
        if pattern.isascii():
            return _BYTE_ESCAPE if _has_byte_escape(pattern) else ""
    found = compile_pattern(pattern)
    return found.reason if isinstance(found, PatternError) else ""


def _is_large(error: Exception) -> bool:
    return bool(error.args) and b"pattern too large" in error.args[0]


@lru_cache(maxsize=4)
def _compiled(pattern: str) -> Any:
    """The compiled pattern itself; few are kept here, because one may take ``_MAX_MEMORY``."""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MAX_MEMORY
    compiled = re2.compile(go_text(pattern), options)
    if compiled.programsize > _LARGE_PROGRAM:
        re2.purge()  # the library keeps what it compiled, too
    return compiled


_BYTE_ESCAPE = "error parsing regexp: invalid escape sequence: `\\C`"
#: What RE2 says, in the words of Go's regexp/syntax.
_GO_WORDS = {
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "trailing \\": "trailing backslash at end of expression",
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid repetition size": "invalid repeat count",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
}


def _reason(error: Exception) -> str:
    reason = error.args[0] if error.args else error
    text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
    words, _, argument = text.partition(": ")
    return f"{_GO_WORDS.get(words, words)}: `{argument}`"


def _has_byte_escape(source: str) -> bool:
    r"""Whether a pattern that RE2 accepts uses ``\C`` (any byte), which Go does not have."""
    at = source.find("\\")
    while at >= 0:
        escaped = source[at + 1 : at + 2]
        if escaped == "C":
            return True
        end = at + 2
        if escaped == "Q":
            close = source.find("\\E", end)
            if close < 0:
                return False
            end = close + 2
        at = source.find("\\", end)
    return False
