"""Go source as tokens and comments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crdcompat.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN = re.compile(
    r"""(?P<newline>\n)
      | //(?P<line>[^\n]*)
      | (?P<block>/\*(?:.*?\*/|.*))               # what is never closed goes on to the end
      | (?P<raw>`[^`]*`?)
      | (?P<text>"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?)
      | (?P<word>\w+)
      | (?P<sign>[^\s\w])""",
    re.VERBOSE | re.DOTALL,
)
_ENDS_STATEMENT = frozenset(")]}")  # after these, words and literals, the end of a line is a semicolon

Place = tuple[int, int]
"""A line and a column, both from 1; columns count characters."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment: ``text`` is what follows ``//``, and starts at ``place``; a block comment has no text here."""

    place: Place
    last_line: int
    text: str


@dataclass(frozen=True, slots=True)
class Token:
    """A token; ``comments`` is how many comments stand before it. A literal's text holds its quotes."""

    kind: str
    text: str
    place: Place
    comments: int

    @property
    def is_literal(self) -> bool:
        return self.kind in ("raw", "text")


def tokens(source: str, comments: list[Comment]) -> Iterator[Token]:
    """Cut a source into tokens, with the semicolons that line ends stand for; comments go to ``comments``."""
    line, line_start = 1, 0
    ends_statement = False
    for match in _TOKEN.finditer(source):
        kind, text = str(match.lastgroup), match[0]
        place = line, match.start() - line_start + 1
        if kind == "line":
            comments.append(Comment((line, place[1] + 2), line, match["line"].rstrip()))
        elif kind == "block":
            comments.append(Comment(place, line + text.count("\n"), ""))
        elif kind != "newline":
            yield Token(kind, text, place, len(comments))
            ends_statement = kind != "sign" or text in _ENDS_STATEMENT
        elif ends_statement:
            yield Token("sign", ";", place, len(comments))
            ends_statement = False
        if breaks := text.count("\n"):
            line += breaks
            line_start = match.start() + text.rindex("\n") + 1
    yield Token("end", "", (line, 1), len(comments))
