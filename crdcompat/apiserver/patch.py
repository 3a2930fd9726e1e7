"""Partial requests: JSON merge patch and scale (reference sections 2.2, 8.6 and 9)."""

from __future__ import annotations

from typing import Any

from crdcompat.schema.paths import Object


def merge_patch(value: Any, patch: Any) -> Any:
    """RFC 7386: objects merge, null removes, anything else replaces. Does not change ``value``.

    The server also removes the null members of objects in a list of the patch, but not null items.
    """
    if not isinstance(patch, dict):
        return patch if isinstance(value, dict) else _without_nulls(patch)
    merged = dict(value) if isinstance(value, dict) else {}
    for name, member in patch.items():
        if member is None:
            merged.pop(name, None)
        else:
            merged[name] = merge_patch(merged.get(name), member)
    return merged


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(member) for name, member in value.items() if member is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def with_replicas(obj: Object, path: str, replicas: Any) -> Object:
    """A copy of ``obj`` with the scale subresource's replicas set at its JSONPath (``.spec.replicas``)."""
    name, _, rest = path.strip(".").partition(".")
    if not rest:
        return {**obj, name: replicas}
    below = obj.get(name)
    return {**obj, name: with_replicas(below if isinstance(below, dict) else {}, rest, replicas)}
