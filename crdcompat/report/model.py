"""What a report holds: plain values that every format reads and none changes (design, section 7)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from crdcompat.policy.severity import SEVERITIES, at_least

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crdcompat.policy.findings import Excerpt, Finding, Location
    from crdcompat.problems import Problem, Skipped

FORMAT = "1"


@dataclass(frozen=True, slots=True)
class Release:
    """One side: the name the user gave, the commit it stands for, the Kubernetes minor its name tells."""

    name: str
    commit: str | None
    kubernetes: str | None
    notes: tuple[str, ...] = ()


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
class DiffReport:
    """The result of ``diff``: findings, what is undecided, and what was not read."""

    command: str
    old: Release
    new: Release
    counts: Counts
    findings: tuple[Finding, ...]
    undecided: tuple[UndecidedEntry, ...]
    skipped: tuple[Skipped, ...]
    problems: tuple[Problem, ...]
    remarks: tuple[Problem, ...] = ()
    unexplained: tuple[dict[str, str], ...] = ()

    def by_severity(self) -> dict[str, int]:
        """Counts of findings that count (new and not waived), every severity named."""
        counted = Counter(finding.severity for finding in self.findings if finding.counts)
        return {severity: counted[severity] for severity in SEVERITIES}

    def fails(self, threshold: str) -> bool:
        """Whether something at or above ``--fail-on`` stands; ``never`` and ``undecided`` are thresholds too."""
        if threshold == "never":
            return False
        if threshold == "undecided":
            return bool(self.undecided) or self.fails("info")
        return any(at_least(finding.severity, threshold) for finding in self.findings if finding.counts)


#: What a section of a check compares the head with.
BASE, TARGET = "base", "target"


@dataclass(frozen=True, slots=True)
class Section:
    """One comparison of a check: the head with its ``base`` (what the change itself does) or with a ``target``.

    A target is a release that a rollback may go to; there findings that stood before the change are ``existing``.
    """

    against: str
    report: DiffReport


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The result of ``check``: a section for the base, one for each rollback target.

    ``notes`` say what the run took for granted (which base and why, which preset); ``waivers`` which waivers have
    expired or match nothing. Without sections there was nothing to check, and ``notes`` say why.
    """

    head: Release
    sections: tuple[Section, ...]
    notes: tuple[str, ...] = ()
    waivers: tuple[str, ...] = ()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read, each once."""
        return tuple(dict.fromkeys(problem for section in self.sections for problem in section.report.problems))

    @property
    def is_idle(self) -> bool:
        """Whether nothing had to be checked, and nothing else is to be said."""
        return not self.sections and len(self.notes) <= 1 and not self.waivers

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of all sections, in order; the same id may stand in several."""
        return tuple(finding for section in self.sections for finding in section.report.findings)

    def by_severity(self) -> dict[str, int]:
        """Counts of findings that count, by id: one change that breaks three targets is one."""
        by_id = {finding.id: finding for finding in self.findings if finding.counts}
        counted = Counter(finding.severity for finding in by_id.values())
        return {severity: counted[severity] for severity in SEVERITIES}

    def fails(self, threshold: str) -> bool:
        """Whether any section does."""
        return any(section.report.fails(threshold) for section in self.sections)


@dataclass(frozen=True, slots=True)
class WriteVerdict:
    """One kind of write of one object: accepted, rejected, loses-data or unknown."""

    verdict: str
    errors: tuple[dict[str, Any], ...] = ()
    message: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class SimulatedObject:
    """One recorded object replayed: every kind of write, and what would repair it."""

    api_version: str
    kind: str
    namespace: str
    name: str
    source: str
    crd: str
    version: str
    writes: dict[str, WriteVerdict]
    repair: dict[str, Any]
    pruned: tuple[str, ...]
    defaulted: tuple[str, ...]

    @property
    def label(self) -> str:
        """``ClusterVersion/version`` or ``Machine/namespace/name``."""
        return "/".join(part for part in (self.kind, self.namespace, self.name) if part)

    @property
    def worst(self) -> str:
        """The worst verdict over all writes."""
        return worst_verdict(write.verdict for write in self.writes.values())


#: Worst first.
VERDICTS = ("rejected", "unknown", "loses-data", "accepted")


def worst_verdict(verdicts: Iterable[str]) -> str:
    """The worst of the verdicts on an object's writes."""
    return min(verdicts, key=VERDICTS.index, default="accepted")


@dataclass(frozen=True, slots=True)
class RejectedCause:
    """What recorded objects of one kind hold at one path that the judging release rejects.

    ``objects`` of ``total`` hold it; ``endpoint`` is where a write can take it out (``main`` or ``status``),
    ``location`` the line of the judging release's CRD that would have to be widened.
    """

    crd: str
    kind: str
    path: str
    type: str
    values: tuple[Any, ...]
    objects: int
    total: int
    endpoint: str
    location: Location | None
    example: str


@dataclass(frozen=True, slots=True)
class NotSimulated:
    """A recorded object (or file) that could not be replayed, and why.

    ``crd`` is the CRD of its kind, where one is known. ``outside``: neither release defines its kind, so neither has
    a say in it. ``problem`` is what is wrong with the input, where that is why.
    """

    object: str
    source: str
    reason: str
    crd: str = ""
    outside: bool = False
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class SimulationReport:
    """The result of ``simulate``."""

    old: Release
    new: Release
    direction: str
    objects: tuple[SimulatedObject, ...]
    not_simulated: tuple[NotSimulated, ...]
    skipped: tuple[Skipped, ...]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...] = field(default=())
    causes: tuple[RejectedCause, ...] = field(default=())

    def by_verdict(self) -> dict[str, int]:
        """Objects by their worst verdict."""
        counted = Counter(item.worst for item in self.objects)
        return {verdict: counted[verdict] for verdict in VERDICTS}

    def fails(self, threshold: str) -> bool:
        """Any rejected write fails; ``warning`` and lower count lost data and unknown verdicts too."""
        counted = self.by_verdict()
        if threshold == "never":
            return False
        failing = ["rejected"]
        if threshold in ("warning", "info", "undecided"):
            failing.append("unknown")
        if threshold in ("warning", "info"):
            failing.append("loses-data")
        return any(counted[verdict] for verdict in failing) or (threshold == "undecided" and bool(self.not_simulated))


Report = DiffReport | SimulationReport | CheckReport


def sections(report: DiffReport | CheckReport) -> tuple[Section, ...]:
    """The comparisons of a report: a diff is one section of its own."""
    return report.sections if isinstance(report, CheckReport) else (Section(BASE, report),)


def sorted_skips(*sides: Iterable[Skipped]) -> tuple[Skipped, ...]:
    """The skipped files of all sides, each once."""
    return tuple(sorted({item for side in sides for item in side}))
