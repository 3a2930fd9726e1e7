"""Numbers that a schema accepts, the plainest first."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from crdcompat.schema.structural import Node


def number(value: Any, otherwise: float) -> float:
    """The value of a keyword that takes a number, ``otherwise`` where it holds none: true is no number."""
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else otherwise


def whole_number(value: float) -> float | int:
    """A whole number as a server decodes it: a float64 where no int64 holds it."""
    whole = int(value)
    return whole if -(1 << 63) <= whole < 1 << 63 else float(whole)


def integers(node: Node) -> Iterator[float | int]:
    """Whole numbers within the bounds of ``node``, and multiples if it asks for them: 0 and 1 first, then its ends."""
    low, high = number(node.raw.get("minimum"), -math.inf), number(node.raw.get("maximum"), math.inf)
    step = number(node.raw.get("multipleOf"), 1) or 1
    low += 1 if node.raw.get("exclusiveMinimum") is True else 0
    high -= 1 if node.raw.get("exclusiveMaximum") is True else 0
    for start in (0, 1, low, high):
        if not math.isfinite(start):
            continue
        value = _next_multiple(start, step)
        value = value - step if value > high else value
        if low <= value <= high and math.isfinite(value):
            yield whole_number(value)


def _next_multiple(start: float, step: float) -> float:
    """The first multiple of ``step`` from ``start`` on; NaN where it is beyond all numbers, or below telling apart."""
    try:
        return math.ceil(start / step) * step
    except (OverflowError, ValueError):
        return math.nan


def numbers_between(low: float, high: float, node: Node, *, whole: bool) -> Iterator[float | int]:
    """Numbers of ``node`` from ``low`` to ``high``, the ends and their neighbours first."""
    step = number(node.raw.get("multipleOf"), 1) or 1
    for start in (low, low + step, high - step, high, (low + high) / 2):
        value = _next_multiple(start, step)
        if low <= value <= high:
            yield whole_number(value) if whole or value == int(value) else value
    if not whole:
        yield from (low + (high - low) / 2, low + 0.5)
