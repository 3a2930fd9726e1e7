"""Equality of JSON values."""

from __future__ import annotations

from typing import Any

import orjson


def identical(a: Any, b: Any) -> bool:
    """Whether two values are the same JSON. Python equates 1, 1.0 and true, so equal values are compared as text."""
    return a is b or (a == b and _schema_text(a) == _schema_text(b))


def canonical(value: Any) -> bytes:
    """Canonical JSON of a value: keys sorted, no spaces. Values that are the same JSON have the same text."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _schema_text(value: Any) -> bytes:
    """Canonical JSON of a schema read from YAML, where a key may be a number."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
