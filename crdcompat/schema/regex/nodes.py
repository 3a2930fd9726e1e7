"""The syntax tree of a pattern: only what matters to the language, so no captures and no greediness."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from msgspec import Struct

from crdcompat.schema.regex.charset import CharSet
from crdcompat.schema.regex.open_questions import Unsupported

#: Characters of a pattern once its repetitions are written out; real ones have some hundreds.
MAX_POSITIONS = 5000
#: Levels of nesting; real ones have about ten. This also bounds recursion over a tree.
MAX_HEIGHT = 120


class Assertion(Enum):
    """An assertion about the place between two characters."""

    BEGIN_TEXT = "^"
    END_TEXT = "$"
    BEGIN_LINE = "(?m)^"
    END_LINE = "(?m)$"
    BOUNDARY = r"\b"
    NO_BOUNDARY = r"\B"


class Node(Struct, frozen=True, eq=False):
    """A tree: how many characters it has once written out, its levels, and whether it can repeat for ever."""

    size: int
    height: int
    loops: bool

    def __post_init__(self) -> None:
        if self.size > MAX_POSITIONS:
            raise Unsupported(f"the pattern has more than {MAX_POSITIONS} characters once written out")
        if self.height > MAX_HEIGHT:
            raise Unsupported(f"the pattern nests more than {MAX_HEIGHT} levels")


class Chars(Node, frozen=True, eq=False):
    chars: CharSet


class Assert(Node, frozen=True, eq=False):
    assertion: Assertion


class Concat(Node, frozen=True, eq=False):
    items: tuple[Node, ...]


class Alternate(Node, frozen=True, eq=False):
    items: tuple[Node, ...]


class Repeat(Node, frozen=True, eq=False):
    item: Node
    least: int
    most: int | None


def one_of(chars: CharSet) -> Node:
    return Chars(1, 1, False, chars)


def assertion(kind: Assertion) -> Node:
    return Assert(0, 1, False, kind)


def concat(items: Sequence[Node]) -> Node:
    if len(items) == 1:
        return items[0]
    return Concat(*_measures(items), tuple(items))


def alternate(items: Sequence[Node]) -> Node:
    if len(items) == 1:
        return items[0]
    return Alternate(*_measures(items), tuple(items))


def repeat(item: Node, least: int, most: int | None) -> Node:
    if item.size == 0:
        # It consumes nothing, so repetition changes nothing.
        least, most = min(least, 1), 1 if most is None else min(most, 1)
    if (least, most) == (1, 1):
        return item
    copies = max(least, 1) if most is None else most
    loops = most is None or (item.loops and most > 0)
    return Repeat(item.size * copies, item.height + 1, loops, item, least, most)


def _measures(items: Sequence[Node]) -> tuple[int, int, bool]:
    return (
        sum(item.size for item in items),
        1 + max((item.height for item in items), default=0),
        any(item.loops for item in items),
    )
