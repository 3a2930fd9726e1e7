"""Whether formulas entail another: a search for values that satisfy the ones and not the other.

The search assigns atoms (DPLL with unit propagation) and asks ``values`` whether one value can satisfy what is assigned
at each path. It is sound, not complete: "entailed" is a proof; otherwise there may be a counterexample, or the search
gave up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import permutations
from typing import Any

from crdcompat.apiserver.cel.views import View
from crdcompat.compare.equivalence.axioms import axioms
from crdcompat.compare.equivalence.cases import Body
from crdcompat.compare.equivalence.computed import statements, view_of
from crdcompat.compare.equivalence.connectives import every, opposite, some
from crdcompat.compare.equivalence.formula import (
    FALSE,
    Atom,
    Canonical,
    Count,
    Every,
    Formula,
    Kind,
    Literal,
    Path,
    Quantified,
    Some,
    TooComplexError,
    atoms_in,
    conjuncts,
)
from crdcompat.compare.equivalence.terms import ALL, Const, Opaque, Term, Truth, Views, element_of, view_at
from crdcompat.compare.equivalence.values import can_hold
from crdcompat.schema.work import WORK

#: Assignments tried by one search, and quantifiers inside of quantifiers.
_MAX_TRIED, _MAX_DEPTH = 2000, 5


def entails(premises: Iterable[Formula], wanted: Formula, views: Views, depth: int = 0) -> bool:
    """Whether all values that satisfy the premises provably satisfy ``wanted``."""
    stated = tuple(premises)
    WORK.spend(1 + len(stated))
    try:
        known = every(*stated)
        given = set(conjuncts(known))
        open_parts = [part for part in conjuncts(wanted) if part not in given]
        return all(_Search((known, opposite(part)), views, depth).fails() for part in open_parts)
    except TooComplexError:
        return False


class _GaveUpError(Exception):
    """More assignments than the search tries."""


class _Search:
    """A search for an assignment that satisfies all of some formulas."""

    def __init__(self, formulas: Iterable[Formula], views: Views, depth: int) -> None:
        parts = [part for formula in formulas for part in conjuncts(formula)]
        atoms = {atom: None for part in parts for atom in atoms_in(part)}
        self._parts = [*parts, *axioms(atoms, views), *_related_terms(atoms, views, depth)]
        self._views = views
        self._depth = depth
        self._tried = 0
        self._consistent: dict[tuple[tuple[str, bool], ...], bool] = {}

    def fails(self) -> bool:
        """Whether there is certainly no such assignment."""
        try:
            return not self._solve({}, self._parts)
        except (_GaveUpError, RecursionError):
            return False

    def _solve(self, assigned: dict[Atom, bool], parts: list[Formula]) -> bool:
        self._tried += 1
        if self._tried > _MAX_TRIED:
            raise _GaveUpError
        left = _propagated(assigned, parts)
        if left is None or not self._is_consistent(assigned):
            return False
        if not left:
            return True
        literal = _first_literal(min(left, key=lambda part: len(part.text)))
        return any(self._solve({**assigned, literal.atom: value}, left) for value in (literal.holds, not literal.holds))

    def _is_consistent(self, assigned: dict[Atom, bool]) -> bool:
        """Whether one value at each path can satisfy what is assigned."""
        by_path: dict[Path, list[tuple[Atom, bool]]] = {}
        for atom, holds in assigned.items():
            if atom.path and atom.kind is not Kind.HAS:
                by_path.setdefault(atom.path, []).append((atom, holds))
        computed = all(can_hold(facts, view) for facts, view in statements(assigned.items()))
        return computed and all(self._can_hold(path, facts) for path, facts in by_path.items())

    def _can_hold(self, path: Path, facts: list[tuple[Atom, bool]]) -> bool:
        key = tuple(sorted((atom.text, holds) for atom, holds in facts))
        if key not in self._consistent:
            view = view_at(path, self._views)
            self._consistent[key] = can_hold(facts, view) and self._elements_can_hold(facts, view)
        return self._consistent[key]

    def _elements_can_hold(self, facts: list[tuple[Atom, bool]], view: View | None) -> bool:
        """Whether, for each false ``EACH``, an element can violate it and satisfy the true ones."""
        quantified = [(atom.value, holds) for atom, holds in facts if isinstance(atom.value, Quantified)]
        broken = [value for value, holds in quantified if not holds]
        if self._depth >= _MAX_DEPTH or not broken or view is None:
            return True
        kept = [value for value, holds in quantified if holds]
        for value in broken:
            views = {**self._views, value.variable: element_of(view)}
            same = (each.formula for each in kept if each.variable == value.variable)
            if entails(same, value.formula, views, self._depth + 1):
                return False
        return True


def _related_terms(atoms: Mapping[Atom, Any], views: Views, depth: int) -> Iterator[Formula]:
    """Implications between opaque terms that differ only in the conditions inside of them.

    An operation has the same result if an operand that is an error becomes a value, unless its result was an error.
    So has a comprehension: ``all`` and ``exists`` go on after an error, but end as ``&&`` and ``||`` do, with the same
    result or with an error.
    """
    alike: dict[tuple[Kind, str, int], list[Atom]] = {}
    for atom in atoms:
        if isinstance(atom.value, Opaque) and depth < _MAX_DEPTH:
            alike.setdefault((atom.kind, atom.value.name, len(atom.value.parts)), []).append(atom)
    for one, other in (pair for group in alike.values() for pair in permutations(group, 2)):
        WORK.spend()
        a, b = one.value, other.value
        assert isinstance(a, Opaque)
        assert isinstance(b, Opaque)
        needed = _conditions_of_all(a, b, one.kind) or _conditions(a, b)
        if needed is not None and all(entails((x,), y, _with_items(views, a), depth + 1) for x, y in needed):
            yield some(opposite(Literal(one)), Literal(other))


def _conditions_of_all(one: Opaque, other: Opaque, kind: Kind) -> list[tuple[Formula, Formula]] | None:
    """As ``_conditions``, of ``all`` over equal lists: it is true if its body is for each item, false if for one."""
    if one.name != ALL or other.name != ALL or one.parts[:2] != other.parts[:2]:
        return None
    a, b = one.parts[2], other.parts[2]
    if not isinstance(a, Truth) or not isinstance(b, Truth):
        return None
    return [(a.true, b.true) if kind is Kind.TRUE else (a.false, b.false)]


def _with_items(views: Views, term: Opaque) -> Views:
    """The types with that of the items over which ``term`` runs, if it is ``all``."""
    if term.name != ALL:
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


def _propagated(assigned: dict[Atom, bool], parts: list[Formula]) -> list[Formula] | None:
    """The parts that are still open, after assigning what follows at once; None if one of them fails."""
    while True:
        before = len(assigned)
        left: list[Formula] = []
        WORK.spend(1 + len(parts))
        for part in parts:
            reduced = _reduced(part, assigned)
            if reduced is False:
                return None
            if reduced is True:
                continue
            for each in conjuncts(reduced):
                if isinstance(each, Literal):
                    if assigned.setdefault(each.atom, each.holds) != each.holds:
                        return None
                else:
                    left.append(each)
        if len(assigned) == before:
            return left
        parts = left


def _reduced(formula: Formula, assigned: Mapping[Atom, bool]) -> Formula | bool:
    """The formula under an assignment: true, false or what is left of it."""
    if isinstance(formula, Literal):
        value = assigned.get(formula.atom)
        return formula if value is None else value == formula.holds
    found = [_reduced(part, assigned) for part in formula.parts]
    if isinstance(formula, Count):
        return _counted(formula, found)
    decisive = isinstance(formula, Some)
    if decisive in found:
        return decisive
    left = [part for part in found if not isinstance(part, bool)]
    if not left:
        return not decisive
    if len(left) == len(formula.parts) and all(map(_is, left, formula.parts)):
        return formula
    return left[0] if len(left) == 1 else type(formula)(tuple(left))


def _counted(formula: Count, found: list[Formula | bool]) -> Formula | bool:
    least, left = formula.least - found.count(True), [part for part in found if not isinstance(part, bool)]
    if least <= 0:
        return True
    if least > len(left):
        return False
    return Every(tuple(left)) if least == len(left) else Count(tuple(left), least)


def _is(a: object, b: object) -> bool:
    return a is b


def _first_literal(formula: Formula) -> Literal:
    while not isinstance(formula, Literal):
        formula = formula.parts[0]
    return formula
