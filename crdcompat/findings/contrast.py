"""Values in a sentence: of long ones what two of them share is cut, and what tells them apart stays."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, takewhile
from typing import Any

import orjson

#: Characters of a value in a sentence, and of the shared text that stays on either side of a difference.
MOST, _AROUND = 120, 24
#: Values of a long list, and characters of each.
_MAX_VALUES, _MAX_EACH = 2, 72


def brief(value: Any) -> str:
    """A keyword's value in a sentence: short JSON, ``none`` if it is absent. A long list ends after a whole item.

    Keywords are ``minLength 1, maxLength 9``, or ``list-type map, list-map-keys name``.
    """
    if value is None:
        return "none"
    if isinstance(value, dict) and value and all(map(_is_plain, value.values())):
        words = {name: " ".join(each) if isinstance(each, list) else each for name, each in value.items()}
        return ", ".join(f"{name.removeprefix('x-kubernetes-')} {each}" for name, each in words.items())
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    items = [orjson.dumps(item).decode() for item in value] if isinstance(value, list) and len(text) > MOST else []
    ends = [*accumulate(len(item) + 1 for item in items)]
    if shown := sum(end < MOST for end in ends):
        return f"[{','.join(items[:shown])} and {len(items) - shown} more]"
    return cut_middle(text)


def _is_plain(value: Any) -> bool:
    """Whether a value is a word or a number, or a list of words."""
    return isinstance(value, str | int | float) or (
        isinstance(value, list) and all(isinstance(each, str) for each in value)
    )


def contrast(before: str, after: str) -> tuple[str, str]:
    """Both texts; if one is long, the shared start and end of both are cut, and then the middle of each."""
    if max(len(before), len(after)) <= MOST:
        return before, after
    start = shared_start(before, after)
    end = shared_start(before[start:][::-1], after[start:][::-1])
    first, last = max(start - _AROUND, 0), max(end - _AROUND, 0)
    parts = (text[first : len(text) - last] for text in (before, after))
    return tuple(f"{'…' * (first > 0)}{cut_middle(part)}{'…' * (last > 0)}" for part in parts)  # type: ignore[return-value]


def cut_middle(text: str, most: int = MOST) -> str:
    """The text, of which the middle is cut if it is longer than ``most``."""
    if len(text) <= most:
        return text
    tail = most // 3
    return f"{text[: most - tail - 3]} … {text[-tail:]}"


def listed(values: Sequence[Any], limit: int = 8) -> str:
    """``"A", "B" and 3 more``: whole values, of long ones fewer than ``limit``."""
    texts = [orjson.dumps(value).decode() for value in values[:limit]]
    room = sum(end <= MOST for end in accumulate(len(text) + 2 for text in texts))
    shown = texts[: max(room, 2)]
    rest = len(values) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")


def contrasted(before: Sequence[Any], after: Sequence[Any]) -> tuple[str, str]:
    """Two lists of values as JSON: a pair of texts by what tells them apart, many long ones by the first of them."""
    if [len(before), len(after)] == [1, 1] and isinstance(before[0], str) and isinstance(after[0], str):
        return tuple(f'"{text}"' for text in contrast(before[0], after[0]))  # type: ignore[return-value]
    return _few(before), _few(after)


def _few(values: Sequence[Any]) -> str:
    """``"A", "B" and 3 more``, each value cut in its middle, if all of them together are long."""
    texts = [value if isinstance(value, str) else orjson.dumps(value).decode() for value in values]
    if sum(map(len, texts)) <= MOST:
        return ", ".join(orjson.dumps(value).decode() for value in values)
    shown = [orjson.dumps(cut_middle(text, _MAX_EACH)).decode() for text in texts[:_MAX_VALUES]]
    rest = len(texts) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")


def shared_start(one: str, other: str) -> int:
    """The number of characters with which both begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
