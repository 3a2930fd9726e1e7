"""Generate many small values of one node from what its unions and rules mention, to find counterexamples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, islice, product
from typing import Any

from crdcompat.candidates.mentions import Mention, item_mentions, mentions
from crdcompat.candidates.sample import is_of_type, list_of_size, sample, values
from crdcompat.candidates.strings import POOL
from crdcompat.candidates.unique_items import with_stated_type
from crdcompat.schema.listed_values import enum_members
from crdcompat.schema.paths import is_within, with_value
from crdcompat.schema.structural import ABSENT, Node

#: Limits: values per mentioned member, per other member, members set together, variants of one node.
_MAX_CASES, _MAX_OF_MEMBER, _MAX_MEMBERS, _MAX_VARIANTS = 8, 2, 3, 600
#: Items that differ in what rules on each item mention.
_MAX_ITEMS = 16
#: Keys of maps that no rule names, and characters of a key.
_MAX_KEYS, _MAX_LENGTH = 16, 512


def variants(node: Node, *others: Node) -> Iterator[Any]:
    """Values that ``node``'s type allows: minimal ones, then combinations of the members and values mentioned."""
    return distinct(islice(_all(node, others), _MAX_VARIANTS))


def distinct(values: Iterable[Any]) -> Iterator[Any]:
    """The values, each once."""
    seen: set[str] = set()
    for value in values:
        key = repr(value)  # distinguishes 1, 1.0 and true
        if key not in seen:
            seen.add(key)
            yield value


def hint(member: tuple[str, ...], values: Iterable[Any]) -> dict[str, Any]:
    """A branch of a union that lists ``values`` for ``member``: `variants` of a node with such branches try them."""
    branch: dict[str, Any] = {"enum": list(values)}
    for name in reversed(member):
        branch = {"properties": {name: {"anyOf": [branch]}}}
    return branch


def every_value(node: Node) -> list[Any] | None:
    """All values of a node with a known finite set of them; else None."""
    members = enum_members(node)
    if members is not None:
        return [member for member in members if member is not None]
    if node.type == "object" and node.additional is None and not (node.properties or node.preserve or node.embedded):
        return [{}]
    return [True, False] if node.type == "boolean" else None


def _set(base: Any, members: list[tuple[str, ...]], cases: tuple[Any, ...]) -> Any:
    """``base`` with each member set to its case; None if a case does not fit."""
    made = base
    for member, value in zip(members, cases, strict=True):
        if value is ABSENT and not is_within(made, member):
            continue
        try:
            made = with_value(made, member, value)
        except LookupError:  # without the parent, no member below it can be set
            return None
    return made


def _all(node: Node, others: tuple[Node, ...]) -> Iterator[Any]:
    is_text = node.type == "string" or node.int_or_string
    if is_text:  # what rules read first
        yield from (value for mention in _named(node, others) for value in mention.values if isinstance(value, str))
    yield from islice(values(node), _MAX_CASES)
    if is_text:
        yield from POOL
    if node.type in ("integer", "number") or node.int_or_string:
        yield from (value for mention in _named(node, others) for value in mention.values if isinstance(value, int))
    if node.type == "array":
        yield from _lists(node, others)
    if node.type == "object" or node.properties:
        yield from _objects(node, others)


def _named(node: Node, others: tuple[Node, ...]) -> list[Mention]:
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for each in (node, *others):
        for mention in mentions(each):
            found.setdefault(mention.member, {}).update((repr(value), value) for value in mention.values)
    return [Mention(member, tuple(named.values())) for member, named in found.items()]


def _lists(node: Node, others: tuple[Node, ...]) -> Iterator[list[Any]]:
    if node.items is None:
        return
    items = list(islice(values(node.items), 4)) + [
        v for m in _named(node, others) for v in m.values if isinstance(v, str)
    ]
    yield from ([item] for item in items)
    if (two := list_of_size(with_stated_type(node), 2)) is not ABSENT:
        yield two
        yield from ([item] for item in two)
    chosen = [*items[:4], *(value for value in items[4:8] if is_of_type(value, node.items))]
    yield from ([a, b] for a in chosen for b in chosen)
    named = [mention for each in (node, *others) for of, held in item_mentions(each) if not of for mention in held]
    if members := [hint(mention.member, mention.values) for mention in named if mention.member]:
        yield from ([item] for item in islice(_objects(node.items, (Node({"anyOf": members}),)), _MAX_ITEMS))


