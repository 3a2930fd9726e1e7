"""The macro that a comprehension comes from: the library expands macros before it gives the tree of a rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crdcompat.cel.syntax import Expr


def macro(expr: Expr) -> tuple[str, Expr] | None:
    """The name and the body of all, exists, exists_one or filter with one variable; None for other expressions."""
    initial, step, result = expr.initial, expr.step, expr.result
    if initial is None or step is None or result is None or step.kind != "call" or expr.variables[1]:
        return None
    if initial.kind == "const" and step.name == "_&&_" and initial.value is True:
        return "all", step.args[1]
    if initial.kind == "const" and step.name == "_||_" and initial.value is False:
        return "exists", step.args[1]
    if step.name != "_?_:_":
        return None
    if initial.kind == "const" and initial.value == 0 and result.kind == "call" and result.name == "_==_":
        return "exists_one", step.args[0]
    kept = next((part.args[0] for part in step.args[1].args[1:] if part.kind == "list" and part.args), None)
    if initial.kind == "list" and kept is not None and (kept.kind, kept.name) == ("ident", expr.variables[0]):
        return "filter", step.args[0]
    return None
