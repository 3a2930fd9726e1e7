"""Rules about members that no object of the writer has: they may hold for every such object.

A release that adds a field often adds rules about it. Objects of the other release lack the field, so `has(self.field)`
is false, and with it the rule may be true whatever the other members are. So is a comparison with a value that the
writer rejects. A rule is folded once per choice of the optional members that its chains of names lead through.
``oldSelf`` is an object of the writer, too.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from crdcompat.apiserver.cel.views import View
from crdcompat.compare.exhaust import forbids
from crdcompat.schema.structural import ABSENT, Node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.apiserver.versions import Server
    from crdcompat.cel.syntax import Expr

#: Results of folding beside constants: not known or possibly an error, and an empty optional.
_UNKNOWN, _NOTHING = object(), object()
_DECIDED = {"_&&_": False, "_||_": True}
_MAX_OPTIONAL = 5

#: The names from ``self`` or ``oldSelf``, which comes first, to a member.
_Names = tuple[str, ...]


def always_holds(rule: str, writer: tuple[Node, Server], reader: tuple[Node, Server]) -> bool:
    """Whether a rule of the reader's node is true for every value of the writer's; False if not known."""
    from crdcompat.apiserver.cel import environment
    from crdcompat.apiserver.cel.rules import program
    from crdcompat.cel.parse import RefusedError

    try:
        found = program(rule)
        if environment.lacks(reader[1], found.functions):
            return False
        members = _Members(*writer, View(reader[0]))
        chains = [names for expr in found.tree.walk() if (names := _names(expr)) and len(names) > 1]
        optional = sorted({above for names in chains for above in _above(names) if members.may_lack(above)})
        if len(optional) > _MAX_OPTIONAL:
            return False
        choices = (chosen for size in range(len(optional) + 1) for chosen in combinations(optional, size))
        return all(_Folding(members, frozenset(chosen)).value(found.tree) is True for chosen in choices)
    except (RefusedError, RecursionError):
        return False


def names_undeclared(rule: str, node: Node) -> bool:
    """Whether a rule of a node names a member that the node does not declare, so that it does not compile."""
    from crdcompat.apiserver.cel.rules import program
    from crdcompat.cel.parse import RefusedError

    try:
        chains = [names for expr in program(rule).tree.walk() if (names := _names(expr))]
    except (RefusedError, RecursionError):
        return False
    return any(_is_undeclared(names, View(node)) for names in chains)


def _is_undeclared(names: _Names, view: View) -> bool:
    for name in names[1:]:
        if view.kind != "object":
            return False
        member = view.members().get(name)
        if member is None:
            return True
        view = member.view
    return False


class _Members:
    """The members of the objects of a writer, as a reader's rules see them."""

    def __init__(self, writer: Node, server: Server, reader: View) -> None:
        self._writer = writer
        self._server = server
        self._reader = reader

    def always(self, names: _Names) -> bool:
        """Whether each object with the parent has the member."""
        parent, name = self._parent(names)
        return name in parent.required or parent.properties[name].default is not ABSENT if parent else False

    def may_lack(self, names: _Names) -> bool:
        """Whether some objects with the parent have the member and others lack it."""
        return not self.always(names) and self.default(names) is not ABSENT

    def never(self, names: _Names, value: str) -> bool:
        """Whether the writer rejects the value for a member."""
        parent, name = self._parent(names)
        return parent is not None and forbids(parent.properties[name], value, self._server)

    def default(self, names: _Names) -> Any:
        """The default that the reader sets for a member that no object of the writer has; ABSENT without one.

        None if objects of the writer may have the member.
        """
        writer, reader = self._writer, self._reader
        for index, name in enumerate(names[1:], 1):
            member = reader.members().get(name) if reader.kind == "object" else None
            if member is None or writer.preserve or writer.additional is not None:
                return None
            if member.original not in writer.properties:
                if reader.resource and member.original in ("apiVersion", "kind", "metadata"):
                    return None
                default = member.view.node.default
                return default if default is ABSENT or index == len(names) - 1 else None
            writer, reader = writer.properties[member.original], member.view
        return None

    def _parent(self, names: _Names) -> tuple[Node | None, str]:
        """The writer's node that declares a member, and the member's name in the schema; None if it has none."""
        parent, node, reader, original = None, self._writer, self._reader, ""
        for name in names[1:]:
            member = reader.members().get(name) if reader.kind == "object" else None
            if member is None or member.original not in node.properties:
                return None, ""
            parent, original = node, member.original
            node, reader = node.properties[original], member.view
        return parent, original


