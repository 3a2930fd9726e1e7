"""The ``enum`` keyword (docs/semantics.md#enums)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from crdcompat.apiserver.correlation import fingerprint, same
from crdcompat.apiserver.field_errors import NOT_SUPPORTED, FieldError
from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.server_versions import Server
from crdcompat.schema.equality import ById
from crdcompat.schema.paths import Trail, pointer_at
from crdcompat.schema.structural import Node
from crdcompat.schema.work import WORK

#: Members that are compared with a number for one step of work.
_NUMBERS_OF_A_STEP = 8


class Enum(Struct, frozen=True):
    """The members of one node's enum.

    ``strings`` are those that are strings, ``parts`` the fingerprints of objects, lists and booleans, and ``numbers``
    what a number may equal.
    """

    server: Server
    members: tuple[Any, ...]
    strings: frozenset[str]
    parts: frozenset[Any]
    numbers: tuple[Any, ...]

    @classmethod
    def read(cls, node: Node, server: Server) -> Enum | None:
        """The enum of a node; None if it has none."""
        if not node.enum:
            return None
        return cls(server, node.enum, *_by_kind(ById(node.raw["enum"])))

    def check(self, value: Any, path: Trail, out: list[FieldError]) -> None:
        """Append an error to ``out`` if ``value`` is not a member."""
        # A string equals only strings, but an integer may equal a string (``is_member``).
        if type(value) is str:
            found = value in self.strings
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            WORK.spend(len(self.numbers) // _NUMBERS_OF_A_STEP)
            found = any(is_member(value, member) for member in self.numbers)
        else:
            found = value is not None and fingerprint(value) in self.parts
        if not found:
            out.append(FieldError(NOT_SUPPORTED, pointer_at(path), Keyword.ENUM, value, self.server, self.members))


@lru_cache(maxsize=256)
def _by_kind(enum: ById[Sequence[Any]]) -> tuple[frozenset[str], frozenset[Any], tuple[Any, ...]]:
    """The strings, parts and numbers of an enum. A search judges its values under many schemas with the same enum."""
    strings = frozenset(each for each in enum.value if isinstance(each, str))
    parts = frozenset(fingerprint(each) for each in enum.value if isinstance(each, (dict, list, bool)))
    numbers = (each for each in enum.value if isinstance(each, (int, float, str)) and not isinstance(each, bool))
    return strings, parts, tuple(numbers)


def is_member(value: Any, member: Any) -> bool:
    """Go's conversion, then DeepEqual: numbers convert to each other, integers to strings (docs/semantics.md#enums)."""
    if member is None or isinstance(value, bool) != isinstance(member, bool):
        return False
    if isinstance(value, (int, float)) and isinstance(member, (int, float)) and not isinstance(value, bool):
        try:
            if isinstance(member, int) and isinstance(value, float):
                return int(value) == member
            return float(value) == float(member) if isinstance(member, float) else value == member
        except OverflowError:  # an integer out of the range of float64 equals no float64
            return False
    if isinstance(value, int) and not isinstance(value, bool) and isinstance(member, str):
        return member == (chr(value) if 0 <= value <= 0x10FFFF else "\ufffd")
    return same(value, member)
