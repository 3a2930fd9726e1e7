"""The reader's node as its rules see the objects that the writer stored: with shorter lists and more defaults.

A formula made from such a node is about the stored object. The server adds the reader's defaults to that object before
it evaluates a rule, so for the rule a member with such a default is always there.
"""

from __future__ import annotations

from typing import Any

from crdcompat.apiserver.cel.views import View
from crdcompat.schema.equality import identical
from crdcompat.schema.structural import ABSENT, Node

#: A mark in a schema, no keyword of manifests: only the reader adds the default.
_ADDED = "added default"
#: The types of scalars that formulas compare with literals.
_SCALARS = {"string": str, "integer": int, "boolean": bool}


def as_stored(reader: Node, writer: Node | None) -> Node:
    """The reader's node, in which lists have one item at most where the writer allows no more, and defaults are marked.

    A default is marked if it is a scalar of a member that the writer declares without one. The same node, if nothing
    changes.
    """
    if writer is None or not identical(reader.default, writer.default):
        return reader
    changed: dict[str, Any] = {}
    members = {name: _member(node, writer.properties.get(name)) for name, node in reader.properties.items()}
    if any(members[name] is not node for name, node in reader.properties.items()):
        changed["properties"] = {name: node.raw for name, node in members.items()}
    elements = ("items", reader.items, writer.items), ("additionalProperties", reader.additional, writer.additional)
    for keyword, mine, theirs in elements:
        if isinstance(mine, Node) and isinstance(theirs, Node) and (found := as_stored(mine, theirs)) is not mine:
            changed[keyword] = found.raw
    if (most := writer.count("maxItems")) is not None and most <= 1:
        changed["maxItems"] = most
    return Node({**reader.raw, **changed}) if changed else reader


def _member(reader: Node, writer: Node | None) -> Node:
    if writer is None or reader.default is ABSENT or writer.default is not ABSENT or writer.nullable:
        return as_stored(reader, writer)
    is_scalar = type(reader.default) is _SCALARS.get(View(reader).kind)
    return Node({**reader.raw, _ADDED: True}) if is_scalar else reader


def is_marked(node: Node) -> bool:
    """Whether formulas cover the default of a node of the reader."""
    return _ADDED in node.raw


def added_default(view: View | None) -> Any:
    """The default that a member gets if the stored object lacks it; ABSENT for members that then are not there."""
    return view.node.default if view is not None and is_marked(view.node) else ABSENT
