"""What differs between two configurations, in words: ``exclude gains config/*``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from crdcompat.vocabulary.texts import cut, some

_MAX_SHOWN = 8
_MAX_LENGTH = 200


def edits(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """A phrase for each key whose value differs; both have all keys."""
    for key, value in before.items():
        if value != after[key]:
            yield from _differing(key, value, after[key])


def _differing(key: str, old: Any, new: Any) -> Iterator[str]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        differing = [name for name in dict.fromkeys((*old, *new)) if old.get(name) != new.get(name)]
        for name in differing[:_MAX_SHOWN]:
            yield from _differing(f"{key}.{cut(name, _MAX_LENGTH)}", old.get(name), new.get(name))
        if len(differing) > _MAX_SHOWN:
            yield f"{key}: {len(differing) - _MAX_SHOWN} more"
        return
    if isinstance(old, list) and isinstance(new, list):
        gains, loses = ([each for each in these if each not in others] for these, others in ((new, old), (old, new)))
        parts = [
            f"{verb} {some([*map(_shown, found)], _MAX_SHOWN)}"
            for verb, found in (("gains", gains), ("loses", loses))
            if found
        ]
        yield f"{key} {' and '.join(parts) if parts else 'has another order'}"
        return
    yield f"{key} becomes {_shown(new)} (was {_shown(old)})"


def _shown(value: Any) -> str:
    if value is None:
        return "unset"
    if isinstance(value, str):
        return cut(value, _MAX_LENGTH)
    import orjson  # most changes edit no configuration

    return cut(orjson.dumps(value).decode(), _MAX_LENGTH)
