"""The estimated cost of a checked rule: the most that it can cost on data that the schema allows.

Source: github.com/google/cel-go, checker/cost.go, before 0.23 (Kubernetes 1.32) and since.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.apiserver.cel.static.calls import call_cost, standard_cost
from crdcompat.apiserver.cel.static.declared import Declared
from crdcompat.apiserver.cel.static.operands import (
    Entries,
    Local,
    Operand,
    Path,
    function_name,
    is_bind,
    literal_size,
)
from crdcompat.apiserver.cel.static.sizes import MAX, NOTHING, ONE, UNKNOWN, Size, plus, times
from crdcompat.apiserver.cel.static.types import DYN, Type

if TYPE_CHECKING:
    from crdcompat.apiserver.cel.static.checker import Checker
    from crdcompat.cel.syntax import Expr

_LIST_BASE, _MAP_BASE = 10, 30
_SCALARS = frozenset({"bool", "double", "duration", "int", "timestamp", "uint"})
_ACCUMULATORS = frozenset({"__result__", "@result"})
#: The minors that changed the estimates.
_PRESENCE_HAS_OPERAND, _PRESENCE_IS_FREE, _KEEPS_FOLD_SIZE, _MODERN = 28, 29, 30, 32


class Coster:
    """Estimates the cost of one expression that ``checked`` has checked."""

    def __init__(self, checked: Checker, root: Declared, minor: int, *, net: bool) -> None:
        self._types = checked.types
        self._overloads = checked.overloads
        self._root = root
        self._minor = minor
        self._net = net
        self._modern = minor >= _MODERN
        self._paths: dict[int, Path] = {}
        self._sizes: dict[int, Size] = {}
        self._entries: dict[int, Entries] = {}
        self._locals: dict[str, list[Local]] = {}

    def cost(self, expr: Expr) -> int:
        found: int = getattr(self, f"_{expr.kind}")(expr)
        return found

    def declared_size(self, path: Path) -> Size | None:
        """The size of the value at a path in the data, as the schema has it."""
        if not path:
            return None
        found = self._root
        for step in path[1:]:
            if step == "@keys":
                return NOTHING if found.kind == "map" else None
            below = found.element if step in ("@items", "@values") else found.fields.get(step)
            if below is None:
                return None
            found = below
        return Size(0, found.max_elements)

    # -- nodes --------------------------------------------------------------------------------------

    def _const(self, expr: Expr) -> int:
        return 0

    def _ident(self, expr: Expr) -> int:
        local = self._local(expr.name)
        if local is None:
            self._paths[expr.id] = (expr.name,)
        elif self._modern or local.path:
            self._paths[expr.id] = local.path
        return 1

    def _select(self, expr: Expr) -> int:
        assert expr.target is not None
        if expr.test_only:
            if self._minor < _PRESENCE_HAS_OPERAND:
                return 0
            return plus(self.cost(expr.target), int(self._minor < _PRESENCE_IS_FREE))
        cost = self.cost(expr.target)
        kind = self._types[expr.target.id].kind
        self._paths[expr.id] = (*self._path(expr.target), expr.name)
        return plus(cost, int(kind in ("map", "struct", "param")))

    def _list(self, expr: Expr) -> int:
        cost = plus(_LIST_BASE, *map(self.cost, expr.args))
        if self._modern:
            self._entries[expr.id] = Entries("list", ONE, self._union(expr.args))
        return cost

    def _map(self, expr: Expr) -> int:
        cost = plus(_MAP_BASE, *map(self.cost, expr.args))
        if self._modern:
            self._entries[expr.id] = Entries("map", self._union(expr.args[::2]), self._union(expr.args[1::2]))
        return cost

    def _union(self, exprs: list[Expr]) -> Size:
        size = Size(MAX, 0) if exprs else NOTHING
        for each in exprs:
            size = size.union(self._size_or_unknown(each))
        return size

    def _call(self, expr: Expr) -> int:
        if expr.name == "dyn" and self._modern:
            cost = plus(1, self.cost(expr.args[0]))
            self._copy(expr, expr.args[0])
            return cost
        costs = [self.cost(each) for each in expr.args]
        args = [self._operand(each) for each in expr.args]
        identities = self._overloads.get(expr.id, ())
        if not identities:
            return 0
        namespaced = expr.target is not None and expr.target.id not in self._types
        target, before = None, 0
        if expr.target is not None and not namespaced:
            before = self.cost(expr.target)
            target = self._operand(expr.target)
        most = 0
        result: Size | None = None
        for identity in identities:
            cost, size = self._overload(expr, identity, target, args, costs)
            most = max(most, cost)
            if size is not None:
                result = size if result is None else result.union(size)
            if identity in ("index_list", "index_map"):
                self._paths[expr.id] = (*self._path(expr.args[0]), "@items" if identity == "index_list" else "@values")
                if self._modern:
                    entries = self._entries_of(expr.args[0])
                    result = entries.value if entries is not None else None
            if result is None and self._modern:
                result = self._size(expr)
        if result is not None:
            self._sizes[expr.id] = result
        return plus(before, most)

    def _overload(
        self, expr: Expr, identity: str, target: Operand | None, args: list[Operand], costs: list[int]
    ) -> tuple[int, Size | None]:
        name = function_name(expr, target)
        found = call_cost(name, identity, target, args, self._minor, net=self._net)
        if found is None and identity == "conditional":
            size = args[1].size_or_unknown.union(args[2].size_or_unknown)
            self._join_entries(expr, expr.args[1], expr.args[2])
            return plus(costs[0], max(costs[1:])), size
        if found is None and identity in ("logical_and", "logical_or"):
            return plus(*costs), None
        if found is None:
            found = standard_cost(identity, target, args)
            if found is not None and identity.startswith("add_"):
                self._join_entries(expr, expr.args[0], expr.args[1])
        own, result = found if found is not None else (1, None)
        return plus(own, *costs), result

    def _fold(self, expr: Expr) -> int:
        assert expr.over is not None
        assert expr.initial is not None
        assert expr.condition is not None
        assert expr.step is not None
        assert expr.result is not None
        cost = plus(self.cost(expr.over), self.cost(expr.initial))
        if self._modern and is_bind(expr):
            self._push(expr.accumulator, self._as_local(expr.initial))
            cost = plus(cost, self.cost(expr.result))
            self._locals[expr.accumulator].pop()
            self._copy(expr, expr.result)
            return cost
        names = [name for name in expr.variables if name]
        if self._modern:
            self._push(expr.accumulator, self._as_local(expr.initial))
        for name, local in zip(names, self._items(expr.over, two=len(names) > 1), strict=True):
            self._push(name, local)
        each = plus(self.cost(expr.condition), self.cost(expr.step))
        for name in names:
            self._locals[name].pop()
        cost = plus(cost, self.cost(expr.result))
        if self._modern:
            self._locals[expr.accumulator].pop()
        size = self._size_or_unknown(expr.over)
        self._keep_fold_size(expr, size)
        return plus(cost, times(size.most, each))

    def _keep_fold_size(self, expr: Expr, size: Size) -> None:
        assert expr.initial is not None
        assert expr.step is not None
        if not self._modern:
            if self._minor >= _KEEPS_FOLD_SIZE:
                self._sizes[expr.id] = size
        elif expr.initial.kind == "const":
            if (initial := self._size(expr.initial)) is not None:
                self._sizes[expr.id] = initial
        else:
            self._sizes[expr.id] = size
            if (entries := self._entries_of(expr.step)) is not None:
                self._entries[expr.id] = entries

    def _items(self, over: Expr, *, two: bool) -> list[Local]:
        """The variables of a comprehension: one, or index and element."""
        entries = self._entries_of(over) if self._modern else None
        kind = entries.kind if entries is not None else self._types[over.id].kind
        path = self._path(over)
        key, value = ("@indices", "@items") if kind == "list" else ("@keys", "@values")
        keys = Local((*path, key), entries.key if entries else None, None)
        values = Local((*path, value), entries.value if entries else None, None)
        if two:
            return [keys, values]
        if not self._modern and kind not in ("list", "map"):
            return [Local((), None, None)]
        return [values if kind == "list" else keys]

    # -- sizes --------------------------------------------------------------------------------------

    def _operand(self, expr: Expr) -> Operand:
        path = self._path(expr)
        if path and path[0] in _ACCUMULATORS:
            path = ()
        return Operand(expr, self._types.get(expr.id, DYN), path, self._size(expr, path), self)

    def _size_or_unknown(self, expr: Expr) -> Size:
        path = self._path(expr)
        if not self._modern and path and path[0] in _ACCUMULATORS:
            path = ()
        found = self._size(expr, path)
        return found if found is not None else UNKNOWN

    def _size(self, expr: Expr, path: Path | None = None) -> Size | None:
        if (known := self._sizes.get(expr.id)) is not None:
            return known
        if (size := literal_size(expr)) is not None:
            return size
        used = self._path(expr) if self._modern or path is None else path
        if (size := self.declared_size(used)) is not None:
            if self._modern:
                self._sizes[expr.id] = size
            return size
        if self._is_scalar(self._types.get(expr.id, DYN)):
            return ONE
        if self._modern and expr.kind == "ident" and (local := self._local(expr.name)) is not None:
            return local.size
        return None

    def _is_scalar(self, found: Type) -> bool:
        if found.kind == "opaque" and found.name == "optional_type" and self._modern:
            return self._is_scalar(found.parameters[0])
        return found.kind in _SCALARS

    def _entries_of(self, expr: Expr) -> Entries | None:
        if (known := self._entries.get(expr.id)) is not None:
            return known
        local = self._local(expr.name) if expr.kind == "ident" else None
        return local.entries if local is not None else None

    def _join_entries(self, expr: Expr, one: Expr, other: Expr) -> None:
        first, second = self._entries_of(one), self._entries_of(other)
        if self._modern and first is not None and second is not None:
            self._entries[expr.id] = first.union(second)

    def _copy(self, expr: Expr, source: Expr) -> None:
        if (size := self._size(source)) is not None:
            self._sizes[expr.id] = size
        if (entries := self._entries_of(source)) is not None:
            self._entries[expr.id] = entries

    def _path(self, expr: Expr) -> Path:
        if self._modern and expr.kind == "ident" and (local := self._local(expr.name)) is not None:
            return local.path
        return self._paths.get(expr.id, ())

    def _local(self, name: str) -> Local | None:
        stack = self._locals.get(name)
        return stack[-1] if stack else None

    def _as_local(self, expr: Expr) -> Local:
        return Local(self._path(expr), self._size(expr), self._entries_of(expr))

    def _push(self, name: str, local: Local) -> None:
        self._locals.setdefault(name, []).append(local)
