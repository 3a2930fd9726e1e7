"""Members and values that a schema's junctors and CEL rules mention, as hints to repair an invalid minimal object.

A union's discriminator needs its member; a rule compares with a literal. The hints come from the syntax trees of rules
and the shape of branches. They only guide the search for a witness and decide nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from math import isfinite
from typing import Any

from msgspec import Struct

from crdcompat.candidates.rule_values import pattern_values, rule_values
from crdcompat.cel.rule import ITEM, Place, Rule
from crdcompat.cel.uses import rule_of
from crdcompat.schema.paths import SchemaPath, node_at
from crdcompat.schema.structural import Node

#: Members of one node, and characters of a literal that a member may have.
_MAX_MENTIONS, _MAX_LITERAL = 64, 200


class Mention(Struct, frozen=True):
    """A member (names below the node that mentions it) and the values mentioned with it."""

    member: tuple[str, ...]
    values: tuple[Any, ...]

    def at(self, node: Node) -> Node | None:
        """The node of the member, below the node that mentions it; None if the schema does not describe it."""
        below: Node | None = node
        for name in self.member:
            below = below.child(name) if below is not None else None
        return below


#: The values mentioned with a member, by their texts.
_Values = dict[str, Any]


def mentions(node: Node) -> list[Mention]:
    """The members and values that the rules and junctors of ``node`` itself mention; at most 64 members."""
    found: dict[tuple[str, ...], _Values] = {}
    for rule in _rules(node):
        _collect(found, rule, map(_to_item, rule.places))
    for member, values in _branch_mentions(node, ()):
        found.setdefault(member, {}).update((repr(value), value) for value in values)
    return _mentions(found)


def item_mentions(node: Node) -> list[tuple[tuple[str, ...], list[Mention]]]:
    """The lists whose items the rules of ``node`` judge one by one, and what they mention of an item.

    For ``self.all(x, x.kind == 'A')``: the node itself, as the list at (), and the member ``kind`` with the value A.
    """
    found: dict[tuple[str, ...], dict[tuple[str, ...], _Values]] = {}
    for rule in _rules(node):
        of_items: dict[tuple[str, ...], list[Place]] = {}
        for place in rule.places:
            if ITEM in place:
                of = _to_item(place)
                of_items.setdefault(of, []).append(place[len(of) + 1 :])
        for of, places in of_items.items():
            _collect(found.setdefault(of, {}), rule, map(_to_item, places))
    return [(of, _mentions(of_item)) for of, of_item in found.items()]


def _rules(node: Node) -> Iterator[Rule]:
    return (rule for raw in node.rules if (rule := rule_of(raw.get("rule"))) is not None)


def _to_item(place: Place) -> tuple[str, ...]:
    """The names of a place, up to the list that has the first of its items."""
    return place[: place.index(ITEM)] if ITEM in place else place


def _collect(found: dict[tuple[str, ...], _Values], rule: Rule, places: Iterable[tuple[str, ...]]) -> None:
    """Add the places, those above them, and the values of a rule."""
    literals = {repr(value): value for value in _literals(rule)}
    for place in ((), *places):
        for length in range(bool(place), len(place) + 1):
            found.setdefault(place[:length], {}).update(literals)


def _mentions(found: dict[tuple[str, ...], _Values]) -> list[Mention]:
    return [Mention(member, tuple(values.values())) for member, values in islice(found.items(), _MAX_MENTIONS)]


def _literals(rule: Rule) -> Iterator[Any]:
    """The values that a rule names, and those that it may search for or parse."""
    texts = (value.decode("utf-8", "ignore") if isinstance(value, bytes) else value for value in rule.literals)
    yield from (value for value in texts if isinstance(value, str) and len(value) <= _MAX_LITERAL)
    for value in rule.literals:
        if type(value) is int or (type(value) is float and isfinite(value)):
            yield int(value) if value == int(value) else value
    yield from rule_values(rule)
    yield from pattern_values(rule)


def _branch_mentions(node: Node, below: tuple[str, ...], depth: int = 0) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    if depth > 6:
        return
    for branch in node.junctor_branches():
        yield below, list(branch.enum)
        for name in branch.required:
            yield (*below, name), []
        for name, sub in branch.properties.items():
            yield (*below, name), [*sub.enum, *([""] if "maxLength" in sub.raw else [])]
            yield from _branch_mentions(sub, (*below, name), depth + 1)
        yield from _branch_mentions(branch, below, depth + 1)


def literals_for(root: Node, path: SchemaPath) -> list[Any]:
    """Values that the rules and junctors of the field at ``path`` and of its parent mention for it."""
    here, named = node_at(root, path), []
    if here is not None:
        named += [value for mention in mentions(here) if not mention.member for value in mention.values]
    parent = node_at(root, path[:-1]) if path else None
    if parent is not None and isinstance(path[-1], str):
        named += [value for mention in mentions(parent) if mention.member == (path[-1],) for value in mention.values]
    return named
