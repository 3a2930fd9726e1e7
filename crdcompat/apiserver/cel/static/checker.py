"""The type checker of rules.

Source: github.com/google/cel-go, checker/checker.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from crdcompat.apiserver.cel.static import types
from crdcompat.apiserver.cel.static.declarations import TYPE_NAMES, Overload
from crdcompat.apiserver.cel.static.declared import Declared, name_types
from crdcompat.apiserver.cel.static.types import BOOL, DYN, ERROR, INT, Type, listed, mapped, optional, unwrapped

if TYPE_CHECKING:
    from crdcompat.cel.syntax import Expr

_CONSTANTS = {bool: "bool", int: "int", float: "double", str: "string", bytes: "bytes", type(None): "null"}
_Resolved = tuple[Type, tuple[str, ...]] | None


class Checker:
    """Checks one expression; ``types`` and ``overloads`` of its nodes are by id; ``errors`` name nodes by id.

    ``old``: as cel-go before 0.17 does (Kubernetes 1.28), where calls of unknown functions have no type.
    ``reads_keywords``: the field of a property that is named like a keyword needs no underscores.
    """

    def __init__(
        self,
        functions: Mapping[str, tuple[Overload, ...]],
        variables: Mapping[str, Type],
        structs: dict[str, Declared],
        resolved: dict[Any, _Resolved],
        *,
        old: bool,
        reads_keywords: bool,
    ) -> None:
        self.functions = functions
        self.structs = structs
        self.types: dict[int, Type] = {}
        self.overloads: dict[int, tuple[str, ...]] = {}
        self.names: set[str] = set()
        self.errors: list[tuple[int, str]] = []
        self._scopes: list[Mapping[str, Type]] = [variables]
        self._mapping: types.Mapping = {}
        self._fresh = 0
        self._resolved = resolved
        self._old = old
        self._reads_keywords = reads_keywords
        self._undeclared = types.NIL if old else ERROR

    def check(self, root: Expr) -> Type:
        """The type of the expression; ``types`` are then final."""
        self._check(root)
        for identity, found in self.types.items():
            self.types[identity] = types.substitute(self._mapping, found, to_dyn=True)
        return self.types[root.id]

    def _check(self, expr: Expr) -> Type:
        found = getattr(self, f"_{expr.kind}")(expr)
        self.types[expr.id] = found
        return found  # type: ignore[no-any-return]

    def _const(self, expr: Expr) -> Type:
        if expr.name == "uint":
            return types.UINT
        return Type(_CONSTANTS[type(expr.value)])

    def _lookup(self, name: str) -> Type | None:
        for scope in reversed(self._scopes):
            if name in scope:
                self.names.add(name)
                return scope[name]
        if name in TYPE_NAMES:
            return Type("type", "type", (TYPE_NAMES[name],))
        return None

    def _ident(self, expr: Expr) -> Type:
        found = self._lookup(expr.name)
        if found is None:
            self._say(expr, f"undeclared reference to '{expr.name}' (in container '')")
        return found or ERROR

    def _select(self, expr: Expr) -> Type:
        assert expr.target is not None
        qualified = _qualified(expr)
        if qualified in TYPE_NAMES:
            return Type("type", "type", (TYPE_NAMES[qualified],))
        found = self._field(expr, expr.target, expr.name, is_optional=False)
        return BOOL if expr.test_only else self._substituted(found)

    def _field(self, expr: Expr, operand: Expr, name: str, *, is_optional: bool) -> Type:
        target, was_optional = unwrapped(self._substituted(self._check(operand)))
        found = ERROR
        if target.kind == "map":
            found = target.parameters[1]
        elif target.kind == "struct":
            found = self._member(expr, target.name, name)
        elif target.kind == "param":
            self._assign(DYN, target)
            found = DYN
        else:
            if target.kind not in ("dyn", "error"):
                shown = types.shown_by_protobuf(target) if self._old else self._shown(target)
                self._say(expr, f"type '{shown}' does not support field selection")
            found = DYN
        return optional(found) if was_optional or is_optional else found

    def _member(self, expr: Expr, struct: str, name: str) -> Type:
        declared = self.structs.get(struct)
        sub = declared.fields.get(name) if declared is not None else None
        if sub is None and declared is not None and self._reads_keywords:
            sub = declared.fields.get(f"__{name}__")
        if sub is None:
            self._say(expr, f"undefined field '{name}'")
            return ERROR
        return name_types(sub, f"{struct}.{name}", self.structs)

    def _call(self, expr: Expr) -> Type:
        name, target = expr.name, expr.target
        if name == "_?._":
            field = expr.args[1]
            self.overloads[expr.id] = ("select_optional_field",)
            found = self._field(expr, expr.args[0], str(field.value), is_optional=True)
            return self._substituted(found)
        for argument in expr.args:
            self._check(argument)
        if target is None:
            if name not in self.functions:
                self._say(expr, f"undeclared reference to '{name}' (in container '')")
                return ERROR
            return self._resolve(expr, name, None)
        if (prefix := _qualified(target)) and f"{prefix}.{name}" in self.functions:
            return self._resolve(expr, f"{prefix}.{name}", None)
        self._check(target)
        if name in self.functions:
            return self._resolve(expr, name, target)
        self._say(expr, f"undeclared reference to '{name}' (in container '')")
        return self._undeclared

    def _resolve(self, expr: Expr, name: str, target: Expr | None) -> Type:
        operands = (target, *expr.args) if target is not None else tuple(expr.args)
        given = tuple(self.types[each.id] for each in operands)
        if name in ("_&&_", "_||_"):
            return self._logical(expr, operands, given, name)
        if all(map(types.is_ground, given)):
            key = (name, target is not None, given)
            if key not in self._resolved:
                found = self._overload(name, target is not None, given)
                if found is not None and not types.is_ground(found[0]):
                    return self._taken(expr, found)
                self._resolved[key] = found
            return self._taken(expr, self._resolved[key], name, given, target)
        return self._taken(expr, self._overload(name, target is not None, given), name, given, target)

    def _logical(self, expr: Expr, operands: tuple[Expr, ...], given: tuple[Type, ...], name: str) -> Type:
        wrong = [index for index, each in enumerate(given) if not self._assign(each, BOOL)]
        if not wrong:
            self.overloads[expr.id] = (self.functions[name][0].identity,)
            return BOOL
        if self._old:
            self._no_overload(expr, name, given, None)
        else:
            for index in wrong:
                self._mismatch(operands[index], BOOL, given[index])
        return ERROR

    def _taken(
        self, expr: Expr, found: _Resolved, name: str = "", given: tuple[Type, ...] = (), target: Expr | None = None
    ) -> Type:
        if found is None:
            self._no_overload(expr, name, given, target)
            return ERROR
        self.overloads[expr.id] = found[1]
        return found[0]

    def _no_overload(self, expr: Expr, name: str, given: tuple[Type, ...], target: Expr | None) -> None:
        shown = [self._shown(types.substitute(self._mapping, each, to_dyn=True)) for each in given]
        head = f"{shown.pop(0)}." if target is not None else ""
        self._say(expr, f"found no matching overload for '{name}' applied to '{head}({', '.join(shown)})'")

    def _overload(self, name: str, member: bool, given: tuple[Type, ...]) -> _Resolved:
        result: Type | None = None
        identities: list[str] = []
        for overload in self.functions[name]:
            if overload.member is not member or len(overload.arguments) != len(given):
                continue
            fresh = {parameter: self._variable() for parameter in overload.parameters}
            wanted = tuple(types.substitute(fresh, each, to_dyn=False) for each in overload.arguments)
            mapping = types.assignable_all(self._mapping, given, wanted)
            if mapping is None:
                continue
            self._mapping = mapping
            identities.append(overload.identity)
            found = self._substituted(types.substitute(fresh, overload.result, to_dyn=False))
            if result is None:
                result = found
            elif result.kind != "dyn" and found != result:
                result = DYN
        return None if result is None else (result, tuple(identities))

    def _list(self, expr: Expr) -> Type:
        element: Type | None = None
        for each in expr.args:
            element = self._joined(each, element, self._check(each))
        return listed(element if element is not None else self._variable())

    def _map(self, expr: Expr) -> Type:
        if expr.name:
            self._say(expr, f"undeclared reference to '{expr.name}' (in container '')")
            return ERROR
        key: Type | None = None
        value: Type | None = None
        for name, member in zip(expr.args[::2], expr.args[1::2], strict=True):
            key = self._joined(name, key, self._check(name))
            value = self._joined(member, value, self._check(member))
        if key is None or value is None:
            key, value = self._variable(), self._variable()
        return mapped(key, value)

    def _joined(self, expr: Expr, before: Type | None, found: Type) -> Type:
        if before is None:
            return found
        if self._assign(before, found):
            return types.most_general(before, found)
        if not self._old:
            return DYN  # a later check finds elements of several types
        self._mismatch(expr, before, found)
        return ERROR

    def _fold(self, expr: Expr) -> Type:
        assert expr.over is not None
        assert expr.initial is not None
        assert expr.condition is not None
        assert expr.step is not None
        assert expr.result is not None
        self._check(expr.over)
        accumulated = self._check(expr.initial)
        over = self._substituted(self.types[expr.over.id])
        self._scopes.append({expr.accumulator: accumulated})
        first, second = expr.variables
        one, two = DYN, DYN
        if over.kind == "list":
            one = two = over.parameters[0]
            if second:
                one = INT
        elif over.kind == "map":
            one, two = over.parameters
        elif over.kind in ("dyn", "error", "param"):
            self._assign(DYN, over)
        else:
            said = f"expression of type '{self._shown(over)}' cannot be range of a comprehension"
            self._say(expr.over, f"{said} (must be list, map, or dynamic)")
            one = two = ERROR
        self._scopes.append({first: one, second: two} if second else {first: one})
        for part, wanted in ((expr.condition, BOOL), (expr.step, accumulated)):
            found = self._check(part)
            if not self._assign(wanted, found):
                self._mismatch(part, wanted, found)
        self._scopes.pop()
        found = self._check(expr.result)
        self._scopes.pop()
        return self._substituted(found)

    def _substituted(self, found: Type) -> Type:
        return types.substitute(self._mapping, found, to_dyn=False)

    def _assign(self, one: Type, other: Type) -> bool:
        mapping = types.assignable(self._mapping, one, other)
        if mapping is not None:
            self._mapping = mapping
        return mapping is not None

    def _variable(self) -> Type:
        self._fresh += 1
        return Type("param", f"_var{self._fresh - 1}")

    def _mismatch(self, expr: Expr, wanted: Type, found: Type) -> None:
        self._say(expr, f"expected type '{self._shown(wanted)}' but found '{self._shown(found)}'")

    def _say(self, expr: Expr, text: str) -> None:
        self.errors.append((expr.id, text))

    def _shown(self, found: Type) -> str:
        return types.shown(found)


def _qualified(expr: Expr) -> str:
    """``a.b.c`` of a chain of fields; "" for other expressions."""
    if expr.kind == "ident":
        return expr.name
    if expr.kind == "select" and not expr.test_only and expr.target is not None:
        prefix = _qualified(expr.target)
        return f"{prefix}.{expr.name}" if prefix else ""
    return ""
