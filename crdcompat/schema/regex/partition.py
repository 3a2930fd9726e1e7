"""The alphabet in classes of characters that an automaton does not distinguish."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from msgspec import Struct

from crdcompat.schema.regex.charset import FIRST_SURROGATE, LAST_SURROGATE, MAX_CODE, CharSet, Range
from crdcompat.schema.regex.readable import best, cost

Mask = int


class Partition(Struct, frozen=True, eq=False):
    """All code points, in intervals that start at ``starts``; ``classes`` has the class of each interval.

    Two intervals may be of one class. Surrogates are an interval of class -1.
    """

    starts: tuple[int, ...]
    classes: tuple[int, ...]

    def class_of(self, char: str) -> int:
        return self.classes[bisect_right(self.starts, ord(char)) - 1]


def partition(sets: Sequence[tuple[CharSet, Mask]]) -> tuple[Partition, tuple[Mask, ...]]:
    """The coarsest partition that respects every set, and the masks of the sets that contain each class.

    Masks of different sets have no bits in common.
    """
    changes: dict[int, Mask] = {0: 0, FIRST_SURROGATE: 0, LAST_SURROGATE + 1: 0}
    for chars, mask in sets:
        for low, high in chars:
            changes[low] = changes.get(low, 0) ^ mask
            changes[high + 1] = changes.get(high + 1, 0) ^ mask
    changes.pop(MAX_CODE + 1, None)
    starts = sorted(changes)
    numbers: dict[Mask, int] = {}
    classes: list[int] = []
    current = 0
    for start in starts:
        current ^= changes[start]
        classes.append(-1 if start == FIRST_SURROGATE else numbers.setdefault(current, len(numbers)))
    return Partition(tuple(starts), tuple(classes)), tuple(numbers)


class JointClass(Struct, frozen=True, eq=False):
    """Characters that no automaton of several distinguishes: their class in each, and the one to show."""

    ids: tuple[int, ...]
    ranges: tuple[Range, ...]
    char: str
    cost: int


def joint(parts: Sequence[Partition]) -> list[JointClass]:
    """The classes of several partitions together, the most readable first."""
    starts = sorted({start for part in parts for start in part.starts})
    columns: list[list[int]] = []
    for part in parts:
        column: list[int] = []
        at, ends = -1, (*part.starts[1:], MAX_CODE + 1)
        end = 0
        for start in starts:
            if start >= end:
                at += 1
                end = ends[at]
            column.append(part.classes[at])
        columns.append(column)
    ranges: dict[tuple[int, ...], list[Range]] = {}
    for start, end, ids in zip(starts, (*starts[1:], MAX_CODE + 1), zip(*columns, strict=True), strict=True):
        if ids[0] >= 0:
            ranges.setdefault(ids, []).append((start, end - 1))
    found = []
    for ids, spans in ranges.items():
        code = best(spans)
        found.append(JointClass(ids, tuple(spans), chr(code), cost(code)))
    return sorted(found, key=lambda each: (each.cost, each.char))
