"""Sets of Unicode code points, as sorted ranges. Surrogates are in no set, because no matched text contains one."""

from __future__ import annotations

from collections.abc import Iterable

Range = tuple[int, int]
#: Sorted, disjoint, inclusive ranges with gaps between them.
CharSet = tuple[Range, ...]

MAX_CODE = 0x10FFFF
FIRST_SURROGATE, LAST_SURROGATE = 0xD800, 0xDFFF

EMPTY: CharSet = ()
ANY: CharSet = ((0, FIRST_SURROGATE - 1), (LAST_SURROGATE + 1, MAX_CODE))
NEWLINE: CharSet = ((10, 10),)
WORD: CharSet = ((48, 57), (65, 90), (95, 95), (97, 122))


def charset(ranges: Iterable[Range]) -> CharSet:
    """The set of the code points of any ranges, in any order, overlapping or not."""
    merged: list[Range] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            if high > merged[-1][1]:
                merged[-1] = (merged[-1][0], high)
        else:
            merged.append((low, high))
    if merged and merged[-1][1] >= FIRST_SURROGATE:
        return tuple(_without_surrogates(merged))
    return tuple(merged)


def _without_surrogates(ranges: list[Range]) -> Iterable[Range]:
    for low, high in ranges:
        if low < FIRST_SURROGATE:
            yield low, min(high, FIRST_SURROGATE - 1)
        if high > LAST_SURROGATE:
            yield max(low, LAST_SURROGATE + 1), high


def negate(chars: CharSet) -> CharSet:
    """Every code point that is not in the set."""
    gaps: list[Range] = []
    start = 0
    for low, high in chars:
        if start < low:
            gaps.append((start, low - 1))
        start = high + 1
    if start <= MAX_CODE:
        gaps.append((start, MAX_CODE))
    return charset(gaps)


def intersect(left: CharSet, right: CharSet) -> CharSet:
    found: list[Range] = []
    at_left = at_right = 0
    while at_left < len(left) and at_right < len(right):
        low = max(left[at_left][0], right[at_right][0])
        high = min(left[at_left][1], right[at_right][1])
        if low <= high:
            found.append((low, high))
        if left[at_left][1] < right[at_right][1]:
            at_left += 1
        else:
            at_right += 1
    return tuple(found)


def count(chars: Iterable[Range]) -> int:
    return sum(high - low + 1 for low, high in chars)
