"""Correlation of new values with old ones (KEP-4008; docs/semantics.md#old-values).

Ratcheting and transition rules both compare a new value with its correlated old value. Pairs follow the new
object down from the root. A pair is ``None`` where the API server finds no old value.
"""

from __future__ import annotations

from typing import Any

from crdcompat.schema.structural import Node


def same(a: Any, b: Any) -> bool:
    """Go's reflect.DeepEqual on decoded JSON: int64 1 and float64 1.0 differ, and so do 1 and true."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return len(a) == len(b) and all(key in b and same(item, b[key]) for key, item in a.items())
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


def fingerprint(value: Any) -> Any:
    """A key of a value: two values have equal keys if and only if they are the ``same``."""
    if isinstance(value, dict):
        return dict, frozenset((name, fingerprint(item)) for name, item in value.items())
    return (list, tuple(map(fingerprint, value))) if isinstance(value, list) else (type(value), value)


class Pair:
    """A new value with the old value it correlates with, at one schema node."""

    __slots__ = ("_children", "_equal", "_keyed", "new", "node", "old")

    def __init__(self, new: Any, old: Any, node: Node | None) -> None:
        self.new = new
        self.old = old
        self.node = node
        self._equal: bool | None = None
        self._keyed: dict[tuple[Any, ...], Any] | None = None
        self._children: dict[str | int, Pair | None] = {}

    def key(self, name: str) -> Pair | None:
        """The pair of an object's member; None if either side lacks it or no schema describes it.

        An object with preserved undeclared members therefore never counts as unchanged (recorded on 1.31 and 1.36).
        """
        if name not in self._children:
            self._children[name] = self._member(name)
        return self._children[name]

    def _member(self, name: str) -> Pair | None:
        if not isinstance(self.new, dict) or not isinstance(self.old, dict):
            return None
        if name not in self.new or name not in self.old or self.node is None:
            return None
        child = self.node.child(name)
        return Pair(self.new[name], self.old[name], child) if child is not None else None

    def item(self, index: int) -> Pair | None:
        """The pair of a list's item: by key tuple in a listType=map list, else None. Positions do not correlate."""
        if index not in self._children:
            self._children[index] = self._item(index)
        return self._children[index]

    def _item(self, index: int) -> Pair | None:
        if self.node is None or self.node.list_type != "map":
            return None
        if not isinstance(self.new, list) or not isinstance(self.old, list):
            return None
        if self._keyed is None:
            self._keyed = {}
            for old in self.old:
                key = list_map_key(old, self.node.list_keys)
                if key is not None:
                    self._keyed.setdefault(key, old)
        key = list_map_key(self.new[index], self.node.list_keys)
        if key is None or key not in self._keyed:
            return None
        return Pair(self.new[index], self._keyed[key], self.node.items)

    def equal(self) -> bool:
        """Deep equality by the rules of ratcheting: reordering a listType=map list is no change."""
        if self._equal is None:
            self._equal = self._compare()
        return self._equal

    def _compare(self) -> bool:
        if self.new is None or self.old is None:
            return self.new is None and self.old is None
        if isinstance(self.new, list) and isinstance(self.old, list):
            if len(self.new) != len(self.old):
                return False
            if self.node is None or self.node.list_type != "map":
                return same(self.new, self.old)
            return all(_is_equal(self.item(index)) for index in range(len(self.new)))
        if isinstance(self.new, dict) and isinstance(self.old, dict):
            return len(self.new) == len(self.old) and all(_is_equal(self.key(name)) for name in self.new)
        return same(self.new, self.old)


def _is_equal(pair: Pair | None) -> bool:
    return pair is not None and pair.equal()


def list_map_key(item: Any, keys: tuple[str, ...]) -> tuple[Any, ...] | None:
    """The key tuple of a listType=map item; None if a key is missing or no scalar.

    Each part carries its type, because 1 and "1" are different keys.
    """
    if not isinstance(item, dict):
        return None
    parts: list[Any] = []
    for key in keys:
        value = item.get(key)
        if isinstance(value, (dict, list)) or value is None:
            return None
        parts.append((type(value).__name__, value))
    return tuple(parts)
