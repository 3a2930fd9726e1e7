"""Parts of first screens: a verdict, numbers, and rows of marks that link to items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

if TYPE_CHECKING:
    from crdcompat.render.wording.verdict import Verdict

_MAX_ROWS, _MAX_MARKS = 8, 40


class Number(Struct, frozen=True):
    """A number of the first screen, its name, and its meaning for the move."""

    name: str
    count: int
    meaning: str


class Mark(Struct, frozen=True):
    """A mark that links to an item; ``kind`` is the severity or verdict of the item."""

    anchor: str
    kind: str
    title: str


class MarkedRow(Struct, frozen=True):
    """The marks of one CRD, the worst first; ``rest`` counts the items without a mark."""

    name: str
    marks: tuple[Mark, ...]
    rest: int
    counts: str


class Rows(Struct, frozen=True):
    """Rows that are shown, and ``more`` that are folded away."""

    shown: tuple[MarkedRow, ...]
    more: tuple[MarkedRow, ...]


def marked_row(name: str, marks: Sequence[Mark], counts: str) -> MarkedRow:
    """A row with as many marks as fit."""
    return MarkedRow(name, tuple(marks[:_MAX_MARKS]), max(len(marks) - _MAX_MARKS, 0), counts)


def folded(rows: Sequence[MarkedRow]) -> Rows:
    """The rows that fit on a first screen, and those that are folded away."""
    return Rows(tuple(rows[:_MAX_ROWS]), tuple(rows[_MAX_ROWS:]))


def arrow(verdict: Verdict) -> Verdict:
    """The verdict with ``→`` for ``->``, which terminals show."""
    return replace(verdict, way=verdict.way.replace(" -> ", " → "), reason=verdict.reason.strip())
