"""What a report of check holds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from crdcompat.vocabulary import Against, FailOn, Severity

if TYPE_CHECKING:
    from crdcompat.errors import Problem
    from crdcompat.models.diff import DiffReport
    from crdcompat.models.finding import Finding
    from crdcompat.models.report import Release


@dataclass(frozen=True, slots=True)
class Section:
    """One comparison of a check: the head with its ``base`` (what the change itself does) or with a ``target``.

    A target is a release that a rollback may go to; there findings that stood before the change are ``existing``.
    """

    against: Against
    report: DiffReport


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The result of ``check``: a section for the base, one for each rollback target.

    ``notes`` say what the run took for granted (which base and why, which preset); ``waivers`` which waivers have
    expired or match nothing. Without sections there was nothing to check, and ``notes`` say why.
    """

    KIND: ClassVar[Literal["check"]] = "check"

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

    def by_severity(self) -> dict[Severity, int]:
        """Counts of findings that count, by id: one change that breaks three targets is one."""
        by_id = {finding.id: finding for finding in self.findings if finding.counts}
        counted = Counter(finding.severity for finding in by_id.values())
        return {severity: counted[severity] for severity in Severity}

    def fails(self, threshold: FailOn) -> bool:
        """Whether any section does."""
        return any(section.report.fails(threshold) for section in self.sections)


def sections(report: DiffReport | CheckReport) -> tuple[Section, ...]:
    """The comparisons of a report: a diff is one section of its own."""
    return report.sections if isinstance(report, CheckReport) else (Section(Against.BASE, report),)
