"""Read YAML streams: documents, and a fault for each document that cannot be read.

A stream that does not parse as a whole is read document by document, so that an invalid one does not hide the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any, TypeVar

import yaml
from msgspec import Struct
from yaml.composer import ComposerError
from yaml.constructor import ConstructorError
from yaml.nodes import MappingNode, Node, ScalarNode
from yaml.reader import ReaderError
from yaml.scanner import ScannerError

from crdcompat.yaml.aliases import TOO_DEEP, TOO_MANY
from crdcompat.yaml.block import read_block
from crdcompat.yaml.loader import AnchorLoader, GoLoader, Remark
from crdcompat.yaml.positions import Positions
from crdcompat.yaml.scalars import INT64_MAX

T = TypeVar("T")

MAX_DOCUMENTS = 250_000
"""Documents of one stream: a hostile ``---`` needs four bytes."""

#: The line break before a document. Python finds it ten times as quickly as the start of a line.
_BEFORE_DOCUMENT = re.compile(rb"\n---(?=[ \t\r\n]|\Z)")
_DOCUMENT_START = re.compile(rb"---(?=[ \t\r\n]|\Z)")
#: Before the first ``---``, comments are no document; behind one, they are an empty document.
_COMMENTS = re.compile(rb"(?P<start>---\n)?(?>(?:[ ]*+(?:#[\x20-\x7e]*+)?\n)*)")
_DIRECTIVE = re.compile(rb"^%", re.MULTILINE)


class Fault(Exception):  # noqa: N818 - not an error of the run, but a record of invalid input
    """A document or stream that cannot be read: the reason, and its ``line`` from 1, None if unknown.

    ``final``: the stream exceeds a limit as a whole, so it must not be read document by document.
    """

    def __init__(self, line: int | None, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.line = line
        self.message = message
        self.final = final


class Parsed(Struct, frozen=True):
    """One document: the first line of its content (from 1), JSON-like data, remarks, and the places of its values."""

    line: int
    data: Any
    remarks: tuple[Remark, ...] = ()
    positions: Positions | None = None


def yaml_pieces(text: bytes) -> list[tuple[int, bytes]]:
    """Split a YAML stream at its ``---`` lines into (first line, document). Raises Fault if there are too many."""
    if b"\n---" not in text:
        return [(1, text)]
    first = (0,) if _DOCUMENT_START.match(text) else ()
    pieces = pieces_at(text, chain(first, (found.start() + 1 for found in _BEFORE_DOCUMENT.finditer(text))))
    if len(pieces) > 1 and _DIRECTIVE.search(pieces[0][1]):  # %YAML and %TAG are part of the next document
        pieces[:2] = [(1, pieces[0][1] + pieces[1][1])]
    return pieces


#: Reduces the text of a document to what its reader needs; None: read it as a whole.
Reducer = Callable[[bytes], bytes | None]


def load_stream(text: bytes, reduce: Reducer | None = None) -> list[Parsed | Fault]:
    """Read all documents of a UTF-8 YAML stream, empty ones (``data`` None) included.

    A document that ``reduce`` has made shorter has no positions; if what is left is not in plain block style, it is
    read as a whole.

    A document that parses but is invalid (a map as a key, alias bomb) is a Fault in the list. Raises Fault if the
    stream does not parse: the start of the next document is then unknown.
    """
    return _blocks(text, reduce) or _read_stream(text, _documents)


def _blocks(text: bytes, reduce: Reducer | None) -> list[Parsed | Fault]:
    """The documents of a stream in plain block style; [] if one is not."""
    found: list[Parsed | Fault] = []
    pieces = yaml_pieces(text)
    for line, piece in pieces:
        if len(pieces) > 1 and (comments := _COMMENTS.fullmatch(piece)) is not None:
            if comments["start"]:
                found.append(Parsed(line + piece.count(b"\n"), None))
            continue
        short = reduce(piece) if reduce is not None else None
        if short is not None and (block := read_block(short, line)) is not None:
            found.append(Parsed(block.line, block.data))
            continue
        block = read_block(piece, line)
        if block is None:
            return []
        found.append(Parsed(block.line, block.data, (), Positions(block.marks)))
    return found


def compose_stream(text: bytes) -> list[Node]:
    """Read all documents of a UTF-8 YAML stream as nodes, which have their places. Raises Fault."""
    return _read_stream(text, _nodes)


def _read_stream(text: bytes, read: Callable[[GoLoader, str], Iterator[T]]) -> list[T]:
    """Apply ``read`` to a loader of the text; its second argument replaces the colons that libyaml would refuse."""
    try:
        try:
            return _read_anchors(text, read)
        except ScannerError as error:
            hidden, stand_in = hide_colons(text) if error.problem == UNEXPECTED_COLON else (text, "")
            if not stand_in:
                raise
            return _read_anchors(hidden, read, stand_in)
    except yaml.YAMLError as error:
        raise _as_fault(error, text) from None
    except RecursionError:
        raise Fault(None, TOO_DEEP) from None
    except (ValueError, OverflowError) as error:
        raise Fault(None, f"not valid YAML: {error}") from None


def _read_anchors(text: bytes, read: Callable[[GoLoader, str], Iterator[T]], colon: str = "") -> list[T]:
    try:
        return list(read(GoLoader(text), colon))
    except ComposerError as error:
        if "duplicate anchor" not in str(error):
            raise
        return list(read(AnchorLoader(text), colon))


def _documents(loader: GoLoader, colon: str) -> Iterator[Parsed | Fault]:
    for node in _nodes(loader, colon):
        loader.start_document()
        try:
            data = loader.construct_document(node)
        except yaml.MarkedYAMLError as error:
            yield _as_fault(error, b"")
        else:
            data = as_int64(data) if loader.has_uint64 else data
            yield Parsed(node.start_mark.line + 1, data, tuple(loader.remarks), loader.positions)


def _nodes(loader: GoLoader, colon: str) -> Iterator[Node]:
    try:
        for _ in range(MAX_DOCUMENTS):
            if not loader.check_node() or (node := loader.get_node()) is None:
                return
            if colon:
                restore_colons(node, colon)
            yield node
        if loader.check_node():
            raise _too_many_documents()
    finally:
        loader.dispose()


def _too_many_documents() -> Fault:
    return Fault(None, f"more than {MAX_DOCUMENTS} documents", final=True)


def _as_fault(error: yaml.YAMLError, text: bytes) -> Fault:
    if isinstance(error, ReaderError):
        position = error.position if isinstance(error.position, int) else 0
        return Fault(text.count(b"\n", 0, position) + 1, f"not valid YAML: {error.reason}")
    if not isinstance(error, yaml.MarkedYAMLError):
        return Fault(None, f"not valid YAML: {error}")
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark is not None else None
    what = ", ".join(str(part) for part in (error.context, error.problem) if part)
    if isinstance(error, ConstructorError) or error.problem in (TOO_DEEP, TOO_MANY):
        return Fault(line, what, final=error.problem == TOO_MANY)
    return Fault(line, f"not valid YAML: {what}")


def pieces_at(text: bytes, places: Iterable[int]) -> list[tuple[int, bytes]]:
    """Split a stream at ``places``, in order, into (first line, piece). Raises Fault if there are too many."""
    starts = list(islice(places, MAX_DOCUMENTS + 1))
    if len(starts) > MAX_DOCUMENTS:
        raise _too_many_documents()
    if not starts or text[: starts[0]].strip():
        starts.insert(0, 0)
    pieces, line, at = [], 1, 0
    for begin, end in zip(starts, [*starts[1:], len(text)], strict=True):
        line += text.count(b"\n", at, begin)
        at = begin
        pieces.append((line, text[begin:end]))
    return pieces


def yaml_values(text: bytes, reduce: Reducer | None = None) -> Iterator[Parsed | Fault]:
    """Read the documents of a UTF-8 YAML stream, one by one if it does not parse as a whole. Raises nothing.

    ``reduce``: see `load_stream`.
    """
    try:
        yield from load_stream(text, reduce)
        return
    except Fault as fault:
        whole = fault
    try:
        pieces = [] if whole.final else yaml_pieces(text)
    except Fault as fault:
        pieces, whole = [], fault
    if len(pieces) < 2:
        yield whole
        return
    for first_line, piece in pieces:
        try:
            found = load_stream(piece, reduce)
        except Fault as fault:
            found = [fault]
        yield from (_moved_down(one, first_line - 1) for one in found)


def _moved_down(found: Parsed | Fault, lines: int) -> Parsed | Fault:
    """The same with lines counted from the start of the file."""
    if isinstance(found, Fault):
        return Fault(None if found.line is None else found.line + lines, found.message)
    remarks = tuple(Remark(remark.line + lines, remark.message) for remark in found.remarks)
    return Parsed(found.line + lines, found.data, remarks)


def as_int64(value: Any) -> Any:
    """Convert integers outside of int64 to floats, as the API server does."""
    if isinstance(value, dict):
        return {key: as_int64(child) for key, child in value.items()}
    if isinstance(value, list):
        return [as_int64(child) for child in value]
    return float(value) if isinstance(value, int) and value > INT64_MAX else value


# Colons at the end of plain scalars in ``[]`` and ``{}``: ``[1.2.3.4, 2001:db8::]``.
#
# In Go's YAML reader the scalar ``2001:db8::`` ends at the bracket. libyaml refuses a colon before a bracket, a brace
# or a comma. Such a text is read with another character in place of these colons; the values get the colons back.


#: The problem that libyaml's scanner names.
UNEXPECTED_COLON = "found unexpected ':'"

#: After a quote or a bracket the colon separates key and value: ``{"a":[1]}``.
_LAST_COLONS = re.compile(rb"([^\s,\[\]{}\"':][ \t]*)(:+)(?=[,?\[\]{}])")
#: Characters of the private use areas: YAML allows them, and texts rarely have them.
_STAND_INS = tuple(map(chr, range(0xE000, 0xE100)))


def hide_colons(text: bytes) -> tuple[bytes, str]:
    """The UTF-8 text with the same number of characters, and the character for such colons: "" if there is none."""
    stand_in = next((each for each in _STAND_INS if each.encode() not in text), "")
    if not stand_in:
        return text, ""
    return _LAST_COLONS.sub(lambda match: match[1] + stand_in.encode() * len(match[2]), text), stand_in


def restore_colons(root: Node, stand_in: str) -> None:
    """Put the colons back into all scalars below a node, and look at a node behind aliases once."""
    pending, seen = [root], {id(root)}
    while pending:
        node = pending.pop()
        if isinstance(node, ScalarNode):
            node.value = node.value.replace(stand_in, ":")
            continue
        below = [part for pair in node.value for part in pair] if isinstance(node, MappingNode) else node.value
        fresh = [each for each in below if id(each) not in seen]
        seen.update(map(id, fresh))
        pending.extend(fresh)
