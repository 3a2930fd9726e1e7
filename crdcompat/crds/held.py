"""Manifests inside other objects: in Lists, Templates and SelectorSyncSets as objects, in ConfigMaps as text.

Any object can hold CRDs at any depth: as an object, as a string of YAML or JSON (``data`` of a ConfigMap), as base64
(``binaryData`` of a ConfigMap, ``data`` of a Secret, ``olm.bundle.object`` of a catalog), also behind gzip. A CRD holds
no other one, and no cluster gets what stands in ``metadata``, where kubectl keeps its last applied copy.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from crdcompat.crds.makers import made_by, parameterized
from crdcompat.crds.model import is_crd
from crdcompat.errors import Problem, Skipped
from crdcompat.prefilter.candidates import encodes_crds, has_crd_line, is_marked, may_name_crds
from crdcompat.prefilter.encoded import decoded, is_long, unpacked
from crdcompat.yaml.documents import Document, read_documents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.schema.paths import Pointer

#: Texts in texts: a ConfigMap in a Template in a ConfigMap.
_MAX_TEXTS = 4
_KIND_LINE = re.compile(rb"""^[\s{-]*["']?kind["']?\s*:""", re.MULTILINE)
_TOO_DEEP = f"manifests inside of texts, more than {_MAX_TEXTS} deep: not read"
_PACKED = "gzip that is too large, or holds gzip: not read"
_IN_TEXT = "base64 with a CRD inside of a text: not read"
#: Without one of these a string has no room for the two fields of a CRD.
_ROOM = re.compile(r"[\n\r\x85\u2028\u2029{]")


def held_crds(
    document: Document, texts: int = 0, *, was_packed: bool = False
) -> Iterator[Document | Problem | Skipped]:
    """The CRDs inside an object that is none, as documents of the same file.

    A text that cannot be read is a Problem, an object of which a controller makes CRDs is Skipped. ``texts`` counts the
    texts around the document, ``was_packed``: one of them was gzip. The pointer of a CRD in a text leads to the text,
    and ends with its number there.
    """
    for pointer, value, parents in _values(document.data):
        at = (*document.pointer, *pointer)
        if isinstance(value, str):
            where = f"in {'.'.join(map(str, at))}: " if at else ""
            for item in _in_text(value, pointer, parents, document, texts, was_packed=was_packed):
                yield replace(item, message=where + item.message) if isinstance(item, Problem) else item
        elif is_crd(value):
            yield Document(document.file, document.index, document.line, value, at)
            if said := parameterized(value, parents):
                yield replace(said, file=document.file)
        elif said := made_by(value):
            yield replace(said, file=document.file)


def _in_text(
    value: str, pointer: Pointer, parents: tuple[Any, ...], document: Document, texts: int, *, was_packed: bool
) -> Iterator[Document | Problem | Skipped]:
    """What a string of a document holds."""
    text = value.encode("utf-8", "surrogatepass")
    coded = decoded(value) if _is_base64(pointer, parents) or is_long(value) else None
    data = text if coded is None else unpacked(coded)
    is_packed = coded is not None and data is not coded
    if data is None or (is_packed and was_packed):
        yield Problem(document.file, document.line, _PACKED)
    elif not (is_marked(data) if coded is None else may_name_crds(data)):
        return
    elif coded is None and not _ROOM.search(value):
        if encodes_crds(text):
            yield Problem(document.file, document.line, _IN_TEXT)
    elif texts == _MAX_TEXTS:
        yield Problem(document.file, document.line, _TOO_DEEP)
    else:
        at, found = (*document.pointer, *pointer), False
        for number, item in enumerate(_documents(data, document.file)):
            found = True
            if isinstance(item, Problem):
                yield Problem(document.file, document.line, item.message)
            elif is_crd(item.data):
                yield Document(document.file, document.index, document.line, item.data, (*at, number))
            else:
                inner = replace(item, index=document.index, line=document.line, pointer=(*at, number))
                yield from held_crds(inner, texts + 1, was_packed=was_packed or is_packed)
        if not found and encodes_crds(data):
            yield Problem(document.file, document.line, _IN_TEXT)


def _values(root: Any) -> Iterator[tuple[Pointer, Any, tuple[Any, ...]]]:
    """The CRDs, the objects of which CRDs are made, and the strings in an object.

    Each comes with its pointer and the objects around it, the innermost last.
    """
    pending: list[tuple[Pointer, Any, tuple[Any, ...]]] = [((), root, ())]
    while pending:
        pointer, value, parents = pending.pop()
        if isinstance(value, str) or is_crd(value):
            yield pointer, value, parents
        elif isinstance(value, dict):
            if pointer[-1:] != ("properties",) and made_by(value):  # a schema of schemas makes nothing
                yield pointer, value, parents
            is_object = "kind" in value and "apiVersion" in value
            children = [(key, child) for key, child in value.items() if not (is_object and key == "metadata")]
            pending += (((*pointer, key), child, (*parents, value)) for key, child in reversed(children))
        elif isinstance(value, list):
            pending += (((*pointer, index), child, (*parents, value)) for index, child in reversed([*enumerate(value)]))


def _is_base64(pointer: Pointer, parents: tuple[Any, ...]) -> bool:
    if len(pointer) < 2 or not isinstance(parents[-2], dict):
        return False
    holder, field, key = parents[-2], pointer[-2], pointer[-1]
    if field == "value" and key == "data":
        return bool(holder.get("type") == "olm.bundle.object")
    return field == "binaryData" or (field == "data" and holder.get("kind") == "Secret")


def _documents(data: bytes, file: str) -> Iterator[Document | Problem]:
    """The documents of a text, which can be base64 again; none if it is prose that only names a CRD."""
    items = [*read_documents(data, file)]
    values = [item.data for item in items if isinstance(item, Document)]
    is_read = any(isinstance(value, dict) or (isinstance(value, str) and decoded(value)) for value in values)
    return iter(items if is_read or (_KIND_LINE.search(data) and has_crd_line(data)) else ())
