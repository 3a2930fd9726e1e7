"""The report of check."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, ClassVar, Literal

from msgspec import Struct

from crdcompat.vocabulary import Against, FailOn, Severity

if TYPE_CHECKING:
    from crdcompat.errors import Problem
    from crdcompat.models.diff import DiffReport
    from crdcompat.models.finding import Finding
    from crdcompat.models.report import Release


class Section(Struct, frozen=True):
    """One comparison of a check: the head with its ``base`` (the change itself) or with a rollback ``target``.

    Against a target, findings from before the change have the status ``existing``.
    """

    against: Against
    report: DiffReport


class CheckReport(Struct, frozen=True):
    """The result of ``check``: a section for the base, one for each rollback target.

    ``notes`` list assumptions of the run (the base and its reason, the preset); ``waivers`` list waivers that have
    expired or match nothing. Without sections there was nothing to check, and ``notes`` give the reason.
    """

    KIND: ClassVar[Literal["check"]] = "check"

    head: Release
    sections: tuple[Section, ...]
    notes: tuple[str, ...] = ()
    waivers: tuple[str, ...] = ()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Input that could not be read, each problem once."""
        return tuple(dict.fromkeys(problem for section in self.sections for problem in section.report.problems))

    @property
    def not_compared(self) -> tuple[str, ...]:
        """The CRDs that both sides of a section have and that were not compared, with the reasons."""
        return tuple(sorted({line for section in self.sections for line in section.report.not_compared}))

    @property
    def is_idle(self) -> bool:
        """Whether nothing had to be checked, and the report has nothing else to show."""
        return not self.sections and len(self.notes) <= 1 and not self.waivers

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of all sections, in order; an id may occur in several sections."""
        return tuple(finding for section in self.sections for finding in section.report.findings)

    def by_severity(self) -> dict[Severity, int]:
        """The number of counting findings per severity: of an id that occurs several times, only the worst."""
        worst_last = sorted(self.findings, key=lambda finding: -finding.severity.rank)
        by_id = {finding.id: finding for finding in worst_last if finding.counts}
        counted = Counter(finding.severity for finding in by_id.values())
        return {severity: counted[severity] for severity in Severity}

    def fails(self, threshold: FailOn) -> bool:
        """Whether any section fails at this threshold."""
        return any(section.report.fails(threshold) for section in self.sections)


def sections(report: DiffReport | CheckReport) -> tuple[Section, ...]:
    """The comparisons of a report; a diff is a single section."""
    return report.sections if isinstance(report, CheckReport) else (Section(Against.BASE, report),)
