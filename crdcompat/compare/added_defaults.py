"""Values in which a reader adds a default, for unchanged rules that the default may break.

A rule may ask for another member beside it, or compare the two: so the other member has the value of the default, too.
Formulas (`equivalence/of_writer`) cover such defaults but in values of maps (``self.m[key]``), in two items that a rule
compares, and in items of which a junctor states something.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crdcompat.candidates.sample import around, sample
from crdcompat.schema.paths import ITEM, VALUE, SchemaPath
from crdcompat.schema.structural import ABSENT, Node

#: Lists, maps and objects inside of each other.
_MAX_DEPTH = 4


def with_added_defaults(writer: Node, reader: Node) -> Iterator[Any]:
    """Values of ``writer`` to which ``reader`` adds a default at any depth."""
    for path, holder, name, default in _places(writer, reader, ()):
        plain = sample(holder)
        if not isinstance(plain, dict) or name in plain:
            continue
        yield around(writer, path, plain)
        if path[-1:] == (ITEM,):  # two items that the default makes equal
            yield around(writer, path[:-1], [plain, {**plain, name: default}])
        for other, member in holder.properties.items():
            if other != name and _may_be(member, default):
                yield around(writer, path, {**plain, other: default})


def _places(writer: Node, reader: Node, path: SchemaPath) -> Iterator[tuple[SchemaPath, Node, str, Any]]:
    """The places of objects that only the reader adds a default to: path, the writer's node, member, default."""
    for name, theirs in reader.properties.items():
        mine = writer.properties.get(name)
        if theirs.default is not ABSENT and (mine is None or mine.default is ABSENT):
            yield path, writer, name, theirs.default
        if mine is not None and len(path) < _MAX_DEPTH:
            yield from _places(mine, theirs, (*path, name))
    elements = (ITEM, writer.items, reader.items), (VALUE, writer.additional, reader.additional)
    for step, held, read in elements:
        if isinstance(held, Node) and isinstance(read, Node) and len(path) < _MAX_DEPTH:
            yield from _places(held, read, (*path, step))


def _may_be(node: Node, value: Any) -> bool:
    """Whether a scalar is of the type of a node."""
    kinds = {str: ("string",), bool: ("boolean",), int: ("integer", "number"), float: ("number",)}.get(type(value), ())
    return node.type in kinds or (node.int_or_string and type(value) in (int, str))
