"""Values that a node accepts by itself, its rules and junctors and those below it included.

A search for a valid object adds such values, so that it need not mend them afterwards. In lists of several items, one
item that the list accepts alone is repeated; where items have to be unlike, each has another value at one place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, islice
from typing import Any

from crdcompat.apiserver.cel import RuleEvaluator
from crdcompat.apiserver.field_errors import FieldError
from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.validate import SchemaValidator
from crdcompat.candidates.local import defaulted
from crdcompat.candidates.sample import MAX_WEIGHT, list_of_size, sample, unlike, values, weight
from crdcompat.candidates.search import Answer, Judge, find
from crdcompat.candidates.unique_items import with_stated_type
from crdcompat.schema.paths import Object, Pointer, value_or_none, with_value
from crdcompat.schema.structural import ABSENT, Node, Schema

#: Values that one search judges at most.
_MAX_JUDGED = 40
_LIMITS = ("minItems", "maxItems")
#: Places of an item that may make it unlike the others, and objects inside of each other.
_MAX_PLACES, _MAX_DEPTH = 12, 3
#: Items of a list that are judged: the others are made in the same way.
_MAX_JUDGED_ITEMS = 8
#: Makes a list of so many items, ABSENT or a shorter one if it cannot.
_Way = Callable[[int], Any]


class ValidValues:
    """Minimal values of nodes for one server, each found once."""

    def __init__(self, server: Server) -> None:
        self.server = server
        # By the identity of the schema, which is kept: equal nodes are made anew for each search.
        self._known: dict[int, tuple[Schema, Any]] = {}
        self._judges: dict[int, tuple[Node, Judge]] = {}

    def __call__(self, node: Node) -> Any:
        """A value that ``node`` accepts, if the search finds one; else a minimal value, ABSENT if there is none."""
        key = id(node.raw)
        if key not in self._known:
            made = sample(node)
            self._known[key] = node.raw, made  # the search for a part may need this value
            if isinstance(made, (dict, list)):
                found = self._searched(node, made)
                self._known[key] = node.raw, made if found is None else found["v"]
            elif isinstance(made, str) and node.rules:
                texts = chain(values(node), (found["v"] for found in self._modelled(node)))
                self._known[key] = node.raw, next((text for text in texts if self.accepts(node, text)), made)
        return self._known[key][1]

    def accepts(self, node: Node, value: Any) -> bool:
        """Whether ``node`` accepts a value."""
        return self._judge(node)[1]({"v": value}).found

    def _judge(self, node: Node) -> tuple[Node, Judge]:
        """An object that has the node as its member ``v``, and how a server judges it."""
        key = id(node.raw)
        if key not in self._judges:
            holder = Node({"type": "object", "properties": {"v": node.raw}})
            validator, rules = SchemaValidator(holder, self.server), RuleEvaluator(holder, self.server)

            def judge(value: Object) -> Answer:
                stored = defaulted(value, holder)
                errors: list[FieldError] = []
                validator.validate(stored, None, None, errors, [])
                found = errors or rules.evaluate(stored, None, ratchet=False).errors
                return Answer(not found, tuple(found))

            self._judges[key] = holder, judge
        return self._judges[key]

    def _searched(self, node: Node, made: Any) -> Object | None:
        holder, judge = self._judge(node)
        start = {"v": made}
        found = find(start, judge(start), _NOTHING, holder, judge, made=self, limit=_MAX_JUDGED)
        return found or next((value for value in self._modelled(node) if judge(value).found), None)

    def _modelled(self, node: Node) -> Iterator[Object]:
        """Values that satisfy all that the node states, as far as that is understood."""
        from crdcompat.compare.equivalence.satisfying import satisfying  # it loads the CEL library

        for value in satisfying(node, self):
            yield {"v": value}


#: No value has to stay as it is.
_NOTHING = ("",)


def list_of(node: Node, size: int, made: ValidValues) -> Any:
    """A list of ``size`` items that ``node`` accepts but for the number of them, if one is found; else a plain one.

    ABSENT if there is none.
    """
    typed = with_stated_type(node)
    plain = list_of_size(typed, size)
    if node.items is None or not size:
        return plain
    free = Node({key: value for key, value in node.raw.items() if key not in _LIMITS})
    first: _Way = partial(list_of_size, typed)
    for way in chain([first], _ways(node, free, made)):
        few = way(min(size, _MAX_JUDGED_ITEMS))
        if few is ABSENT or len(few) < min(size, _MAX_JUDGED_ITEMS) or not made.accepts(free, few):
            continue
        found = few if len(few) == size else way(size)
        if found is not ABSENT and len(found) == size:
            return found
    return plain


def _ways(node: Node, free: Node, made: ValidValues) -> Iterator[_Way]:
    """Ways to make lists of the items that the list accepts alone; ``free`` is the list without limits."""
    one = made(Node({**free.raw, "minItems": 1}))
    if isinstance(one, list) and one:
        for way in _repeating(node, one[0]):
            yield partial(_unless_heavy, way, weight(one[0]))


def _unless_heavy(way: _Way, of_item: int, size: int) -> Any:
    return way(size) if size * of_item <= MAX_WEIGHT else ABSENT


def _repeating(node: Node, item: Any) -> Iterator[_Way]:
    if node.list_type == "atomic":
        yield lambda size: [item] * size
    for at, below in _differing(node, item):
        yield partial(_differ_at, item, at, partial(unlike, below))
        if isinstance(text := value_or_none(item, at), str):
            yield partial(_differ_at, item, at, partial(_numbered, text))


def _differ_at(item: Any, at: Pointer, values: Callable[[int], list[Any]], size: int) -> list[Any]:
    return [with_value(item, at, value) if at else value for value in values(size)]


def _numbered(text: str, size: int) -> list[str]:
    return [f"{text}{number}" for number in range(size)]


def _differing(node: Node, item: Any) -> Iterator[tuple[Pointer, Node]]:
    """The places at which items of a list may differ: of a keyed list, the keys."""
    found = _places(node.items, item) if node.items is not None else iter(())
    keyed = node.list_type == "map"
    yield from islice(
        ((at, below) for at, below in found if not keyed or (at and at[0] in node.list_keys)), _MAX_PLACES
    )


def _places(node: Node, item: Any, depth: int = 0) -> Iterator[tuple[Pointer, Node]]:
    """The places of scalars in an item: those that it has, then those that it may have."""
    if not isinstance(item, dict):
        yield (), node
        return
    for name in (name for name in node.properties if name in item):
        if depth < _MAX_DEPTH and not isinstance(item[name], list):
            yield from (((name, *at), below) for at, below in _places(node.properties[name], item[name], depth + 1))
    for name in (name for name in node.properties if name not in item):
        if not isinstance(sample(node.properties[name]), (dict, list)):
            yield (name,), node.properties[name]
