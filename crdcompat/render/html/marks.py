"""Parts of first screens: a verdict, numbers, and rows of marks that lead to items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

if TYPE_CHECKING:
    from crdcompat.render.wording.verdict import Verdict

_MAX_ROWS, _MAX_MARKS = 8, 40


class Number(Struct, frozen=True):
    """A number of the first screen, its name, and what it means for the move."""

    name: str
    count: int
    meaning: str


class Mark(Struct, frozen=True):
    """An item as a mark that leads to it; ``kind`` is its severity or verdict."""

    anchor: str
    kind: str
    title: str


class MarkedRow(Struct, frozen=True):
    """The marks of one CRD, its worst first; ``rest``: number of items without a mark of their own."""

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
    """The rows that a first screen has room for, and those that it folds away."""
    return Rows(tuple(rows[:_MAX_ROWS]), tuple(rows[_MAX_ROWS:]))


def arrow(verdict: Verdict) -> Verdict:
    """The verdict with an arrow for eyes in place of the one for terminals."""
    return replace(verdict, way=verdict.way.replace(" -> ", " → "), reason=verdict.reason.strip())
