"""The lists of a page: items in groups, groups in directions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from msgspec import Struct

if TYPE_CHECKING:
    from crdcompat.models.finding import Excerpt
    from crdcompat.vocabulary import Direction

_T = TypeVar("_T")


class Fact(Struct, frozen=True):
    """A name, and the lines below it."""

    name: str
    texts: tuple[str, ...]


class Listed(Struct, frozen=True):
    """One finding of an item, as the first screen counts it."""

    severity: str
    crd: str
    kind: str
    path: str


class Item(Struct, frozen=True):
    """Findings with one cause, or an undecided difference.

    The page shows the message of a ``brief`` item only after a click. ``waive`` is the command that accepts the
    findings, "" if there are none to accept.
    """

    anchor: str
    name: str
    severity: str
    crd: str
    kind: str
    path: str
    about: tuple[str, ...]
    message: str
    brief: bool
    rule: str
    errors: tuple[str, ...]
    fix: str
    waive: str
    excerpts: tuple[Excerpt, ...]
    stored: Any
    witness: Any
    witness_title: str
    facts: tuple[Fact, ...]
    found: tuple[Listed, ...] = ()


class Group(Struct, Generic[_T], frozen=True):
    """Items under one heading; a ``folded`` group is closed at first.

    ``hidden``: filters show its items only if their status is chosen. ``counts``: its items are part of the verdict.
    """

    anchor: str
    title: str
    items: tuple[_T, ...]
    folded: bool = False
    hidden: bool = False
    counts: bool = True


class DirectionPart(Struct, frozen=True):
    """The groups of one direction (None: of both)."""

    anchor: str
    title: str
    groups: tuple[Group[Item], ...]
    direction: Direction | None = None
