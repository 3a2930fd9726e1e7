"""Statements about values that functions compute: ``self.split('/')[1].matches('^[0-9]+$')``.

Such a statement is an opaque term: it may be an error. Where one about a value is true or false, the value was
computed, and each other statement about it is true or false, too. So they have to fit one value of the function's type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from crdcompat.apiserver.cel.static.declarations import result_of
from crdcompat.apiserver.cel.static.types import INT, STRING, listed
from crdcompat.apiserver.cel.views import View
from crdcompat.compare.equivalence.connectives import fact, from_number, opposite
from crdcompat.compare.equivalence.formula import Atom, Formula, Kind, Literal
from crdcompat.compare.equivalence.operators import SEARCHES
from crdcompat.compare.equivalence.terms import Const, Opaque, Ref, Term, element_of
from crdcompat.compare.equivalence.values import Facts
from crdcompat.schema.re2 import Pattern, compile_pattern
from crdcompat.schema.structural import Node

_STRING = View(Node({"type": "string"}))
_STRINGS = View(Node({"type": "array", "items": {"type": "string"}}))
_VIEWS = {STRING: _STRING, INT: View(Node({"type": "integer"})), listed(STRING): _STRINGS}
#: The path of the one value that statements are about.
_HERE = ("value",)
_ORDERS = ("<", "<=", ">", ">=")


def view_of(term: Term) -> View | None:
    """The type of a term's value, where it is no error; None if it is not known."""
    if isinstance(term, Ref):
        return term.view
    if not isinstance(term, Opaque):
        return None
    if term.name == "_[_]" and isinstance(holder := term.parts[0], Opaque):
        return element_of(view_of(holder))
    result = result_of(term.name)
    return _VIEWS.get(result) if result is not None else None


def is_statement(atom: Atom) -> bool:
    """Whether an atom states something about a computed value."""
    return atom.kind in (Kind.TRUE, Kind.FALSE) and _stated(atom.value) is not None


def statements(assigned: Iterable[tuple[Atom, bool]]) -> Iterator[tuple[Term, Facts, View]]:
    """For each computed value, the facts that the assigned statements state about it, and its type.

    Values that may be errors are left out.
    """
    found: dict[Term, list[tuple[Atom, bool]]] = {}
    computed: set[Term] = set()
    for atom, holds in assigned:
        if (stated := _stated(atom.value)) is not None:
            term, literal = stated
            is_true = (atom.kind is Kind.TRUE) == holds
            found.setdefault(term, []).append((literal.atom, literal.holds == is_true))
            if holds:
                computed.add(term)
    for term, facts in found.items():
        view = view_of(term)
        if term in computed and view is not None:
            yield term, facts, view


@lru_cache(maxsize=8192)
def _stated(statement: Term) -> tuple[Term, Literal] | None:
    """The computed value that a statement is about, and what it states; None for statements of another form."""
    if not isinstance(statement, Opaque) or len(statement.parts) != 2:
        return None
    term, wanted = statement.parts
    if not isinstance(term, Opaque) or not isinstance(wanted, Const):
        return None
    view, value = view_of(term), wanted.value
    kind = view.kind if view is not None else ""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if kind == "string" and isinstance(value, str):
        return _stated_of_string(statement.name, term, value)
    if kind != "integer" or not is_number:
        return None
    sized = term.parts[0] if term.name == "size" else None
    if isinstance(sized, Opaque) and statement.name == ">=" and view_of(sized) in (_STRING, _STRINGS):
        return _literal(sized, fact(Kind.SIZE, _HERE, value))
    if statement.name == "==":
        return _literal(term, fact(Kind.EQUAL, _HERE, value))
    if statement.name in _ORDERS:
        from_there = from_number(_HERE, value, excluded=statement.name in (">", "<="), whole=True)
        return _literal(term, from_there if statement.name in (">", ">=") else opposite(from_there))
    return None


def _stated_of_string(name: str, term: Opaque, value: str) -> tuple[Term, Literal] | None:
    if name == "==":
        return _literal(term, fact(Kind.EQUAL, _HERE, value))
    pattern = SEARCHES[name](value) if name in SEARCHES else None
    if pattern is None or not isinstance(compile_pattern(pattern), Pattern):
        return None
    return _literal(term, fact(Kind.MATCHES, _HERE, pattern))


def _literal(term: Term, formula: Formula) -> tuple[Term, Literal] | None:
    """The term and what is stated of it; None for a formula that is always true, such as a size of at least 0."""
    return (term, formula) if isinstance(formula, Literal) else None
