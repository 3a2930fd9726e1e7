"""A finding as reports show it, with its locations, excerpts, evidence and acceptance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crdcompat.vocabulary import Direction, Effect, FindingStatus, Owner, Severity, Side

if TYPE_CHECKING:
    from crdcompat.compare.witness import Witness


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a file of one side; ``line`` and ``column`` count from 1, None if unknown."""

    side: Side
    file: str
    line: int | None = None
    column: int | None = None
    kind: str = "yaml"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Some lines of a file around the place of a change: ``first`` is the number of the first, ``line`` the place.

    ``changed`` are the numbers of the lines to mark: those that differ from the other side, or, if the sides have
    little in common, the lines of the place itself. ``lines`` are those of the file; long lines are cut.
    """

    side: Side
    file: str
    line: int
    first: int
    lines: tuple[str, ...]
    changed: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Windows:
    """The effects of a change while the versions of CRD and controller differ (design, section 4)."""

    old_crd_new_writer: Effect
    new_crd_old_writer: Effect


@dataclass(frozen=True, slots=True)
class Evidence:
    """The number of recorded objects that a finding affects, and the first of them by name."""

    recorded_objects: int = 0
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IntroducedBy:
    """The commit that introduced a line; ``since`` is the first release that contains it.

    ``commit`` and ``date`` are None if the line is not committed yet, ``since`` is None if no release contains it.
    """

    commit: str | None
    date: str | None
    subject: str
    since: str | None


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The reason why findings are accepted, the owner and the end; ``baseline``: accepted by ``crdcompat baseline``."""

    reason: str
    owner: str = ""
    until: str = ""
    baseline: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding as the report shows it (design, section 7)."""

    id: str
    rule: str
    change: str
    direction: Direction
    effect: Effect
    severity: Severity
    crd: str
    kind: str
    version: str
    contexts: tuple[str, ...]
    path: str
    owner: Owner
    old: Any
    new: Any
    added: tuple[Any, ...]
    removed: tuple[Any, ...]
    message: str
    witness: Witness
    windows: Windows
    locations: tuple[Location, ...]
    status: FindingStatus = FindingStatus.NEW
    introduced_by: IntroducedBy | None = None
    places: tuple[str, ...] = ()
    evidence: Evidence = Evidence()
    waiver: Acceptance | None = None
    ended: str = ""  # where the waiver stands that accepted it once, and when that ended
    excerpts: tuple[Excerpt, ...] = ()  # only gathered for a format that shows them
    versions: str = ""  # what of the versions is in the id: the one it is about, after the one objects are written as

    @property
    def counts(self) -> bool:
        """Whether the finding can fail a run: it is neither waived nor older than the change."""
        return self.waiver is None and self.status == FindingStatus.NEW
