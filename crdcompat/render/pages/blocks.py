"""A page: few kinds of block, which text, Markdown and HTML each show in their own way.

A page knows no terminal and no markup. ``tone`` is a word of the vocabulary, such as ``blocked`` or ``refused``: text
gives it a colour, HTML a class.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

if TYPE_CHECKING:
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

    ``mark`` stands before the text: a place or a CRD. ``depth`` counts the steps of indentation, ``hang`` those of all
    lines but the first. ``most``: text cuts it to so many lines; 0: never.
    """

    text: str
    mark: str = ""
    depth: int = 1
    hang: int = 1
    fold: Fold = Fold.TERMINAL
    most: int = 0
    below: tuple[Line, ...] = ()
    commands: tuple[str, ...] = ()


class Listing(Struct, frozen=True):
    """Entries, numbered if they are ``ordered``.

    Without ``-v`` text shows ``most`` of them, and so many commands of each; 0: all.
    """

    lines: tuple[Line, ...]
    most: int = 0
    ordered: bool = False
    most_commands: int = 0


class Code(Struct, frozen=True):
    """Lines to copy; ``label`` names them on a page."""

    label: str
    lines: tuple[str, ...]


class Cell(Struct, frozen=True):
    """A cell of a table; a head or a label has no tone."""

    text: str
    tone: str = ""


class Table(Struct, frozen=True):
    """A table with a head; the first cell of a row is its label. ``more`` are labels of rows that it sums up.

    ``said``: text shows this sentence in its place.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    more: tuple[str, ...] = ()
    said: str = ""


class Notes(Struct, frozen=True):
    """Notes on what the run assumed: on an HTML page they are at its end. ``depth`` and ``fold`` as in a line."""

    texts: tuple[str, ...]
    depth: int = 0
    hang: int = 0
    fold: Fold = Fold.TERMINAL


class Section(Struct, frozen=True):
    """Blocks under a title. ``about`` says how to read them; ``anchor`` is its place on an HTML page.

    With a ``mark``, the title is a sentence about that.
    """

    title: str
    blocks: tuple[Block, ...]
    about: str = ""
    mark: str = ""
    anchor: str = ""


Block: TypeAlias = Line | Listing | Code | Table | Notes | Section


class Answer(Struct, frozen=True):
    """The answer of a report: a question and a ``word``, or one sentence; ``reason`` says why."""

    question: str
    tone: str
    word: str = ""
    reason: str = ""


class Number(Struct, frozen=True):
    """A number of the first screen, its name, and its meaning for the move."""

    name: str
    count: int
    meaning: str


class Page(Struct, frozen=True):
    """A report. ``head`` belongs to the answer, and is shown where details are not.

    ``sides`` are the releases with their roles; ``numbers`` and ``sides`` are on HTML pages only.
    """

    command: str
    answer: Answer
    body: tuple[Block, ...]
    title: str = ""
    head: tuple[Listing, ...] = ()
    problems: tuple[Problem, ...] = ()
    sides: tuple[tuple[str, Release], ...] = ()
    numbers: tuple[Number, ...] = ()


def listing(title: str, lines: tuple[Line, ...], about: str = "", most: int = 0, anchor: str = "") -> tuple[Block, ...]:
    """A section with a list; nothing without entries."""
    return (Section(title, (Listing(lines, most),), about, anchor=anchor),) if lines else ()
