"""Partial requests: JSON merge patch, server-side apply and scale (reference sections 2.2, 8.6 and 9).

Server-side apply also types the patch and the stored object by the schema, and fails if one has a value of another
type (reference section 8.6). Ratcheting does not prevent this failure. Enums, bounds and patterns do not count here.
"""

from __future__ import annotations

from typing import Any

from crdcompat.apiserver.correlation import list_map_key, same
from crdcompat.apiserver.gotext import go_syntax, plain
from crdcompat.apiserver.versions import Server
from crdcompat.schema.paths import Object
from crdcompat.schema.structural import Node


def merge_patch(value: Any, patch: Any) -> Any:
    """RFC 7386: objects merge, null removes, anything else replaces. Does not change ``value``."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(value) if isinstance(value, dict) else {}
    for name, member in patch.items():
        if member is None:
            merged.pop(name, None)
        else:
            merged[name] = merge_patch(merged.get(name), member)
    return merged


def apply_merge(live: Any, patch: Any, node: Node | None) -> Any:
    """Server-side apply by a manager that owns no other field: maps and keyed lists merge, sets unite.

    The patch replaces anything else as a whole. Fields that the manager owned before and now omits stay, because
    their removal needs its managed fields.
    """
    if isinstance(live, dict) and isinstance(patch, dict):
        if node is not None and node.raw.get("x-kubernetes-map-type") == "atomic":
            return patch
        merged = dict(live)
        for name, member in patch.items():
            merged[name] = apply_merge(live.get(name), member, node.child(name) if node is not None else None)
        return merged
    if isinstance(live, list) and isinstance(patch, list) and node is not None:
        if node.list_type == "map":
            return _keyed_merge(live, patch, node)
        if node.list_type == "set":
            return [*live, *(item for item in patch if not any(same(item, known) for known in live))]
    return patch


def _keyed_merge(live: list[Any], patch: list[Any], node: Node) -> list[Any]:
    merged = list(live)
    places = {key: at for at, item in enumerate(live) if (key := list_map_key(item, node.list_keys)) is not None}
    for item in patch:
        key = list_map_key(item, node.list_keys)
        if key in places:
            merged[places[key]] = apply_merge(merged[places[key]], item, node.items)
        else:
            merged.append(item)
    return merged


def undeclared_field(patch: Any, node: Node | None, path: str = "") -> str:
    """The path of the first field of an apply patch that the schema does not declare (``.spec.foo``), or ``""``.

    The server has its own types for ``apiVersion``, ``kind`` and ``metadata`` of the root.
    """
    if node is None or (node.preserve and not node.properties):
        return ""
    if isinstance(patch, dict):
        for name in sorted(patch):
            if (not path or node.embedded) and name in ("apiVersion", "kind", "metadata"):
                continue
            below = node.child(name)
            if below is None and not node.preserve and node.additional is None:
                return f"{path}.{name}"
            wrong = undeclared_field(patch[name], below, f"{path}.{name}")
            if wrong:
                return wrong
    elif isinstance(patch, list):
        return next(
            (wrong for i, item in enumerate(patch) if (wrong := undeclared_field(item, node.items, f"{path}[{i}]"))),
            "",
        )
    return ""


def with_replicas(obj: Object, path: str, replicas: Any) -> Object:
    """A copy of ``obj`` with the scale subresource's replicas set at its JSONPath (``.spec.replicas``)."""
    name, _, rest = path.strip(".").partition(".")
    if not rest:
        return {**obj, name: replicas}
    below = obj.get(name)
    return {**obj, name: with_replicas(below if isinstance(below, dict) else {}, rest, replicas)}


_GO_TYPES = {
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
    list: "[]interface {}",
    dict: "map[string]interface {}",
}


def typed_error(value: Any, node: Node | None, server: Server, path: str = "", *, strict: bool = False) -> str:
    """The first error of typing ``value`` by ``node`` (``.spec.p: expected …``), or ``""``.

    ``strict`` is for patches: duplicates are then errors on every server version.
    """
    if value is None or node is None or not node.types or node.int_or_string:
        return ""
    return _CHECKS[node.type](value, node, server, path, strict) if node.type in _CHECKS else ""


def _number(value: Any, node: Node, server: Server, path: str, strict: bool) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return ""
    return f"{path}: expected numeric (int or float), got {_GO_TYPES[type(value)]}"


def _string(value: Any, node: Node, server: Server, path: str, strict: bool) -> str:
    return "" if isinstance(value, str) else f"{path}: expected string, got {go_syntax(value)}"


def _boolean(value: Any, node: Node, server: Server, path: str, strict: bool) -> str:
    return "" if isinstance(value, bool) else f"{path}: expected boolean, got {plain(value)}"


def _array(value: Any, node: Node, server: Server, path: str, strict: bool) -> str:
    if not isinstance(value, list):
        return f"{path}: expected list, got {plain(value)}"
    if node.list_type in ("set", "map") and (strict or not server.does("apply_tolerates_duplicates")):
        seen: set[str] = set()
        for item in value:
            key = _item_key(item, node)
            if key in seen:
                return f"{path}: duplicate entries for key {key}"
            seen.add(key)
    items = enumerate(value)
    return next(
        (wrong for i, item in items if (wrong := typed_error(item, node.items, server, f"{path}[{i}]", strict=strict))),
        "",
    )


def _item_key(item: Any, node: Node) -> str:
    if node.list_type == "set":
        return f"[={go_syntax(item)}]"
    members = item if isinstance(item, dict) else {}
    return "[" + ",".join(f"{key}={go_syntax(members.get(key))}" for key in sorted(node.list_keys)) + "]"


def _object(value: Any, node: Node, server: Server, path: str, strict: bool) -> str:
    if not isinstance(value, dict):
        return f"{path}: expected map, got {plain(value)}"
    members = ((name, node.child(name)) for name in sorted(value))
    return next(
        (
            wrong
            for name, sub in members
            if (wrong := typed_error(value[name], sub, server, f"{path}.{name}", strict=strict))
        ),
        "",
    )


_CHECKS = {
    "integer": _number,
    "number": _number,
    "string": _string,
    "boolean": _boolean,
    "array": _array,
    "object": _object,
}
