"""Compile errors as cel-go before 0.16 (Kubernetes up to 1.27) adds them.

There a call of an unknown function had no type at all, so the operator around it found no overload either;
later versions stop at the unknown function. Recorded on Kubernetes 1.26.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crdcompat.apiserver.cel.syntax import Expr, Parsed

_OPERATORS = frozenset({"!_", "_==_", "_!=_", "_?_:_", "_<_", "_<=_", "_>_", "_>=_", "_+_", "_-_", "-_", "@in"})
_NONE, _ERROR = "<nil>", "!error!"

Issue = tuple[int, int, str]


def unresolved_operators(parsed: Parsed, issues: list[Issue], self_type: str, rule: str) -> list[Issue]:
    """The errors of operators around unknown functions; none where an operand's type is not plain to see."""
    if "\n" in rule:
        return []
    unknown = {column for _, column, sentence in issues if sentence.startswith("undeclared reference")}
    found: list[Issue] = []
    _type(parsed.root, parsed, unknown, self_type, found)
    return found


def _type(expr: Expr, parsed: Parsed, unknown: set[int], self_type: str, found: list[Issue]) -> str | None:
    """The type as the checker prints it; None where it is not known here."""
    column = parsed.offsets.get(expr.id, -1) + 1
    if expr.kind == "const":
        names: dict[type, str] = {bool: "bool", str: "string", int: "int", float: "double", bytes: "bytes"}
        return names.get(type(expr.value), "null")
    if expr.kind == "ident":
        return self_type if expr.name in ("self", "oldSelf") else None
    types = [_type(part, parsed, unknown, self_type, found) for part in expr.parts()]
    if expr.kind != "call":
        return None
    if column in unknown:
        return _NONE
    if expr.name in _OPERATORS:
        if _NONE in types and None not in types:
            operands = ", ".join(name or "" for name in types)
            found.append((1, column, f"found no matching overload for '{expr.name}' applied to '({operands})'"))
            return _ERROR
        if _NONE in types or _ERROR in types or None in types:
            return None if None in types else _ERROR
        return "bool" if expr.name not in ("_+_", "_-_", "-_", "_?_:_") else types[-1]
    return "bool" if expr.name in ("_&&_", "_||_") else None
