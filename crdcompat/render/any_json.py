"""Values as JSON that orjson refuses: integers beyond 64 bits, lone surrogates, keys that are no strings, other types.

Values of manifests and objects can hold all of them, and a report must never fail for a value in it.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

import orjson

_SURROGATE = re.compile("[\ud800-\udfff]")


def dumped(value: Any, option: int = 0) -> str:
    """A value as JSON text; ``option`` is an option of orjson; indentation, sorting and the newline are honoured.

    NaN and infinities are null, an integer of any size keeps its digits, half of a surrogate pair is U+FFFD, and a
    value without a JSON type is its text. Raises RecursionError for a value that is nested too deeply.
    """
    indented = option & orjson.OPT_INDENT_2
    text = json.dumps(
        _plain(value),
        ensure_ascii=False,
        indent=2 if indented else None,
        separators=(",", ": " if indented else ":"),
        sort_keys=bool(option & orjson.OPT_SORT_KEYS),
    )
    return _SURROGATE.sub("\ufffd", text) + ("\n" if option & orjson.OPT_APPEND_NEWLINE else "")


def as_text(value: Any) -> str:
    """The text of a value that has no JSON type."""
    return bytes(value).decode("utf-8", "replace") if isinstance(value, bytes | bytearray | memoryview) else str(value)


def _plain(value: Any) -> Any:
    """The value in the types that JSON has."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {_key(key): _plain(member) for key, member in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    return as_text(value)


def _key(key: Any) -> str:
    """A key as the JSON of its value, as Kubernetes' decoder of YAML makes it."""
    return key if isinstance(key, str) else json.dumps(_plain(key), ensure_ascii=False)
