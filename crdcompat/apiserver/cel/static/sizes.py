"""Sizes and costs as cel-go estimates them: unsigned 64-bit numbers that do not overflow.

Source: github.com/google/cel-go, checker/cost.go.
"""

from __future__ import annotations

import math
from typing import NamedTuple

MAX = 2**64 - 1
STRING_FACTOR, REGEX_FACTOR = 0.1, 0.25


class Size(NamedTuple):
    """The least and the greatest size of a value."""

    least: int
    most: int

    def union(self, other: Size) -> Size:
        return Size(min(self.least, other.least), max(self.most, other.most))

    def add(self, other: Size) -> Size:
        return Size(plus(self.least, other.least), plus(self.most, other.most))

    def times(self, other: Size) -> Size:
        return Size(times(self.least, other.least), times(self.most, other.most))


UNKNOWN, ONE, NOTHING = Size(0, MAX), Size(1, 1), Size(0, 0)


def plus(*numbers: int) -> int:
    return min(sum(numbers), MAX)


def times(one: int, other: int) -> int:
    return min(one * other, MAX)


def scaled(number: int, factor: float) -> int:
    """The number times a factor, rounded up."""
    return min(math.ceil(float(min(number, MAX)) * factor), MAX)


def fixed(number: int) -> Size:
    return Size(number, number)
