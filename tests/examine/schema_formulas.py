"""What a schema demands of a value, as formulas of the solver. What cannot be translated demands nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import z3
from cel_formulas import holds
from patterns import searched
from symbols import Entry, UntranslatedError, Value

from crdcompat.schema.structural import Node

_JSON: dict[str, Any] = {"string": str, "integer": int, "number": (int, float), "boolean": bool}


def demands(node: Node, value: Value) -> Iterator[Any]:
    """What a node and the nodes below it demand of a value that is there."""
    yield own(node, value)
    for below, entry in inside(node, value):
        yield from (z3.Implies(entry.present, each) for each in demands(below, entry.value))


def inside(node: Node, value: Value) -> Iterator[tuple[Node, Entry]]:
    """The values directly inside a value, each with the node that describes it."""
    for name, entry in value.members.items():
        if (sub := node.properties.get(name)) is not None:
            yield sub, entry
    holder = node.additional if value.kind == "map" else node.items if value.kind == "array" else None
    if isinstance(holder, Node):
        yield from ((holder, entry) for entry in value.entries)


def own(node: Node, value: Value) -> Any:
    """What a node alone demands: its keywords, its junctors and its rules, not those of the nodes below it."""
    rules = [rule for rule in (holds(each.get("rule"), node, value) for each in node.rules) if rule is not None]
    return z3.And(*_keywords(node, value), *rules)


def _keywords(node: Node, value: Value) -> Iterator[Any]:
    if value.kind == "fixed":
        return
    json_type = "object" if value.kind == "map" else value.kind
    if node.types and json_type not in node.types and not (json_type == "integer" and "number" in node.types):
        yield z3.BoolVal(False)
        return
    if value.term is not None:
        yield from _scalar(node, value)
    if value.members or value.kind == "object":
        yield from (value.members[name].present for name in node.required if name in value.members)
    if value.kind in ("object", "map"):
        yield from _limits(node, value.size, "minProperties", "maxProperties")
    if value.kind == "array":
        yield from _limits(node, value.size, "minItems", "maxItems")
        yield from _unique(node, value)
    yield from _junctors(node, value)


def _scalar(node: Node, value: Value) -> Iterator[Any]:
    term = value.term
    if node.enum:
        wanted = _JSON[value.kind]
        members = [member for member in node.enum if isinstance(member, wanted)]
        yield z3.Or(*(term == member for member in members))
    if value.kind == "string":
        yield from _limits(node, z3.Length(term), "minLength", "maxLength")
        pattern = node.raw.get("pattern")
        if isinstance(pattern, str):
            with suppress(UntranslatedError):
                yield z3.InRe(term, searched(pattern))
    elif value.kind in ("integer", "number"):
        low, high = node.raw.get("minimum"), node.raw.get("maximum")
        if isinstance(low, (int, float)):
            yield term > low if node.raw.get("exclusiveMinimum") is True else term >= low
        if isinstance(high, (int, float)):
            yield term < high if node.raw.get("exclusiveMaximum") is True else term <= high


def _limits(node: Node, size: Any, least: str, most: str) -> Iterator[Any]:
    if (low := node.count(least)) is not None:
        yield size >= low
    if (high := node.count(most)) is not None:
        yield size <= high


def _unique(node: Node, value: Value) -> Iterator[Any]:
    first, second = value.entries
    both = z3.And(first.present, second.present)
    if node.list_type == "set" and first.value.term is not None:
        yield z3.Implies(both, first.value.term != second.value.term)
    if node.list_type == "map":
        sides = [[each.value.members.get(key) for key in node.list_keys] for each in (first, second)]
        pairs = [(a, b) for a, b in zip(*sides, strict=True) if a is not None and b is not None]
        if pairs and all(a.value.term is not None for a, _ in pairs):
            yield from (
                z3.Implies(each.present, entry.present) for each in value.entries for entry in _keys(node, each)
            )
            yield z3.Implies(both, z3.Or(*(a.value.term != b.value.term for a, b in pairs)))


def _keys(node: Node, item: Entry) -> list[Entry]:
    return [item.value.members[key] for key in node.list_keys if key in item.value.members]


def _junctors(node: Node, value: Value) -> Iterator[Any]:
    def all_of(branch: Node) -> Any:
        return z3.And(*demands(branch, value))

    if node.any_of:
        yield z3.Or(*map(all_of, node.any_of))
    if node.one_of:
        yield z3.Sum([z3.If(all_of(branch), 1, 0) for branch in node.one_of]) == 1
    yield from map(all_of, node.all_of)
    if node.not_ is not None:
        yield z3.Not(all_of(node.not_))
