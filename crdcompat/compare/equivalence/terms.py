"""Terms: the values of CEL expressions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from crdcompat.apiserver.cel.views import View
from crdcompat.compare.equivalence.formula import Canonical, Formula, Path, path_text
from crdcompat.schema.structural import Node


class Ref(Canonical, frozen=True, eq=False):
    """The value at a path, and its CEL type, if known."""

    path: Path
    view: View | None

    def __post_init__(self) -> None:
        self._write(path_text(self.path))

    def paths(self) -> Iterator[Path]:
        yield self.path

    def is_a(self, *kinds: str) -> bool:
        """Whether every value is of one of these CEL types. A nullable one is not, and null has no size or order."""
        return self.view is not None and self.view.kind in kinds and not self.view.nullable


class Const(Canonical, frozen=True, eq=False):
    """A literal: null, a boolean, a number, a string or bytes."""

    value: Any

    def __post_init__(self) -> None:
        self._write(repr(self.value) if isinstance(self.value, bytes) else json.dumps(self.value))


class Truth(Canonical, frozen=True, eq=False):
    """A boolean: the formulas of when it is true and when it is false. It is an error if neither holds."""

    true: Formula
    false: Formula

    def __post_init__(self) -> None:
        self._write(f"truth({self.true.text}, {self.false.text})")

    def paths(self) -> Iterator[Path]:
        yield from self.true.paths()
        yield from self.false.paths()


class Listing(Canonical, frozen=True, eq=False):
    """A list literal."""

    items: tuple[Term, ...]

    def __post_init__(self) -> None:
        self._write(f"[{', '.join(item.text for item in self.items)}]")

    def paths(self) -> Iterator[Path]:
        for item in self.items:
            yield from item.paths()


class Tally(Canonical, frozen=True, eq=False):
    """``offset`` and one for each of the ``truths`` that is true; an error if one of them is."""

    offset: int
    truths: tuple[Truth, ...]

    def __post_init__(self) -> None:
        self._write(f"tally({self.offset}, {', '.join(sorted(truth.text for truth in self.truths))})")

    def paths(self) -> Iterator[Path]:
        for truth in self.truths:
            yield from truth.paths()


class Maybe(Canonical, frozen=True, eq=False):
    """An optional: with a value, or none."""

    value: Term | None

    def __post_init__(self) -> None:
        self._write(f"maybe({self.value.text if self.value is not None else ''})")

    def paths(self) -> Iterator[Path]:
        return self.value.paths() if self.value is not None else iter(())


class Opaque(Canonical, frozen=True, eq=False):
    """An operation that has no form of its own, on terms and bodies of comprehensions."""

    parts: tuple[Canonical, ...]
    name: str

    def __post_init__(self) -> None:
        self._write(f"{self.name}({', '.join(part.text for part in self.parts)})")

    def paths(self) -> Iterator[Path]:
        for part in self.parts:
            yield from part.paths()


#: The operation ``all``: on a list, the name of the variable, and the truth of the body.
ALL = "all"
#: The operation that is true if its operand has a value, and is no error.
DEFINED = "defined"

#: The type of the value of each variable.
Views = Mapping[str, View | None]

Term = Ref | Const | Truth | Listing | Tally | Maybe | Opaque

_KEY = View(Node({"type": "string"}))


def element_of(view: View | None) -> View | None:
    """The type that a macro's variable has: of a map's keys, or of a list's items."""
    if view is None:
        return None
    return _KEY if view.kind == "map" else view.element


def view_at(path: Path, views: Views) -> View | None:
    """The type of the value at a path."""
    view = views.get(path[0])
    for name in path[1:]:
        view = view.member(name) if view is not None and view.kind in ("object", "map") else None
    return view
