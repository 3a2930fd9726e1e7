"""The field managers that wrote a value, by the object's ``metadata.managedFields``.

Source of the form: https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management. An atomic
list has one manager for the whole list.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from crdcompat.apiserver.admission import metadata_of
from crdcompat.schema.paths import Object, Pointer, value_at


def managers_of(obj: Object, place: Pointer) -> tuple[str, ...]:
    """The managers that own the value at ``place``, or a part of it; none if no managed fields name it."""
    entries = metadata_of(obj).get("managedFields")
    found = [_manager(entry, obj, place) for entry in entries] if isinstance(entries, list) else []
    return tuple(dict.fromkeys(filter(None, found)))


def _manager(entry: Any, obj: Object, place: Pointer) -> str:
    if not isinstance(entry, dict):
        return ""
    manager, fields = entry.get("manager"), entry.get("fieldsV1")
    return manager if isinstance(manager, str) and _owns(fields, obj, place) else ""


def _owns(fields: Any, obj: Object, place: Pointer) -> bool:
    """Whether the ``fieldsV1`` of a manager contain the value at ``place``, or a value around it as a whole."""
    at: Any = fields
    for depth, step in enumerate(place):
        if not isinstance(at, dict):
            return False
        if not at:
            return depth > 0  # the manager owns the value around it as a whole
        keys = (f"f:{step}",) if isinstance(step, str) else _keys_of_item(at, obj, place[: depth + 1])
        at = next((at[key] for key in keys if key in at), None)
    return isinstance(at, dict)


def _keys_of_item(fields: dict[str, Any], obj: Object, place: Pointer) -> Iterator[str]:
    """The keys of a list item in managed fields: ``i:`` index, ``v:`` value (sets), ``k:`` keys (maps)."""
    yield f"i:{place[-1]}"
    try:
        item = value_at(obj, place)
    except LookupError:
        return
    for name in fields:
        mark, _, text = name.partition(":")
        try:
            wanted = orjson.loads(text) if mark in ("v", "k") else None
        except orjson.JSONDecodeError:
            continue
        has_keys = isinstance(wanted, dict) and isinstance(item, dict) and {**item, **wanted} == item
        if wanted == item if mark == "v" else has_keys:
            yield name
