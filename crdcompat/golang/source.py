"""The parts of Go source that define an API: type declarations, struct fields, and the comments above them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import count

from msgspec import Struct
from tree_sitter import Language, Node, Parser, Tree
from tree_sitter_go import language

Place = tuple[int, int]
"""A line and a column, both from 1; columns count characters."""

MAX_PARSE_CHECKS = 5_000
"""Progress callbacks of the parser, one for 100 steps: the largest file of k8s.io/api needs 340."""

_GO = Language(language())
_NOT_ASCII = re.compile(r"[^\x01-\x7f]")
_END = b"\n/**/"  # closes an open block comment: else the parser searches for its end at each "/*"
_JSON = re.compile(r'(?:^|\s)json:"([^"]*)"')
#: Options of a JSON tag by which an unset field is not written.
_LEAVING_OUT = frozenset({"omitempty", "omitzero"})
_TEXTS = ("interpreted_string_literal", "raw_string_literal")
_MAX_DEPTH = 50  # nesting of types; no API comes close


class Comment(Struct, frozen=True):
    """A comment: ``text`` is what follows ``//`` and starts at ``place``; "" for a block comment."""

    place: Place
    last_line: int
    text: str


class GoType(Struct, frozen=True):
    """A type without its pointers.

    It is a name (``foreign`` if another package declares it), a list or map of a type, or a struct with ``fields``. Any
    other type (a function, an interface) has none of these.
    """

    name: str = ""
    foreign: bool = False
    list_of: GoType | None = None
    map_of: GoType | None = None
    fields: tuple[GoField, ...] = ()


class GoField(Struct, frozen=True):
    """A field of a struct: its name in JSON ("" if its fields are inlined), and the comments above it.

    ``may_be_left_out``: a Go program that does not set the field writes no value for it (``omitempty``, a pointer).
    """

    json: str
    type: GoType
    place: Place
    comments: tuple[Comment, ...]
    may_be_left_out: bool = True


class GoDeclaration(Struct, frozen=True):
    """A named type, and the comments above it."""

    name: str
    type: GoType
    place: Place
    comments: tuple[Comment, ...]


class GoConstant(Struct, frozen=True):
    """A text constant: the name of its type, its own name, and its value."""

    type: str
    name: str
    value: str


def read_declarations(source: str) -> Iterator[GoDeclaration]:
    """Yield the types that a Go file declares outside of functions.

    A syntax error hides the declarations around it. A file that needs more than ``MAX_PARSE_CHECKS`` yields nothing.
    """
    # One byte for each character: the offsets and columns of the tree count characters.
    tree = _parse(_NOT_ASCII.sub("x", source).encode() + _END)
    return _Reader(source).declarations(tree.root_node) if tree else iter(())


def read_constants(source: str) -> Iterator[GoConstant]:
    """Yield the text constants that name their type: ``const Ready PhaseType = "Ready"``, or ``= PhaseType("Ready")``.

    The bounds of ``read_declarations`` hold here, too.
    """
    tree = _parse(_NOT_ASCII.sub("x", source).encode() + _END)
    return _Reader(source).constants(tree.root_node) if tree else iter(())


def _parse(source: bytes) -> Tree | None:
    """Parse with bounded time and memory: after a syntax error, each byte can cost a kilobyte."""
    text, checks = memoryview(source), count(1)
    try:
        return Parser(_GO).parse(
            lambda offset, _: text[offset:], progress_callback=lambda *_: next(checks) > MAX_PARSE_CHECKS
        )
    except ValueError:
        return None


