"""Hides names and values of recorded objects, so that users can share a recording."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from hashlib import blake2b
from secrets import token_bytes
from typing import Any

from crdcompat.apiserver.redaction import is_public
from crdcompat.schema.paths import Object, Pointer
from crdcompat.schema.structural import Node

_NAMES = ("name", "namespace", "uid")
#: Parts of an object that ``hidden`` does not change; ``reduce.py`` cuts the metadata to its names.
_PLAIN = ("apiVersion", "kind", "metadata")
_LETTER, _DIGIT = re.compile("[a-z]"), re.compile("[0-9]")


class NameHasher:
    """Replaces names by hashes. Equal names in a recording get equal hashes; the random key prevents guessing names."""

    def __init__(self) -> None:
        self._key = token_bytes(16)

    def hashed(self, metadata: Object) -> Object:
        """The metadata with hashed names."""
        return {key: self._hash(value) if key in _NAMES else value for key, value in metadata.items()}

    def _hash(self, text: Any) -> str:
        return f"n{blake2b(str(text).encode(), key=self._key, digest_size=8).hexdigest()}"


def hidden(obj: Object, schemas: tuple[Node, ...]) -> Iterator[Object]:
    """Forms of the object in which other values, which may satisfy the schemas, replace the private values."""
    for other in (_same_length, _same_shape):
        yield {name: part if name in _PLAIN else _hidden(part, (name,), schemas, other) for name, part in obj.items()}


def _hidden(value: Any, at: Pointer, schemas: tuple[Node, ...], other: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {name: _hidden(member, (*at, name), schemas, other) for name, member in value.items()}
    if isinstance(value, list):
        return [_hidden(item, (*at, index), schemas, other) for index, item in enumerate(value)]
    if is_public(value, at, *schemas):
        return value
    return other(value) if isinstance(value, str) else 0


def _same_length(text: str) -> str:
    return "x" * len(text)


def _same_shape(text: str) -> str:
    """The text with 1 for digits and a or A for letters. IP addresses stay valid, dates may not."""
    return _DIGIT.sub("1", _LETTER.sub("a", re.sub("[A-Z]", "A", text)))
