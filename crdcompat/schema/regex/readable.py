"""The order of characters by readability in an example: letters first, control characters last."""

from __future__ import annotations

import string
from collections.abc import Iterator, Sequence

from crdcompat.schema.regex.charset import Range

_GROUPS = (
    (0, string.ascii_lowercase),
    (1, string.digits + string.ascii_uppercase),
    (2, "-"),
    (3, "._/:"),
    (4, "@,=+*%#&~!$?;|^()[]{}<>'`\"\\"),
    (6, " "),
)
_FOREIGN_LETTER, _FOREIGN, _HIDDEN = 8, 10, 30
_ASCII = {ord(char): cost for cost, chars in _GROUPS for char in chars}
_RANK = {code: rank for rank, code in enumerate(_ASCII)} | {
    code: len(_ASCII) + code for code in range(128) if code not in _ASCII
}
#: The most code points of a range beyond ASCII to search for a readable one.
_LOOKED_AT = 64


def cost(code: int) -> int:
    """The cost of showing a character; the cost of a text is the sum."""
    if code < 128:
        return _ASCII.get(code, _HIDDEN)
    char = chr(code)
    if char.isalnum():
        return _FOREIGN_LETTER
    return _FOREIGN if char.isprintable() else _HIDDEN


def text_cost(text: str) -> int:
    return sum(map(cost, map(ord, text)))


def best(ranges: Sequence[Range]) -> int:
    """The most readable code point of some sorted ranges; beyond ASCII, of the first ones of each range."""
    ascii_codes = [code for low, high in ranges if low < 128 for code in range(low, min(high, 127) + 1)]
    found = min(ascii_codes, key=_RANK.__getitem__, default=ranges[-1][0])
    found_cost = cost(found)
    for low, high in ranges:
        if found_cost <= _FOREIGN_LETTER:
            break
        for code in range(max(low, 128), min(high, max(low, 128) + _LOOKED_AT) + 1):
            if cost(code) < found_cost:
                found, found_cost = code, cost(code)
    return found


def by_preference(ranges: Sequence[Range]) -> Iterator[str]:
    """All characters of some sorted ranges, readable ones first; control characters of ASCII last."""
    ascii_codes = [code for low, high in ranges if low < 128 for code in range(low, min(high, 127) + 1)]
    ascii_codes.sort(key=_RANK.__getitem__)
    shown = sum(code in _ASCII for code in ascii_codes)
    yield from map(chr, ascii_codes[:shown])
    for printable in (True, False):
        for low, high in ranges:
            for code in range(max(low, 128), high + 1):
                if chr(code).isprintable() is printable:
                    yield chr(code)
    yield from map(chr, ascii_codes[shown:])
