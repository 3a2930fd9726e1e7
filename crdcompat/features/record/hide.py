"""Hides names and values of recorded objects, so that a recording can be given away."""

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
#: Parts of an object that ``hidden`` leaves alone; the metadata of a reduced object has names alone.
_PLAIN = ("apiVersion", "kind", "metadata")
_LETTER, _DIGIT = re.compile("[a-z]"), re.compile("[0-9]")


class NameHasher:
    """Replaces names by hashes. The key is random: within a recording equal names stay equal, and nobody can guess."""

    def __init__(self) -> None:
        self._key = token_bytes(16)

    def hashed(self, metadata: Object) -> Object:
        """The metadata with hashed names."""
        return {key: self._hash(value) if key in _NAMES else value for key, value in metadata.items()}

    def _hash(self, text: Any) -> str:
        return f"n{blake2b(str(text).encode(), key=self._key, digest_size=8).hexdigest()}"


def hidden(obj: Object, schemas: tuple[Node, ...]) -> Iterator[Object]:
    """Forms of the object without its private values; other values that may satisfy a schema replace them."""
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
    """Digits become 1, letters a or A: an IP address stays valid, a date does not."""
    return _DIGIT.sub("1", _LETTER.sub("a", re.sub("[A-Z]", "A", text)))
