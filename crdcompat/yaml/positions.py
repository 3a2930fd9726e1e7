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

    __slots__ = ("_found", "_marks", "_sizes")

    def __init__(self, marks: array[int]) -> None:
        self._marks = marks
        self._found: dict[Pointer, Place] = {}
        self._sizes: dict[int, int] = {}  # by id(): the document lives as long as its positions

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
                self._found[pointer] = self._place(_index(data, pointer, self._sizes))
        return {pointer: self._found[pointer] for pointer in requested}

    def _place(self, index: int) -> Place:
        mark = self._marks[index]
        return (mark >> COLUMN_BITS) + 1, (mark & _COLUMN) + 1


def _index(data: Any, pointer: Pointer, sizes: dict[int, int]) -> int:
    at, value = 0, data
    for part in pointer:
        if isinstance(value, dict) and part in value:
            before = list(value).index(part)
            members = list(value.values())
        elif isinstance(value, list) and isinstance(part, int) and 0 <= part < len(value):
            before, members = part, value
        else:
            break
        at += 1 + before + sum(_below(member, sizes) for member in members[:before])
        value = members[before]
    return at


def _below(value: Any, sizes: dict[int, int]) -> int:
    """The number of values inside a value; ``sizes`` caches it by ``id()``."""
    if not isinstance(value, (dict, list)):
        return 0
    known = sizes.get(id(value))
    if known is None:
        inner = value.values() if isinstance(value, dict) else value
        known = sizes[id(value)] = len(value) + sum(_below(member, sizes) for member in inner)
    return known
