r"""Unicode classes and case folding, from google-re2 itself, so that there is only one version of Unicode.

What ``\p{Greek}`` means and what folds to what changes with each Unicode release; the library that judges
patterns is the only source for both. The answers are found by matching every code point once, and kept.
"""

from __future__ import annotations

import sys
from array import array
from functools import lru_cache
from typing import Any

from crdcompat.schema.regex.charset import ANY, FIRST_SURROGATE, LAST_SURROGATE, CharSet, Range, charset, intersect
from crdcompat.schema.regex.open_questions import Unsupported

#: Every code point with case variants is in one of these categories.
_CASED = r"\p{Lu}\p{Ll}\p{Lt}\p{Nl}\p{So}\x{345}"
_KELVIN, _LONG_S = 0x212A, 0x17F


@lru_cache(maxsize=64)
def unicode_class(name: str, fold: bool) -> CharSet:
    r"""The set of ``\p{name}``, with all case variants if ``fold``."""
    return _everywhere(f"[\\p{{{name}}}]", fold)


def fold(chars: CharSet) -> CharSet:
    """The set with the simple case variants of its members, as ``(?i)`` has them."""
    if not chars or chars[-1][1] < 0x80:
        return _fold_ascii(chars)
    return _fold_any(chars)


@lru_cache(maxsize=1024)
def _fold_ascii(chars: CharSet) -> CharSet:
    ranges: list[Range] = list(chars)
    for low, high in chars:
        for first, other in ((65, 97), (97, 65)):
            start, end = max(low, first), min(high, first + 25)
            if start <= end:
                ranges.append((start - first + other, end - first + other))
    folded = charset(ranges)
    extra = [
        (code, code) for code, letter in ((_KELVIN, 0x6B), (_LONG_S, 0x73)) if intersect(folded, ((letter, letter),))
    ]
    return charset((*folded, *extra))


@lru_cache(maxsize=256)
def _fold_any(chars: CharSet) -> CharSet:
    cased = intersect(chars, _cased())
    if not cased:
        return chars
    inside = "".join(f"\\x{{{low:x}}}-\\x{{{high:x}}}" for low, high in cased)
    variants = [ord(match.group().decode()) for match in _compile(f"(?i)[{inside}]").finditer(_cased_text())]
    return charset((*chars, *((code, code) for code in variants)))


@lru_cache(maxsize=1)
def _cased() -> CharSet:
    return _everywhere(f"[{_CASED}]", False)


@lru_cache(maxsize=1)
def _cased_text() -> bytes:
    return "".join(chr(code) for low, high in _cased() for code in range(low, high + 1)).encode()


def _everywhere(atom: str, fold: bool) -> CharSet:
    """The code points that an expression for one character matches."""
    found = _compile(f"(?i:{atom})+" if fold else f"{atom}+").finditer(_all_text())
    return charset((_code_at(match.start()), _code_at(match.end()) - 1) for match in found)


@lru_cache(maxsize=1)
def _all_text() -> bytes:
    """All code points in order, as UTF-8."""
    codes = array("I")
    for low, high in ANY:
        codes.extend(range(low, high + 1))
    return codes.tobytes().decode(f"utf-32-{sys.byteorder[0]}e").encode()


def _code_at(offset: int) -> int:
    """The code point whose encoding starts at a byte of ``_all_text``."""
    first = 0
    for limit, width in ((0x80, 1), (0x800, 2), (0x10000, 3), (0x110000, 4)):
        surrogates = LAST_SURROGATE + 1 - FIRST_SURROGATE if width == 3 else 0
        length = (limit - first - surrogates) * width
        if offset < length:
            code = first + offset // width
            return code + surrogates if code >= FIRST_SURROGATE and width == 3 else code
        offset -= length
        first = limit
    return first


def _compile(pattern: str) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = 64 << 20
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        raise Unsupported(f"a character class that google-re2 refuses: {pattern[:60]}") from error
