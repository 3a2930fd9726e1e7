"""Formulas over atoms: the normal form of constraints.

Formulas and terms are equal if their canonical texts are. The functions that make formulas simplify and sort, so
formulas that differ in order or repetition are equal.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any

from msgspec import Struct
from msgspec.structs import force_setattr

#: A variable, then the names of members, as CEL writes them: ``("self", "spec", "name")``.
Path = tuple[str, ...]

#: Characters of a canonical text; longer formulas are not compared.
_MAX_TEXT = 50_000


class TooComplexError(Exception):
    """A formula is larger than what is compared."""


def path_text(path: Path) -> str:
    """A path as text; keys of maps that are no names are quoted."""
    return ".".join((*path[:1], *(name if name.isidentifier() else json.dumps(name) for name in path[1:])))


class Canonical(Struct, frozen=True, eq=False, kw_only=True):
    """A value with a canonical ``text``, which decides equality."""

    text: str = ""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, Canonical) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def _write(self, text: str) -> None:
        if len(text) > _MAX_TEXT:
            raise TooComplexError
        force_setattr(self, "text", text)

    def paths(self) -> Iterator[Path]:
        """The paths that it reads, inside of atoms, too."""
        return iter(())


class Kind(StrEnum):
    """What an atom states about the value at its path."""

    HAS = "has"  # there is a value
    EQUAL = "equal"  # it equals the scalar ``value``
    SIZE = "size"  # it has at least ``value`` characters, items, entries or members
    FROM = "from"  # it is a number from the first of ``value`` on, which is excluded if the second says so
    MULTIPLE = "multiple"  # it is a multiple of ``value``
    MATCHES = "matches"  # the pattern ``value`` is found in it
    EACH = "each"  # each element satisfies the quantified ``value``
    TRUE = "true"  # the opaque term ``value`` is true
    FALSE = "false"  # the opaque term ``value`` is false; it is an error if it is neither
    KEYWORD = "keyword"  # it satisfies a keyword, given by its name and its value


class Atom(Canonical, frozen=True, eq=False):
    """One statement. All but HAS presuppose that there is a value at the path; opaque terms have no path."""

    kind: Kind
    path: Path
    value: Any = None

    def __post_init__(self) -> None:
        value = self.value.text if isinstance(self.value, Canonical) else json.dumps(self.value, sort_keys=True)
        self._write(f"{self.kind}({path_text(self.path)}, {value})")

    def paths(self) -> Iterator[Path]:
        if self.path:
            yield self.path
        if isinstance(self.value, Canonical):
            yield from self.value.paths()


class Literal(Canonical, frozen=True, eq=False):
    """An atom that ``holds`` or does not."""

    atom: Atom
    holds: bool = True

    def __post_init__(self) -> None:
        self._write(self.atom.text if self.holds else f"!{self.atom.text}")

    def paths(self) -> Iterator[Path]:
        return self.atom.paths()


class Quantified(Canonical, frozen=True, eq=False):
    """A formula about each item of a list, or each key of a map, which is the value of ``variable``."""

    variable: str
    formula: Formula

    def __post_init__(self) -> None:
        self._write(f"{self.variable}: {self.formula.text}")

    def paths(self) -> Iterator[Path]:
        return self.formula.paths()


class _Compound(Canonical, frozen=True, eq=False):
    parts: tuple[Formula, ...]

    def paths(self) -> Iterator[Path]:
        for part in self.parts:
            yield from part.paths()


class Every(_Compound, frozen=True, eq=False):
    """A conjunction of distinct parts; without parts it is true."""

    def __post_init__(self) -> None:
        self._write(f"every({', '.join(part.text for part in self.parts)})")


class Some(_Compound, frozen=True, eq=False):
    """A disjunction of distinct parts; without parts it is false."""

    def __post_init__(self) -> None:
        self._write(f"some({', '.join(part.text for part in self.parts)})")


class Count(_Compound, frozen=True, eq=False):
    """At least ``least`` of the parts hold; a part may occur more than once."""

    least: int

    def __post_init__(self) -> None:
        self._write(f"count({self.least}, {', '.join(part.text for part in self.parts)})")


Formula = Literal | Every | Some | Count

TRUE, FALSE = Every(()), Some(())


def fact(kind: Kind, path: Path, value: Any = None) -> Formula:
    """The formula of one atom. A variable always has a value, and every value has at least the size 0."""
    if (kind is Kind.HAS and len(path) == 1) or (kind is Kind.SIZE and value <= 0):
        return TRUE
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
    """A literal as atoms hold it: whole numbers are integers, because 1 and 1.0 are the same number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def every(*parts: Formula) -> Formula:
    """The conjunction of the parts."""
    found = _flat(parts, Every)
    if FALSE in found or any(isinstance(part, Literal) and opposite(part) in found for part in found):
        return FALSE
    # A longer path has a value only if its beginning has one.
    there = set(_presences(found, holds=True))
    kept = [
        part
        for part in found
        if not any(_begins(part, path, holds=True) for path in there)
        and not (isinstance(part, Some) and not found.isdisjoint(part.parts))
    ]
    return kept[0] if len(kept) == 1 else Every(_sorted(kept))


def some(*parts: Formula) -> Formula:
    """The disjunction of the parts."""
    found = _flat(parts, Some)
    if TRUE in found or any(isinstance(part, Literal) and opposite(part) in found for part in found):
        return TRUE
    absent = set(_presences(found, holds=False))
    kept = [
        part
        for part in found
        if not any(_begins(part, path, holds=False) for path in absent)
        and not (isinstance(part, Every) and not found.isdisjoint(part.parts))
    ]
    return kept[0] if len(kept) == 1 else Some(_sorted(kept))


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
    """The negation. Of an opaque term it is "not true", which an error is, too, and not "false"."""
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


def conjuncts(formula: Formula) -> tuple[Formula, ...]:
    """The formulas that must all hold."""
    return formula.parts if isinstance(formula, Every) else (formula,)


def atoms_in(formula: Formula) -> Iterator[Atom]:
    """The atoms of a formula, not those inside of atoms."""
    if isinstance(formula, Literal):
        yield formula.atom
        return
    for part in formula.parts:
        yield from atoms_in(part)


def _reads(formula: Formula, variable: str) -> bool:
    return any(path[0] == variable for path in formula.paths())


def _flat(parts: Iterable[Formula], kind: type[Every | Some]) -> set[Formula]:
    found: set[Formula] = set()
    for part in parts:
        found.update(part.parts if isinstance(part, kind) else (part,))
    return found


def _sorted(parts: Iterable[Formula]) -> tuple[Formula, ...]:
    return tuple(sorted(parts, key=lambda part: part.text))


def _presences(parts: Iterable[Formula], *, holds: bool) -> Iterator[Path]:
    for part in parts:
        if isinstance(part, Literal) and part.atom.kind is Kind.HAS and part.holds == holds:
            yield part.atom.path


def _begins(part: Formula, path: Path, *, holds: bool) -> bool:
    """Whether a part states the presence of the beginning of ``path``."""
    return any(len(own) < len(path) and path[: len(own)] == own for own in _presences((part,), holds=holds))
