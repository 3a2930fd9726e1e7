"""Hides names and values of recorded objects, so that users can share a recording."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from hashlib import blake2b
from secrets import token_bytes
from typing import Any, NamedTuple

from crdcompat.apiserver.redaction import is_public_at, names_secret
from crdcompat.schema.paths import Object
from crdcompat.schema.structural import Node

NAMES = ("name", "namespace", "uid")
#: Parts of an object that ``hidden`` does not change; ``reduce.py`` cuts the metadata to its names.
_PLAIN = ("apiVersion", "kind", "metadata")
_LETTER, _DIGIT = re.compile("[a-z]"), re.compile("[0-9]")
#: A time as conditions have it: with all digits 1 it is one still.
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")


class NameHasher:
    """Replaces names by hashes. Equal names in a recording get equal hashes; the random key prevents guessing names."""

    def __init__(self) -> None:
        self._key = token_bytes(16)

    def hashed(self, metadata: Object) -> Object:
        """The metadata with hashed names."""
        return {key: self._hash(value) if key in NAMES else value for key, value in metadata.items()}

    def _hash(self, text: Any) -> str:
        return f"n{blake2b(str(text).encode(), key=self._key, digest_size=8).hexdigest()}"


def hidden(obj: Object, schemas: tuple[Node, ...]) -> Iterator[Object]:
    """Forms of the object in which other values, which may satisfy the schemas, replace the private values."""
    for form in (_Form(_same_length, 0), _Form(_same_shape, 1)):
        yield {
            name: part if name in _PLAIN else _hidden(part, _members(schemas, name), form, is_secret=names_secret(name))
            for name, part in obj.items()
        }


class _Form(NamedTuple):
    """What replaces private values: a text made of the text, and a number."""

    text: Callable[[str], str]
    number: int


def _hidden(value: Any, nodes: tuple[Node, ...], form: _Form, *, is_secret: bool) -> Any:
    """The value at a place of which ``nodes`` are the schemas; ``is_secret``: a field around it is named so."""
    if isinstance(value, dict):
        return {
            name: _hidden(member, _members(nodes, name), form, is_secret=is_secret or names_secret(name))
            for name, member in value.items()
        }
    if isinstance(value, list):
        items = tuple(node.items for node in nodes if node.items is not None)
        return [_hidden(item, items, form, is_secret=is_secret) for item in value]
    if is_public_at(value, nodes, is_secret=is_secret):
        return value
    if not isinstance(value, str):
        return form.number
    return _DIGIT.sub("1", value) if _TIME.fullmatch(value) else form.text(value)


def _members(nodes: tuple[Node, ...], name: str) -> tuple[Node, ...]:
    return tuple(child for node in nodes if (child := node.child(name)) is not None)


def _same_length(text: str) -> str:
    return "x" * len(text)


def _same_shape(text: str) -> str:
    """The text with 1 for digits and a or A for letters. IP addresses stay valid, dates may not."""
    return _DIGIT.sub("1", _LETTER.sub("a", re.sub("[A-Z]", "A", text)))
