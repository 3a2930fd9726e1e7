"""Whether formulas entail another: a search for values that satisfy the ones and not the other.

The search assigns atoms (DPLL with unit propagation) and asks ``values`` whether one value can satisfy what is assigned
at each path. It is sound, not complete: "entailed" is a proof; otherwise there may be a counterexample, or the search
gave up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any

from crdcompat.apiserver.cel.views import View
from crdcompat.compare.equivalence.axioms import axioms, related_terms, with_items
from crdcompat.compare.equivalence.computed import is_statement, statements
from crdcompat.compare.equivalence.connectives import every, opposite, some
from crdcompat.compare.equivalence.formula import (
    Atom,
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
from crdcompat.compare.equivalence.terms import Views, element_of, view_at
from crdcompat.compare.equivalence.values import can_hold
from crdcompat.schema.work import WORK

#: Assignments tried by a proof, and by one before a search for values or that search; quantifiers in quantifiers.
MANY, FEW, _MAX_DEPTH = 2000, 50, 5

#: Atoms, and whether each holds.
Assignment = Mapping[Atom, bool]


def entails(premises: Iterable[Formula], wanted: Formula, views: Views, depth: int = 0, most: int = MANY) -> bool:
    """Whether all values that satisfy the premises provably satisfy ``wanted``; ``most``: assignments tried for it."""
    stated = tuple(premises)
    WORK.spend(1 + len(stated))
    try:
        known = every(*stated)
        given = set(conjuncts(known))
        open_parts = [part for part in conjuncts(wanted) if part not in given]
        return all(_Search((known, opposite(part)), views, depth, most).fails() for part in open_parts)
    except TooComplexError:
        return False


def models(formulas: Iterable[Formula], views: Views, depth: int = 0) -> Iterator[Assignment]:
    """Assignments of atoms that satisfy all formulas, until the search gives up.

    One of them may be of no value: not all atoms that it assigns are understood.
    """
    try:
        yield from _Search(formulas, views, depth, FEW).models()
    except (_GaveUpError, TooComplexError, RecursionError):
        return


class _GaveUpError(Exception):
    """More assignments than the search tries."""


class _Search:
    """A search for an assignment that satisfies all of some formulas."""

    def __init__(self, formulas: Iterable[Formula], views: Views, depth: int, most: int) -> None:
        parts = [part for formula in formulas for part in conjuncts(formula)]
        atoms = {atom: None for part in parts for atom in atoms_in(part)}
        self._parts = [*parts, *axioms(atoms, views), *self._related_terms(atoms, views, depth)]
        self._computed = [*dict.fromkeys(atom for part in self._parts for atom in atoms_in(part) if is_statement(atom))]
        self._views = views
        self._depth = depth
        self._left = most
        self._consistent: dict[tuple[tuple[str, bool], ...], bool] = {}
        self._atoms: dict[Formula, frozenset[Atom]] = {}

    def fails(self) -> bool:
        """Whether there is certainly no such assignment."""
        try:
            return next(self.models(), None) is None
        except (_GaveUpError, RecursionError):
            return False

    def models(self) -> Iterator[Assignment]:
        """Such assignments, one after the other; _GaveUpError where there may be more."""
        yield from self._solve({}, self._parts, None)

    @staticmethod
    def _related_terms(atoms: Mapping[Atom, Any], views: Views, depth: int) -> Iterator[Formula]:
        """Implications between opaque terms whose conditions entail each other."""
        for one, other, needed in related_terms(atoms) if depth < _MAX_DEPTH else ():
            inner = with_items(views, one)
            if all(entails((x,), y, inner, depth + 1) for x, y in needed):
                yield some(opposite(Literal(one)), Literal(other))

    def _solve(self, assigned: dict[Atom, bool], parts: list[Formula], last: Atom | None) -> Iterator[Assignment]:
        """Assignments that begin with ``assigned``; ``last``: its atom that the parts do not know of, None for all."""
        self._left -= 1
        if self._left < 0:
            raise _GaveUpError
        left = self._propagated(assigned, parts, None if last is None else {last})
        if left is None or not self._is_consistent(assigned):
            return
        if not left:
            yield assigned
            return
        literal = _first_literal(min(left, key=lambda part: len(part.text)))
        for value in (literal.holds, not literal.holds):
            yield from self._solve({**assigned, literal.atom: value}, left, literal.atom)

    def _propagated(
        self, assigned: dict[Atom, bool], parts: list[Formula], fresh: Set[Atom] | None
    ) -> list[Formula] | None:
        """The parts that are still open, after assigning what follows at once; None if one of them fails.

        Only parts with ``fresh`` atoms can change; None: all of them.
        """
        while fresh is None or fresh:
            left: list[Formula] = []
            found: set[Atom] = set()
            WORK.spend(1 + len(parts))
            for part in parts:
                if fresh is not None and fresh.isdisjoint(self._atoms_of(part)):
                    left.append(part)
                    continue
                reduced = _reduced(part, assigned)
                if reduced is False:
                    return None
                if reduced is True:
                    continue
                for each in conjuncts(reduced):
                    if not isinstance(each, Literal):
                        left.append(each)
                    elif each.atom not in assigned:
                        assigned[each.atom] = each.holds
                        found.add(each.atom)
                    elif assigned[each.atom] != each.holds:
                        return None
            parts, fresh = left, found
        return parts

    def _atoms_of(self, part: Formula) -> frozenset[Atom]:
        if part not in self._atoms:
            self._atoms[part] = frozenset(atoms_in(part))
        return self._atoms[part]

    def _is_consistent(self, assigned: dict[Atom, bool]) -> bool:
        """Whether one value at each path can satisfy what is assigned."""
        by_path: dict[Path, list[tuple[Atom, bool]]] = {}
        for atom, holds in assigned.items():
            if atom.path and atom.kind is not Kind.HAS:
                by_path.setdefault(atom.path, []).append((atom, holds))
        computed = statements((atom, assigned[atom]) for atom in self._computed if atom in assigned)
        return all(self._can_hold(path, facts) for path, facts in by_path.items()) and all(
            can_hold(facts, view) for _, facts, view in computed
        )

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
