r"""Parse an RE2 pattern that google-re2 accepts into a tree; refuse unknown syntax.

No recursion: groups are frames on a stack.

Character classes and escapes of RE2: ``[a-z]``, ``[[:alpha:]]``, ``\d``, ``\pL``, ``\x{2603}``.

Only called on patterns that RE2 accepts, so what cannot be read is refused, not explained.
"""

from __future__ import annotations

import re

from msgspec import Struct, field

from crdcompat.schema.re2 import Pattern, PatternError, compile_pattern, go_text
from crdcompat.schema.regex.charset import ANY, NEWLINE, WORD, CharSet, Range, charset, negate
from crdcompat.schema.regex.nodes import Assertion, Node, alternate, assertion, concat, one_of, repeat
from crdcompat.schema.regex.open_questions import Budget, Unsupported
from crdcompat.schema.regex.unicode_tables import fold, unicode_class

#: Longer patterns are not looked at; the longest real one has about 2000 characters.
MAX_LENGTH = 50_000
#: Finding the matches of groups costs time and memory; real patterns have at most about 150 groups.
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


class _Frame(Struct):
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
        assert found is not None  # the expression also matches a single "("
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


_PERL: dict[str, CharSet] = {"d": ((48, 57),), "s": ((9, 10), (12, 13), (32, 32)), "w": WORD}

_POSIX: dict[str, CharSet] = {
    "alnum": ((48, 57), (65, 90), (97, 122)),
    "alpha": ((65, 90), (97, 122)),
    "ascii": ((0, 127),),
    "blank": ((9, 9), (32, 32)),
    "cntrl": ((0, 31), (127, 127)),
    "digit": ((48, 57),),
    "graph": ((33, 126),),
    "lower": ((97, 122),),
    "print": ((32, 126),),
    "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "space": ((9, 13), (32, 32)),
    "upper": ((65, 90),),
    "word": WORD,
    "xdigit": ((48, 57), (65, 70), (97, 102)),
}

_CONTROLS = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_OCTAL = frozenset("01234567")


def shorthand(text: str, at: int, folded: bool) -> tuple[CharSet, int] | None:
    r"""The class of the escape at ``at`` (``\d``, ``\PL``, ...) and its end; None if it is no class."""
    letter = text[at + 1 : at + 2]
    perl = _PERL.get(letter.lower()) if letter else None
    if perl is not None:
        chars = fold(perl) if folded else perl
        return (chars if letter.islower() else negate(chars)), at + 2
    if letter not in ("p", "P"):
        return None
    if text[at + 2 : at + 3] == "{":
        end = text.index("}", at)
        name, end = text[at + 3 : end], end + 1
    else:
        name, end = text[at + 2 : at + 3], at + 3
    negated = letter == "P"
    if name.startswith("^"):
        name, negated = name[1:], not negated
    chars = ANY if name == "Any" else unicode_class(name, folded)
    return (negate(chars) if negated else chars), end


def escaped(text: str, at: int) -> tuple[int, int]:
    """The code point of an escape for one character at ``at``, and where the escape ends."""
    letter = text[at + 1]
    if letter in _CONTROLS:
        return _CONTROLS[letter], at + 2
    if letter in _OCTAL:
        end = at + 2
        while end < at + 4 and text[end : end + 1] in _OCTAL:
            end += 1
        return int(text[at + 1 : end], 8), end
    if letter == "x":
        if text[at + 2] == "{":
            end = text.index("}", at)
            return int(text[at + 3 : end], 16), end + 1
        return int(text[at + 2 : at + 4], 16), at + 4
    if letter.isascii() and not letter.isalnum():
        return ord(letter), at + 2
    raise Unsupported(f"the escape \\{letter}")


def bracketed(text: str, at: int, folded: bool) -> tuple[CharSet, int]:
    """The set of a bracket expression whose ``[`` is at ``at``, and where it ends."""
    at += 1
    negated = text[at : at + 1] == "^"
    at += negated
    found: list[Range] = []
    first = True
    while first or text[at] != "]":
        first = False
        named = _posix(text, at, folded) or (shorthand(text, at, folded) if text[at] == "\\" else None)
        if named is not None:
            chars, at = named
            found.extend(chars)
            continue
        low, at = _character(text, at)
        high = low
        if text[at : at + 1] == "-" and text[at + 1 : at + 2] != "]":
            high, at = _character(text, at + 1)
        found.extend(fold(charset([(low, high)])) if folded else [(low, high)])
    chars = charset(found)
    return (negate(chars) if negated else chars), at + 1


def _character(text: str, at: int) -> tuple[int, int]:
    return escaped(text, at) if text[at] == "\\" else (ord(text[at]), at + 1)


def _posix(text: str, at: int, folded: bool) -> tuple[CharSet, int] | None:
    if text[at : at + 2] != "[:":
        return None
    end = text.find(":]", at + 2)
    if end < 0:
        return None
    name = text[at + 2 : end]
    chars = _POSIX.get(name.removeprefix("^"))
    if chars is None:
        raise Unsupported(f"the class [:{name}:]")
    chars = fold(chars) if folded else chars
    return (negate(chars) if name.startswith("^") else chars), end + 2