class _Folding:
    """Constant folding of a rule, where members that the writer lacks and those in ``without`` are absent."""

    def __init__(self, members: _Members, without: frozenset[_Names]) -> None:
        self._members = members
        self._without = without

    def value(self, expr: Expr) -> Any:
        """The value of an expression: a constant, _NOTHING for an empty optional, else _UNKNOWN."""
        if expr.kind == "const":
            return expr.value
        if expr.kind == "select":
            return self._select(expr)
        return self._call(expr) if expr.kind == "call" else _UNKNOWN

    def _select(self, expr: Expr) -> Any:
        names = _names(expr)
        if names is None or not self._reaches(expr):
            return _UNKNOWN
        default = self._default(names)
        if expr.test_only:
            return _UNKNOWN if default is None else default is not ABSENT
        if default is ABSENT:
            return _NOTHING if _first_optional(expr) is not None else _UNKNOWN
        return default if isinstance(default, (str, bool)) else _UNKNOWN

    def _call(self, expr: Expr) -> Any:
        name, args = expr.name, expr.args
        if name in _DECIDED:  # one operand decides, even if the other is an error or unknown
            values, decided = [self.value(arg) for arg in args], _DECIDED[name]
            if any(value is decided for value in values):
                return decided
            return (not decided) if all(value is (not decided) for value in values) else _UNKNOWN
        if name == "!_":
            value = self.value(args[0])
            return not value if isinstance(value, bool) else _UNKNOWN
        if name == "_?_:_":
            condition = self.value(args[0])
            return self.value(args[1] if condition else args[2]) if isinstance(condition, bool) else _UNKNOWN
        if name == "_?._" and (names := _names(expr)) is not None and self._reaches(expr):
            return _NOTHING if self._default(names) is ABSENT else _UNKNOWN
        if name in ("hasValue", "orValue") and expr.target is not None and self.value(expr.target) is _NOTHING:
            return False if name == "hasValue" else self.value(args[0])
        if name in ("_==_", "_!=_"):
            equal = self._equal(*args)
            return _UNKNOWN if equal is None else equal == (name == "_==_")
        return _UNKNOWN

    def _equal(self, left: Expr, right: Expr) -> bool | None:
        """Whether two operands are equal; None if not known, or if the comparison may be an error."""
        values = [self.value(left), self.value(right)]
        for operand, other in ((left, values[1]), (right, values[0])):
            names = _names(operand)
            there = names and self._reaches(operand) and self._members.always(names)
            if names and there and isinstance(other, str) and self._members.never(names, other):
                return False
        known = all(isinstance(value, (str, bool)) for value in values)
        return bool(values[0] == values[1]) if known else None

    def _reaches(self, expr: Expr) -> bool:
        """Whether the members above the last one are there, or one of them is optional and gives an empty optional."""
        names, optional = _names(expr) or (), _first_optional(expr)
        needed = names[: len(names) - 1 if optional is None else optional]
        return not any(self._default(needed[:length]) is ABSENT for length in range(2, len(needed) + 1))

    def _default(self, names: _Names) -> Any:
        """As ``_Members.default``; ABSENT for the members of ``without``, too."""
        return ABSENT if names in self._without else self._members.default(names)


def _first_optional(expr: Expr) -> int | None:
    """The index of the first optional step (`.?name`) of a chain of members; None without one."""
    found, inner = None, expr
    while inner.kind != "ident":
        if inner.kind == "call":
            found, inner = len(_names(inner) or ()) - 1, inner.args[0]
        else:
            assert inner.target is not None
            inner = inner.target
    return found


def _above(names: _Names) -> Iterator[_Names]:
    return (names[:length] for length in range(2, len(names)))


def _names(expr: Expr) -> _Names | None:
    """The names from ``self`` or ``oldSelf`` to an expression; None if it is no such chain."""
    if expr.kind == "ident":
        return (expr.name,) if expr.name in ("self", "oldSelf") else None
    if expr.kind == "select":
        above, name = _names(expr.target) if expr.target is not None else None, expr.name
    elif expr.kind == "call" and expr.name == "_?._" and isinstance(expr.args[1].value, str):
        above, name = _names(expr.args[0]), expr.args[1].value
    else:
        return None
    return None if above is None else (*above, name)
