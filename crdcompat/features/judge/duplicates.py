"""The fields that the text of a body has twice, which its value no longer shows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from crdcompat.apiserver.sending import Duplicate
from crdcompat.schema.paths import field_of
from crdcompat.yaml.loader import Remark


class _Pairs(list[tuple[str, Any]]):
    """An object of JSON with all its members."""


def in_json(text: bytes, member: str = "") -> tuple[Duplicate, ...]:
    """The duplicates in a JSON text, or in the value of one ``member`` of it; none if it is not JSON."""
    try:
        found = json.loads(text, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError):
        return ()
    if member:
        found = next((value for name, value in reversed(found) if name == member), None)
    return tuple(Duplicate(str(path[-1]), field_of(path)) for path in _twice(found, ()))


def _twice(value: Any, at: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, _Pairs):
        known: set[str] = set()
        for name, member in value:
            if name in known:
                yield (*at, name)
            known.add(name)
            yield from _twice(member, (*at, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _twice(item, (*at, index))


def in_yaml(remarks: Iterable[Remark]) -> tuple[Duplicate, ...]:
    """The duplicates in a YAML document, by the remarks of its reader."""
    return tuple(Duplicate(each.key, line=each.line) for each in sorted(remarks) if each.key)
