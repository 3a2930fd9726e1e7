"""Schemas as CEL types with sizes: the largest number of elements and the smallest serialized size.

Source: k8s.io/apiserver, pkg/cel/common/schemas.go, pkg/cel/types.go and limits.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from crdcompat.apiserver.cel.static.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    Type,
    listed,
    mapped,
)
from crdcompat.cel.identifiers import escape

Schema = Mapping[str, Any]

MAX_REQUEST = 3 * 1024 * 1024
_EMBEDDED, _IOS = "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string"


class Declared(Struct, frozen=True, eq=False):
    """A type with its sizes: ``kind`` is object, list, map or scalar, which alone has a ``type`` of its own.

    ``fields`` of objects are by escaped name, ``element`` is the type of the items of a list or the values of a map.
    Equal types are one value, so that results about them can be kept.
    """

    kind: str
    type: Type
    max_elements: int
    min_size: int
    element: Declared | None
    fields: Mapping[str, Declared]


_known: dict[tuple[Any, ...], Declared] = {}
_MAX_KNOWN = 200_000


def _make(
    kind: str,
    found: Type,
    most: int,
    least: int,
    element: Declared | None = None,
    fields: Mapping[str, Declared] | None = None,
) -> Declared:
    """The type, made once."""
    key = (kind, found, most, least, id(element), *((name, id(each)) for name, each in sorted((fields or {}).items())))
    if key not in _known:
        if len(_known) > _MAX_KNOWN:
            _known.clear()
        _known[key] = Declared(kind, found, most, least, element, fields or {})
    return _known[key]


def _scalar(found: Type, most: int, least: int) -> Declared:
    return _make("scalar", found, most, least)


def name_types(found: Declared, name: str, structs: dict[str, Declared]) -> Type:
    """The CEL type of a value, whose objects are named by their paths from ``name`` and added to ``structs``."""
    if found.kind == "object":
        structs[name] = found
        return Type("struct", name)
    if found.element is not None:
        inner = name_types(found.element, f"{name}.{'@idx' if found.kind == 'list' else '@elem'}", structs)
        return listed(inner) if found.kind == "list" else mapped(STRING, inner)
    return found.type


def declared(schema: Schema, *, resource: bool = False, enums: bool = True) -> Declared | None:
    """The type of a schema; None if rules cannot see its values.

    ``enums``: strings of an enum are as long as its longest member.
    """
    if schema.get(_IOS):
        length = schema.get("maxLength")
        return _scalar(DYN, max(length, 0) * 4 if length is not None else MAX_REQUEST - 2, 1)
    kind = "object" if resource else schema.get("type")
    if kind == "array":
        items = schema.get("items")
        element = _below(items, enums)
        if element is None:
            return None
        most = _most(schema, "maxItems", element.min_size + 1)
        return _make("list", DYN, most, 2, element)
    if kind == "object":
        return _object(schema, resource=resource, enums=enums)
    if kind == "string":
        return _string(schema, enums=enums)
    return {
        "boolean": _scalar(BOOL, 0, 4),
        "number": _scalar(DOUBLE, 0, 1),
        "integer": _scalar(INT, 0, 1),
    }.get(kind or "")


def _most(schema: Schema, keyword: str, size: int) -> int:
    """The number of members that the keyword allows, else that fit into a request at ``size`` bytes each."""
    most = schema.get(keyword)
    return max(most, 0) if most is not None else (MAX_REQUEST - 2) // size


def _below(schema: Any, enums: bool) -> Declared | None:
    if not isinstance(schema, dict):
        return None
    return declared(schema, resource=bool(schema.get(_EMBEDDED)), enums=enums)


_META = {"type": "object", "properties": {"name": {"type": "string"}, "generateName": {"type": "string"}}}


def _object(schema: Schema, *, resource: bool, enums: bool) -> Declared | None:
    additional, properties = schema.get("additionalProperties"), schema.get("properties", {})
    if isinstance(additional, dict):
        element = _below(additional, enums)
        if element is None:
            return None
        most = _most(schema, "maxProperties", element.min_size + 6)
        return _make("map", DYN, most, 2, element)
    if resource:
        text = {"type": "string"}
        properties = {**properties, "kind": text, "apiVersion": text, "metadata": _META}
    fields, least = {}, 2
    required = set(schema.get("required", ()))
    for name, sub in properties.items():
        found = _below(sub, enums)
        if found is None:
            continue
        if (escaped := escape(name)) is not None:
            fields[escaped] = found
        if name in required and "default" not in sub:
            least += len(name.encode()) + found.min_size + 4
    return _make("object", DYN, 0, least, None, fields)


_FORMATS = {
    "duration": (DURATION, 32, 3),
    "date": (TIMESTAMP, 12, 12),
    "date-time": (TIMESTAMP, 32, 21),
}


def _string(schema: Schema, *, enums: bool) -> Declared:
    form, length = schema.get("format", ""), schema.get("maxLength")
    if form in _FORMATS:
        return _scalar(*_FORMATS[form])
    if form == "byte":
        return _scalar(BYTES, max(length, 0) if length is not None else MAX_REQUEST - 2, 2)
    if length is not None:
        return _scalar(STRING, max(length, 0) * 4, 2)
    if enums and schema.get("enum"):
        members = (each for each in schema["enum"] if isinstance(each, str))
        return _scalar(STRING, max((len(each.encode()) for each in members), default=0), 2)
    return _scalar(STRING, MAX_REQUEST - 2, 2)
