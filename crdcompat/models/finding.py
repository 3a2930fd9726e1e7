"""A finding as reports show it, and what belongs to it: places, excerpts, evidence, acceptance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crdcompat.vocabulary import Direction, Effect, FindingStatus, Owner, Severity, Side

if TYPE_CHECKING:
    from crdcompat.compare.witness import Witness


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a file of one side; ``line`` and ``column`` count from 1, None where unknown."""

    side: Side
    file: str
    line: int | None = None
    column: int | None = None
    kind: str = "yaml"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Some lines of a file around the place of a change: ``first`` is the number of the first, ``line`` the place.

    ``changed`` are the numbers of the lines to mark: those that differ from the other side, or, where the sides have
    little in common, what stands at the place. ``lines`` are the file's, long ones cut.
    """

    side: Side
    file: str
    line: int
    first: int
    lines: tuple[str, ...]
    changed: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Windows:
    """What the change does while the versions of CRD and controller are mixed (design, section 4)."""

    old_crd_new_writer: Effect
    new_crd_old_writer: Effect


@dataclass(frozen=True, slots=True)
class Evidence:
    """How many recorded objects meet a finding, and the first of them by name."""

    recorded_objects: int = 0
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IntroducedBy:
    """The commit that brought a line; ``since`` is the first release that has it.

    ``commit`` and ``date`` are None where the line is not committed yet, ``since`` where no release has it.
    """

    commit: str | None
    date: str | None
    subject: str
    since: str | None


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Why findings are accepted, by whom, until when; ``baseline``: with everything that stood at the time."""

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
        """Whether it may fail a run: neither waived nor there before the change."""
        return self.waiver is None and self.status == FindingStatus.NEW
