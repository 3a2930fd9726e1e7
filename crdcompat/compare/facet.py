"""A facet: all that the program knows about one kind of difference. Each is a module of ``compare/facets/``.

The walk, the proof, waivers, evidence and the suggested patch ask the facet of a change; none of them knows a kind of
change by name. A module declares its facet as ``FACET``; what it leaves out has the defaults below.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any, Protocol

from crdcompat.apiserver.errors import FieldError
from crdcompat.compare.changes import Change, Undecided
from crdcompat.compare.site import ReaderVerdict, Site, Trials, WriterReader
from crdcompat.records import dataclass
from crdcompat.schema.paths import Pointer, node_at, schema_pointer
from crdcompat.schema.structural import ABSENT, Node
from crdcompat.vocabulary import Direction, Effect


@dataclass(frozen=True, slots=True)
class Effects:
    """What a kind of change can do in each direction, strongest effect first (reference section 13)."""

    rollback: tuple[Effect, ...] = ()
    upgrade: tuple[Effect, ...] = ()

    def towards(self, direction: Direction) -> tuple[Effect, ...]:
        return self.rollback if direction == Direction.ROLLBACK else self.upgrade


class WaivedBy(StrEnum):
    """What a waiver names beside the place. It covers nothing that comes later."""

    OLD_AND_NEW = "old-and-new"  # what the keyword was and what it became
    VALUES = "values"  # the values that came or went, each accepted by itself
    PLACE = "place"  # nothing: the property that comes or goes is the place


class Differing(Protocol):
    """What a change and each finding about it say of the two sides."""

    @property
    def old(self) -> Any: ...
    @property
    def new(self) -> Any: ...
    @property
    def added(self) -> tuple[Any, ...]: ...
    @property
    def removed(self) -> tuple[Any, ...]: ...


@dataclass(frozen=True, slots=True)
class Reaction:
    """What a reader does to a recorded object, seen from a finding: ``at`` its place, ``below`` it or at it.

    ``error`` is the reader's sentence, where it rejects the object.
    """

    at: bool
    below: bool
    error: FieldError | None = None


@dataclass(frozen=True, slots=True)
class Widening:
    """A keyword of OLD's schema set so that OLD tolerates what NEW lets in; ``pointer`` starts at the schema's root.

    ABSENT removes the keyword. Where two changes set one list, the list keeps the items of both, or, if ``common``,
    only those that both have.
    """

    pointer: Pointer
    keyword: str
    value: Any
    common: bool = False


#: A change, the values that are to be tolerated, and the roots of OLD's and NEW's schemas.
Widen = Callable[[Change, tuple[Any, ...], Node, Node], Iterator[Widening]]


def no_widening(change: Change, values: tuple[Any, ...], old: Node, new: Node) -> Iterator[Widening]:
    """No keyword of OLD makes it tolerant without saying more than the change does."""
    return iter(())


def copy_from_new(keywords: Collection[str]) -> Widen:
    """Tolerant as soon as ``keywords`` say in OLD what they say in NEW."""
    return lambda change, values, old, new: _set(change, keywords, old, new, dropped=False)


def drop_keywords(keywords: Collection[str]) -> Widen:
    """Tolerant only without ``keywords``: what NEW says rejects something of OLD's own."""
    return lambda change, values, old, new: _set(change, keywords, old, new, dropped=True)


def _set(change: Change, keywords: Collection[str], old: Node, new: Node, *, dropped: bool) -> Iterator[Widening]:
    a, b = node_at(old, change.path), node_at(new, change.path)
    if a is None or b is None:
        return
    for keyword in sorted(keywords):
        before, after = a.raw.get(keyword, ABSENT), b.raw.get(keyword, ABSENT)
        if before != after:
            yield Widening(schema_pointer(change.path), keyword, ABSENT if dropped else after)


def explains_at(difference: Differing, reaction: Reaction) -> bool:
    """Only a reaction at the place itself comes from the change."""
    return reaction.at


def explains_below(difference: Differing, reaction: Reaction) -> bool:
    """A reaction at the place or to something in it comes from the change: a type, a branch, a whole new schema."""
    return reaction.below


@dataclass(frozen=True, eq=False)
class Facet:
    """One kind of difference.

    ``keywords``: those of the structural schema that the facet answers for. ``effects``: its kinds of change
    (``enum.value-added``), each with the effects it can have; the proof may find less.

    ``changes`` yields the changes at one site, and the differences that the facet owns but cannot decide. It is asked
    about branches of junctors only if ``in_branches``: a branch restricts the same data together with the other
    branches, and its properties declare none, so most of what differs there is the facet of junctors' to judge.
    ``trials`` gives values to prove a change's effects with in one direction; they depend on the node of the change
    alone, or, if ``looks_above``, on its parent, too. ``shows`` says whether the reader's verdict shows an effect at
    the place looked at.

    ``waived_by``: what a waiver of a kind names, if not both sides. ``widen``: how OLD's schema is made tolerant of
    what NEW lets in. ``explains``: whether the change made a reader treat a recorded object so; it is asked about
    reactions of the finding's effect only, and not about pruning, which any loss at or below the place shows.
    """

    keywords: frozenset[str]
    effects: Mapping[str, Effects]
    changes: Callable[[Site], Iterator[Change | Undecided]]
    trials: Callable[[Change, Direction, WriterReader], Trials]
    shows: Callable[[Effect, ReaderVerdict], bool]
    in_branches: bool = False
    looks_above: bool = False
    waived_by: Mapping[str, WaivedBy] = field(default_factory=dict)
    widen: Widen = no_widening
    explains: Callable[[Differing, Reaction], bool] = explains_at
