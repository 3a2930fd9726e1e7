"""From the bytes of a request or of etcd to the object the server works on: prune, drop nulls, default.

In this order, top-down, by one version's schema (reference sections 2.1, 5.1 and 6.2). Reading a stored
object and decoding a request use the same steps, so an older CRD changes what everybody sees at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from crdcompat.apiserver.metadata import decode_object_meta
from crdcompat.schema.structural import ABSENT, Node

_TYPE_META = ("apiVersion", "kind")
_RESOURCE_META = frozenset({"apiVersion", "kind", "metadata"})
_CONTAINERS = frozenset({dict, list})


@dataclass(frozen=True, slots=True)
class Decoded:
    """An object as the server sees it, with what that took away and added (``spec.list[0].field``)."""

    object: dict[str, Any]
    pruned: tuple[str, ...] = ()
    defaulted: tuple[str, ...] = ()


def decode(raw: dict[str, Any], schema: Node, *, pruning: bool = True) -> Decoded:
    """Decode ``raw`` under ``schema``; ``raw`` is left as it is.

    ``pruning`` is off for CRDs with ``spec.preserveUnknownFields: true``: nothing is pruned there and no
    null dropped. ``apiVersion``, ``kind`` and ``metadata`` of the root do not obey the schema.
    """
    pruned: list[str] = []
    defaulted: list[str] = []
    root = {name: raw[name] for name in _TYPE_META if name in raw}
    meta: dict[str, Any] | None = None
    if "metadata" in raw:
        meta, lost = decode_object_meta(raw["metadata"])
        pruned.extend(lost)
    body = {name: value for name, value in raw.items() if name not in _RESOURCE_META}
    kept = _prune_object(body, schema, "", pruned) if pruning else _copy(body)
    if pruning and _may_hold_null(kept):
        drop_nulls(kept, schema)
    apply_defaults(kept, schema, "", defaulted)
    for name in _RESOURCE_META:
        kept.pop(name, None)
    if meta is not None:
        root["metadata"] = meta
    return Decoded({**root, **kept}, tuple(sorted(pruned)), tuple(sorted(defaulted)))


def prune(value: Any, node: Node | None, path: str, pruned: list[str]) -> Any:
    """A copy of ``value`` without the fields ``node`` does not know; their paths go to ``pruned``."""
    if isinstance(value, dict):
        return _prune_object(value, node, path, pruned)
    if isinstance(value, list):
        items = node.items if node is not None else None
        if node is not None and node.preserve:
            return [_skip(item, items, f"{path}[{i}]", pruned) for i, item in enumerate(value)]
        return [
            prune(item, items, f"{path}[{i}]", pruned) if type(item) in _CONTAINERS else item
            for i, item in enumerate(value)
        ]
    return value


def _prune_object(value: dict[str, Any], node: Node | None, path: str, pruned: list[str]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    prefix = f"{path}." if path else ""
    for name, member in value.items():
        if node is None:
            pruned.append(prefix + name)
        elif node.embedded and name in _RESOURCE_META:
            kept[name] = _embedded_meta(name, member, prefix, pruned)
        elif (sub := node.properties.get(name)) is not None:
            kept[name] = prune(member, sub, prefix + name, pruned) if type(member) in _CONTAINERS else member
        elif node.additional is not None:
            below = node.additional if isinstance(node.additional, Node) else None
            # `additionalProperties: true` keeps the keys but knows nothing about what is below them.
            kept[name] = (
                _copy(member) if node.preserve and below is None else prune(member, below, prefix + name, pruned)
            )
        elif node.preserve:
            kept[name] = _copy(member)
        else:
            pruned.append(prefix + name)
    return kept


def _skip(value: Any, node: Node | None, path: str, pruned: list[str]) -> Any:
    """Below a list that preserves unknown fields its items preserve too, whatever they say themselves."""
    if node is None or not isinstance(value, (dict, list)):
        return _copy(value)
    if isinstance(value, list):
        return [_skip(item, node.items, f"{path}[{i}]", pruned) for i, item in enumerate(value)]
    kept = {}
    for name, member in value.items():
        below = node.child(name)
        kept[name] = _copy(member) if below is None else prune(member, below, f"{path}.{name}", pruned)
    return kept


def _embedded_meta(name: str, member: Any, prefix: str, pruned: list[str]) -> Any:
    if name != "metadata" or not isinstance(member, dict):
        return _copy(member)
    meta, lost = decode_object_meta(member)
    pruned.extend(prefix + path for path in lost)
    return meta


def drop_nulls(value: Any, node: Node | None) -> None:
    """Delete members that are null, may not be null, and have no default; in place."""
    if node is None:
        return
    if isinstance(value, dict):
        doomed = []
        for name, member in value.items():
            sub = node.child(name)
            if sub is None:
                continue
            if member is None:
                if not sub.nullable and sub.default is ABSENT:
                    doomed.append(name)
            elif isinstance(member, (dict, list)):
                drop_nulls(member, sub)
        for name in doomed:
            del value[name]
    elif isinstance(value, list) and node.items is not None:
        for item in value:
            if isinstance(item, (dict, list)):
                drop_nulls(item, node.items)


def apply_defaults(value: Any, node: Node | None, path: str, defaulted: list[str]) -> None:
    """Set defaults in place; a default fires only where its parent object is present."""
    if node is None or not node.has_defaults:
        return
    if isinstance(value, dict):
        prefix = f"{path}." if path else ""
        for name, sub in node.properties.items():
            if sub.default is not ABSENT and _wants_default(value, name, sub):
                value[name] = _copy(sub.default)
                defaulted.append(prefix + name)
            if isinstance(value.get(name), (dict, list)):
                apply_defaults(value[name], sub, prefix + name, defaulted)
        if isinstance(node.additional, Node):
            for name, member in value.items():
                if name in node.properties:
                    continue
                if member is None and not node.additional.nullable and node.additional.default is not ABSENT:
                    value[name] = _copy(node.additional.default)
                    defaulted.append(prefix + name)
                apply_defaults(value[name], node.additional, prefix + name, defaulted)
    elif isinstance(value, list) and node.items is not None:
        for index, item in enumerate(value):
            if item is None and not node.items.nullable and node.items.default is not ABSENT:
                value[index] = _copy(node.items.default)
                defaulted.append(f"{path}[{index}]")
            apply_defaults(value[index], node.items, f"{path}[{index}]", defaulted)


def _may_hold_null(value: Any) -> bool:
    """Whether there is a null to drop: most objects have none, and its text tells fastest."""
    try:
        return b"null" in orjson.dumps(value)
    except TypeError:  # an integer beyond 64 bits
        return True


def _wants_default(value: dict[str, Any], name: str, sub: Node) -> bool:
    return name not in value or (value[name] is None and not sub.nullable)


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copy(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_copy(item) for item in value]
    return value
