"""Server-side apply's typed view of an object: shapes it cannot make sense of fail hard (reference section 8.6).

Enums, bounds and patterns play no role here; a value of another type does, even where ratcheting would let
it pass, because the stored object cannot be typed any more.
"""

from __future__ import annotations

from typing import Any

from crdcompat.apiserver.eras import Server
from crdcompat.apiserver.gotext import go_syntax, plain
from crdcompat.schema.structural import Node

_GO_TYPES = {
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
    list: "[]interface {}",
    dict: "map[string]interface {}",
}


def typed_error(value: Any, node: Node | None, server: Server, path: str = "", *, strict: bool = False) -> str:
    """The first thing that keeps ``value`` from being typed by ``node`` (``.spec.p: expected …``), or ``""``.

    ``strict``: duplicates are errors on every server, as they are in patches.
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