class _Reader:
    """Reads the syntax tree of one source file."""

    def __init__(self, source: str) -> None:
        self._source = source

    def declarations(self, root: Node) -> Iterator[GoDeclaration]:
        pending = [root]
        while pending:
            parent = pending.pop()
            for node, comments in _with_comments(parent.children):
                # After an unclosed bracket, the tree has types at the start of a line inside a function.
                if node.type == "type_declaration" and (parent == root or not node.start_point.column):
                    yield from self._declared(node, comments)
                elif root.has_error and node.child_count:
                    pending.append(node)

    def _declared(self, declaration: Node, above: Sequence[Node]) -> Iterator[GoDeclaration]:
        grouped = False
        for spec, comments in _with_comments(declaration.children):
            grouped |= spec.type == "("
            name, type_ = spec.child_by_field_name("name"), spec.child_by_field_name("type")
            if name and type_:
                belonging = self._belonging(spec, comments if grouped else above)
                yield GoDeclaration(self._text(name), self._type(type_), _place(name), belonging)

    def constants(self, root: Node) -> Iterator[GoConstant]:
        specs = (spec for node in root.children if node.type == "const_declaration" for spec in node.named_children)
        for spec in specs:
            name, type_, values = map(spec.child_by_field_name, ("name", "type", "value"))
            value = _only(values) if values is not None else None
            if value is not None and value.type in ("call_expression", "type_conversion_expression") and type_ is None:
                type_ = value.child_by_field_name("function") or value.child_by_field_name("type")
                arguments = value.child_by_field_name("arguments")
                value = _only(arguments) if arguments is not None else None
            if name is not None and type_ is not None and value is not None and value.type in _TEXTS:
                yield GoConstant(self._text(type_), self._text(name), _unquoted(self._text(value)))

    def _type(self, node: Node | None, depth: int = 0) -> GoType:
        if node is None or depth > _MAX_DEPTH:
            return GoType()
        match node.type:
            case "type_identifier" | "qualified_type":
                return GoType(name=self._text(node), foreign=node.type == "qualified_type")
            case "struct_type":
                return GoType(fields=tuple(self._fields(node, depth + 1)))
            case "pointer_type" | "parenthesized_type":
                return self._type(_only(node), depth + 1)
            case "generic_type":
                return self._type(node.child_by_field_name("type"), depth + 1)
            case "slice_type" | "array_type":
                return GoType(list_of=self._type(node.child_by_field_name("element"), depth + 1))
            case "map_type":
                return GoType(map_of=self._type(node.child_by_field_name("value"), depth + 1))
        return GoType()

    def _fields(self, struct: Node, depth: int) -> Iterator[GoField]:
        body = _only(struct)
        for node, comments in _with_comments(body.children if body else ()):
            if node.type != "field_declaration":
                continue
            tag, names = node.child_by_field_name("tag"), node.children_by_field_name("name")
            key, options = _json_tag(self._text(tag)) if tag else ("", frozenset())
            if key == "-":
                continue
            written = node.child_by_field_name("type")
            type_ = self._type(written, depth)
            belonging = self._belonging(node, comments)
            left_out = bool(options & _LEAVING_OUT) or (written is not None and written.type == "pointer_type")
            if "inline" in options or key or not names:
                yield GoField("" if "inline" in options else key, type_, _place(node), belonging, left_out)
            else:
                yield from (GoField(self._text(name), type_, _place(name), belonging, left_out) for name in names)

    def _belonging(self, node: Node, above: Sequence[Node]) -> tuple[Comment, ...]:
        """The comments that controller-gen reads for a node: the group directly above it, and the group before that."""
        groups: list[list[Node]] = []
        for comment in above:
            if groups and comment.start_point.row <= groups[-1][-1].end_point.row + 1:
                groups[-1].append(comment)
            else:
                groups.append([comment])
        touches = bool(groups) and groups[-1][-1].end_point.row + 1 >= node.start_point.row
        return tuple(self._comment(comment) for group in groups[-2 if touches else -1 :] for comment in group)

    def _comment(self, node: Node) -> Comment:
        (line, column), text = _place(node), self._text(node)
        if text.startswith("/*"):
            return Comment((line, column), node.end_point.row + 1, "")
        return Comment((line, column + 2), line, text[2:].rstrip())

    def _text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte]


def _with_comments(nodes: Iterable[Node]) -> Iterator[tuple[Node, Sequence[Node]]]:
    """Each node that is not a comment, with the comments before it, but without a comment at the end of a code line."""
    comments: list[Node] = []
    last_row = -1
    for node in nodes:
        if node.type != "comment":
            yield node, comments
            comments, last_row = [], node.end_point.row
        elif node.start_point.row != last_row:
            comments.append(node)


def _only(node: Node) -> Node | None:
    return next((child for child in node.named_children if child.type != "comment"), None)


def _place(node: Node) -> Place:
    return node.start_point.row + 1, node.start_point.column + 1


def _json_tag(tag: str) -> tuple[str, frozenset[str]]:
    """The JSON name in a field's tag, and its options."""
    text = tag[1:].replace('\\"', '"') if tag.startswith('"') else tag.strip("`")
    found = _JSON.search(text)
    name, *options = found[1].split(",") if found else [""]
    return name, frozenset(options)


def _unquoted(literal: str) -> str:
    """The text of a literal; escapes that JSON does not have stay as they are."""
    if literal.startswith("`"):
        return literal[1:-1]
    try:
        return str(json.loads(literal))
    except ValueError:
        return literal[1:-1]
