"""A place that both schemas describe, and what a facet must know about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from crdcompat.apiserver.strategy import Resource, Verdict
from crdcompat.compare.changes import Change
from crdcompat.schema.paths import Pointer, SchemaPath
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
    """A value which, put at ``path`` of a valid object, should show the effect; ``label`` is what it stands for."""

    value: Any
    path: SchemaPath
    label: Any = None


@dataclass(frozen=True, slots=True)
class Trials:
    """The values to prove an effect with; ``complete`` if there are no others that could show it."""

    values: tuple[Trial, ...]
    complete: bool


@dataclass(frozen=True, slots=True)
class Effects:
    """What a kind of change can do in each direction (reference section 13)."""

    rollback: str
    upgrade: str

    def towards(self, direction: str) -> str:
        return self.rollback if direction == ROLLBACK else self.upgrade


class Facet(Protocol):
    """One kind of difference: a module in ``compare/facets/``."""

    #: Keywords of the structural schema that this facet answers for.
    KEYWORDS: frozenset[str]
    #: The change kinds it yields, each with its greatest effect; the proof may find less.
    EFFECTS: Mapping[str, Effects]

    def changes(self, site: Site) -> Iterator[Change]:
        """The changes at one site."""
        ...

    def trials(self, change: Change, direction: str, meeting: Meeting) -> Trials:
        """Values to prove the change's effect with."""
        ...

    def shows(self, effect: str, verdict: Verdict, field: str) -> bool:
        """Whether the reader's verdict shows ``effect`` at the concrete path ``field``."""
        ...
