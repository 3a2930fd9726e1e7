"""Paths through schemas and objects, in the report's notation: ``spec.list[*].map.*`` and ``spec.list[0]``."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

from crdcompat.schema.structural import Node


class Wild(enum.Enum):
    """A step that stands for every item of a list or every value of a map."""

    ITEM = "[*]"
    VALUE = ".*"


ITEM, VALUE = Wild.ITEM, Wild.VALUE

#: A path through a schema: property names and wild steps from the root.
SchemaPath = tuple[str | Wild, ...]
#: Keys and indices from the root of a JSON document.
Pointer = tuple[str | int, ...]


def render(path: SchemaPath) -> str:
    """``("spec", "l", ITEM, "m", VALUE)`` -> ``spec.l[*].m.*``; the root is ``""``."""
    text = ""
    for step in path:
        if isinstance(step, Wild):
            text += step.value if text or step is ITEM else "*"
        else:
            text += f".{step}" if text else step
    return text


def owner(path: SchemaPath) -> str:
    """Who writes the field at ``path``: ``status``, ``spec``, ``metadata`` or ``other`` (design, section 2)."""
    head = path[0] if path else ""
    return head if head in ("status", "spec", "metadata") and isinstance(head, str) else "other"


def node_at(root: Node, path: SchemaPath) -> Node | None:
    """The node that describes the value at ``path``, None where the schema knows none."""
    node: Node | None = root
    for step in path:
        if node is None:
            return None
        if step is ITEM:
            node = node.items
        elif step is VALUE:
            node = node.additional if isinstance(node.additional, Node) else None
        else:
            node = node.properties.get(str(step))
    return node


def schema_pointer(path: SchemaPath) -> Pointer:
    """Where the node at ``path`` stands inside the schema document."""
    steps: list[str | int] = []
    for step in path:
        if step is ITEM:
            steps.append("items")
        elif step is VALUE:
            steps.append("additionalProperties")
        else:
            steps.extend(("properties", str(step)))
    return tuple(steps)


def general(field: str) -> str:
    """A concrete field path with its list indices made general: ``spec.l[3].x`` -> ``spec.l[*].x``."""
    parts = field.split("[")
    return parts[0] + "".join(
        f"[*]{rest}" if index.isdigit() else f"[{part}"
        for part in parts[1:]
        for index, _, rest in (part.partition("]"),)
    )


def value_at(data: Any, pointer: Pointer) -> Any:
    """The value at a pointer. Raises LookupError where there is none."""
    for step in pointer:
        if isinstance(step, int) and isinstance(data, list):
            data = data[step]
        elif isinstance(step, str) and isinstance(data, Mapping):
            data = data[step]
        else:
            raise LookupError(step)
    return data
