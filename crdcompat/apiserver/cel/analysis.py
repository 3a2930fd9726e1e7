"""Static analysis of a rule by its tree and the schema.

It finds the parts of self and oldSelf that the rule reads (only those are converted), whether the rule compares lists
whose equality ignores order, whether it depends on their order, and whether it needs an unsupported operation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

from crdcompat.apiserver.cel.views import Reads, View
from crdcompat.cel.rule import ITEM

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crdcompat.cel.syntax import Expr

_EQUALITY = frozenset({"_==_", "_!=_", "@in", "indexOf", "lastIndexOf", "includes"})
#: Functions whose result depends on the order of a list.
_ORDER = frozenset(
    {
        *(
            "isSorted",
            "indexOf",
            "lastIndexOf",
            "join",
            "slice",
            "reverse",
            "sort",
            "sortBy",
            "first",
            "last",
        ),
        *("flatten", "distinct", "format"),
    }
)


class Place(Struct):
    """A part of self or oldSelf that an expression denotes, with its type."""

    view: View | None
    reads: Reads


class Analysis(Struct):
    """The result of the analysis of one rule."""

    self_reads: Reads = field(default_factory=Reads)
    old_reads: Reads = field(default_factory=Reads)
    compares: bool = False  # == on objects or lists, where members without a CEL type count too
    compares_unordered: bool = False
    depends_on_order: bool = False
    obstacle: str | None = None  # the reason why it cannot be evaluated correctly


def analyse(tree: Expr, view: View, *, optional_old: bool) -> Analysis:
    """Analyse the tree of a rule at the node ``view``; ``optional_old`` is its optionalOldSelf."""
    found = Analysis()
    roots: dict[str, Place | None] = {
        "self": Place(view, found.self_reads),
        "oldSelf": None if optional_old else Place(view, found.old_reads),
    }
    if optional_old:
        found.old_reads.whole = True
    _Walk(found).visit(tree, roots)
    return found


class _Walk:
    def __init__(self, found: Analysis) -> None:
        self.found = found

    def visit(self, expr: Expr, scope: Mapping[str, Place | None]) -> None:
        """Visit an expression whose whole value the rule uses."""
        place = self.place(expr, scope)
        if place is not None:
            place.reads.whole = True

    def place(self, expr: Expr, scope: Mapping[str, Place | None]) -> Place | None:
        """Visit the operands of an expression; return the part of the object that it denotes, else None."""
        match expr.kind:
            case "ident":
                return scope.get(expr.name)
            case "select":
                assert expr.target is not None
                place = self._member(self.place(expr.target, scope), expr.name)
                # has() reads the presence of the member, not its value.
                return None if expr.test_only else place
            case "call":
                return self._call(expr, scope)
            case "fold":
                self._fold(expr, scope)
            case _:
                for part in expr.parts():
                    self.visit(part, scope)
        return None

    def _member(self, place: Place | None, name: str) -> Place | None:
        if place is None:
            return None
        if place.view is None or place.view.kind not in ("object", "map"):
            place.reads.whole = True
            return None
        return Place(place.view.member(name), place.reads.child(name))

    def _call(self, expr: Expr, scope: Mapping[str, Place | None]) -> Place | None:
        if expr.name in ("_?._", "_[_]", "_[?_]") and len(expr.args) == 2:
            key = expr.args[1]
            base = self.place(expr.args[0], scope)
            if key.kind != "const":
                self.visit(key, scope)
            if base is None:
                return None
            if base.view is not None and base.view.kind == "list":
                self.found.depends_on_order = True
                found = Place(base.view.element, base.reads.child(ITEM))
            elif base.view is not None and isinstance(key.value, str):
                found = Place(base.view.member(key.value), base.reads.child(key.value))
            else:
                base.reads.whole = True
                return None
            if expr.name == "_[_]":
                return found
            found.reads.whole = True  # the result is an optional of the value
            return None
        operands = [*([expr.target] if expr.target is not None else []), *expr.args]
        places = [self.place(operand, scope) for operand in operands]
        for place in places:
            if place is not None:
                place.reads.whole = True
        views = [place.view for place in places if place is not None and place.view is not None]
        if expr.name in _EQUALITY:
            self._equality(expr, views)
        elif expr.name == "_+_" and places and places[0] is not None:
            left = places[0].view
            if left is not None and left.is_unordered_list:
                self.found.obstacle = f"+ on a list of type {left.node.list_type} is a union, which is not evaluated"
        if expr.name in _ORDER:
            self.found.depends_on_order = True
        return None

    def _equality(self, expr: Expr, views: list[View]) -> None:
        for view in views:
            compared = view.element if expr.name not in ("_==_", "_!=_") and view.kind == "list" else view
            if compared is None:
                continue
            if compared.unordered:
                self.found.compares_unordered = True
            if compared.kind in ("object", "map", "list"):
                self.found.compares = True

    def _fold(self, expr: Expr, scope: Mapping[str, Place | None]) -> None:
        """Visit a comprehension. Its variables denote the items of the range."""
        assert expr.over is not None
        over = self.place(expr.over, scope)
        first, second = expr.variables
        inner = dict(scope)
        inner[expr.accumulator] = None
        inner[first] = None
        if second:
            inner[second] = None
        if over is not None:
            kind = over.view.kind if over.view is not None else ""
            if kind == "list" and over.view is not None:
                element = Place(over.view.element, over.reads.child(ITEM))
                inner[second or first] = element
                if second or (expr.initial is not None and expr.initial.kind in ("list", "map")):
                    self.found.depends_on_order = True
            elif kind == "map" and over.view is not None and second:
                inner[second] = Place(over.view.element, over.reads.child(ITEM))
            elif kind not in ("map", "object"):
                over.reads.whole = True
        if expr.initial is not None:
            self.visit(expr.initial, scope)
        for part in (expr.condition, expr.step):
            if part is not None:
                self.visit(part, inner)
        if expr.result is not None:
            self.visit(expr.result, {**scope, expr.accumulator: None})
