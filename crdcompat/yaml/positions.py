"""The places of a document's values, recorded during reading: one number for each value, in document order.

Another parse for a few line numbers costs as much as the first one. The numbers of a file need less than a twentieth of
the memory of its text. The index of a value's number is the count of values before it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crdcompat.schema.paths import Pointer

Place = tuple[int, int]
"""A line and a column, both from 1."""

#: A place is one number: the line shifted by this number of bits, plus the column, both from 0.
COLUMN_BITS = 32
_COLUMN = (1 << COLUMN_BITS) - 1


class Positions:
    """The places of one document's root, map entries (their keys) and list items, depth first.

    Results are cached: a run can compare one document with several releases.
    """

    __slots__ = ("_found", "_marks", "_sizes", "_starts")

    def __init__(self, marks: array[int]) -> None:
        self._marks = marks
        self._found: dict[Pointer, Place] = {}
        # By id(): the document lives as long as its positions.
        self._sizes: dict[int, int] = {}
        self._starts: dict[int, dict[Any, int]] = {}

    @classmethod
    def from_bytes(cls, places: bytes) -> Positions:
        """What `to_bytes` gave on this machine."""
        marks = array("Q")
        marks.frombytes(places)
        return cls(marks)

    def to_bytes(self) -> bytes:
        """The places as bytes, for a cache on this machine."""
        return self._marks.tobytes()

    def find(self, data: Any, pointers: Iterable[Pointer]) -> dict[Pointer, Place]:
        """The places of pointers into ``data``, the document; a missing value gets the place of its ancestor."""
        requested = tuple(pointers)
        for pointer in requested:
            if pointer not in self._found:
                self._found[pointer] = self._place(self._index(data, pointer))
        return {pointer: self._found[pointer] for pointer in requested}

    def _index(self, data: Any, pointer: Pointer) -> int:
        at, value = 0, data
        for part in pointer:
            starts = self._starts.get(id(value))
            if starts is None:
                starts = self._starts[id(value)] = _starts(value, self._sizes)
            if part not in starts:
                break
            at += starts[part]
            value = value[part]
        return at

    def _place(self, index: int) -> Place:
        mark = self._marks[index]
        return (mark >> COLUMN_BITS) + 1, (mark & _COLUMN) + 1


def _starts(value: Any, sizes: dict[int, int]) -> dict[Any, int]:
    """The count of values before each member of a value, by key or index; a scalar has none."""
    found, at = {}, 1
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in inner:
        found[key] = at
        at += 1 + _below(member, sizes)
    return found


def _below(value: Any, sizes: dict[int, int]) -> int:
    """The number of values inside a value; ``sizes`` caches it by ``id()``."""
    if not isinstance(value, (dict, list)):
        return 0
    known = sizes.get(id(value))
    if known is None:
        inner = value.values() if isinstance(value, dict) else value
        known = sizes[id(value)] = len(value) + sum(_below(member, sizes) for member in inner)
    return known
