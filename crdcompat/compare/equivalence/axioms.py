"""What holds for every assignment of atoms, whatever the values are, and which alike terms depend on each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations
from typing import Any

from crdcompat.compare.equivalence.cases import Body
from crdcompat.compare.equivalence.computed import view_of
from crdcompat.compare.equivalence.connectives import fact, has, opposite, some
from crdcompat.compare.equivalence.formula import FALSE, Atom, Canonical, Formula, Kind, Literal, Path
from crdcompat.compare.equivalence.operators import defined
from crdcompat.compare.equivalence.terms import (
    ALL,
    DEFINED,
    Const,
    Opaque,
    Ref,
    Term,
    Truth,
    Views,
    element_of,
    view_at,
)
from crdcompat.schema.work import WORK

#: Functions that are an error for what they cannot read, and those that say whether they can.
_TESTS = {"cidr": "isCIDR", "ip": "isIP", "quantity": "isQuantity", "semver": "isSemver", "url": "isURL"}

#: Statements about scalars, and types that are equal in rules only if they are equal as JSON.
_OF_SCALARS = frozenset({Kind.EQUAL, Kind.SIZE, Kind.FROM, Kind.MULTIPLE, Kind.MATCHES})
_SCALARS = frozenset({"string", "integer", "number", "boolean"})


def axioms(atoms: Mapping[Atom, Any], views: Views) -> Iterator[Formula]:
    """Facts about the atoms."""
    yield from _of_parents(atoms)
    yield from _of_terms(atoms)
    yield from _of_equals(atoms, views)


def _of_parents(atoms: Mapping[Atom, Any]) -> Iterator[Formula]:
    """The parent of a member exists."""
    seen: set[Path] = set()
    for atom in atoms:
        path = atom.path if atom.kind is Kind.HAS else ()
        while len(path) > 2 and path not in seen:
            seen.add(path)
            yield some(opposite(has(path)), has(path[:-1]))
            path = path[:-1]


def _of_terms(atoms: Mapping[Atom, Any]) -> Iterator[Formula]:
    """An opaque term is not both true and false, and its operands have values: what is read can be read."""
    tested = {atom.value for atom in atoms if isinstance(atom.value, Opaque) and atom.value.name in _TESTS.values()}
    operands = {atom.value.parts[0] for atom in atoms if _states_value(atom)}
    for atom in atoms:
        if atom.kind is Kind.TRUE:
            yield some(opposite(Literal(atom)), opposite(fact(Kind.FALSE, (), atom.value)))
        if (operands or tested) and atom.kind in (Kind.TRUE, Kind.FALSE):
            for term in dict.fromkeys(_operands(atom.value)):
                if term in operands:
                    yield some(opposite(Literal(atom)), defined(term))
                if (test := _test_of(term)) in tested:
                    yield some(opposite(Literal(atom)), fact(Kind.TRUE, (), test))


def _of_equals(atoms: Mapping[Atom, Any], views: Views) -> Iterator[Formula]:
    """What follows from the equality of two values: so are their members, and what is stated of one is true of both.

    Two equal times or durations may be different texts. Scalars of one type that equal the same literal are equal.
    """
    pairs = {atom: paths for atom in atoms if (paths := _equals(atom)) is not None}
    for atom, (one, other) in pairs.items():
        differ = opposite(Literal(atom))
        for first, second in ((one, other), (other, one)):
            for each in (each for each in atoms if each.path and each.path[: len(first)] == first):
                moved = Atom(each.kind, (*second, *each.path[len(first) :]), each.value)
                view = view_at(each.path, views)
                plain = each.kind in _OF_SCALARS and view is not None and view.kind in _SCALARS
                if each.kind is Kind.HAS or (plain and moved in atoms):
                    yield some(differ, opposite(Literal(each)), Literal(moved))
        types = [view.kind if (view := view_at(path, views)) is not None else "" for path in (one, other)]
        for each in atoms if types[0] == types[1] and types[0] in _SCALARS else ():
            moved = Atom(each.kind, other, each.value)
            if each.kind is Kind.EQUAL and each.path == one and moved in atoms:
                known = has(one), has(other), Literal(each), Literal(moved)
                yield some(*map(opposite, known), Literal(atom))
        for inner, (first, second) in pairs.items():
            rest = first[len(one) :]
            if rest and (first, second) == ((*one, *rest), (*other, *rest)):
                yield some(differ, opposite(has(first)), Literal(inner))


def _equals(atom: Atom) -> tuple[Path, Path] | None:
    """The paths of two values that an atom states to be equal; None for other atoms."""
    if atom.kind is not Kind.TRUE or not isinstance(atom.value, Opaque) or atom.value.name != "==":
        return None
    one, other = atom.value.parts
    return (one.path, other.path) if isinstance(one, Ref) and isinstance(other, Ref) else None


def _states_value(atom: Atom) -> bool:
    return isinstance(atom.value, Opaque) and atom.value.name == DEFINED


def _test_of(term: Term) -> Opaque | None:
    """``isQuantity(x)`` for ``quantity(x)``; None for other terms."""
    name = _TESTS.get(term.name) if isinstance(term, Opaque) else None
    return Opaque(term.parts, name) if isinstance(term, Opaque) and name is not None else None


def _operands(term: Canonical) -> Iterator[Term]:
    """The operations inside of a term that have values if the term has: not those in bodies of comprehensions."""
    if isinstance(term, Opaque):
        for part in term.parts:
            if isinstance(part, Opaque):
                yield part
            yield from _operands(part)


def related_terms(atoms: Mapping[Atom, Any]) -> Iterator[tuple[Atom, Atom, list[tuple[Formula, Formula]]]]:
    """Pairs of opaque terms that differ only in the conditions inside of them.

    The first one implies the other if each of the pairs of conditions does. An operation has the same result if an
    operand that is an error becomes a value, unless its result was an error. So has a comprehension: ``all`` and
    ``exists`` go on after an error, but end as ``&&`` and ``||`` do, with the same result or with an error.
    """
    alike: dict[tuple[Kind, str, int], list[Atom]] = {}
    for atom in atoms:
        if isinstance(atom.value, Opaque):
            alike.setdefault((atom.kind, atom.value.name, len(atom.value.parts)), []).append(atom)
    for one, other in (pair for group in alike.values() for pair in permutations(group, 2)):
        WORK.spend()
        a, b = one.value, other.value
        assert isinstance(a, Opaque)
        assert isinstance(b, Opaque)
        needed = _conditions_of_all(a, b, one.kind) or _conditions(a, b)
        if needed is not None:
            yield one, other, needed


def _conditions_of_all(one: Opaque, other: Opaque, kind: Kind) -> list[tuple[Formula, Formula]] | None:
    """As ``_conditions``, of ``all`` over equal lists: it is true if its body is for each item, false if for one."""
    if one.name != ALL or other.name != ALL or one.parts[:2] != other.parts[:2]:
        return None
    a, b = one.parts[2], other.parts[2]
    if not isinstance(a, Truth) or not isinstance(b, Truth):
        return None
    return [(a.true, b.true) if kind is Kind.TRUE else (a.false, b.false)]


def with_items(views: Views, atom: Atom) -> Views:
    """The types with that of the items over which the term of an atom runs, if it is ``all``."""
    term = atom.value
    if not isinstance(term, Opaque) or term.name != ALL:
        return views
    over, variable = term.parts[:2]
    assert isinstance(over, Term) and isinstance(variable, Const)
    return {**views, variable.value: element_of(view_of(over))}


def _conditions(one: Opaque, other: Opaque) -> list[tuple[Formula, Formula]] | None:
    """Pairs of conditions: if each first one entails the second, ``other`` has each result that ``one`` has.

    None if the terms differ elsewhere.
    """
    if one.name != other.name or len(one.parts) != len(other.parts):
        return None
    found: list[tuple[Formula, Formula]] = []
    for a, b in zip(one.parts, other.parts, strict=True):
        needed = [] if a == b else _conditions_of_part(a, b)
        if needed is None:
            return None
        found += needed
    return found


def _conditions_of_part(one: Canonical, other: Canonical) -> list[tuple[Formula, Formula]] | None:
    """As ``_conditions``, of two parts of terms."""
    if isinstance(one, Truth) and isinstance(other, Truth):
        return [(one.true, other.true), (one.false, other.false)]
    if isinstance(one, Opaque) and isinstance(other, Opaque):
        return _conditions(one, other)
    if isinstance(one, Body) and isinstance(other, Body):
        theirs = {term: condition for condition, term in other.cases}
        return [(condition, theirs.get(term, FALSE)) for condition, term in one.cases]
    return None
