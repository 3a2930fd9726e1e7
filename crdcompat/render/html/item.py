"""The lists of a page: items in groups, groups in directions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from crdcompat.findings.entries import Entry
    from crdcompat.models.diff import UndecidedEntry
    from crdcompat.vocabulary import Direction


class Fact(Struct, frozen=True):
    """A name, and the lines below it."""

    name: str
    texts: tuple[str, ...]


class Item(Struct, frozen=True):
    """An entry of findings, or an undecided difference, with its place on the page.

    ``waive`` is the command that accepts the findings, "" if there are none to accept.
    """

    anchor: str
    facts: tuple[Fact, ...]
    entry: Entry | None = None
    undecided: UndecidedEntry | None = None
    waive: str = ""


class Group(Struct, frozen=True):
    """Items under one heading; a ``folded`` group is closed at first.

    ``hidden``: filters show its items only if their status is chosen. ``counts``: its items are part of the verdict.
    """

    anchor: str
    title: str
    items: tuple[Item, ...]
    folded: bool = False
    hidden: bool = False
    counts: bool = True


class DirectionPart(Struct, frozen=True):
    """The groups of one direction (None: of both)."""

    anchor: str
    title: str
    groups: tuple[Group, ...]
    direction: Direction | None = None
