"""Equality of JSON values."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, Generic, TypeVar

import orjson

_T = TypeVar("_T")


class ById(Generic[_T]):
    """A value as a key of a cache: only the very same value is equal, because lists and objects have no hash."""

    __slots__ = ("value",)

    def __init__(self, value: _T) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ById) and self.value is other.value


def identical(a: Any, b: Any) -> bool:
    """Whether two values are the same JSON. Python equates 1, 1.0 and true, so equal values are compared as text."""
    return a is b or (a == b and schema_text(a) == schema_text(b))


def canonical(value: Any) -> bytes:
    """Canonical JSON of a value: keys sorted, no spaces. Values that are the same JSON have the same text."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def digest(text: bytes) -> bytes:
    """A short text that is equal for equal texts alone, in the place of a long one."""
    return blake2b(text, digest_size=16).digest()


def schema_text(value: Any) -> bytes:
    """Canonical JSON of a schema read from YAML, where a key may be a number."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
