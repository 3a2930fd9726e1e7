"""How partial requests become whole objects: JSON merge patch, server-side apply, scale (reference 2.2, 8.6, 9)."""

from __future__ import annotations

from typing import Any

from crdcompat.apiserver.correlation import list_map_key, same
from crdcompat.schema.structural import Node

Object = dict[str, Any]


def merge_patch(value: Any, patch: Any) -> Any:
    """RFC 7386: objects merge, null removes, anything else replaces; ``value`` is left as it is."""
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
    """Server-side apply by a manager that owned nothing else: maps and keyed lists merge, sets unite.

    Anything else is replaced as a whole. Removing what the manager owned before and now leaves out
    needs its managed fields and is not done here.
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


def undeclared(patch: Any, node: Node | None, path: str = "") -> str:
    """The first field of an apply patch that the schema does not declare (``.spec.foo``), or ``""``.

    ``apiVersion``, ``kind`` and ``metadata`` of the root are typed by the server itself.
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
            wrong = undeclared(patch[name], below, f"{path}.{name}")
            if wrong:
                return wrong
    elif isinstance(patch, list):
        return next(
            (wrong for i, item in enumerate(patch) if (wrong := undeclared(item, node.items, f"{path}[{i}]"))), ""
        )
    return ""


def with_replicas(obj: Object, path: str, replicas: Any) -> Object:
    """A copy of ``obj`` with the scale subresource's replicas set at its JSONPath (``.spec.replicas``)."""
    name, _, rest = path.strip(".").partition(".")
    if not rest:
        return {**obj, name: replicas}
    below = obj.get(name)
    return {**obj, name: with_replicas(below if isinstance(below, dict) else {}, rest, replicas)}
