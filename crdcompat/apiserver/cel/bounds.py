"""How much a rule can cost at most, from its tree and the size of its data.

Kubernetes stops a rule at a million cost units. The CEL library stops at 10,000 loop steps by itself, but
neither long operands inside a loop nor text that doubles at each step. So work and memory are bounded here
before anything runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crdcompat.apiserver.cel.syntax import Expr

#: Characters and elements touched, all steps together; about a second.
MOST_WORK = 4e8
#: Characters and elements held at once.
MOST_HELD = 5e7
#: The CEL library's own limit of loop steps.
MOST_STEPS = 10_000
#: Functions of ours take lists, which are handed over element by element, at this much the cost.
_HANDED_OVER = frozenset({"indexOf", "lastIndexOf", "isSorted", "sum", "min", "max"})
_OURS = 20.0
#: No object is larger: etcd's limit on a request, with room to spare.
LARGEST_OBJECT = 2_000_000


@dataclass(frozen=True, slots=True)
class Size:
    """Upper bounds of a value: how many elements, the largest of them, all together."""

    count: float
    element: float
    total: float


_SMALL = Size(1, 1, 1)


class Bound:
    """The work of one rule on data of ``size`` characters and elements, no list longer than ``longest``."""

    def __init__(self, size: float, longest: float) -> None:
        self.data = Size(longest, size, size)
        self.work = 0.0
        self.held = 0.0

    def fits(self, tree: Expr) -> bool:
        self.size(tree, {"self": self.data, "oldSelf": self.data}, 1.0)
        return self.work <= MOST_WORK and self.held <= MOST_HELD

    def size(self, expr: Expr, scope: Mapping[str, Size], steps: float) -> Size:
        """The size of an expression's value; ``steps`` is how often it is evaluated."""
        result = self._size(expr, scope, steps)
        self.held = max(self.held, result.total if expr.kind in ("call", "fold", "list", "map") else 0.0)
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
        self.work += steps * (1.0 if name == "size" else total * _OURS if name in _HANDED_OVER else total)
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
        inner = min(steps * max(over.count, 1.0), MOST_STEPS)
        element = Size(min(over.element, max(self.data.count, over.count)), over.element, over.element)
        first, second = expr.variables
        variables = {first: element, expr.accumulator: _SMALL, **({second: element} if second else {})}
        grown = self.size(expr.step, {**scope, **variables}, inner)
        rounds = min(max(over.count, 1.0), MOST_STEPS)
        if expr.initial.kind in ("list", "map"):
            total = Size(rounds * grown.count, grown.total, initial.total + rounds * grown.total)
        else:
            total = initial
        return self.size(expr.result, {**scope, expr.accumulator: total}, steps) if expr.result is not None else total


def _largest(parts: list[Size]) -> Size:
    return Size(max(p.count for p in parts), max(p.element for p in parts), max(p.total for p in parts))


def footprint(value: Any, most: float = 1e9) -> tuple[float, float]:
    """A converted value: its characters and elements, and the length of its longest list or map."""
    total, longest = 0.0, 1.0
    stack = [value]
    while stack and total <= most:
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
