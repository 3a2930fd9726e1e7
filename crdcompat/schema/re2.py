"""Match patterns of CRDs as the API server does: in linear time, with RE2's semantics.

Go's ``regexp`` and RE2 share syntax and limits; this module refuses the few constructs that only RE2 has. Python's
``re``, which may need exponential time, never gets a pattern from a manifest.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from msgspec import Struct

#: Bytes that one compiled pattern may use: enough for all repetitions that Go accepts (1000 of a Unicode class).
_MAX_MEMORY = 32 << 20
#: Programs with more instructions are not kept, but compiled for each use; real patterns have dozens.
_MAX_KEPT_PROGRAM = 100_000

#: Bytes that suffice for parsing. Compilation of a large program fails early within them.
_PARSE_MEMORY = 1 << 16

_REPLACEMENT = "\ufffd"


class PatternError(Struct, frozen=True):
    """The reason why a pattern does not compile."""

    reason: str


class Pattern:
    """A compiled pattern. ``search`` is Go's ``MatchString``: the pattern may match anywhere."""

    __slots__ = ("_kept", "source")

    def __init__(self, source: str, compiled: Any) -> None:
        self.source = source
        self._kept = compiled if compiled.programsize <= _MAX_KEPT_PROGRAM else None

    def search(self, text: str) -> bool:
        compiled = self._kept or _compiled(self.source)
        return compiled.search(go_text(text).encode()) is not None

    def __repr__(self) -> str:
        return f"Pattern({self.source!r})"


def go_text(text: str) -> str:
    """The text as Go decodes it from JSON: a lone surrogate becomes U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return "".join(_REPLACEMENT if "\ud800" <= char <= "\udfff" else char for char in joined)
    return text


@lru_cache(maxsize=4096)
def compile_pattern(pattern: str) -> Pattern | PatternError:
    """Compile a pattern of a manifest; a PatternError is returned, not raised, if it does not compile."""
    import re2

    try:
        compiled = _compiled(pattern)
    except re2.error as error:
        return PatternError(f"error parsing regexp: {_reason(error, pattern)}")
    if _has_byte_escape(pattern):
        return PatternError(_BYTE_ESCAPE)
    for name in compiled.groupindex:
        if not name.isascii():
            return PatternError(f"error parsing regexp: invalid named capture: `{name}`")
    return Pattern(pattern, compiled)


@lru_cache(maxsize=4096)
def syntax_error(pattern: str) -> str:
    """Go's message if a pattern does not parse, else "". Needs no more time for patterns with large programs."""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _PARSE_MEMORY
    try:
        re2.compile(go_text(pattern), options)
    except re2.error as error:
        if not _is_large(error):
            return f"error parsing regexp: {_reason(error, pattern)}"
        if pattern.isascii():
            return _BYTE_ESCAPE if _has_byte_escape(pattern) else ""
    else:
        if "(?" not in pattern and "\\C" not in pattern:  # it has neither of what compile_pattern refuses besides
            return ""
    found = compile_pattern(pattern)
    return found.reason if isinstance(found, PatternError) else ""


def _is_large(error: Exception) -> bool:
    return bool(error.args) and b"pattern too large" in error.args[0]


@lru_cache(maxsize=4)
def _compiled(pattern: str) -> Any:
    """The compiled pattern. The cache is small because one pattern may use ``_MAX_MEMORY``."""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MAX_MEMORY
    compiled = re2.compile(go_text(pattern), options)
    if compiled.programsize > _MAX_KEPT_PROGRAM:
        re2.purge()  # the library has a cache of its own
    return compiled


_BYTE_ESCAPE = "error parsing regexp: invalid escape sequence: `\\C`"
#: RE2's messages, in the words of Go's regexp/syntax.
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


#: Operators that Go reads as the beginning of a named group, since its release 1.22.
_LOOKBEHIND = ("(?<=", "(?<!")


def _reason(error: Exception, pattern: str) -> str:
    reason = error.args[0] if error.args else error
    text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
    words, _, argument = text.partition(": ")
    if argument in _LOOKBEHIND and argument in pattern:
        rest = pattern[pattern.index(argument) :]
        head, end, _ = rest.partition(">")
        words, argument = "invalid named capture", head + end
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
