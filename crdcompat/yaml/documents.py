"""Read files as streams of documents: YAML or JSON, one or several, with the items of Kubernetes Lists.

The input can be any bytes. A document that cannot be read becomes a `Problem` with its line and does not hide the other
documents of the file.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.errors import Problem
from crdcompat.sources.encoding import is_wide, to_utf8
from crdcompat.sources.files import MAX_FILE_BYTES
from crdcompat.yaml.json_streams import json_values
from crdcompat.yaml.loader import Remark
from crdcompat.yaml.positions import Positions
from crdcompat.yaml.streams import Fault, Reducer, yaml_values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.schema.paths import Pointer


#: Kubernetes' reader drops a directive before ``---``, and reads a tag behind a second byte order mark as that of the
#: whole map; libyaml does neither.
_ODD = re.compile(rb"^(?:%TAG[ \t]|\xef\xbb\xbf(?=[^\0]*!!))", re.MULTILINE)
_ODD_MARKS = (b"%TAG", b"\xef\xbb\xbf")
_ODD_MESSAGE = "a %TAG directive, or a byte order mark before tags: Kubernetes reads them in its own way; take it out"


#: The members of a List.
_OF_LISTS = frozenset({"apiVersion", "kind", "metadata", "items"})


class Document(Struct, frozen=True):
    """One document, or one item of a List.

    ``index`` counts the documents of the stream from 0, empty ones included. ``line`` is the first line of the
    document's content, from 1. ``data`` is JSON-like (dict, list, str, int, float, bool, None), a tree without shared
    parts. ``pointer`` is the path from the document to the item (``("items", 3)``), ``()`` for a document that is not a
    List. ``remarks`` are oddities (duplicate keys); the first item of a List has those of the List. ``positions`` are
    the places of the values of a YAML document that is not a List, if known.
    """

    file: str
    index: int
    line: int
    data: Any
    pointer: Pointer = ()
    remarks: tuple[Remark, ...] = ()
    positions: Positions | None = None


def read_documents(
    data: bytes,
    file: str,
    *,
    max_bytes: int = MAX_FILE_BYTES,
    empty_lists: bool = False,
    reduce: Reducer | None = None,
) -> Iterator[Document | Problem]:
    """Read the documents of one file in order; a document that cannot be read is a Problem. Raises nothing.

    Input: UTF-8, UTF-16 or UTF-32 text of one JSON value, several JSON values (each starts a line), or a YAML stream.
    Empty documents are left out, and so are Lists without items unless ``empty_lists`` asks for them. ``reduce`` may
    make YAML documents shorter before they are read; JSON is read as a whole.
    """
    if len(data) > max_bytes:
        yield Problem(file, None, f"larger than {max_bytes} bytes: not read")
        return
    try:
        text = to_utf8(data)
    except UnicodeError as error:
        yield Problem(file, None, f"not valid text: {error}: save it as UTF-8")
        return
    if not is_wide(data):  # as Kubernetes' reader of lines does, before it reads YAML: CR CR LF is one line break
        text = text.replace(b"\r\n", b"\n")
    # Two searches for bytes cost a tenth of one for the start of each line.
    is_odd = any(mark in text for mark in _ODD_MARKS)
    if is_odd and (odd := _ODD.search(text)) is not None:
        yield Problem(file, text.count(b"\n", 0, odd.start()) + 1, _ODD_MESSAGE)
    values = json_values(text) if text.lstrip()[:1] in (b"{", b"[") else None
    for index, found in enumerate(yaml_values(text, reduce) if values is None else values):
        if isinstance(found, Fault):
            yield Problem(file, found.line, found.message)
        elif found.data is not None:
            document = Document(file, index, found.line, found.data, (), found.remarks, found.positions)
            if empty_lists and is_empty_list(found.data):
                yield document
            yield from _items(document)


def is_empty_list(data: Any) -> bool:
    """Whether a document is a List without items, as ``oc get`` answers where there is no object."""
    kind = data.get("kind") if isinstance(data, dict) else None
    return isinstance(kind, str) and kind.endswith("List") and "items" in data and data["items"] in (None, [])


def _items(document: Document) -> Iterator[Document | Problem]:
    """The items of a List, also of Lists in it; any other document itself."""
    data = document.data
    kind = data.get("kind") if isinstance(data, dict) else None
    if not isinstance(kind, str) or not kind.endswith("List") or "items" not in data:
        yield document
        return
    items = data["items"]
    if items is not None and not isinstance(items, list):
        yield document
        return
    if data.keys() - _OF_LISTS:  # an object with more than a list
        yield replace(document, data={key: value for key, value in data.items() if key != "items"})
    remarks = document.remarks
    others = [position for position, item in enumerate(items or ()) if not isinstance(item, dict)]
    if others:  # one problem, however many there are: a list can have millions of them
        pointer = (*document.pointer, "items", others[0])
        where = "".join(f".{part}" if isinstance(part, str) else f"[{part}]" for part in pointer)
        more = f" (and {len(others) - 1} more)" if len(others) > 1 else ""
        yield Problem(document.file, document.line, f"{where[1:]} of the {kind} is not an object{more}")
    for position, item in enumerate(items or ()):
        pointer = (*document.pointer, "items", position)
        if not isinstance(item, dict):
            continue
        data_of_item = _typed(item, kind, data.get("apiVersion"))
        yield from _items(Document(document.file, document.index, document.line, data_of_item, pointer, remarks))
        remarks = ()


def _typed(item: dict[str, Any], list_kind: str, api_version: Any) -> dict[str, Any]:
    """The item with kind and apiVersion: the API server omits both in the items of a ``FooList``."""
    if list_kind == "List" or "kind" in item or "apiVersion" in item or not isinstance(api_version, str):
        return item
    return {"apiVersion": api_version, "kind": list_kind.removesuffix("List"), **item}
