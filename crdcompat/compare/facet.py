"""A facet: all knowledge about one kind of difference. Each facet is a module of ``compare/facets/``.

The walk, the proof, waivers, evidence and the suggested patch use the facet of a change and know no kind of change by
name. A module declares its facet as ``FACET``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from enum import StrEnum
from typing import Any, Protocol

from msgspec import Struct, field

from crdcompat.apiserver.field_errors import FieldError
from crdcompat.apiserver.keywords import Keyword
from crdcompat.compare.changes import Change, Undecided
from crdcompat.compare.site import ReaderVerdict, Site, Trials, WriterReader
from crdcompat.schema.listed_values import member_key
from crdcompat.schema.paths import Pointer, node_at, schema_pointer
from crdcompat.schema.structural import ABSENT, Node
from crdcompat.vocabulary import Direction, Effect


class Effects(Struct, frozen=True):
    """The possible effects of a kind of change in each direction, the strongest first.

    Source: docs/semantics.md#what-a-change-of-the-schema-does.
    """

    rollback: tuple[Effect, ...] = ()
    upgrade: tuple[Effect, ...] = ()

    def towards(self, direction: Direction) -> tuple[Effect, ...]:
        return self.rollback if direction == Direction.ROLLBACK else self.upgrade


class WaivedBy(StrEnum):
    """What a waiver names beside the path, so that it does not cover later changes."""

    OLD_AND_NEW = "old-and-new"  # the keyword's value on both sides
    VALUES = "values"  # the added or removed values, each waived by itself
    PLACE = "place"  # nothing more: the path names the added or removed property


class Differing(Protocol):
    """The values of both sides, which a change and its findings have."""

    @property
    def old(self) -> Any: ...
    @property
    def new(self) -> Any: ...
    @property
    def added(self) -> tuple[Any, ...]: ...
    @property
    def removed(self) -> tuple[Any, ...]: ...


class Reaction(Struct, frozen=True):
    """The reader's reaction to a recorded object, as seen from a finding: ``at`` its path, or at or ``below`` it.

    ``error`` is the reader's error, where it rejects the object.
    """

    at: bool
    below: bool
    error: FieldError | None = None


def joined(first: Any, second: Any) -> Any:
    """The items of both lists; of other values the second one."""
    if not isinstance(first, list) or not isinstance(second, list):
        return second
    known = {member_key(member) for member in first}
    return [*first, *(member for member in second if member_key(member) not in known)]


class Widening(Struct, frozen=True):
    """A new value of a keyword in OLD's schema, with which OLD accepts what NEW allows.

    ``pointer`` leads from the schema's root to the node; the value ABSENT removes the keyword. ``join`` gives the value
    that serves two widenings of the keyword, as where variants of NEW widen one manifest of OLD differently.
    """

    pointer: Pointer
    keyword: str
    value: Any
    join: Callable[[Any, Any], Any] = joined


#: Arguments: the change, the values to tolerate, the roots of OLD's and NEW's schemas.
Widen = Callable[[Change, tuple[Any, ...], Node, Node], Iterator[Widening]]


def no_widening(change: Change, values: tuple[Any, ...], old: Node, new: Node) -> Iterator[Widening]:
    """No widening: no keyword of OLD would tolerate exactly what the change allows."""
    return iter(())


def copy_from_new(keywords: Collection[str]) -> Widen:
    """Widen by copying NEW's values of ``keywords`` to OLD."""
    return lambda change, values, old, new: _copied(change, keywords, old, new)


def _copied(change: Change, keywords: Collection[str], old: Node, new: Node) -> Iterator[Widening]:
    a, b = node_at(old, change.path), node_at(new, change.path)
    if a is None or b is None:
        return
    for keyword in sorted(keywords):
        before, after = a.raw.get(keyword, ABSENT), b.raw.get(keyword, ABSENT)
        if before != after:
            yield Widening(schema_pointer(change.path), keyword, after)


def explains_at(difference: Differing, reaction: Reaction) -> bool:
    """The change explains only reactions at its own path."""
    return reaction.at


def explains_below(difference: Differing, reaction: Reaction) -> bool:
    """The change explains reactions at its path and below it: it affects a type, a branch, or a whole subtree."""
    return reaction.below


#: The values that may prove a change's effects in one direction.
Proving = Callable[[Change, Direction, WriterReader], Trials]
#: Whether the reader's verdict on an example shows an effect.
Shows = Callable[[Effect, ReaderVerdict], bool]


def breaks(*keywords: Keyword) -> Shows:
    """Shows that one of the keywords fails at the pointer of the verdict."""
    return lambda effect, observed: observed.breaks(*keywords)


class Facet(Struct, frozen=True, eq=False):
    """One kind of difference.

    ``keywords``: the keywords of the structural schema that the facet compares. ``effects``: its kinds of change
    (``enum.value-added``), each with its possible effects; the proof may find weaker ones.

    ``changes`` yields the changes at one site, and the differences that the facet cannot decide. The walk calls it
    where the node itself differs, or, if ``looks_below``, a node below it does; for branches of junctors only if
    ``in_branches``: a branch restricts the same data together with the others, and its properties declare no fields, so
    the facet of junctors judges most differences there.

    ``trials`` gives the values that may prove a change's effects in one direction. They depend on the node of the
    change alone, or, if ``looks_above``, on its parent, too. ``shows``: whether the reader's verdict shows an effect at
    the pointer of the verdict. ``of_updates`` are the kinds that make the reader refuse updates, and no stored object.

    ``waived_by``: what a waiver of a kind names, by default the values of both sides. ``widen``: how OLD's schema can
    accept what NEW allows. ``explains``: whether the change caused a reaction to a recorded object; called only for
    reactions of the finding's effect, and not for pruning, where any loss at or below the path counts.
    """

    keywords: frozenset[str]
    effects: Mapping[str, Effects]
    changes: Callable[[Site], Iterator[Change | Undecided]]
    trials: Proving
    shows: Shows
    in_branches: bool = False
    looks_above: bool = False
    looks_below: bool = False
    of_updates: frozenset[str] = frozenset()
    waived_by: Mapping[str, WaivedBy] = field(default_factory=dict)
    widen: Widen = no_widening
    explains: Callable[[Differing, Reaction], bool] = explains_at
