"""CEL rules that only list the values of a field, which is an enum in other words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from crdcompat.cel.uses import rule_of

if TYPE_CHECKING:
    from crdcompat.cel.syntax import Expr

_KINDS: dict[str, type] = {"string": str, "integer": int}


def listed_values(rule: Any, kind: str) -> tuple[Any, ...] | None:
    """The values that a rule (an entry of x-kubernetes-validations) lists for a field of type ``kind``; None if it does
    anything else."""
    wanted = _KINDS.get(kind)
    read = rule_of(rule.get("rule")) if isinstance(rule, dict) and wanted is not None else None
    values = _values(read.tree) if read is not None else None
    return values if values and all(type(value) is wanted for value in values) else None


def with_values(text: str, more: tuple[Any, ...]) -> str:
    """The text of a listing rule with ``more`` values appended."""
    written = [_literal(value) for value in more]
    body, _, rest = text.rstrip().rpartition("]")
    several = f"{body.rstrip().rstrip(',')}, {', '.join(written)}]{rest}"
    longer = " || ".join([text.strip(), *(f"self == {literal}" for literal in written)])
    wanted = (*_listed(text), *more)
    for made in (several, longer):
        if _listed(made) == wanted:  # a comment may follow, or a literal have a bracket
            return made
    return f"self in [{', '.join(map(_literal, wanted))}]"


def _listed(text: str) -> tuple[Any, ...]:
    read = rule_of(text)
    return (_values(read.tree) or ()) if read is not None else ()


def _values(expr: Expr) -> tuple[Any, ...] | None:
    """The values of ``self in [...]``, or of ``self == …`` for each, joined by ||; None for other expressions."""
    found: list[Any] = []
    for each in _disjuncts(expr):
        if each.kind != "call" or each.name not in ("_==_", "@in"):
            return None
        left, right = each.args
        if each.name == "@in":
            if not _is_self(left) or right.kind != "list":
                return None
            constants = right.args
        else:
            constants = [right] if _is_self(left) else [left] if _is_self(right) else []
        if not constants or any(constant.kind != "const" for constant in constants):
            return None
        found += [constant.value for constant in constants]
    return tuple(found)


def _disjuncts(expr: Expr) -> Iterator[Expr]:
    if expr.kind == "call" and expr.name == "_||_":
        for arg in expr.args:
            yield from _disjuncts(arg)
    else:
        yield expr


def _is_self(expr: Expr) -> bool:
    return (expr.kind, expr.name) == ("ident", "self")


def _literal(value: str | int) -> str:
    plain = isinstance(value, int) or (value.isprintable() and not set(value) & set("'\\"))
    return (str(value) if isinstance(value, int) else f"'{value}'") if plain else json.dumps(value)
