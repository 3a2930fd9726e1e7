"""Manifests inside other objects: in Lists, Templates and SelectorSyncSets as objects, in ConfigMaps as text.

Any object can hold CRDs at any depth: as an object, as a string of YAML or JSON (``data`` of a ConfigMap), as base64
(``binaryData`` of a ConfigMap, ``data`` of a Secret, ``olm.bundle.object`` of a catalog). A CRD holds no other one, and
no cluster gets what stands in ``metadata``, where kubectl keeps its last applied copy.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from crdcompat.crds.model import is_crd
from crdcompat.errors import Problem
from crdcompat.prefilter.candidates import has_crd_line, is_marked
from crdcompat.yaml.documents import Document, read_documents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.schema.paths import Pointer

#: Texts in texts: a ConfigMap in a Template in a ConfigMap.
_MAX_TEXTS = 4
_KIND_LINE = re.compile(rb"""^[\s{-]*["']?kind["']?\s*:""", re.MULTILINE)
_TOO_DEEP = f"manifests inside of texts, more than {_MAX_TEXTS} deep: not read"


def held_crds(document: Document, texts: int = 0) -> Iterator[Document | Problem]:
    """The CRDs inside an object that is none, as documents of the same file; a text that cannot be read is a Problem.

    ``texts`` counts the texts around the document. The pointer of a CRD in a text leads to the text, and ends with its
    number there.
    """
    for pointer, value, parents in _values(document.data):
        at = (*document.pointer, *pointer)
        if not isinstance(value, str):
            yield Document(document.file, document.index, document.line, value, at)
            continue
        data = _text(value, pointer, parents)
        if data is None or not is_marked(data):
            continue
        if texts == _MAX_TEXTS:
            yield Problem(document.file, document.line, _TOO_DEEP)
            continue
        for number, item in enumerate(_documents(data, document.file)):
            where = f"in {'.'.join(map(str, at))}"
            if isinstance(item, Problem):
                yield Problem(document.file, document.line, f"{where}: {item.message}")
            elif is_crd(item.data):
                yield Document(document.file, document.index, document.line, item.data, (*at, number))
            else:
                inner = replace(item, index=document.index, line=document.line, pointer=(*at, number))
                yield from held_crds(inner, texts + 1)


def _values(root: Any) -> Iterator[tuple[Pointer, Any, tuple[Any, ...]]]:
    """The CRDs and the strings in an object, each with its pointer and the objects around it, the innermost last."""
    pending: list[tuple[Pointer, Any, tuple[Any, ...]]] = [((), root, ())]
    while pending:
        pointer, value, parents = pending.pop()
        if isinstance(value, str) or is_crd(value):
            yield pointer, value, parents
        elif isinstance(value, dict):
            is_object = "kind" in value and "apiVersion" in value
            children = [(key, child) for key, child in value.items() if not (is_object and key == "metadata")]
            pending += (((*pointer, key), child, (*parents, value)) for key, child in reversed(children))
        elif isinstance(value, list):
            pending += (((*pointer, index), child, (*parents, value)) for index, child in reversed([*enumerate(value)]))


def _text(value: str, pointer: Pointer, parents: tuple[Any, ...]) -> bytes | None:
    """The bytes of a string that can hold a manifest, decoded where its object says base64; None for any other string.

    A manifest has a line break or is JSON; a sentence that names CRDs is none.
    """
    if _is_base64(pointer, parents):
        try:
            return base64.b64decode("".join(value.split()), validate=True)
        except (binascii.Error, ValueError):
            return None  # no server takes it either
    return value.encode() if "\n" in value or value.lstrip()[:1] in ("{", "[") else None


def _is_base64(pointer: Pointer, parents: tuple[Any, ...]) -> bool:
    if len(pointer) < 2 or not isinstance(parents[-2], dict):
        return False
    holder, field, key = parents[-2], pointer[-2], pointer[-1]
    if field == "value" and key == "data":
        return holder.get("type") == "olm.bundle.object"
    return field == "binaryData" or (field == "data" and holder.get("kind") == "Secret")


def _documents(data: bytes, file: str) -> Iterator[Document | Problem]:
    """The documents of a text; none if it is prose that only names a CRD."""
    items = [*read_documents(data, file)]
    is_manifest = any(isinstance(item, Document) and isinstance(item.data, dict) for item in items)
    return iter(items if is_manifest or (_KIND_LINE.search(data) and has_crd_line(data)) else ())
