"""Files as streams of documents: YAML, JSON, several of either, Kubernetes Lists taken apart.

Any bytes can come in; what cannot be read comes out as a `Problem` with its line, and never hides the
other documents of the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crdcompat.errors import Problem
from crdcompat.sources.encoding import to_utf8
from crdcompat.sources.files import MAX_FILE_BYTES
from crdcompat.yaml.json_streams import json_values
from crdcompat.yaml.loader import Remark
from crdcompat.yaml.positions import Positions
from crdcompat.yaml.streams import Fault, yaml_values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.schema.paths import Pointer


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
    values = json_values(text) if text.lstrip()[:1] in (b"{", b"[") else None
    for index, found in enumerate(yaml_values(text) if values is None else values):
        if isinstance(found, Fault):
            yield Problem(file, found.line, found.message)
        elif found.data is not None:
            yield from _items(Document(file, index, found.line, found.data, (), found.remarks, found.positions))


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
