"""Markers: comments from which controller-gen generates schemas, such as ``// +kubebuilder:validation:Enum=A;B``.

Syntax: https://book.kubebuilder.io/reference/markers
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crdcompat.golang.source import Comment, Place

_QUOTED = re.compile(r""""(?>(?:[^"\\\n]|\\.)*)"|'(?>(?:[^'\\\n]|\\.)*)'|`[^`]*`""")
_HEAD = re.compile(r"\+([^\s=]*)")


class Marker(Struct, frozen=True):
    """A marker and its ``place``, a line and a column from 1.

    ``head`` is the text before the first ``=``: the name of the marker, or its name and that of the first argument.
    ``text`` is the whole marker from the plus sign on, ``lines`` are the (offset, place) of its lines, and ``signs``
    the (offset, one of ``=,;{}``) of its signs outside of quotes.
    """

    place: Place
    head: str
    text: str
    lines: tuple[tuple[int, Place], ...]
    signs: tuple[tuple[int, str], ...]

    def is_called(self, name: str) -> bool:
        """Whether the marker has this name."""
        return self.head == name or self.head.startswith(f"{name}:")

    def values(self, name: str, argument: str) -> Iterator[tuple[str, Place]]:
        """The values, each with its place, of the unnamed argument, or of ``argument`` if the arguments have names."""
        for start, end in self._arguments(name, argument):
            cuts = [start - 1, *(at for at, sign in self.signs if start <= at < end and sign != "="), end]
            for before, after in pairwise(cuts):
                written = self.text[before + 1 : after]
                if bare := written.strip():
                    yield _unquoted(bare), self._place(before + 1 + len(written) - len(written.lstrip()))

    def arguments(self) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """The arguments of ``+name=first,key=…,key={…;…}``: of each its key ("" for none), its text, its values."""
        cuts = [at for at, sign in self.signs if sign == "="][:1]
        if not cuts:
            return
        start, equals, depth, parts = cuts[0] + 1, None, 0, [cuts[0]]
        for at, sign in (*(each for each in self.signs if each[0] > cuts[0]), (len(self.text), "")):
            depth += (sign == "{") - (sign == "}")
            if not sign or (sign == "," and not depth):
                key = self.text[start:equals].strip() if equals is not None else ""
                values = (self.text[before + 1 : after].strip() for before, after in pairwise([*parts, at]))
                yield key, _unquoted(self.text[parts[0] + 1 : at].strip()), tuple(map(_unquoted, filter(None, values)))
                start, equals, parts = at + 1, None, [at]
            elif sign == "=" and equals is None and not depth:
                equals, parts = at, [at]
            elif sign != "=":
                parts.append(at)

    def _arguments(self, name: str, wanted: str) -> Iterator[tuple[int, int]]:
        """The (start, end) of the values of each wanted argument in the text."""
        if self.head == name:
            unnamed = next((at for at, sign in self.signs if sign == "="), None)
            if unnamed is not None:
                yield unnamed + 1, len(self.text)
            return
        key_at, depth, equals = len(f"+{name}:"), 0, None
        for at, sign in (*self.signs, (len(self.text), ",")):
            depth += (sign == "{") - (sign == "}")
            if sign == "=" and equals is None:
                equals = at
            elif sign == "," and (not depth or at == len(self.text)):
                if equals is not None and self.text[key_at:equals].strip(": \n\t") == wanted:
                    yield equals + 1, at
                key_at, equals = at + 1, None

    def _place(self, offset: int) -> Place:
        start, (line, column) = self.lines[bisect_right(self.lines, offset, key=lambda each: each[0]) - 1]
        return line, column + offset - start


def read_markers(comments: Sequence[Comment]) -> Iterator[Marker]:
    """Yield the markers among comments; a marker includes the lines below it while its list is open."""
    texts = [comment.text.strip() for comment in comments]
    for index, text in enumerate(texts):
        if text.startswith("+"):
            yield _marker([comments[index], *_following(comments, texts, index)])


def _following(comments: Sequence[Comment], texts: Sequence[str], index: int) -> Iterable[Comment]:
    """The comments directly below one, up to the next marker or empty comment."""
    for before in range(index, len(comments) - 1):
        after = before + 1
        if (
            texts[after].startswith("+")
            or not texts[after]
            or comments[after].place[0] != comments[before].last_line + 1
        ):
            return
        yield comments[after]


def _marker(comments: Sequence[Comment]) -> Marker:
    text, lines = "", []
    for comment in comments:
        stripped = comment.text.strip()
        line, column = comment.place
        lines.append((len(text), (line, column + len(comment.text) - len(comment.text.lstrip()))))
        text += f"{stripped}\n"
    signs, end = _signs(text)
    head = _HEAD.match(text)
    return Marker(lines[0][1], head[1].rstrip(":") if head else "", text[:end], tuple(lines), tuple(signs))


def _signs(text: str) -> tuple[list[tuple[int, str]], int]:
    """The signs outside of quotes, and the end of the marker: the end of its first line unless its list continues.

    Quotes and braces count only where a value can start: inside of an unquoted pattern they are text. An unclosed brace
    ends with its line.
    """
    signs: list[tuple[int, str]] = []
    depth, at_value, at = 0, False, 0
    while at < len(text):
        char = text[at]
        if char == "\n" and not depth and not (at_value and signs[-1][1] == ";"):
            return signs, at
        quoted = _QUOTED.match(text, at) if at_value else None
        if quoted:
            at, at_value = quoted.end(), False
            continue
        if char in "=,;" or (char == "{" and at_value) or (char == "}" and depth):
            signs.append((at, char))
            depth += (char == "{") - (char == "}")
            at_value = char != "}"
        elif not char.isspace():
            at_value = False
        at += 1
    first, _, rest = text.partition("\n")
    return _signs(first) if rest else (signs, len(text))


def _unquoted(written: str) -> str:
    """A value without its quotes; escapes that are not valid in JSON remain."""
    quote = written[:1]
    if len(written) < 2 or quote not in "\"'`" or written[-1] != quote:
        return written
    if quote != '"':
        return written[1:-1]
    try:
        return str(json.loads(written))
    except ValueError:
        return written[1:-1]
