"""A page: few kinds of block, which text, Markdown and HTML each show in their own way.

A page knows no terminal and no markup. ``tone`` is a word of the vocabulary, such as ``blocked`` or ``refused``: text
gives it a colour, HTML a class.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from crdcompat.errors import Problem
    from crdcompat.models.report import Release


class Fold(Enum):
    """Where text breaks a long line."""

    NEVER = auto()
    """Commands and short lines."""
    TERMINAL = auto()
    """Only to the width of a terminal: in a file, a sentence is one line, for grep."""
    ALWAYS = auto()


class Line(Struct, frozen=True):
    """A paragraph, or an entry of a list, with the lines ``below`` it and the commands to copy.

    ``mark`` stands before the text: a place or a CRD. ``tone`` is that of a ``part`` of the text, or of the whole text.
    ``depth`` counts the steps of indentation, ``hang`` those of all lines but the first. ``most``: text cuts it to so
    many lines; 0: never. ``anchors`` are its places on an HTML page.
    """

    text: str
    mark: str = ""
    tone: str = ""
    part: str = ""
    depth: int = 1
    hang: int = 1
    fold: Fold = Fold.TERMINAL
    most: int = 0
    below: tuple[Line, ...] = ()
    commands: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()


class Listing(Struct, frozen=True):
    """Entries, numbered if they are ``ordered``.

    Without ``-v`` text shows ``most`` of them, and so many commands of each; 0: all. ``rest`` more entries were not
    made.
    """

    lines: tuple[Line, ...]
    most: int = 0
    rest: int = 0
    ordered: bool = False
    most_commands: int = 0


class Code(Struct, frozen=True):
    """Lines to copy; ``label`` names them on a page."""

    label: str
    lines: tuple[str, ...]


class Cell(Struct, frozen=True):
    """A cell of a table; a head or a label has no tone. ``links`` are places on an HTML page, each with its text."""

    text: str
    tone: str = ""
    links: tuple[tuple[str, str], ...] = ()


class Table(Struct, frozen=True):
    """A table with a head; the first cell of a row is its label. ``more`` are labels of rows that it sums up.

    ``said``: text shows this sentence in its place. ``legend`` says how to read it. ``narrower`` are forms for narrow
    terminals, the widest first.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    more: tuple[str, ...] = ()
    said: str = ""
    legend: str = ""
    narrower: tuple[Table, ...] = ()


class Notes(Struct, frozen=True):
    """Notes on what the run assumed: on an HTML page they are at its end. ``depth`` and ``fold`` as in a line."""

    texts: tuple[str, ...]
    depth: int = 0
    hang: int = 0
    fold: Fold = Fold.TERMINAL


class Section(Struct, frozen=True):
    """Blocks under a title. ``about`` says how to read them; ``anchor`` is its place on an HTML page.

    With a ``mark``, the title is a sentence about that: about a CRD or an object, or, with a ``tone``, about a verdict.
    """

    title: str
    blocks: tuple[Block, ...]
    about: str = ""
    mark: str = ""
    tone: str = ""
    anchor: str = ""


class Folded(Struct, frozen=True):
    """Many lines to unfold on an HTML page, which nothing else shows."""

    title: str
    lines: tuple[str, ...]


class Bars(Struct, frozen=True):
    """A picture for an HTML page: of each row its name, what is beside it, and its counts by tone."""

    title: str
    rows: tuple[tuple[str, str, Mapping[str, int]], ...]


class Facts(Struct, frozen=True):
    """Names, each with the texts below it."""

    rows: tuple[tuple[str, tuple[str, ...]], ...]


class Said(Struct, frozen=True):
    """What an API server answers."""

    texts: tuple[str, ...]


class Entry(Struct, frozen=True):
    """One of many things to unfold and to filter: its name and tone, what is ``beside`` it, a sentence, its details.

    ``facets`` has its values for the facets of the page.
    """

    name: str
    tone: str
    beside: tuple[str, ...]
    said: str
    blocks: tuple[Line | Table | Code | Facts | Said, ...]
    anchor: str
    facets: Mapping[str, str | tuple[str, ...]]


class Entries(Struct, frozen=True):
    """Entries on an HTML page, which ``make`` gives one at a time; all else shows ``brief`` in their place.

    ``left_out`` entries do not fit on a page.
    """

    title: str
    count: int
    make: Callable[[], Iterator[Entry]]
    brief: tuple[Block, ...] = ()
    anchor: str = ""
    left_out: int = 0


Block: TypeAlias = Line | Listing | Code | Table | Notes | Section | Folded | Bars | Entries


class Facet(Struct, frozen=True):
    """One filter of entries: chips (few values, all shown, in this order) or a list to choose from."""

    key: str
    label: str
    order: tuple[str, ...] = ()

    @property
    def chips(self) -> bool:
        """Whether its values are few and known."""
        return bool(self.order)


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
    a space. ``most``: text cuts the sentence to so many lines; 0: never. ``blocked``: the worst first.
    """

    question: str
    tone: str
    word: str = ""
    reason: str = ""
    most: int = 0
    blocked: tuple[Blocked, ...] = ()

    @property
    def sentence(self) -> str:
        """All of it in one sentence."""
        return f"{self.question}{': ' if self.word else ''}{self.word}{self.reason}"


class Number(Struct, frozen=True):
    """A number of the first screen, its name, and its meaning for the move."""

    name: str
    count: int
    meaning: str


class Page(Struct, frozen=True):
    """A report. ``head`` belongs to the answers; both are shown at either end of a long text.

    ``heading`` is that of a comment where there are several answers. ``is_last``: in a text that fits on a screen, the
    answers are at its end, and the title is above its details.

    On HTML pages only: ``sides`` are the releases with their roles; ``rows`` have a mark for each entry; ``what`` names
    the entries.
    """

    command: str
    answers: tuple[Answer, ...]
    body: tuple[Block, ...]
    title: str = ""
    heading: str = ""
    head: tuple[Block, ...] = ()
    problems: tuple[Problem, ...] = ()
    is_last: bool = False
    sides: tuple[tuple[str, Release], ...] = ()
    numbers: tuple[Number, ...] = ()
    rows: tuple[MarkedRow, ...] = ()
    facets: tuple[Facet, ...] = ()
    what: str = "details"

    def parts(self) -> tuple[tuple[Block, ...], tuple[Block, ...]]:
        """What the body says of the whole report, and its details, which begin with a block that has a title."""
        begins = (at for at, each in enumerate(self.body) if isinstance(each, Section | Table | Entries | Bars))
        first = next(begins, len(self.body))
        return self.body[:first], self.body[first:]


def listing(title: str, lines: tuple[Line, ...], about: str = "", most: int = 0, anchor: str = "") -> tuple[Block, ...]:
    """A section with a list; nothing without entries."""
    return (Section(title, (Listing(lines, most),), about, anchor=anchor),) if lines else ()


def and_more(blocked: Sequence[Blocked]) -> str:
    """``and 2 more: Etcd the CRD, Widget status.a``: each has its name, because each blocks; "" if there is no more."""
    rest = blocked[MAX_BLOCKED:]
    return f"and {len(rest)} more: {', '.join(f'{each.kind} {each.path}' for each in rest)}" if rest else ""
