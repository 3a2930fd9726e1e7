"""CEL rules that are nothing but a list of values: ``self in ['A', 'B']``, ``self == 'A' || self == 'B'``.

Such a rule is an enum in other words, and is compared as one. Only these two forms count, with plain literals (no
escapes): what is recognized is certain, everything else is a rule like any other.
"""

from __future__ import annotations

import json
import re
from typing import Any

_LITERAL = r"""(?:'[^'\\\n]*'|"[^"\\\n]*"|-?\d{1,18})"""
_IN = re.compile(rf"\s*self\s+in\s+\[\s*(?P<values>{_LITERAL}(?:\s*,\s*{_LITERAL})*)\s*,?\s*\]\s*")
_EQUALS = rf"(?:self\s*==\s*{_LITERAL}|{_LITERAL}\s*==\s*self)"
_EITHER = re.compile(rf"\s*{_EQUALS}(?:\s*\|\|\s*{_EQUALS})*\s*")
_VALUES = re.compile(_LITERAL)
_KINDS: dict[str, type] = {"string": str, "integer": int}


def listed_values(rule: Any, kind: str) -> tuple[Any, ...] | None:
    """The values that a rule (an entry of x-kubernetes-validations) lists for a field of type ``kind``; else None."""
    text = rule.get("rule") if isinstance(rule, dict) else None
    wanted = _KINDS.get(kind)
    if not isinstance(text, str) or wanted is None or not (_IN.fullmatch(text) or _EITHER.fullmatch(text)):
        return None
    values = tuple(_value(literal) for literal in _VALUES.findall(text))
    return values if all(type(value) is wanted for value in values) else None


def with_values(text: str, more: tuple[Any, ...]) -> str:
    """The text of such a rule with more values at its end."""
    written = [_literal(value) for value in more]
    if not _IN.fullmatch(text):
        return " || ".join([text.strip(), *(f"self == {literal}" for literal in written)])
    body, _, _ = text.rstrip().rpartition("]")
    return f"{body.rstrip().rstrip(',')}, {', '.join(written)}]"


def _literal(value: str | int) -> str:
    plain = isinstance(value, int) or not re.search(r"['\\\\\x00-\x1f]", value)
    return (str(value) if isinstance(value, int) else f"'{value}'") if plain else json.dumps(value)


def _value(literal: str) -> str | int:
    return literal[1:-1] if literal[0] in "'\"" else int(literal)
