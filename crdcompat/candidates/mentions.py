"""Members and values that a schema's junctors and CEL rules mention, as hints to repair an invalid minimal object.

A union's discriminator needs its member; a rule compares with a literal. The hints come from the syntax trees of rules
and the shape of branches. They only guide the search for a witness and decide nothing. For functions that parse text
there are values that they read, the usual ones first: rules about addresses, numbers and times agree on these and
differ in the odd ones, such as a number with a leading zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from math import isfinite
from typing import Any

from msgspec import Struct

from crdcompat.cel.rule import ITEM, Place, Rule
from crdcompat.cel.uses import rule_of
from crdcompat.schema.paths import SchemaPath, node_at
from crdcompat.schema.structural import Node

#: Members of one node, and characters of a literal that a member may have.
_MAX_MENTIONS, _MAX_LITERAL = 64, 200
_IPS = ("10.0.0.1", "10.0.0.2", "fd00::1", "fd00::2", "0.0.0.0", "::", "10.0.0.01", "64:ff9b::10.0.0.1", "FD00::1")
_CIDRS = (
    "10.0.0.0/16", "10.0.0.0/24", "fd00::/64", "fd00::/48", "10.0.0.1/16", "0.0.0.0/0", "10.0.0.0/32", "fd00::/128",
    "10.0.0.0/016", "fd00::/064", "1:2:3:4:5:6:7::/64", "64:ff9b::10.0.0.0/120", "10.0.0.0a/16", "10000::/64",
)  # fmt: skip
_URLS = (
    "https://example.com", "http://example.com", "https://example.com:8443/a?b=c", "https://user@example.com",
    "https://[fd00::1]/", "/a", "example.com", "https://example.com/#a", "ftp://example.com", "HTTPS://example.com",
    "https://example.com/%",
)  # fmt: skip

#: By the name of a function, in small letters; the test of it, such as ``isIP``, reads the same.
_BY_FUNCTION: dict[str, tuple[str, ...]] = {
    "ip": _IPS,
    "cidr": _CIDRS,
    "url": _URLS,
    "quantity": ("1", "1Gi", "100m", "0", "-1", "1.5Gi", "1e3", "10Ti", "1ki"),
    "semver": ("1.2.3", "0.0.0", "1.2.3-rc.1", "v1.2.3", "1.2", "99.0.0", "01.2.3"),
    "duration": ("1s", "1h", "0s", "1h30m", "100ms", "-1s", "1000h", "1d"),
    "timestamp": (
        "2006-01-02T15:04:05Z",
        "2006-01-02T15:04:05.5+01:00",
        "1970-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
    ),
    "int": ("1", "0", "-1"),
    "lowerascii": ("a", "A"),
    "upperascii": ("A", "a"),
}
#: Rules that take addresses apart without a function for them, by the text between the parts.
_BY_SEPARATOR = {"/": _CIDRS, ".": _IPS, ":": _IPS}
_MAX_PREFIX, _OF_PATTERN = 999, 2


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
    yield from _pattern_values(rule)


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


def rule_patterns(rule: Rule) -> Iterator[str]:
    """The patterns that a rule on a string searches for in it, as RE2 reads them; not those that must not match."""
    return (found.text for found in rule.patterns if not (found.place or found.part or found.negated))


def _pattern_values(rule: Rule) -> Iterator[str]:
    """Strings with the patterns that a rule searches for."""
    texts = dict.fromkeys(found.text for found in rule.patterns if found.part is None)
    if not texts:
        return
    from crdcompat.schema.regex import members  # the import of automata costs time, and few rules need them

    for text in texts:
        yield from members((text,), min_length=0, max_length=None, limit=_OF_PATTERN)


def rule_values(rule: Rule) -> Iterator[str]:
    """Strings that a rule may parse, in the order of the functions it calls; none for most rules."""
    for call in rule.calls:
        yield from _BY_FUNCTION.get(call.removeprefix("is").lower(), ())
    yield from dict.fromkeys(text for at in rule.separators for text in _BY_SEPARATOR.get(at, ()))
    if "/" in rule.separators or "prefixLength" in rule.calls:
        for limit in rule.limits:
            if 0 <= limit <= _MAX_PREFIX:
                yield from (f"{host}/{limit + step}" for host in ("10.0.0.0", "fd00::") for step in (0, 1))
