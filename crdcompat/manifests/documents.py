"""Files as streams of documents: YAML, JSON, several of either, Kubernetes Lists taken apart.

Any bytes can come in; what cannot be read comes out as a `Problem` with its line, and never hides the
other documents of the file.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import orjson
import yaml
from yaml.composer import ComposerError
from yaml.constructor import ConstructorError
from yaml.reader import ReaderError

from crdcompat.manifests.positions import Positions
from crdcompat.manifests.yaml import (
    MAX_DEPTH,
    TOO_DEEP,
    TOO_MANY,
    AnchorLoader,
    GoLoader,
    Remark,
    gc_paused,
)
from crdcompat.problems import Problem
from crdcompat.records import dataclass
from crdcompat.sources.encoding import to_utf8
from crdcompat.sources.files import MAX_FILE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from yaml.nodes import Node

T = TypeVar("T")
Pointer = tuple[str | int, ...]

MAX_DOCUMENTS = 250_000
"""Documents of one stream: ``---`` repeated costs its sender four bytes each."""

MAX_JSON_VALUES = 5_000_000
"""Values of one JSON file, told by its commas: more than a dense file of `MAX_FILE_BYTES` has."""

_INT64_MAX = 2**63 - 1
_BIG_INTEGER = re.compile(rb"[0-9]{19}")
_DOCUMENT_START = re.compile(rb"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)
_VALUE_START = re.compile(rb"^(?=[{\[])", re.MULTILINE)
_DIRECTIVE = re.compile(rb"^%", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Document:
    """One document, or one item of a List.

    ``index`` counts the documents of the stream from 0 (empty ones too), ``line`` is the first line of
    the document's content from 1, ``data`` is JSON-like (dict, list, str, int, float, bool, None), a tree
    without shared parts; ``pointer`` leads from the document to the item (``("items", 3)``), ``()`` for a
    plain document. ``remarks`` say what was odd in it (duplicate keys); a List's stand with its first item.
    ``positions`` are those of a plain YAML document, where they are known.
    """

    file: str
    index: int
    line: int
    data: Any
    pointer: Pointer = ()
    remarks: tuple[Remark, ...] = ()
    positions: Positions | None = None


class Fault(Exception):  # noqa: N818 - not an error of the run: a record of what could not be read
    """A document or stream that cannot be read: ``line`` from 1, or None, and what is wrong.

    ``final`` marks a limit on the whole stream: reading its parts one by one would not respect it.
    """

    def __init__(self, line: int | None, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.line = line
        self.message = message
        self.final = final


@dataclass(frozen=True, slots=True)
class Parsed:
    """One document: the line its content starts on (from 1), JSON-like data, remarks, and where what stands."""

    line: int
    data: Any
    remarks: tuple[Remark, ...] = ()
    positions: Positions | None = None


def read_documents(data: bytes, file: str, *, max_bytes: int = MAX_FILE_BYTES) -> Iterator[Document | Problem]:
    """Read one file: its documents in order, a Problem for each that cannot be read. Never raises.

    UTF-8, -16 and -32; a JSON value, several of them (NDJSON, or one after the other), or a YAML stream.
    Empty documents are nothing.
    """
    if len(data) > max_bytes:
        yield Problem(file, None, f"larger than {max_bytes} bytes: not read")
        return
    try:
        text = to_utf8(data)
    except UnicodeError as error:
        yield Problem(file, None, f"not valid text: {error}: save it as UTF-8")
        return
    for index, found in enumerate(_values(text)):
        if isinstance(found, Fault):
            yield Problem(file, found.line, found.message)
        elif found.data is not None:
            yield from _items(Document(file, index, found.line, found.data, (), found.remarks, found.positions))


def json_pieces(text: bytes) -> list[tuple[int, bytes]]:
    """Split a file that is several JSON values, each starting a line, into (first line, value).

    Empty when it is not such a file: the first piece has to be JSON, and there have to be two. Raises
    Fault when there are too many.
    """
    pieces = _pieces(text, _VALUE_START)
    return pieces if len(pieces) > 1 and _is_json(pieces[0][1]) else []


def yaml_pieces(text: bytes) -> list[tuple[int, bytes]]:
    """Split a YAML stream at its ``---`` lines into (first line, document), to read what can be read of it.

    Raises Fault when there are too many.
    """
    pieces = _pieces(text, _DOCUMENT_START)
    if len(pieces) > 1 and _DIRECTIVE.search(pieces[0][1]):  # %YAML and %TAG belong to what follows
        pieces[:2] = [(1, pieces[0][1] + pieces[1][1])]
    return pieces


def load_stream(text: bytes) -> list[Parsed | Fault]:
    """Read all documents of a UTF-8 YAML stream, empty ones (``data`` None) included.

    A document that parses but makes no sense (unknown tag, bomb) is a Fault in the list. Raises Fault
    when the stream does not parse: where the next document starts is then not known.
    """
    return _read_stream(text, _documents)


def compose_stream(text: bytes) -> list[Node]:
    """Read all documents of a UTF-8 YAML stream as nodes, which know their places. Raises Fault."""
    return _read_stream(text, _nodes)


def _read_stream(text: bytes, read: Callable[[GoLoader], Iterator[T]]) -> list[T]:
    try:
        with gc_paused():
            try:
                return list(read(GoLoader(text)))
            except ComposerError as error:
                if "duplicate anchor" not in str(error):
                    raise
                return list(read(AnchorLoader(text)))
    except yaml.YAMLError as error:
        raise _as_fault(error, text) from None
    except RecursionError:
        raise Fault(None, TOO_DEEP) from None
    except (ValueError, OverflowError) as error:
        raise Fault(None, f"not valid YAML: {error}") from None


def _documents(loader: GoLoader) -> Iterator[Parsed | Fault]:
    for node in _nodes(loader):
        loader.start_document()
        try:
            data = loader.construct_document(node)
        except yaml.MarkedYAMLError as error:
            yield _as_fault(error, b"")
        else:
            data = _as_int64(data) if loader.has_uint64 else data
            yield Parsed(node.start_mark.line + 1, data, tuple(loader.remarks), loader.positions)


def _nodes(loader: GoLoader) -> Iterator[Node]:
    try:
        for _ in range(MAX_DOCUMENTS):
            if not loader.check_node() or (node := loader.get_node()) is None:
                return
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


def _values(text: bytes) -> Iterator[Parsed | Fault]:
    if text.lstrip()[:1] in (b"{", b"["):
        try:
            with gc_paused():
                value = _json_value(1, text)
            yield value
            return
        except orjson.JSONDecodeError:
            pass  # several values, or YAML that starts like JSON
        try:
            pieces = json_pieces(text)
        except Fault as fault:
            yield fault
            return
        if pieces:
            with gc_paused():
                found = [_json_piece(line, piece) for line, piece in pieces]
            yield from found
            return
    yield from _yaml_values(text)


def _yaml_values(text: bytes) -> Iterator[Parsed | Fault]:
    try:
        yield from load_stream(text)
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
            found = load_stream(piece)
        except Fault as fault:
            found = [fault]
        yield from (_below(one, first_line - 1) for one in found)


def _below(found: Parsed | Fault, lines: int) -> Parsed | Fault:
    """Count the lines of a piece from the start of its file."""
    if isinstance(found, Fault):
        return Fault(None if found.line is None else found.line + lines, found.message)
    remarks = tuple(Remark(remark.line + lines, remark.message) for remark in found.remarks)
    return Parsed(found.line + lines, found.data, remarks)


def _json_value(first_line: int, text: bytes) -> Parsed | Fault:
    """Read one JSON value. Raises orjson.JSONDecodeError when it is none."""
    line = first_line + text.count(b"\n", 0, len(text) - len(text.lstrip()))
    if text.count(b",") > MAX_JSON_VALUES:
        return Fault(line, f"more than {MAX_JSON_VALUES} values")
    data = orjson.loads(text)
    if _deeper_than(data, MAX_DEPTH, text):
        return Fault(line, TOO_DEEP)
    return Parsed(line, _as_int64(data) if _BIG_INTEGER.search(text) else data)


def _json_piece(first_line: int, text: bytes) -> Parsed | Fault:
    try:
        return _json_value(first_line, text)
    except orjson.JSONDecodeError as error:
        last = text.rstrip().count(b"\n")  # a value cut short ends where its text does, not below
        return Fault(first_line + min(error.lineno - 1, last), f"not valid JSON: {error.msg}")


def _is_json(text: bytes) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


def _deeper_than(data: Any, limit: int, text: bytes) -> bool:
    if text.count(b"{") + text.count(b"[") <= limit:
        return False
    level = [data]
    for _ in range(limit + 1):
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, (dict, list))
        ]
        if not level:
            return False
    return True


def _as_int64(value: Any) -> Any:
    """Turn integers that no int64 holds into floats, as the API server reads them."""
    if isinstance(value, dict):
        return {key: _as_int64(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_as_int64(child) for child in value]
    return float(value) if isinstance(value, int) and value > _INT64_MAX else value


def _items(document: Document) -> Iterator[Document | Problem]:
    """Take a List apart, Lists within it too; anything else is given as it is."""
    data = document.data
    kind = data.get("kind") if isinstance(data, dict) else None
    if not isinstance(kind, str) or not kind.endswith("List") or "items" not in data:
        yield document
        return
    items = data["items"]
    if items is not None and not isinstance(items, list):
        yield document
        return
    remarks = document.remarks
    for position, item in enumerate(items or ()):
        pointer = (*document.pointer, "items", position)
        if not isinstance(item, dict):
            where = "".join(f".{part}" if isinstance(part, str) else f"[{part}]" for part in pointer)
            yield Problem(document.file, document.line, f"{where[1:]} of the {kind} is not an object")
            continue
        data_of_item = _typed(item, kind, data.get("apiVersion"))
        yield from _items(Document(document.file, document.index, document.line, data_of_item, pointer, remarks))
        remarks = ()


def _typed(item: dict[str, Any], list_kind: str, api_version: Any) -> dict[str, Any]:
    """Name the item of a typed list: an API server's ``FooList`` leaves kind and apiVersion to the list."""
    if list_kind == "List" or "kind" in item or "apiVersion" in item or not isinstance(api_version, str):
        return item
    return {"apiVersion": api_version, "kind": list_kind.removesuffix("List"), **item}


def _pieces(text: bytes, start: re.Pattern[bytes]) -> list[tuple[int, bytes]]:
    starts = [match.start() for match in islice(start.finditer(text), MAX_DOCUMENTS + 1)]
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
