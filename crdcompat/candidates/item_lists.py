"""Lists that a rule may reject for what one item has, or two of them: ``self.all(x, …)``, ``self.filter(x, …)``.

An item has a member or a value that the rule mentions, and its own keywords and rules accept it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice, product
from typing import Any

from crdcompat.candidates.mentions import Mention, item_mentions
from crdcompat.candidates.sample import list_of_size
from crdcompat.candidates.valid_lists import repeated
from crdcompat.candidates.valid_values import ValidValues
from crdcompat.candidates.variants import distinct
from crdcompat.cel.rule import Rule, rule_of
from crdcompat.schema.paths import Pointer
from crdcompat.schema.structural import ABSENT, Node

#: Items that are made, those that are combined with each other, and values of one member.
_MAX_ITEMS, _MAX_COMBINED, _MAX_VALUES = 24, 8, 6
#: Members that are tried, and combinations of members with values.
_MAX_MEMBERS, _MAX_TRIED = 16, 120
#: The largest number in a rule that may be the size of a list.
_MAX_SIZE = 9


def item_lists(node: Node, rules: Node, made: ValidValues) -> Iterator[list[Any]]:
    """Lists of items of ``node`` by what ``rules`` mention of an item: one, two, or as many as a rule counts.

    ``made`` makes the items.
    """
    if node.items is None:
        return
    named = [mention for of, found in item_mentions(rules) if not of for mention in found if mention.member]
    found = chain((made(node.items),), _items(node, node.items, named, made))
    items = list(islice(distinct(item for item in found if item is not ABSENT), _MAX_ITEMS))
    yield from ([item] for item in items)
    if node.list_type != "map":
        yield from ([item, item] for item in items)
    elif isinstance(two := list_of_size(node, 2), list):
        keys = [{key: item[key] for key in node.list_keys if key in item} for item in two]
        yield from ([{**item, **key} for key in keys] for item in items)
    counted = (value for rule in _read(rules) for value in rule.literals if type(value) is int)
    sizes = dict.fromkeys(size for value in counted if 1 < value < _MAX_SIZE for size in (value, value + 1))
    yield from (each for item, size in product(items[:_MAX_COMBINED], sizes) for each in repeated(node, item, size))
    yield from ([first, second] for first, second in product(items[:_MAX_COMBINED], repeat=2))


def _read(node: Node) -> Iterator[Rule]:
    return (rule for raw in node.rules if (rule := rule_of(raw.get("rule"))) is not None)


def _items(node: Node, item: Node, named: list[Mention], made: ValidValues) -> Iterator[Any]:
    """Items with a value for one mentioned member, then for two of them; each costs a search.

    The list accepts each by itself.
    """
    of_member = [(mention.member, _values(item, mention, made)) for mention in named[:_MAX_MEMBERS]]
    one = ({member: value} for member, values in of_member for value in values)
    two = (
        {first: a, second: b}
        for (first, values), (second, others) in product(of_member, repeat=2)
        if first < second
        for a, b in product(values, others)
    )
    alone = Node({**node.raw, "minItems": 1}) if node.rules else None
    for members in islice(chain(one, two), _MAX_TRIED):
        placed: dict[Pointer, Any] = {(0, *at) if alone else at: value for at, value in members.items()}
        found = made.holding(alone or item, placed)
        yield found[0] if isinstance(found, list) else found


def _values(node: Node, mention: Mention, made: ValidValues) -> list[Any]:
    below = mention.at(node)
    if below is None:
        return []
    named = (value for value in mention.values if made.accepts(below, value))
    return [value for value in chain(islice(named, _MAX_VALUES), (made(below),)) if value is not ABSENT]
