"""The pages of a cluster's lists. Each item stays text until it is parsed alone.

A page of parsed objects needs ten times the memory of its text.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

_NO_LIST = "an answer that is no list"
_OBJECT = ord("{")


class _Names(Struct):
    """The members of an object's metadata that identify it in a list."""

    namespace: Any = None
    name: Any = None
    revision: Any = field(name="resourceVersion", default=None)


class _Head(Struct):
    kind: Any = UNSET
    metadata: _Names | None = None


class _ListMetadata(Struct):
    token: Any = field(name="continue", default=None)
    remaining: Any = field(name="remainingItemCount", default=None)


class _List(Struct):
    kind: Any = ""
    version: Any = field(name="apiVersion", default=None)
    metadata: _ListMetadata | None = None
    items: list[msgspec.Raw] | None = None


_HEADS = msgspec.json.Decoder(_Head)
_LISTS = msgspec.json.Decoder(_List)


class Item(Struct, frozen=True):
    """An item of a list: its names, "" where it has none, its resourceVersion, and its text."""

    namespace: str
    name: str
    revision: str
    data: bytes

    @property
    def place(self) -> str:
        """``NAMESPACE/NAME``, or the name alone. A server lists the objects of a kind sorted by it."""
        return "/".join(filter(None, (self.namespace, self.name)))


class Page:
    """One page of a list. ``token`` requests the next page ("": none). Raises ValueError for any other text.

    ``total`` counts the items of this page and of the next ones, None if the server does not say it.
    """

    def __init__(self, data: bytes) -> None:
        try:
            found = _LISTS.decode(data)
        except msgspec.ValidationError:
            raise ValueError(_NO_LIST) from None
        except (msgspec.DecodeError, RecursionError) as error:
            raise ValueError(f"an answer that is not JSON: {error}") from None
        token = found.metadata.token if found.metadata is not None else None
        self.token = token if isinstance(token, str) else ""
        kind = _text(found.kind).removesuffix("List")
        self._typed = msgspec.json.encode({"apiVersion": found.version, "kind": kind})[:-1] + b","
        self._items = [item for item in found.items or () if memoryview(item)[0] == _OBJECT]
        remaining = (found.metadata.remaining if found.metadata is not None else None) if self.token else 0
        self.total = len(self) + remaining if isinstance(remaining, int) else None

    def __len__(self) -> int:
        return len(self._items)

    def items(self) -> Iterator[Item]:
        """The items that are objects, once: the page releases each item that it yields.

        Servers omit kind and apiVersion at items of built-in kinds such as CRDs. This method adds both.
        """
        self._items.reverse()
        while self._items:
            yield self._item(bytes(self._items.pop()))

    def _item(self, data: bytes) -> Item:
        try:
            head = _HEADS.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError):
            head = _Head(kind=None)  # its metadata is no object; the parser of the item reports it
        if isinstance(head.kind, UnsetType) and data[1:].lstrip() != b"}":
            data = self._typed + data[1:]
        names = head.metadata or _Names()
        return Item(_text(names.namespace), _text(names.name), _text(names.revision), data)


def next_token(answer: bytes) -> str:
    """The token with which a list that has expired goes on where it stopped; "" if the answer has none."""
    try:
        found = _LISTS.decode(answer)
    except (msgspec.DecodeError, RecursionError):
        return ""
    return _text(found.metadata.token) if found.metadata is not None else ""


class Yielded:
    """The items that a list has already yielded, and their ``count``.

    A list that starts anew, because its token expired, repeats them. While
    items come in order, none is repeated, and 8 bytes for each item are enough.
    """

    def __init__(self) -> None:
        self.count = 0
        self._last: str | None = None
        self._hashes = array("q")
        self._known: set[int] | None = None

    def is_new(self, place: str) -> bool:
        """Whether an item with this place comes for the first time. Records the place."""
        number = hash(place)
        if self._known is None:
            if self._last is None or place > self._last:
                self._last = place
                self._hashes.append(number)
                self.count += 1
                return True
            self._known = set(self._hashes)
            del self._hashes[:]
        if number in self._known:
            return False
        self._known.add(number)
        self.count += 1
        return True


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
