"""Decoding of objects: pruning, dropping of nulls and defaulting, in this order, by one version's schema.

Source: docs/semantics.md#decoding. The server decodes stored objects and requests by the same steps, so a change of the
CRD changes every read at once.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from crdcompat.apiserver.metadata import decode_object_meta
from crdcompat.schema.structural import ABSENT, Node

_TYPE_META = ("apiVersion", "kind")
RESOURCE_META = frozenset({"apiVersion", "kind", "metadata"})
_CONTAINERS = frozenset({dict, list})
#: A path in an object as a linked list, innermost step first. Only pruned paths are rendered as text.
_At = tuple["_At", str | int] | None


class Decoded(Struct, frozen=True):
    """A decoded object, and the paths that decoding pruned and defaulted (``spec.list[0].field``)."""

    object: dict[str, Any]
    pruned: tuple[str, ...] = ()
    defaulted: tuple[str, ...] = ()


def decode(raw: dict[str, Any], schema: Node, *, pruning: bool = True, defaulting: bool = True) -> Decoded:
    """Decode ``raw`` under ``schema``, without changing ``raw``.

    ``pruning`` is False for CRDs with ``spec.preserveUnknownFields: true``: the server then keeps unknown fields and
    nulls. ``defaulting`` is False for a stored object of another version. The schema does not apply to ``apiVersion``,
    ``kind`` and ``metadata`` of the root.
    """
    pruned: list[str] = []
    defaulted: list[str] = []
    root = {name: raw[name] for name in _TYPE_META if name in raw}
    meta: dict[str, Any] | None = None
    if "metadata" in raw:
        meta, dropped = decode_object_meta(raw["metadata"])
        pruned.extend(dropped)
    body = {name: value for name, value in raw.items() if name not in RESOURCE_META}
    kept = _prune_object(body, schema, None, pruned) if pruning else copied(body)
    if defaulting:
        apply_defaults(kept, schema, "", defaulted)
    for name in RESOURCE_META:
        kept.pop(name, None)
    if meta is not None:
        root["metadata"] = meta
    return Decoded({**root, **kept}, tuple(sorted(pruned)), tuple(sorted(defaulted)))


def prune(value: Any, node: Node | None, at: _At, pruned: list[str]) -> Any:
    """A copy of ``value`` without the fields that ``node`` does not declare; appends their paths to ``pruned``.

    Null members that are neither nullable nor defaulted are dropped too, without a path, because they carry no data.
    """
    if isinstance(value, dict):
        return _prune_object(value, node, at, pruned)
    if isinstance(value, list):
        items = node.items if node is not None else None
        if node is not None and node.preserve:
            return [_skip_prune(item, items, (at, i), pruned) for i, item in enumerate(value)]
        return [
            prune(item, items, (at, i), pruned) if type(item) in _CONTAINERS else item for i, item in enumerate(value)
        ]
    return value


def _prune_object(value: dict[str, Any], node: Node | None, at: _At, pruned: list[str]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    if node is None:
        pruned.extend(_path((at, name)) for name in value)
        return kept
    declared, embedded = node.properties, node.embedded
    for name, member in value.items():
        sub = declared.get(name)
        if sub is not None and not embedded and member is not None:  # fast path for most members
            kept[name] = prune(member, sub, (at, name), pruned) if type(member) in _CONTAINERS else member
            continue
        if sub is None:
            sub = node.additional if isinstance(node.additional, Node) else None
        if member is None and sub is not None and _drops_null(sub):
            continue
        if embedded and name in RESOURCE_META:
            kept[name] = _embedded_meta(name, member, at, pruned)
        elif sub is not None:
            kept[name] = prune(member, sub, (at, name), pruned)
        elif node.preserve:
            kept[name] = copied(member)
        elif node.additional is not None:
            # `additionalProperties: true` keeps the keys, but declares no fields of their values.
            kept[name] = prune(member, None, (at, name), pruned)
        else:
            pruned.append(_path((at, name)))
    return kept


def _skip_prune(value: Any, node: Node | None, at: _At, pruned: list[str]) -> Any:
    """A copy of an item of a list that preserves unknown fields: the server applies this to the items as well."""
    if node is None or not isinstance(value, (dict, list)):
        return copied(value)
    if isinstance(value, list):
        return [_skip_prune(item, node.items, (at, i), pruned) for i, item in enumerate(value)]
    kept = {}
    for name, member in value.items():
        below = node.child(name)
        if member is None and below is not None and _drops_null(below):
            continue
        kept[name] = copied(member) if below is None else prune(member, below, (at, name), pruned)
    return kept


def _path(at: _At) -> str:
    parts = []
    while at is not None:
        at, part = at
        parts.append(f"[{part}]" if isinstance(part, int) else f".{part}")
    return "".join(reversed(parts)).removeprefix(".")


def _drops_null(node: Node) -> bool:
    """Whether the server drops a null member with this schema. It keeps nulls without a schema."""
    return not node.nullable and node.default is ABSENT


def _embedded_meta(name: str, member: Any, at: _At, pruned: list[str]) -> Any:
    if name != "metadata" or not isinstance(member, (dict, type(None))):
        return copied(member)
    meta, dropped = decode_object_meta(member)
    prefix = f"{_path(at)}." if at is not None else ""
    pruned.extend(prefix + path for path in dropped)
    return meta


def apply_defaults(value: Any, node: Node | None, path: str, defaulted: list[str]) -> None:
    """Set defaults in ``value``, in place; append their paths to ``defaulted``.

    The server sets a default only if the parent object is present.
    """
    if node is None or not node.has_defaults:
        return
    if isinstance(value, dict):
        prefix = f"{path}." if path else ""
        for name, sub in node.properties.items():
            if sub.default is not ABSENT and _needs_default(value, name, sub):
                value[name] = copied(sub.default)
                defaulted.append(prefix + name)
            if isinstance(value.get(name), (dict, list)):
                apply_defaults(value[name], sub, prefix + name, defaulted)
        if isinstance(node.additional, Node):
            for name, member in value.items():
                if name in node.properties:
                    continue
                if member is None and not node.additional.nullable and node.additional.default is not ABSENT:
                    value[name] = copied(node.additional.default)
                    defaulted.append(prefix + name)
                apply_defaults(value[name], node.additional, prefix + name, defaulted)
    elif isinstance(value, list) and node.items is not None:
        for index, item in enumerate(value):
            if item is None and not node.items.nullable and node.items.default is not ABSENT:
                value[index] = copied(node.items.default)
                defaulted.append(f"{path}[{index}]")
            apply_defaults(value[index], node.items, f"{path}[{index}]", defaulted)


def _needs_default(value: dict[str, Any], name: str, sub: Node) -> bool:
    return name not in value or (value[name] is None and not sub.nullable)


def copied(value: Any) -> Any:
    """A deep copy of a JSON value."""
    if isinstance(value, dict):
        return {name: copied(member) for name, member in value.items()}
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value
