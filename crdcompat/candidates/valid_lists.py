"""Lists of a wanted size that a node accepts.

One item that the list accepts alone is repeated; where items have to be unlike, each has another value at one place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, islice
from typing import Any, Protocol

from crdcompat.apiserver.server_versions import Server
from crdcompat.candidates.sample import MAX_WEIGHT, list_of_size, sample, unlike, weight
from crdcompat.candidates.unique_items import with_stated_type
from crdcompat.schema.paths import Pointer, value_or_none, with_value
from crdcompat.schema.structural import ABSENT, Node

_LIMITS = ("minItems", "maxItems")
#: Places of an item that may make it unlike the others, and objects inside of each other.
_MAX_PLACES, _MAX_DEPTH = 12, 3
#: Items of a list that are judged: the others are made in the same way. A plain list begins with all kinds of values.
_MAX_JUDGED, _MAX_JUDGED_OF_PLAIN = 8, 64
#: Makes a list of so many items, ABSENT or a shorter one if it cannot.
_Way = Callable[[int], Any]


class Maker(Protocol):
    """Makes values of nodes that one server accepts."""

    @property
    def server(self) -> Server:
        """The server."""

    def __call__(self, node: Node) -> Any:
        """A value that ``node`` accepts, if one is found; else a minimal one, ABSENT if there is none."""

    def accepts(self, node: Node, value: Any) -> bool:
        """Whether ``node`` accepts a value."""


def list_of(node: Node, size: int, made: Maker) -> Any:
    """A list of ``size`` items that ``node`` accepts but for the number of them, if one is found; else a plain one.

    ABSENT if there is none.
    """
    typed = with_stated_type(node)
    plain = list_of_size(typed, size)
    if node.items is None or not size:
        return plain
    free = Node({key: value for key, value in node.raw.items() if key not in _LIMITS})
    first: tuple[_Way, int] = partial(list_of_size, typed), _MAX_JUDGED_OF_PLAIN
    for way, judged in chain([first], ((way, _MAX_JUDGED) for way in _ways(node, free, made))):
        few = way(min(size, judged))
        if few is ABSENT or len(few) < min(size, judged) or not made.accepts(free, few):
            continue
        found = few if len(few) == size else way(size)
        if found is not ABSENT and len(found) == size:
            return found
    return plain


def _ways(node: Node, free: Node, made: Maker) -> Iterator[_Way]:
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
