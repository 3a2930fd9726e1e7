"""What the estimation of costs knows of operands and variables: paths in the data, sizes, sizes of entries.

Source: github.com/google/cel-go, checker/cost.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

from msgspec import Struct

from crdcompat.apiserver.cel.static.sizes import ONE, UNKNOWN, Size, fixed
from crdcompat.apiserver.cel.static.types import Type

if TYPE_CHECKING:
    from collections.abc import Callable

    from crdcompat.cel.syntax import Expr

Path = tuple[str, ...]
#: The cost of a call without those of its operands, and the size of its result.
Estimate = tuple[int, Size | None]
CallEstimator: TypeAlias = "Callable[[str, Operand | None, list[Operand]], Estimate | None]"


class Estimator(Protocol):
    """Knows the sizes of data."""

    def declared_size(self, path: Path) -> Size | None:
        """The size of the value at a path in the data, as the schema has it."""


class Operand(Struct):
    """A target or an argument of a call."""

    expr: Expr
    type: Type
    path: Path
    size: Size | None
    estimator: Estimator

    @property
    def size_or_unknown(self) -> Size:
        return self.size if self.size is not None else UNKNOWN

    @property
    def estimated(self) -> Size:
        """The size by the schema alone."""
        return self.estimator.declared_size(self.path) or UNKNOWN

    def element(self) -> Operand | None:
        """The elements of a list; None for a value without type parameters."""
        if not self.type.parameters:
            return None
        path = (*self.path, "@items") if self.path else ()
        return Operand(self.expr, self.type.parameters[0], path, None, self.estimator)


class Entries(Struct, frozen=True):
    """The sizes of the entries of a list or map."""

    kind: str
    key: Size
    value: Size

    def union(self, other: Entries) -> Entries:
        return Entries(self.kind, self.key.union(other.key), self.value.union(other.value))


class Local(Struct, frozen=True):
    path: Path
    size: Size | None
    entries: Entries | None


def function_name(expr: Expr, target: Operand | None) -> str:
    """The name by which the checker resolved a call: with its namespace, if it has no receiver."""
    names, part = [expr.name], expr.target if target is None else None
    while part is not None and part.kind in ("ident", "select"):
        names.append(part.name)
        part = part.target
    return ".".join(reversed(names))


def is_bind(expr: Expr) -> bool:
    """Whether a fold is a ``cel.bind``."""
    over, condition = expr.over, expr.condition
    assert over is not None
    assert condition is not None
    return (
        over.kind == "list"
        and not over.args
        and condition.kind == "const"
        and condition.value is False
        and expr.accumulator != "__result__"
    )


def literal_size(expr: Expr) -> Size | None:
    if expr.kind == "const":
        return fixed(len(expr.value)) if isinstance(expr.value, (str, bytes)) else ONE
    if expr.kind == "list":
        return fixed(len(expr.args))
    return fixed(len(expr.args) // 2) if expr.kind == "map" else None
