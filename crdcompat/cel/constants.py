"""The values of expressions without variables: ``5 + 5``, ``int('10')``, ``'a' + 'b'``."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from crdcompat.cel.syntax import Expr

_BINARY: dict[str, Callable[[Any, Any], Any]] = {"_+_": operator.add, "_-_": operator.sub, "_*_": operator.mul}
_CONVERSIONS: dict[str, Callable[[Any], Any]] = {"int": int, "double": float, "string": str, "dyn": lambda value: value}
#: Characters of a text that is computed.
_MAX_TEXT = 1000


def constant(expr: Expr) -> Any:
    """The number, text or bytes of an expression; None if it has a variable, is an error, or is of another kind."""
    if expr.kind == "const":
        return expr.value
    if expr.kind != "call" or expr.target is not None:
        return None
    parts = [constant(arg) for arg in expr.args]
    if None in parts or any(isinstance(part, bool) for part in parts):
        return None
    try:
        match parts:
            case [value] if expr.name == "-_":
                return -value
            case [int() | float() | str() as value] if expr.name in _CONVERSIONS:
                return _CONVERSIONS[expr.name](value)
            case [left, right] if expr.name in _BINARY and type(left) is type(right):
                found = _BINARY[expr.name](left, right)
                return None if isinstance(found, str) and len(found) > _MAX_TEXT else found
    except (TypeError, ValueError, OverflowError):
        return None
    return None
