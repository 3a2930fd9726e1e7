"""Partial requests: JSON patch, JSON merge patch and scale (docs/semantics.md#order-of-steps)."""

from __future__ import annotations

import re
from typing import Any

from crdcompat.schema.equality import identical
from crdcompat.schema.paths import Object

_INDEX = re.compile(r"[+-]?[0-9]+", re.ASCII)


class PatchError(Exception):
    """A JSON patch that does not apply."""


def json_patch(value: Any, patch: list[Any]) -> Any:
    """RFC 6902, as the server's library reads it: a missing member can be replaced. Raises PatchError.

    Does not change ``value``. Source: evanphx/json-patch v4, ``patch.go``.
    """
    whole = {"": _copied(value)}  # the root is a member like others
    for step in patch:
        if not isinstance(step, dict) or not isinstance(step.get("path"), str):
            raise PatchError
        holder, key = _place(whole, step["path"])
        match step.get("op"):
            case "add":
                _add(holder, key, _copied(step.get("value")))
            case "replace":
                _get(holder, key)
                _set(holder, key, _copied(step.get("value")))
            case "remove":
                _remove(holder, key)
            case "test":
                if not identical(_get(holder, key), step.get("value")):
                    raise PatchError
            case "move" | "copy" as op:
                source, name = _place(whole, step.get("from"))
                moved = _copied(_get(source, name))
                if op == "move":
                    _remove(source, name)
                holder, key = _place(whole, step["path"])
                _add(holder, key, moved)
            case _:
                raise PatchError
    return whole[""]


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copied(member) for name, member in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def _place(whole: dict[str, Any], path: Any) -> tuple[Any, str]:
    """The object or list that has the place of a pointer, and its key there; text before the first slash is ignored."""
    if not isinstance(path, str):
        raise PatchError
    if not path:
        return whole, ""
    parts = [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")]
    at: Any = whole[""]
    for part in parts[1:-1]:
        at = _get(at, part)
    if len(parts) < 2 or not isinstance(at, (dict, list)):
        raise PatchError
    return at, parts[-1]


def _index(items: list[Any], key: str, size: int) -> int:
    if not _INDEX.fullmatch(key) or not -size <= int(key) < size:
        raise PatchError
    return int(key) % size


def _get(holder: Any, key: str) -> Any:
    if isinstance(holder, dict):
        return holder.get(key)
    if not isinstance(holder, list):
        raise PatchError
    return holder[_index(holder, key, len(holder))]


def _set(holder: Any, key: str, value: Any) -> None:
    holder[key if isinstance(holder, dict) else _index(holder, key, len(holder))] = value


def _add(holder: Any, key: str, value: Any) -> None:
    if isinstance(holder, dict):
        holder[key] = value
    elif key == "-":
        holder.append(value)
    else:
        holder.insert(_index(holder, key, len(holder) + 1), value)


def _remove(holder: Any, key: str) -> None:
    if isinstance(holder, list):
        del holder[_index(holder, key, len(holder))]
    elif key in holder:
        del holder[key]
    else:
        raise PatchError


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
