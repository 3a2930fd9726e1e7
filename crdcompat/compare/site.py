"""A place that both schemas describe, and what a facet must know about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from crdcompat.apiserver.strategy import Resource, Verdict
from crdcompat.compare.changes import Change
from crdcompat.schema.paths import Pointer, SchemaPath, value_at
from crdcompat.schema.structural import Node

NONE = "none"
WRITE_REJECTED = "write-rejected"
VALUE_PRUNED = "value-pruned"
VALUE_DEFAULTED = "value-defaulted"

ROLLBACK, UPGRADE = "rollback", "upgrade"
DIRECTIONS = (ROLLBACK, UPGRADE)


@dataclass(frozen=True, slots=True)
class Site:
    """Two nodes at one path of the data, each with its pointer inside its schema document.

    ``in_junctor`` is set inside the branches of anyOf, oneOf, allOf: what stands there restricts the same
    data, but only together with the other branches.
    """

    old: Node
    new: Node
    path: SchemaPath
    old_at: Pointer
    new_at: Pointer
    in_junctor: bool = False


@dataclass(frozen=True, slots=True)
class Meeting:
    """Objects valid under ``writer`` meet the schema of ``reader``."""

    writer: Resource
    reader: Resource


@dataclass(frozen=True, slots=True)
class Trial:
    """A value which, put at ``path`` of a valid object, should show the effect; ABSENT: the field left out.

    ``label`` is what it stands for. The effect is looked for at ``at``, by default the change's own path.
    """

    value: Any
    path: SchemaPath
    label: Any = None
    at: SchemaPath | None = None


@dataclass(frozen=True, slots=True)
class Trials:
    """The values to prove an effect with; ``complete`` if there are no others that could show it."""

    values: tuple[Trial, ...]
    complete: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """The reader's verdict on a trial's object: ``pointer`` is the place looked at, ``field`` as errors write it."""

    verdict: Verdict
    pointer: Pointer
    field: str

    def rejects(self, *types: str) -> bool:
        """Whether an error stands at the place (of one of ``types``, if any are given)."""
        return any(e.field == self.field and (not types or e.type in types) for e in self.verdict.errors)

    def rejects_below(self) -> bool:
        """Whether an error stands at the place or below it, or names it as the place of a junctor."""
        named = f'"{self.field}" must '
        return any(
            e.field == self.field
            or e.field.startswith((f"{self.field}.", f"{self.field}["))
            or (e.field == "<nil>" and e.detail.startswith(named))
            for e in self.verdict.errors
        )

    def prunes(self) -> bool:
        """Whether the field, or something below it, is taken away as unknown."""
        below = (f"{self.field}.", f"{self.field}[")
        return any(path == self.field or path.startswith(below) for path in self.verdict.pruned)

    def loses(self) -> bool:
        """Whether the field is gone from the object as stored (an unknown field, or a null that is dropped)."""
        if self.verdict.object is None:
            return False
        try:
            value_at(self.verdict.object, self.pointer)
        except LookupError:
            return True
        return False

    def defaults(self) -> bool:
        return self.field in self.verdict.defaulted


@dataclass(frozen=True, slots=True)
class Effects:
    """What a kind of change can do in each direction, strongest effect first (reference section 13)."""

    rollback: tuple[str, ...] = ()
    upgrade: tuple[str, ...] = ()

    def towards(self, direction: str) -> tuple[str, ...]:
        return self.rollback if direction == ROLLBACK else self.upgrade


class Facet(Protocol):
    """One kind of difference: a module in ``compare/facets/``."""

    #: Keywords of the structural schema that this facet answers for.
    KEYWORDS: frozenset[str]
    #: The change kinds it yields, each with the effects it can have; the proof may find less.
    EFFECTS: Mapping[str, Effects]

    def changes(self, site: Site) -> Iterator[Change]:
        """The changes at one site."""
        ...

    def trials(self, change: Change, direction: str, meeting: Meeting) -> Trials:
        """Values to prove the change's effects with."""
        ...

    def shows(self, effect: str, seen: Seen) -> bool:
        """Whether the reader's verdict shows ``effect`` at the place looked at."""
        ...
