"""Go source read as far as types of an API need it: type declarations, struct fields, and the comments above them.

This is no Go parser: it knows the forms that a type can take, and steps over everything else. Garbage gives
fewer declarations, never an error, in time linear in the text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crdcompat.manifests.gotokens import tokens
from crdcompat.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.manifests.gotokens import Comment, Place, Token

_OPENS, _CLOSES = frozenset("([{"), frozenset(")]}")
_JSON = re.compile(r'(?:^|\s)json:"([^"]*)"')
_MAX_DEPTH = 50  # of types inside types; no API comes near this


@dataclass(frozen=True, slots=True)
class GoType:
    """What a type is, pointers taken away.

    A name (``foreign`` if of another package), a list or map of ``element``, or a struct with ``fields``;
    anything else, and what was not understood, has none of these.
    """

    name: str = ""
    foreign: bool = False
    list_of: GoType | None = None
    map_of: GoType | None = None
    fields: tuple[GoField, ...] = ()


@dataclass(frozen=True, slots=True)
class GoField:
    """One field of a struct: its name in JSON ("" where its own fields stand in its place), and what is above it."""

    json: str
    type: GoType
    place: Place
    comments: tuple[Comment, ...]


@dataclass(frozen=True, slots=True)
class GoDeclaration:
    """A named type; ``comments`` are those that belong to it."""

    name: str
    type: GoType
    place: Place
    comments: tuple[Comment, ...]


def read_declarations(source: str) -> Iterator[GoDeclaration]:
    """Give the types that a Go file declares, outside of functions, in the order of the file."""
    return _Reader(source).declarations()


class _Reader:
    """Steps through the tokens of one file; the last one is always an ``end``."""

    def __init__(self, source: str) -> None:
        self._comments: list[Comment] = []
        self._tokens = list(tokens(source, self._comments))
        self._at = 0

    def declarations(self) -> Iterator[GoDeclaration]:
        depth = 0
        while (token := self._next()).kind != "end":
            if token.text in _OPENS:
                depth += 1
            elif token.text in _CLOSES:
                depth = max(0, depth - 1)
            # At the start of a line it is a declaration even if some bracket before it was never closed.
            elif token.kind == "word" and token.text == "type" and (depth == 0 or token.place[1] == 1):
                depth = 0
                yield from self._declared()

    def _declared(self) -> Iterator[GoDeclaration]:
        if not self._takes("("):
            yield from self._declaration(self._at - 1)
            return
        while self._peek().kind != "end" and not self._takes(")"):
            yield from self._declaration(self._at)
            self._leave_statement(")")

    def _declaration(self, start: int) -> Iterator[GoDeclaration]:
        name = self._peek()
        if name.kind != "word":
            return
        self._at += 1
        self._skip_type_parameters()
        self._takes("=")
        yield GoDeclaration(name.text, self._type(0), name.place, self._above(start))

    def _skip_type_parameters(self) -> None:
        """``[T any]`` is stepped over; ``[]T`` and ``[4]T`` are the type itself."""
        inside, after = self._peek(1), self._peek(2)
        if self._peek().text == "[" and inside.kind == "word" and not inside.text.isdigit() and after.text != "]":
            self._skip_bracket()

    def _type(self, depth: int) -> GoType:
        while self._takes("*"):
            pass
        token = self._peek()
        if depth > _MAX_DEPTH:
            return GoType()
        if token.text == "[":
            self._skip_bracket()
            return GoType(list_of=self._type(depth + 1))
        if token.text == "(":
            self._at += 1
            inner = self._type(depth + 1)
            self._takes(")")
            return inner
        if token.kind != "word":
            return GoType()
        self._at += 1
        if token.text == "map" and self._peek().text == "[":
            self._skip_bracket()
            return GoType(map_of=self._type(depth + 1))
        if token.text in ("struct", "interface") and self._peek().text == "{":
            if token.text == "struct":
                return GoType(fields=tuple(self._fields(depth + 1)))
            self._skip_bracket()
            return GoType()
        return self._named(token.text)

    def _named(self, name: str) -> GoType:
        foreign = self._takes(".")
        if foreign:
            name = f"{name}.{self._next().text}" if self._peek().kind == "word" else name
        if self._peek().text == "[":
            self._skip_bracket()
        return GoType(name=name, foreign=foreign)

    def _fields(self, depth: int) -> Iterator[GoField]:
        self._takes("{")
        while self._peek().kind != "end" and not self._takes("}"):
            yield from self._field(depth)
            self._leave_statement("}")

    def _field(self, depth: int) -> Iterator[GoField]:
        """``A, B T``, or ``T`` alone: an embedded struct."""
        start = self._at
        names = []
        while self._peek().kind == "word" and self._peek(1).text == ",":
            names.append(self._next())
            self._at += 1
        if self._peek().kind == "word" and self._peek(1).text not in (".", ";", "}") and not self._peek(1).is_literal:
            names.append(self._next())
        first = names[0] if names else self._peek()
        type_ = self._type(depth)
        tag = self._tag()
        above = self._above(start)
        given, inline = _json_tag(tag)
        if given == "-":
            return
        if inline or not (names or given):
            yield GoField("", type_, first.place, above)
        elif given:
            yield GoField(given, type_, first.place, above)
        else:
            for name in names:
                yield GoField(name.text, type_, name.place, above)

    def _tag(self) -> str:
        """The tag at the end of a field, past what was not understood of its type; "" if there is none."""
        while (token := self._peek()).kind != "end" and token.text not in (";", "}"):
            if token.is_literal:
                return self._next().text
            if token.text in _OPENS:
                self._skip_bracket()
            else:
                self._at += 1
        return ""

    def _above(self, start: int) -> tuple[Comment, ...]:
        """The comments that belong to what starts at a token: those that touch it, and the group before these.

        Not one that ends the line of the token before. So controller-gen reads them.
        """
        previous = self._tokens[start - 1] if start else None
        first = previous.comments if previous else 0
        token = self._tokens[start]
        groups: list[list[Comment]] = []
        for comment in self._comments[first : token.comments]:
            if previous and comment.place[0] == previous.place[0]:
                continue
            if groups and comment.place[0] <= groups[-1][-1].last_line + 1:
                groups[-1].append(comment)
            else:
                groups.append([comment])
        touches = bool(groups) and groups[-1][-1].last_line + 1 >= token.place[0]
        return tuple(comment for group in groups[-2 if touches else -1 :] for comment in group)

    def _leave_statement(self, closing: str) -> None:
        """Go past the next semicolon, or up to the bracket that closes what we are in."""
        while (token := self._peek()).kind != "end" and token.text != closing:
            if token.text in _OPENS:
                self._skip_bracket()
                continue
            self._at += 1
            if token.text == ";":
                return

    def _skip_bracket(self) -> None:
        depth = 0
        while (token := self._peek()).kind != "end":
            self._at += 1
            depth += (token.text in _OPENS) - (token.text in _CLOSES)
            if depth <= 0:
                return

    def _peek(self, ahead: int = 0) -> Token:
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)]

    def _next(self) -> Token:
        token = self._peek()
        self._at += 1
        return token

    def _takes(self, sign: str) -> bool:
        taken = self._peek().text == sign
        self._at += taken
        return taken


def _json_tag(tag: str) -> tuple[str, bool]:
    """The name that a field's tag gives it in JSON, and whether the field's own fields take its place."""
    text = tag[1:].replace('\\"', '"') if tag.startswith('"') else tag.strip("`")
    found = _JSON.search(text)
    name, *options = found[1].split(",") if found else [""]
    return name, "inline" in options