def _objects(node: Node, others: tuple[Node, ...]) -> Iterator[dict[str, Any]]:
    base = sample(node)
    if not isinstance(base, dict):
        base = {}
    of_items = {of: named for each in (node, *others) for of, named in item_mentions(each)}
    domains = {
        mention.member: cases
        for mention in _named(node, others)
        if mention.member and (cases := list(_cases(node, mention, of_items.get(mention.member, []))))
    }
    members = sorted(domains, key=lambda member: (len(member), member))
    for count in range(1, _MAX_MEMBERS + 1):
        for chosen in combinations(members, count):
            for combination in product(*(domains[member] for member in chosen)):
                made = _set(base, list(chosen), combination)
                if made is not None:
                    yield made
    if isinstance(node.additional, Node):
        yield from _maps(node.additional, [mention for mention in _named(node, others) if not mention.member])
    for at in range(_MAX_OF_MEMBER):
        for name, member in node.properties.items():
            yield from ({**base, name: value} for value in islice(values(member), at, at + 1))


def _maps(held: Node, named: list[Mention]) -> Iterator[dict[str, Any]]:
    """Maps with one entry, for rules about keys and values: by what rules name, of the lengths that they name."""
    literals = [value for mention in named for value in mention.values]
    if not literals:
        return
    yield from ({"key": value} for value in literals if is_of_type(value, held))
    texts = [value for value in literals if isinstance(value, str)]
    sizes = [value for value in literals if isinstance(value, int) and 0 < value < _MAX_LENGTH]
    value = sample(held)
    if value is not ABSENT:
        keys = (
            "",
            *texts,
            *("a" * size for limit in sizes for size in (limit - 1, limit, limit + 1)),
            *POOL[:_MAX_KEYS],
        )
        yield from ({key: value} for key in keys)


def _cases(node: Node, mention: Mention, of_items: list[Mention]) -> Iterator[Any]:
    """Values of one mentioned member that its own schema allows, ABSENT included.

    ``of_items``: what is mentioned of its items.
    """
    below = mention.at(node)
    if below is None:
        return
    cases: list[Any] = [ABSENT]
    closed = enum_members(below)
    if closed is not None:
        cases += list(closed)[: 2 * _MAX_CASES]
    else:
        cases += [value for value in mention.values if is_of_type(value, below)]
        cases += list(islice(values(below), 2))
        if below.type == "array" and below.items is not None:
            cases += [[value] for value in mention.values if is_of_type(value, below.items)]
            cases += [[], *([item] for item in (sample(below.items),) if item is not ABSENT)]
            cases += ([item] for item in _items(below.items, of_items))
        if below.type == "object":
            cases.append({})
            if isinstance(below.additional, Node):
                cases += _entries(below.additional, mention)
    yield from islice(distinct(cases), 2 * _MAX_CASES)


def _items(node: Node, named: list[Mention]) -> Iterator[Any]:
    """Items with a value that is mentioned of one member."""
    base = sample(node)
    for mention in named if isinstance(base, dict) else ():
        below = mention.at(node)
        if mention.member and below is not None:
            values = [value for value in mention.values if is_of_type(value, below)]
            yield from (made for value in values if (made := _set(base, [mention.member], (value,))) is not None)


def _entries(held: Node, mention: Mention) -> Iterator[dict[str, Any]]:
    """Maps with one entry, of the keys and values mentioned."""
    made, keys = sample(held), [key for key in (*mention.values, "1") if isinstance(key, str)]
    if made is not ABSENT:
        yield from ({key: made} for key in keys)
    named = [value for value in mention.values if is_of_type(value, held)]
    yield from ({key: value} for key, value in product(keys, named))
