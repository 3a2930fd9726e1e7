"""List types and list-map keys.

Source: apiextensions-apiserver, pkg/apis/apiextensions/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crdcompat.apiserver.crd_validation import shown
from crdcompat.apiserver.crd_validation.decoded_keywords import Schema
from crdcompat.apiserver.crd_validation.definition import fault
from crdcompat.apiserver.crd_validation.tolerated import Tolerated
from crdcompat.apiserver.field_errors import FORBIDDEN, INVALID, NOT_SUPPORTED, REQUIRED, FieldError
from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.wording import supported_values
from crdcompat.schema.paths import Pointer

LIST_TYPE, KEYS = "x-kubernetes-list-type", "x-kubernetes-list-map-keys"
_MAP_TYPE = "x-kubernetes-map-type"
_LIST_TYPES = ("atomic", "set", "map")


def list_faults(schema: Schema, at: Pointer, server: Server, tolerated: Tolerated) -> Iterator[FieldError]:
    """The faults of one schema's list type, keys and items."""
    for kind, step, value, detail in _list_faults(schema, tolerated):
        yield fault(kind, (*at, *step), value, detail, server)
    if not tolerated.list_items:
        for kind, step, detail in key_faults(schema):
            yield fault(kind, (*at, *step), "", detail, server)


def _list_faults(schema: Schema, tolerated: Tolerated) -> Iterator[tuple[str, Pointer, Any, str]]:
    kind, listed, keys = schema.get("type", ""), schema.get(LIST_TYPE), schema.get(KEYS, [])
    if listed is not None and kind != "array":
        detail = "must be array if x-kubernetes-list-type is specified"
        yield INVALID if kind else REQUIRED, ("type",), kind, detail
    elif not tolerated.sets and (keyword := non_atomic_set(schema)):
        items = schema["items"]
        detail = "must be atomic as item of a list with x-kubernetes-list-type=set"
        yield INVALID, ("items", keyword), items.get(LIST_TYPE), detail
    if listed is not None and listed not in _LIST_TYPES:
        yield NOT_SUPPORTED, (LIST_TYPE,), listed, supported_values(_LIST_TYPES)
    if keys and listed != "map":
        detail = "must be map if x-kubernetes-list-map-keys is non-empty"
        yield REQUIRED if listed is None else INVALID, (LIST_TYPE,), listed, detail
    if listed == "map":
        yield from _map_faults(schema, keys)


def _map_faults(schema: Schema, keys: list[str]) -> Iterator[tuple[str, Pointer, Any, str]]:
    if not keys:
        yield REQUIRED, (KEYS,), "", "must not be empty if x-kubernetes-list-type is map"
    items = schema.get("items")
    if items is None:
        yield REQUIRED, ("items",), "", "must have a schema if x-kubernetes-list-type is map"
    elif isinstance(items, list):
        yield INVALID, ("items",), items, "must only have a single schema if x-kubernetes-list-type is map"
    elif items.get("type") != "object":
        detail = "must be object if parent array's x-kubernetes-list-type is map"
        yield INVALID, ("items", "type"), items.get("type", ""), detail
    else:
        properties = items.get("properties", {})
        for index, key in enumerate(keys):
            if key not in properties:
                yield INVALID, (KEYS,), shown.strings(keys), "entries must all be names of item properties"
            elif properties[key].get("type") in ("array", "object"):
                detail = "must be a scalar type if parent array's x-kubernetes-list-type is map"
                yield INVALID, ("items", "properties", key, "type"), items["type"], detail
            if key in keys[:index]:
                yield INVALID, (KEYS,), shown.strings(keys), "must not contain duplicate entries"


def non_atomic_set(schema: Schema) -> str:
    """The keyword by which the items of a set would have to be atomic, and are not; "" if they are."""
    items = schema.get("items")
    if schema.get(LIST_TYPE) != "set" or not isinstance(items, dict):
        return ""
    if items.get("type") == "array" and items.get(LIST_TYPE, "atomic") != "atomic":
        return LIST_TYPE
    if items.get("type") == "object" and items.get(_MAP_TYPE) != "atomic":
        return _MAP_TYPE
    return ""


def key_faults(schema: Schema) -> Iterator[tuple[str, Pointer, str]]:
    """Items and keys that may be null or absent: type of the error, steps, detail."""
    listed, items = schema.get(LIST_TYPE), schema.get("items")
    if listed not in ("set", "map") or not isinstance(items, dict):
        return
    if items.get("nullable"):
        yield FORBIDDEN, ("items", "nullable"), f"cannot be nullable when x-kubernetes-list-type is {listed}"
    required, properties = frozenset(items.get("required", ())), items.get("properties", {})
    for key in schema.get(KEYS, ()) if listed == "map" else ():
        if key not in properties:
            continue
        at = ("items", "properties", key)
        if key not in required and "default" not in properties[key]:
            detail = (
                "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"
            )
            yield REQUIRED, (*at, "default"), detail
        if properties[key].get("nullable"):
            detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"
            yield FORBIDDEN, (*at, "nullable"), detail
