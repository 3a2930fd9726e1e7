"""What a page lists: items in groups, groups in directions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from msgspec import Struct

if TYPE_CHECKING:
    from crdcompat.models.finding import Excerpt
    from crdcompat.vocabulary import Direction

_T = TypeVar("_T")


class Fact(Struct, frozen=True):
    """A name and the lines under it."""

    name: str
    texts: tuple[str, ...]


class Listed(Struct, frozen=True):
    """What the first screen counts: one finding of an item."""

    severity: str
    crd: str
    kind: str
    path: str


class Item(Struct, frozen=True):
    """Findings with one cause, or an undecided difference; the message of a ``brief`` one shows only when it is open.

    ``waive`` is the command that accepts it, empty where there is nothing to accept.
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
    """Items under one heading; those of a ``folded`` group are closed.

    ``hidden``: filters leave them out unless their status is chosen. ``counts``: they are part of the verdict.
    """

    anchor: str
    title: str
    items: tuple[_T, ...]
    folded: bool = False
    hidden: bool = False
    counts: bool = True


class DirectionPart(Struct, frozen=True):
    """The groups of one direction, or (None) of both."""

    anchor: str
    title: str
    groups: tuple[Group[Item], ...]
    direction: Direction | None = None
