"""Many small values of one node, around what its unions and rules talk about: where counterexamples hide."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice, product
from typing import Any

from crdcompat.compare.equal import identical
from crdcompat.compare.mentions import Mention, mentions
from crdcompat.schema.paths import with_value
from crdcompat.schema.sample import POOL, enum_members, sample, values
from crdcompat.schema.structural import ABSENT, Node

#: Values of one member, members taken together, and variants of one node that are looked at in all.
_CASES, _TOGETHER, _MOST = 8, 3, 3000


def variants(node: Node, *others: Node) -> Iterator[Any]:
    """Values that ``node``'s type allows: minimal ones, then every way to set what the nodes mention."""
    seen: list[Any] = []
    for value in islice(_all(node, others), _MOST):
        if not any(identical(value, known) for known in seen[-64:]):
            seen.append(value)
            yield value


def _all(node: Node, others: tuple[Node, ...]) -> Iterator[Any]:
    yield from islice(values(node), _CASES)
    if node.type == "string" or node.int_or_string:
        yield from _strings(node, others)
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


def _strings(node: Node, others: tuple[Node, ...]) -> Iterator[str]:
    for mention in _named(node, others):
        yield from (value for value in mention.values if isinstance(value, str))
    for each in (node, *others):
        for branch in each.junctor_branches():
            made = values(Node({"type": "string", **branch.raw}))
            yield from (value for value in islice(made, _CASES) if isinstance(value, str))
    yield from POOL


def _lists(node: Node, others: tuple[Node, ...]) -> Iterator[list[Any]]:
    if node.items is None:
        return
    items = list(islice(values(node.items), 4)) + [
        v for m in _named(node, others) for v in m.values if isinstance(v, str)
    ]
    yield from ([item] for item in items)
    yield from ([a, b] for a in items[:4] for b in items[:4])
    yield items[:3]


def _objects(node: Node, others: tuple[Node, ...]) -> Iterator[dict[str, Any]]:
    base = sample(node)
    if not isinstance(base, dict):
        base = {}
    domains = {
        mention.member: cases
        for mention in _named(node, others)
        if mention.member and (cases := list(_cases(node, mention)))
    }
    members = sorted(domains, key=lambda member: (len(member), member))
    for count in range(1, _TOGETHER + 1):
        for chosen in combinations(members, count):
            for combination in product(*(domains[member] for member in chosen)):
                made: Any = base
                try:
                    for member, value in zip(chosen, combination, strict=True):
                        made = with_value(made, member, value)
                except LookupError:
                    continue
                yield made
    for name in node.properties:
        value = sample(node.properties[name])
        if value is not ABSENT:
            yield {**base, name: value}


def _cases(node: Node, mention: Mention) -> Iterator[Any]:
    """Values of one mentioned member that its own schema can hold, absent included."""
    below: Node | None = node
    for name in mention.member:
        below = below.child(name) if below is not None else None
    if below is None:
        return
    cases: list[Any] = [ABSENT]
    closed = enum_members(below)
    if closed is not None:
        cases += list(closed)[: 2 * _CASES]
    else:
        cases += [value for value in mention.values if _is_of(value, below)]
        cases += list(islice(values(below), 2))
        if below.type == "string":
            cases.append("")
        if below.type == "array" and below.items is not None:
            cases += [[value] for value in mention.values if _is_of(value, below.items)]
            cases += [[], [sample(below.items)]]
        if below.type == "object":
            cases.append({})
    distinct: list[Any] = []
    for case in cases:
        if not any(case is known or identical(case, known) for known in distinct):
            distinct.append(case)
    yield from distinct[: 2 * _CASES]


def _is_of(value: Any, node: Node) -> bool:
    if isinstance(value, str):
        return node.type == "string" or node.int_or_string
    return node.type in ("integer", "number") or node.int_or_string
