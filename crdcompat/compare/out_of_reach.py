"""Places of a schema at which no object has a value, because of what is stated of a value around them."""

from __future__ import annotations

from typing import Any

from crdcompat.schema.paths import ITEM, VALUE, SchemaPath, node_at
from crdcompat.schema.structural import Node


def is_out_of_reach(root: Node, path: SchemaPath) -> bool:
    """Whether no object has a value at ``path``: a list above it has no items, or an enum above it no such value.

    Of the last step, which may be about a member that is absent, only what holds it counts.
    """
    above = ((length, node_at(root, path[:length])) for length in range(len(path)))
    return any(node is not None and _holds_nothing(node, path[length:]) for length, node in above)


def _holds_nothing(node: Node, rest: SchemaPath) -> bool:
    if rest[0] is ITEM and node.count("maxItems") == 0:
        return True
    listed = node.raw.get("enum")
    return isinstance(listed, list) and bool(listed) and not any(_reaches(member, rest[:-1]) for member in listed)


def _reaches(value: Any, path: SchemaPath) -> bool:
    """Whether a value has an object or a list at a path."""
    if not path:
        return isinstance(value, (dict, list))
    step, rest = path[0], path[1:]
    if step is ITEM:
        return isinstance(value, list) and any(_reaches(item, rest) for item in value)
    if not isinstance(value, dict):
        return False
    if step is VALUE:
        return any(_reaches(member, rest) for member in value.values())
    return step in value and _reaches(value[step], rest)
