"""Upper bounds of the cost of a rule, from its tree and the size of its data.

Kubernetes stops a rule at a million cost units. The CEL library stops only at 10,000 loop steps, which limits neither
long operands inside a loop nor a text that doubles at each step. Therefore work and memory are bounded before a rule
runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crdcompat.cel.syntax import Expr

#: Characters and elements processed in all steps; about a second.
MAX_WORK = 4e8
#: Characters and elements in memory at a time.
MAX_MEMORY = 5e7
#: The loop steps at which the CEL library stops.
MAX_STEPS = 10_000
#: List functions that Python implements. The CEL library converts each element for them, at this factor of the cost.
_PYTHON_FUNCTIONS = frozenset({"indexOf", "lastIndexOf", "isSorted", "sum", "min", "max"})
_PYTHON_COST = 20.0
#: Characters and elements of the largest object: above etcd's limit on the size of a request.
MAX_OBJECT_SIZE = 2_000_000


class Size(Struct, frozen=True):
    """Upper bounds of a value, in characters and elements: number of elements, largest element, total."""

    count: float
    element: float
    total: float


_SMALL = Size(1, 1, 1)


class Bound:
    """The cost of one rule on data of ``size`` characters and elements, with lists of at most ``longest`` items."""

    def __init__(self, size: float, longest: float) -> None:
        self.data = Size(longest, size, size)
        self.work = 0.0
        self.memory = 0.0

    def fits(self, tree: Expr) -> bool:
        """Whether the work and memory of a rule are within the limits."""
        self.size(tree, {"self": self.data, "oldSelf": self.data}, 1.0)
        return self.work <= MAX_WORK and self.memory <= MAX_MEMORY

    def size(self, expr: Expr, scope: Mapping[str, Size], steps: float) -> Size:
        """The size of an expression's value; ``steps`` is the number of its evaluations."""
        result = self._size(expr, scope, steps)
        self.memory = max(self.memory, result.total if expr.kind in ("call", "fold", "list", "map") else 0.0)
        return result

    def _size(self, expr: Expr, scope: Mapping[str, Size], steps: float) -> Size:
        if expr.kind == "const":
            length = float(len(expr.value)) if isinstance(expr.value, (str, bytes)) else 1.0
            return Size(length, 1.0, length)
        if expr.kind == "ident":
            return scope.get(expr.name, _SMALL)
        if expr.kind == "fold":
            return self._fold(expr, scope, steps)
        parts = [self.size(part, scope, steps) for part in expr.parts()]
        if expr.kind == "select":
            return _SMALL if expr.test_only else parts[0]
        total = sum(part.total for part in parts)
        if expr.kind in ("list", "map"):
            return Size(len(parts), max((part.total for part in parts), default=1.0), total)
        return self._call(expr, parts, total, steps)

    def _call(self, expr: Expr, parts: list[Size], total: float, steps: float) -> Size:
        name = expr.name
        if name in (
            "_&&_",
            "_||_",
            "!_",
            "@not_strictly_false",
            "_<_",
            "_<=_",
            "_>_",
            "_>=_",
            "_-_",
            "_*_",
            "_/_",
        ):
            self.work += steps
            return _SMALL
        if name == "_?_:_":
            return _largest(parts[1:])
        if name in ("_[_]", "_?._", "_[?_]", "value", "orValue"):
            self.work += steps
            return _largest(parts)
        self.work += steps * (1.0 if name == "size" else total * _PYTHON_COST if name in _PYTHON_FUNCTIONS else total)
        if name in (
            "_==_",
            "_!=_",
            "@in",
            "matches",
            "startsWith",
            "endsWith",
            "contains",
            "size",
            "indexOf",
        ):
            return _SMALL
        if name == "replace" and len(parts) >= 3:
            total = parts[0].total * (1.0 + parts[2].total)
        elif name == "join" and len(parts) >= 2:
            total = parts[0].total + parts[0].count * parts[1].total
        elif name == "format" and len(parts) >= 2:
            total = parts[0].total * (1.0 + parts[1].total)
        self.work += steps * total
        return Size(max(sum(part.count for part in parts), total if name == "split" else 0.0), total, total)

    def _fold(self, expr: Expr, scope: Mapping[str, Size], steps: float) -> Size:
        assert expr.over is not None
        assert expr.initial is not None
        assert expr.step is not None
        over = self.size(expr.over, scope, steps)
        initial = self.size(expr.initial, scope, steps)
        inner = min(steps * max(over.count, 1.0), MAX_STEPS)
        element = Size(min(over.element, max(self.data.count, over.count)), over.element, over.element)
        first, second = expr.variables
        variables = {first: element, expr.accumulator: _SMALL, **({second: element} if second else {})}
        grown = self.size(expr.step, {**scope, **variables}, inner)
        rounds = min(max(over.count, 1.0), MAX_STEPS)
        if expr.initial.kind in ("list", "map"):
            total = Size(rounds * grown.count, grown.total, initial.total + rounds * grown.total)
        else:
            total = initial
        return self.size(expr.result, {**scope, expr.accumulator: total}, steps) if expr.result is not None else total


def _largest(parts: list[Size]) -> Size:
    return Size(max(p.count for p in parts), max(p.element for p in parts), max(p.total for p in parts))


def footprint(value: Any, limit: float = 1e9) -> tuple[float, float]:
    """The characters and elements of a converted value (counted up to ``limit``), and its longest list or map."""
    total, longest = 0.0, 1.0
    stack = [value]
    while stack and total <= limit:
        item = stack.pop()
        if isinstance(item, (str, bytes)):
            total += len(item) + 1
        elif isinstance(item, dict):
            total += len(item) + 1
            longest = max(longest, len(item))
            stack += item.keys()
            stack += item.values()
        elif isinstance(item, list):
            total += len(item) + 1
            longest = max(longest, len(item))
            stack += item
        else:
            total += 1
    return total, longest
