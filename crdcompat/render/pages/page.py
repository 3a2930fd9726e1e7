"""A page: the answers of a report, what surrounds them, and its body of blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.render.pages.blocks import Bars, Block, Entries, Facet, Section, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crdcompat.errors import Problem
    from crdcompat.models.release import Release


class Mark(Struct, frozen=True):
    """A mark that links to an entry; ``kind`` is the severity or verdict of the entry."""

    anchor: str
    kind: str
    title: str


class MarkedRow(Struct, frozen=True):
    """The marks of one CRD, the worst first; ``rest`` counts the entries without a mark."""

    name: str
    marks: tuple[Mark, ...]
    rest: int
    counts: str


#: Marks of a row.
_MAX_MARKS = 40


def marked_row(name: str, marks: Sequence[Mark], counts: str) -> MarkedRow:
    """A row with as many marks as fit."""
    return MarkedRow(name, tuple(marks[:_MAX_MARKS]), max(len(marks) - _MAX_MARKS, 0), counts)


class Number(Struct, frozen=True):
    """A number of the first screen, its name, and its meaning for the move."""

    name: str
    count: int
    meaning: str


#: What blocks, at most, below an answer.
MAX_BLOCKED = 4


class Blocked(Struct, frozen=True):
    """What blocks a move: the kind, the field or fields, and what the reader's server does."""

    kind: str
    path: str
    reaction: str


class Answer(Struct, frozen=True):
    """An answer of a report: a question, its answer in a ``word``, and the ``reason``.

    Without a question mark all three are one sentence: ``r2 -> r1: BLOCKED (rollback)``, and a ``reason`` begins with
    a space. ``most``: text cuts the sentence to so many lines; 0: never. ``blocked`` lists the worst first.

    On an HTML page ``numbers`` and ``rows`` stand below it: the rows have a mark for each entry of their CRD, and
    ``rest`` counts the CRDs that have no row.
    """

    question: str
    tone: str
    word: str = ""
    reason: str = ""
    most: int = 0
    blocked: tuple[Blocked, ...] = ()
    numbers: tuple[Number, ...] = ()
    rows: tuple[MarkedRow, ...] = ()
    rest: str = ""

    @property
    def sentence(self) -> str:
        """Question, word and reason in one sentence."""
        return f"{self.question}{': ' if self.word else ''}{self.word}{self.reason}"


class Compared(Struct, frozen=True):
    """One comparison: its name, without and with its sides, its counts, also in words, and what was compared."""

    name: str
    title: str
    counts: Mapping[str, int]
    counted: str
    scope: str
    anchor: str


class Page(Struct, frozen=True):
    """A report. ``head`` belongs to the answers, ``steps`` say what to do; all three are shown at either end of a long
    text. ``trust`` is what a person has to see before all else.

    ``heading`` is the heading of a comment with several answers. ``is_last``: in a text that fits on a screen, the
    answers are at its end, and the title is above its details. ``nothing`` is said where there are no entries.

    On HTML pages and in comments only: ``leads`` are sentences above the details, ``compared`` the comparisons,
    ``notes`` further notes. In comments only: ``overview``. On HTML pages only: ``name`` is the title of a page whose
    text has none, ``views`` are its answers, if it does not show the first one alone, ``sides`` the releases with
    their roles, ``rules`` the ids of the rules to explain. ``row`` names what has a row of marks, ``what`` the entries;
    ``lacks`` says what there was no room for.
    """

    command: str
    answers: tuple[Answer, ...]
    body: tuple[Block, ...]
    title: str = ""
    heading: str = ""
    head: tuple[Block, ...] = ()
    steps: tuple[str, ...] = ()
    trust: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    is_last: bool = False
    nothing: str = ""
    leads: tuple[str, ...] = ()
    compared: tuple[Compared, ...] = ()
    notes: tuple[str, ...] = ()
    overview: Table | None = None
    name: str = ""
    views: tuple[Answer, ...] = ()
    sides: tuple[tuple[str, Release], ...] = ()
    rules: tuple[str, ...] = ()
    row: str = "kind"
    lacks: str = ""
    facets: tuple[Facet, ...] = ()
    what: str = "details"

    def parts(self) -> tuple[tuple[Block, ...], tuple[Block, ...]]:
        """What the body says of the whole report, and its details, which begin with a block that has a title."""
        begins = (at for at, each in enumerate(self.body) if isinstance(each, Section | Table | Entries | Bars))
        first = next(begins, len(self.body))
        return self.body[:first], self.body[first:]


def and_more(blocked: Sequence[Blocked]) -> str:
    """``and 2 more: Etcd the CRD, Widget status.a``: each has its name, because each blocks; "" if there is no more."""
    rest = blocked[MAX_BLOCKED:]
    return f"and {len(rest)} more: {', '.join(f'{each.kind} {each.path}' for each in rest)}" if rest else ""
