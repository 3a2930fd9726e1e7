"""A finding as reports show it, with its locations, excerpts, evidence and acceptance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from crdcompat.vocabulary import Direction, Effect, FindingStatus, Owner, Severity, Side
from crdcompat.vocabulary.installers import Window, judged_as

if TYPE_CHECKING:
    from crdcompat.compare.witness import Witness
    from crdcompat.vocabulary.growth import GrowthState
    from crdcompat.vocabulary.writes import Spared, WriteKind


class Location(Struct, frozen=True):
    """A place in a file of one side; ``line`` and ``column`` count from 1, None if unknown.

    ``touched``: whether the change that is checked has touched the file; true where there is no such change.
    """

    side: Side
    file: str
    line: int | None = None
    column: int | None = None
    kind: str = "yaml"
    touched: bool = True


class Excerpt(Struct, frozen=True):
    """Some lines of a file around the place of a change: ``first`` is the number of the first, ``line`` the place.

    ``changed`` are the numbers of the lines to mark: those that differ from the other side, or, if the sides have
    little in common, the lines of the place itself. ``lines`` are lines of the file; long ones are cut.
    """

    side: Side
    file: str
    line: int
    first: int
    lines: tuple[str, ...]
    changed: frozenset[int] = frozenset()


class Windows(Struct, frozen=True):
    """The effects of a change while the versions of CRD and controller differ."""

    old_crd_new_writer: Effect
    new_crd_old_writer: Effect


class Evidence(Struct, frozen=True):
    """The number of recorded objects that a finding affects, and the first of them by name.

    ``contexts`` are those of their clusters. ``assumed``: no recording shows them, and in other contexts that the
    clusters may have, the finding does not exist.
    """

    recorded_objects: int = 0
    examples: tuple[str, ...] = ()
    contexts: tuple[str, ...] = ()
    assumed: bool = False


class IntroducedBy(Struct, frozen=True):
    """The commit that introduced a line; ``since`` is the first release that contains it.

    ``commit`` and ``date`` are None if the line is not committed yet, ``since`` is None if no release contains it.
    """

    commit: str | None
    date: str | None
    subject: str
    since: str | None


class Acceptance(Struct, frozen=True):
    """The reason why findings are accepted, the owner and the end; ``baseline``: accepted by ``crdcompat baseline``.

    ``by_change``: the change that has the finding accepts it itself. ``marker``: ``file:line`` of a marker in the Go
    source, "" for an entry of the waiver file.
    """

    reason: str
    owner: str = ""
    until: str = ""
    baseline: bool = False
    by_change: bool = False
    marker: str = ""


class Growth(Struct, frozen=True):
    """A declaration of two-step growth at ``file:line``: the releases that accept and that write the values.

    ``state`` is what follows for a finding, or for recorded objects.
    """

    accepted_from: str
    written_from: str
    reason: str
    owner: str
    file: str
    line: int
    state: GrowthState

    @property
    def place(self) -> str:
        """``file:line``."""
        return f"{self.file}:{self.line}"


class Finding(Struct, frozen=True):
    """One finding as the report shows it (``render/report_schema.yaml`` describes it)."""

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
    growth: Growth | None = None  # what was declared about its values
    ended: str = ""  # the place and the end of the expired waiver
    excerpts: tuple[Excerpt, ...] = ()  # only gathered for a format that shows them
    writes: tuple[WriteKind, ...] | None = None  # the kinds of write of the witness that the reader's server rejects
    spared: Spared | None = None  # the updates that it accepts
    versions: str = ""  # the versions in the id: of written objects, if it is another, and of the finding
    because: tuple[str, ...] = ()  # what decided the severity
    window: Window | None = None  # whose controllers meet whose CRD, for good, because the CRD stays

    @property
    def judged_as(self) -> Direction:
        """The direction whose schemas meet: the direction of the other move, if the CRD stays."""
        return judged_as(self.direction, self.window)

    @property
    def counts(self) -> bool:
        """Whether the finding can fail a run: it is new, some release has what it breaks, and it is not waived."""
        return self.waiver is None and self.status == FindingStatus.NEW
