"""Formulas over atoms: the normal form of constraints.

Formulas and terms are equal if their canonical texts are. ``connectives`` makes formulas: it simplifies and sorts, so
formulas that differ in order or repetition are equal.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
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

    def __ne__(self, other: object) -> bool:  # a Struct without ``eq`` does not derive it
        return not self == other

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
