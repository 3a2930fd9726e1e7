"""The report of diff, and the verdict on it in each direction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from msgspec import Struct

from crdcompat.models.outcome import Judgement, WithVerdict, counted, worst_of
from crdcompat.vocabulary import HIDDEN, Direction, Severity, Side
from crdcompat.vocabulary.texts import some
from crdcompat.vocabulary.writes import ReleaseVerdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from crdcompat.errors import Problem, Skipped
    from crdcompat.models.finding import Excerpt, Finding, Location
    from crdcompat.models.release import Release
    from crdcompat.vocabulary.installers import Installer


class UndecidedEntry(Struct, frozen=True):
    """A difference that no rule covers."""

    crd: str
    version: str
    contexts: tuple[str, ...]
    path: str
    keyword: str
    old: Any
    new: Any
    reason: str
    locations: tuple[Location, ...]
    excerpts: tuple[Excerpt, ...] = ()


#: Files that a sentence names, of those that may belong together.
_MAX_FILES = 4


class UnmatchedCopies(Struct, frozen=True):
    """Files with copies of a CRD: which one of OLD belongs to which one of NEW is not known."""

    crd: str
    old: tuple[str, ...]
    new: tuple[str, ...]


class HarmlessChange(Struct, frozen=True):
    """A change without effect in one direction, and the reason; ``old`` and ``new`` are the values of both sides."""

    crd: str
    version: str
    contexts: tuple[str, ...]
    path: str
    change: str
    direction: Direction
    old: Any
    new: Any
    reason: str


class Counts(Struct, frozen=True):
    """The scope of a comparison.

    ``versions`` are the compared CRDs by name and version (``""``: the sides share no version). ``apart`` are CRDs
    that both sides have, but without a common context: they were not compared. ``unread`` counts files that the
    comparison did not need; no other count includes their CRDs. ``unpaired`` counts the CRDs that were judged because
    only one side ships them in some context. ``unmatched`` are copies that were not compared.
    ``more`` are the sides with further CRDs, in files that were not read.
    """

    old: int
    new: int
    compared: int
    changed: int
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]
    contexts: tuple[str, ...]
    contexts_only_old: tuple[str, ...]
    contexts_only_new: tuple[str, ...]
    text_changes: tuple[str, ...]
    superseded: tuple[tuple[str, str, str], ...] = ()
    versions: tuple[tuple[str, str], ...] = ()
    apart: tuple[str, ...] = ()
    unread: int = 0
    unpaired: int = 0
    unmatched: tuple[UnmatchedCopies, ...] = ()
    more: tuple[Side, ...] = ()


class Unexplained(Struct, frozen=True):
    """A rejection of a recorded object that no finding explains: its name, its recording, the server's error.

    ``redacted`` is the error without values of the object.
    """

    object: str
    source: str
    error: str
    redacted: str = HIDDEN


class PromotedGate(Struct, frozen=True):
    """A feature gate of OpenShift that NEW turns on in these contexts of the feature set Default, and OLD does not.

    ``exposes`` are the places of the findings that are due to it (CRD, version, path), ``location`` is where the source
    declares it.
    """

    gate: str
    contexts: tuple[str, ...]
    exposes: tuple[tuple[str, str, str], ...]
    location: Location | None = None


class DiffReport(WithVerdict, frozen=True):
    """The result of ``diff``: findings, undecided differences, and input that was not read.

    ``directions`` are those that were judged; ``is_filtered``: other filters may have left findings out. ``notes`` say
    what the report hides. ``is_part``: only some CRDs were to be compared, so that either side may lack all of them.
    ``installers`` has the installer of each manifest by its file; nothing if none of them changes the verdict.
    ``harmless`` are the changes without effect.
    """

    KIND: ClassVar[Literal["diff"]] = "diff"

    command: str
    old: Release
    new: Release
    counts: Counts
    findings: tuple[Finding, ...]
    undecided: tuple[UndecidedEntry, ...]
    skipped: tuple[Skipped, ...]
    problems: tuple[Problem, ...]
    remarks: tuple[Problem, ...] = ()
    unexplained: tuple[Unexplained, ...] = ()
    promoted: tuple[PromotedGate, ...] = ()
    directions: tuple[Direction, ...] = tuple(Direction)
    is_filtered: bool = False
    notes: tuple[str, ...] = ()
    is_part: bool = False
    installers: Mapping[str, Installer] = {}
    harmless: tuple[HarmlessChange, ...] = ()

    def by_severity(self) -> dict[Severity, int]:
        """The number of counting findings (new and not waived) for every severity."""
        return counted(Severity, (finding.severity for finding in self.findings if finding.counts))

    @property
    def has_nothing_compared(self) -> bool:
        """Whether no CRD was compared, and the unpaired ones mean nothing: the sides have none in common."""
        counts = self.counts
        alone = counts.unpaired and (self.is_part or not self._is_disjoint)
        return not (counts.compared or self.not_compared or alone)

    def is_empty(self, side: Side) -> bool:
        """Whether a side (OLD or NEW) has no CRD, also none in a file that was not read."""
        count = self.counts.old if side is Side.OLD else self.counts.new
        return not count and side not in self.counts.more

    @property
    def _is_disjoint(self) -> bool:
        return len(self.counts.only_old) == self.counts.old or len(self.counts.only_new) == self.counts.new

    @property
    def not_compared(self) -> tuple[str, ...]:
        """The CRDs that both sides have and that were not compared, or not in all copies, each with the reason."""
        alone = zip(self.counts.contexts_only_old[:1], self.counts.contexts_only_new[:1], strict=False)
        hint = "".join(f" (--context {old}={new} compares two)" for old, new in alone)
        apart = (f"{name}: no context has it on both sides{hint}" for name in self.counts.apart)
        unmatched = (
            f"{item.crd}: its copies differ, and nothing says which belong together: "
            f"{some(item.old, _MAX_FILES)} in {self.old.name}, {some(item.new, _MAX_FILES)} in {self.new.name} "
            "(`exclude` in the configuration omits some)"
            for item in self.counts.unmatched
        )
        return (*apart, *unmatched)

    @property
    def why_nothing(self) -> str:
        """The reason why no CRD was compared; meaningful only if none was."""
        sizes = (self.old, self.counts.old), (self.new, self.counts.new)
        empty = [side.name for side, count in sizes if not count]
        if empty:
            return f"no CRD in {' or '.join(empty)}"
        if self._is_disjoint:
            return f"{self.old.name} and {self.new.name} have no CRD in common"
        return "none of the CRDs that both sides have was to be compared"

    @property
    def judgement(self) -> Judgement:
        """What decides the verdict, over all directions."""
        return judged(self)


def judged(report: DiffReport, directions: Sequence[Direction] = tuple(Direction)) -> Judgement:
    """The judgement on a comparison in these directions."""
    counting = (each.severity for each in report.findings if each.counts and each.direction in directions)
    undone = bool(report.problems or report.not_compared) or report.has_nothing_compared
    return Judgement(worst_of(counting), any(unjudged(report)), undone)


def outcome(report: DiffReport, direction: Direction) -> ReleaseVerdict:
    """The verdict on a comparison in one direction."""
    return judged(report, (direction,)).verdict


def severities(report: DiffReport, direction: Direction) -> Mapping[Severity, int]:
    """The number of counting findings of one direction for every severity."""
    counting = (each.severity for each in report.findings if each.counts and each.direction == direction)
    return counted(Severity, counting)


def unjudged(report: DiffReport, missing: str = "") -> Iterator[str]:
    """The reasons why a part of the comparison was not judged; ``missing`` is the reason why nothing was compared."""
    yield from unjudged_parts(report)
    if report.has_nothing_compared:
        yield missing or report.why_nothing


def unjudged_parts(report: DiffReport) -> Iterator[str]:
    """The reasons why a part of the comparison was not judged, except that nothing was compared."""
    for problem in report.problems:
        release = report.old if problem.side == Side.OLD else report.new
        line = f":{problem.line}" if problem.line else ""
        yield f"{release.name}: {problem.file}{line}: {problem.message}"
    for entry in report.undecided:
        yield f"{entry.crd}/{entry.version} {entry.path}: {entry.keyword}: {entry.reason}"
    yield from report.not_compared
