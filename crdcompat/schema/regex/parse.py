"""From the text of an RE2 pattern to its tree. Reads what google-re2 accepts; refuses what it does not know.

No recursion: groups are frames on a stack.
"""

from __future__ import annotations

import re
from dataclasses import field

from crdcompat.records import dataclass
from crdcompat.schema.re2 import Pattern, PatternError, compile_pattern, go_text
from crdcompat.schema.regex.charset import ANY, NEWLINE, CharSet, negate
from crdcompat.schema.regex.classes import bracketed, escaped, shorthand
from crdcompat.schema.regex.errors import Budget, Unsupported
from crdcompat.schema.regex.nodes import Assertion, Node, alternate, assertion, concat, one_of, repeat
from crdcompat.schema.regex.tables import fold

#: Longer patterns are not looked at; the longest real one has about 2000 characters.
MAX_LENGTH = 50_000
#: Where a group matched costs time and memory to find; the most groups of a real pattern are about 150.
MAX_GROUPS = 1000
#: Ranges of all character classes together; a Unicode class has some hundreds.
_MAX_RANGES = 50_000

_COUNTED = re.compile(r"\{(0|[1-9][0-9]*)(,(0|[1-9][0-9]*)?)?\}")
_GROUP = re.compile(r"\((?:\?(?:P?<[^>]*>|(?P<flags>[imsU-]*)(?P<end>[:)])))?")
_EVERY_CHAR_BUT_NEWLINE = negate(NEWLINE)
_PLACES = {
    "A": Assertion.BEGIN_TEXT,
    "z": Assertion.END_TEXT,
    "b": Assertion.BOUNDARY,
    "B": Assertion.NO_BOUNDARY,
}


def compiled(pattern: str) -> Pattern:
    """The pattern for google-re2. Raises Unsupported if it does not compile, or would be slow to match."""
    if len(pattern) > MAX_LENGTH:
        raise Unsupported(f"the pattern has more than {MAX_LENGTH} characters")
    if pattern.count("(") > MAX_GROUPS:
        raise Unsupported(f"the pattern has more than {MAX_GROUPS} groups")
    found = compile_pattern(pattern)
    if isinstance(found, PatternError):
        raise Unsupported(found.reason)
    return found


def parse(pattern: str) -> Node:
    """The tree of a pattern. Raises Unsupported for what does not compile, is too large or is not known."""
    compiled(pattern)
    try:
        return _Parser(go_text(pattern)).parse()
    except (IndexError, ValueError) as error:
        raise Unsupported(f"the pattern could not be read: {error}") from error


@dataclass(slots=True)
class _Frame:
    """A group that is open: its alternatives so far, and the flags outside it."""

    outer: frozenset[str]
    branches: list[Node] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)

    def close(self) -> Node:
        self.branches.append(concat(self.items))
        return alternate(self.branches)


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.flags: frozenset[str] = frozenset()
        self.frames = [_Frame(self.flags)]
        self.literals: dict[tuple[str, bool], Node] = {}
        self.ranges = Budget(_MAX_RANGES, "the pattern has too many character classes")

    def parse(self) -> Node:
        while self.at < len(self.text):
            self._next()
        if len(self.frames) != 1:
            raise Unsupported("a group that is not closed")
        return self.frames[0].close()

    def _next(self) -> None:
        char, frame = self.text[self.at], self.frames[-1]
        if char == "(":
            self._open()
        elif char == ")":
            self.frames.pop()
            self.frames[-1].items.append(frame.close())
            self.flags = frame.outer
            self.at += 1
        elif char == "|":
            frame.branches.append(concat(frame.items))
            frame.items = []
            self.at += 1
        elif char in "*+?":
            least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[char]
            self._repeat(least, most, self.at + 1)
        elif char == "{" and (found := _COUNTED.match(self.text, self.at)):
            least = int(found[1])
            most = least if not found[2] else int(found[3]) if found[3] else None
            self._repeat(least, most, found.end())
        else:
            self._atom(char, frame.items)

    def _open(self) -> None:
        found = _GROUP.match(self.text, self.at)
        assert found is not None  # it matches "(" alone, too
        self.at = found.end()
        if found["end"] is None:
            if self.text[self.at : self.at + 1] == "?":
                raise Unsupported("a group of an unknown kind")
            self.frames.append(_Frame(self.flags))
            return
        if found["end"] == ":":
            self.frames.append(_Frame(self.flags))
        on, _, off = found["flags"].partition("-")
        self.flags = (self.flags | set(on)) - set(off)

    def _repeat(self, least: int, most: int | None, at: int) -> None:
        items = self.frames[-1].items
        items[-1] = repeat(items[-1], least, most)
        # A following "?" only chooses which match is found, not whether there is one.
        self.at = at + (self.text[at : at + 1] == "?")

    def _atom(self, char: str, items: list[Node]) -> None:
        if char == "[":
            chars, self.at = bracketed(self.text, self.at, "i" in self.flags)
            items.append(self._set(chars))
        elif char == "\\":
            self._escape(items)
        elif char == ".":
            items.append(self._set(ANY if "s" in self.flags else _EVERY_CHAR_BUT_NEWLINE))
            self.at += 1
        elif char == "^":
            items.append(assertion(Assertion.BEGIN_LINE if "m" in self.flags else Assertion.BEGIN_TEXT))
            self.at += 1
        elif char == "$":
            items.append(assertion(Assertion.END_LINE if "m" in self.flags else Assertion.END_TEXT))
            self.at += 1
        else:
            items.append(self._literal(char))
            self.at += 1

    def _escape(self, items: list[Node]) -> None:
        letter = self.text[self.at + 1]
        if letter in _PLACES:
            items.append(assertion(_PLACES[letter]))
            self.at += 2
        elif letter == "Q":
            close = self.text.find("\\E", self.at + 2)
            end = len(self.text) if close < 0 else close
            items.extend(self._literal(char) for char in self.text[self.at + 2 : end])
            self.at = min(end + 2, len(self.text))
        elif (found := shorthand(self.text, self.at, "i" in self.flags)) is not None:
            items.append(self._set(found[0]))
            self.at = found[1]
        else:
            code, self.at = escaped(self.text, self.at)
            items.append(self._literal(chr(code)))

    def _set(self, chars: CharSet) -> Node:
        self.ranges.spend(len(chars))
        return one_of(chars)

    def _literal(self, char: str) -> Node:
        folded = "i" in self.flags
        node = self.literals.get((char, folded))
        if node is None:
            chars: CharSet = ((ord(char), ord(char)),) if not "\ud800" <= char <= "\udfff" else ()
            node = self.literals[char, folded] = one_of(fold(chars) if folded else chars)
        return node
