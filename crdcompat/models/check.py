"""The report of check."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Literal

from msgspec import Struct

from crdcompat.models.diff import judged, unjudged_parts
from crdcompat.models.outcome import Judgement, WithVerdict, counted, worst_of
from crdcompat.vocabulary import Against, Severity, Side

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.errors import Problem
    from crdcompat.models.diff import DiffReport
    from crdcompat.models.finding import Finding
    from crdcompat.models.release import Release


class Section(Struct, frozen=True):
    """One comparison of a check: the head with its ``base`` (the change itself) or with a rollback ``target``.

    Against a target, findings from before the change have the status ``existing``. A target that ``may_be_empty`` is
    one that nobody named: the program found it, and a release from before the first CRD says nothing.
    """

    against: Against
    report: DiffReport
    may_be_empty: bool = False


class Outcome(StrEnum):
    """What became of a changed file that may hold a CRD."""

    JUDGED = "judged"
    NO_CRD = "no-crd"
    NOT_JUDGED = "not-judged"


class ChangedFile(Struct, frozen=True):
    """A changed file that may hold a CRD, and what became of it; ``reason`` says why it was not judged."""

    file: str
    outcome: Outcome
    reason: str = ""


class CheckReport(WithVerdict, frozen=True):
    """The result of ``check``: a section for the base, one for each rollback target.

    ``notes`` list assumptions of the run (the base and its reason, the preset); ``waivers`` list waivers that have
    expired or match nothing. Without sections there was nothing to check, and ``notes`` give the reason. ``unseen`` are
    the reasons why an effect of the change on CRDs may not be seen. ``rules`` say what the change edits in the rules of
    its own check. ``files`` are the changed files that may hold a CRD.
    """

    KIND: ClassVar[Literal["check"]] = "check"

    head: Release
    sections: tuple[Section, ...]
    notes: tuple[str, ...] = ()
    waivers: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    files: tuple[ChangedFile, ...] = ()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Input that could not be read, each problem once."""
        return tuple(dict.fromkeys(problem for section in self.sections for problem in section.report.problems))

    @property
    def not_compared(self) -> tuple[str, ...]:
        """The CRDs that both sides of a section have and that were not compared, with the reasons."""
        return tuple(sorted({line for section in self.sections for line in section.report.not_compared}))

    @property
    def unjudged(self) -> tuple[str, ...]:
        """The reasons why a part of the change was not judged, each once."""
        before = next((each.report for each in self.sections if each.against == Against.BASE), None)
        is_first = before is not None and before.is_empty(Side.OLD)
        reasons = (reason for section in self.sections for reason in _unjudged(section, is_first=is_first))
        return tuple(dict.fromkeys((*self.unseen, *reasons)))

    @property
    def has_nothing(self) -> bool:
        """Whether nothing had to be checked."""
        return not self.sections and not self.unseen

    @property
    def is_idle(self) -> bool:
        """Whether nothing had to be checked, and the report has nothing else to show."""
        return self.has_nothing and len(self.notes) <= 1 and not self.waivers and not self.rules

    @property
    def accepted_by_change(self) -> tuple[Finding, ...]:
        """The findings that the change itself accepts, each id once, the worst first."""
        own = (finding for finding in self.findings if finding.waiver is not None and finding.waiver.by_change)
        return tuple({finding.id: finding for finding in sorted(own, key=lambda each: each.severity.rank)}.values())

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of all sections, in order; an id may occur in several sections."""
        return tuple(finding for section in self.sections for finding in section.report.findings)

    def by_severity(self) -> dict[Severity, int]:
        """The number of counting findings per severity: of an id that occurs several times, only the worst."""
        worst_last = sorted(self.findings, key=lambda finding: -finding.severity.rank)
        by_id = {finding.id: finding for finding in worst_last if finding.counts}
        return counted(Severity, (finding.severity for finding in by_id.values()))

    @property
    def judgement(self) -> Judgement:
        """What decides the verdict on the change."""
        worst = worst_of(judged(section.report).worst for section in self.sections)
        return Judgement(worst, bool(self.unjudged), bool(self.problems or self.not_compared))


def _unjudged(section: Section, *, is_first: bool) -> Iterator[str]:
    """The reasons why a part of a section was not judged. ``is_first``: the change adds the first CRDs of its branch.

    A change that leaves no CRD leaves nothing to judge: the CRDs may be gone, or where nobody looks for them. A target
    without CRDs is mostly the wrong one; it is not where the base has none either, or nobody named the target.
    """
    report = section.report
    yield from unjudged_parts(report)
    if report.is_empty(Side.NEW):
        yield f"{report.new.title} leaves no CRD, or only where none is looked for (vendor/, `include`, `exclude`)"
    elif section.against == Against.TARGET and report.is_empty(Side.OLD) and not (is_first or section.may_be_empty):
        yield f"no CRD in {report.old.title}"


def sections(report: DiffReport | CheckReport) -> tuple[Section, ...]:
    """The comparisons of a report; a diff is a single section."""
    return report.sections if isinstance(report, CheckReport) else (Section(Against.BASE, report),)
