"""What a report of diff holds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from crdcompat.vocabulary import FailOn, Severity

if TYPE_CHECKING:
    from crdcompat.errors import Problem, Skipped
    from crdcompat.models.finding import Excerpt, Finding, Location
    from crdcompat.models.report import Release


@dataclass(frozen=True, slots=True)
class UndecidedEntry:
    """A difference that nothing in the program understands."""

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


@dataclass(frozen=True, slots=True)
class Counts:
    """How much was looked at; ``versions`` are the CRDs compared, by name and version (``""``: none is shared).

    ``apart`` are CRDs that both sides have, but in no context of both: they were not compared.
    ``unread`` counts the files that every side has alike and nothing needed: what is in them is in no other count.
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
    harmless: int
    superseded: tuple[tuple[str, str, str], ...] = ()
    versions: tuple[tuple[str, str], ...] = ()
    apart: tuple[str, ...] = ()
    unread: int = 0


@dataclass(frozen=True, slots=True)
class Unexplained:
    """A rejection of a recorded object that no finding explains: its name, its recording, the server's sentence."""

    object: str
    source: str
    error: str


@dataclass(frozen=True, slots=True)
class DiffReport:
    """The result of ``diff``: findings, what is undecided, and what was not read."""

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

    def by_severity(self) -> dict[Severity, int]:
        """Counts of findings that count (new and not waived), every severity named."""
        counted = Counter(finding.severity for finding in self.findings if finding.counts)
        return {severity: counted[severity] for severity in Severity}

    @property
    def why_nothing(self) -> str:
        """Why no CRD was compared, where none was."""
        sizes = (self.old, self.counts.old), (self.new, self.counts.new)
        empty = [side.name for side, count in sizes if not count]
        if empty:
            return f"no CRD in {' or '.join(empty)}"
        return f"{self.old.name} and {self.new.name} have no CRD in common"

    def fails(self, threshold: FailOn) -> bool:
        """Whether something at or above ``--fail-on`` stands; ``never`` and ``undecided`` are thresholds too."""
        if threshold == FailOn.NEVER:
            return False
        if threshold == FailOn.UNDECIDED:
            return bool(self.undecided) or self.fails(FailOn.INFO)
        return any(finding.severity.at_least(Severity(threshold)) for finding in self.findings if finding.counts)
