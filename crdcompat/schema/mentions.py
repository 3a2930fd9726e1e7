"""Members and values that a schema's junctors and CEL rules mention, as hints to repair an invalid minimal object.

A union's discriminator needs its member; a rule compares with a literal. The hints come from the text of rules and the
shape of branches. They only guide the search for a witness and decide nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from crdcompat.schema.paths import SchemaPath, node_at
from crdcompat.schema.rule_values import rule_values
from crdcompat.schema.structural import Node

_CHAIN = r"((?:\.\??[A-Za-z_][A-Za-z0-9_]*)+)"
_MEMBER = re.compile(rf"\b(?:self|oldSelf){_CHAIN}")
#: A macro over the items of a list: the list and the macro, and the variable for an item.
_MACRO = re.compile(rf"\b(?:self|oldSelf){_CHAIN}\(\s*([A-Za-z_][A-Za-z0-9_]*)\s*,")
_MACROS = frozenset({"all", "exists", "exists_one", "existsOne", "filter", "map"})
_LITERAL = re.compile(r"'([^'\\]{0,200})'|\"([^\"\\]{0,200})\"")
_NUMBER = re.compile(r"(?<![\w.'\"])(\d{1,9})(?![\w.])")
_MAX_MENTIONS = 64


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


def mentions(node: Node) -> list[Mention]:
    """The members and values that the rules and junctors of ``node`` itself mention; at most 64 members."""
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for rule in node.rules:
        text = rule.get("rule")
        if isinstance(text, str):
            literals = _literals(text)
            for member in _members(_MEMBER.findall(text)):
                found.setdefault(member, {}).update((repr(value), value) for value in literals)
    for member, values in _branch_mentions(node, ()):
        found.setdefault(member, {}).update((repr(value), value) for value in values)
    return _mentions(found)


def item_mentions(node: Node) -> list[tuple[tuple[str, ...], list[Mention]]]:
    """The lists whose items the rules of ``node`` judge one by one, and what they mention of an item.

    For ``self.all(x, x.kind == 'A')``: the node itself, as the list at (), and the member ``kind`` with the value A.
    """
    found: dict[tuple[str, ...], dict[tuple[str, ...], dict[str, Any]]] = {}
    for text in (text for rule in node.rules if isinstance(text := rule.get("rule"), str)):
        for chain, variable in _MACRO.findall(text):
            *of, macro = _parts(chain)
            if macro not in _MACROS:
                continue
            of_item = found.setdefault(tuple(of), {})
            for member in _members(re.findall(rf"\b{variable}{_CHAIN}", text)):
                of_item.setdefault(member, {}).update((repr(value), value) for value in _literals(text))
    return [(of, _mentions(of_item)) for of, of_item in found.items()]


def _mentions(found: dict[tuple[str, ...], dict[str, Any]]) -> list[Mention]:
    return [Mention(member, tuple(values.values())) for member, values in list(found.items())[:_MAX_MENTIONS]]


def _literals(text: str) -> list[Any]:
    """The values that a rule names, and those that it may parse."""
    literals: list[Any] = [a or b for a, b in _LITERAL.findall(text)]
    literals += [int(digits) for digits in _NUMBER.findall(text)]
    return [*literals, *rule_values(text)]


def _members(chains: Iterable[str]) -> Iterator[tuple[str, ...]]:
    yield ()
    for parts in map(_parts, chains):
        # The last part may be a method (`self.name.startsWith(…)`): every prefix is a candidate.
        for length in range(1, len(parts) + 1):
            yield parts[:length]


def _parts(chain: str) -> tuple[str, ...]:
    """The names in ``.a.?b.c``."""
    return tuple(part.lstrip("?") for part in chain.split(".") if part)


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
