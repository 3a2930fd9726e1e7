"""Whether two pieces of a schema are the same JSON."""

from __future__ import annotations

from typing import Any

import orjson


def identical(a: Any, b: Any) -> bool:
    """Equal as JSON: Python takes 1 for true and 1.0 for 1, so what looks equal is compared as text too."""
    return a is b or (a == b and _canonical(a) == _canonical(b))


def _canonical(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
