"""Functions that make formulas, simplified and sorted: facts, conjunctions, disjunctions, counts and negations."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from crdcompat.compare.equivalence.formula import (
    FALSE,
    TRUE,
    Atom,
    Count,
    Every,
    Formula,
    Kind,
    Literal,
    Path,
    Quantified,
    Some,
)
from crdcompat.schema.work import WORK

#: An atom has a canonical text, by which it is compared.
_STEPS_OF_A_FACT = 3


def fact(kind: Kind, path: Path, value: Any = None) -> Formula:
    """The formula of one atom. A variable always has a value, and every value has at least the size 0."""
    if (kind is Kind.HAS and len(path) == 1) or (kind is Kind.SIZE and value <= 0):
        return TRUE
    WORK.spend(_STEPS_OF_A_FACT)
    return Literal(Atom(kind, path, value))


def has(path: Path) -> Formula:
    """There is a value at ``path``."""
    return fact(Kind.HAS, path)


def from_number(path: Path, limit: float, *, excluded: bool, whole: bool) -> Formula:
    """The number at ``path`` is at least ``limit``; a whole number is then at least the next whole number."""
    if whole:
        limit, excluded = (math.floor(limit) + 1 if excluded else math.ceil(limit)), False
    return fact(Kind.FROM, path, (scalar(limit), excluded))


def scalar(value: Any) -> Any:
    """A literal as atoms store it: whole numbers are integers, because 1 and 1.0 are the same number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def every(*parts: Formula) -> Formula:
    """The conjunction of the parts."""
    return _joined(parts, Every, Some, FALSE)


def some(*parts: Formula) -> Formula:
    """The disjunction of the parts."""
    return _joined(parts, Some, Every, TRUE)


def count(least: int, parts: Iterable[Formula]) -> Formula:
    """At least ``least`` of the parts hold."""
    left: list[Formula] = []
    for part in parts:
        if part == TRUE:
            least -= 1
        elif part != FALSE:
            left.append(part)
    if least <= 0:
        return TRUE
    if least > len(left):
        return FALSE
    if least == 1:
        return some(*left)
    return every(*left) if least == len(left) else Count(_sorted(left), least)


def opposite(formula: Formula) -> Formula:
    """The negation. That of an opaque term is "not true", which includes an error; it is not "false"."""
    if isinstance(formula, Literal):
        return Literal(formula.atom, not formula.holds)
    if isinstance(formula, Count):
        return count(len(formula.parts) - formula.least + 1, map(opposite, formula.parts))
    return (some if isinstance(formula, Every) else every)(*map(opposite, formula.parts))


def each(path: Path, variable: str, formula: Formula) -> Formula:
    """Each element of the list, or each key of the map, at ``path``, as ``variable``, satisfies the formula."""
    if isinstance(formula, Every):
        return every(*(each(path, variable, part) for part in formula.parts))
    if not _reads(formula, variable):
        return some(opposite(fact(Kind.SIZE, path, 1)), formula)
    if isinstance(formula, Some):
        about = [part for part in formula.parts if _reads(part, variable)]
        if len(about) < len(formula.parts):
            rest = (part for part in formula.parts if part not in about)
            return some(*rest, each(path, variable, some(*about)))
    return fact(Kind.EACH, path, Quantified(variable, formula))


def _joined(parts: Iterable[Formula], kind: type[Every | Some], dual: type[Every | Some], decisive: Formula) -> Formula:
    """A formula of ``kind``, or ``decisive`` if a part is; omits parts of the ``dual`` kind that repeat others."""
    found = {each for part in parts for each in (part.parts if isinstance(part, kind) else (part,))}
    if decisive in found or any(isinstance(part, Literal) and opposite(part) in found for part in found):
        return decisive
    # A longer path has a value only if its beginning has one.
    holds = kind is Every
    presences = set(_presences(found, holds=holds))
    begun = {path[:length] for path in presences for length in range(1, len(path))}
    kept = [
        part
        for part in found
        if begun.isdisjoint(_presences((part,), holds=holds))
        and not (isinstance(part, dual) and not found.isdisjoint(part.parts))
    ]
    return kept[0] if len(kept) == 1 else kind(_sorted(kept))


def _reads(formula: Formula, variable: str) -> bool:
    return any(path[0] == variable for path in formula.paths())


def _sorted(parts: Iterable[Formula]) -> tuple[Formula, ...]:
    return tuple(sorted(parts, key=lambda part: part.text))


def _presences(parts: Iterable[Formula], *, holds: bool) -> Iterator[Path]:
    for part in parts:
        if isinstance(part, Literal) and part.atom.kind is Kind.HAS and part.holds == holds:
            yield part.atom.path
