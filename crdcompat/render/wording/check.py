"""Sentences on a check: what it edits in its own rules and accepts, the titles of its sections, what to do next."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from crdcompat.models.check import CheckReport, Section
from crdcompat.program import typed
from crdcompat.render.wording.findings import crd_name, fix_line, plural
from crdcompat.render.wording.growth import growth_fix, is_declarable, why_accepted
from crdcompat.render.wording.joined_entries import blocks
from crdcompat.vocabulary import Against, FailOn, Severity
from crdcompat.vocabulary.texts import cut, first_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crdcompat.findings.entries import Entry
    from crdcompat.models.finding import Finding
    from crdcompat.models.report import Report

#: Ids of findings in one command.
_MAX_IDS = 8
_VERSION = re.compile(r"\d\.\d")


def unreleased_reason(count: int = 1) -> str:
    """Why unreleased findings do not fail."""
    breaks, fails = ("it breaks", "it does") if count == 1 else ("they break", "they do")
    return f"no rollback target has what {breaks}, so {fails} not fail"


def next_steps(report: CheckReport, listed: Sequence[Entry], fails: FailOn) -> list[str]:
    """What to do about the worst finding that fails: fix it, accept it, or read more; how to accept the others.

    A declaration of growth counts only in a release that is known.
    """
    failing = blocks(entry for entry in listed if is_failing(entry.finding, fails))
    if not failing:
        return []
    first, others = failing[0].entries, [entry for block in failing[1:] for entry in block.entries]
    declarable = _ids(entry for entry in first if _has_release(report) and any(map(is_declarable, entry.findings)))
    fix = growth_fix(failing[0].finding, declarable) if declarable else fix_line(failing[0].finding)
    lines = [
        f"To fix it: {fix}",
        f"To accept it, then git add the waiver file: {waive_command(_ids(first))}",
    ]
    if others:
        ids = _ids(others)
        how = waive_command(ids) if len(ids) <= _MAX_IDS else f"{typed()} check -v shows the ids"
        lines.append(f"To accept the other {plural(len(others), 'finding')}: {how}")
    return lines


def _has_release(report: CheckReport) -> bool:
    """Whether the base tells a release: by a version in its name, or by the server that it has to run."""
    bases = (each.report.old for each in report.sections if each.against == Against.BASE)
    return any(base.kubernetes is not None or _VERSION.search(base.name) is not None for base in bases)


def _ids(listed: Iterable[Entry]) -> list[str]:
    return [name for entry in listed for name in entry.ids]


def is_failing(finding: Finding, fails: FailOn) -> bool:
    """Whether a finding fails a check. An error is shown as failing even if the exit code is always 0."""
    return finding.counts and finding.severity.at_least(fails.least or Severity.ERROR)


def full_command(report: CheckReport) -> str:
    """The command that shows all of this check: ``crdcompat check --base 249e6f73b4ca``."""
    base = next((each.report.old.commit for each in report.sections if each.against == Against.BASE), None)
    named = (("--base", base), ("--head", report.head.commit))
    return " ".join((f"{typed()} check", *(f"{option} {commit[:12]}" for option, commit in named if commit)))


def waive_command(ids: Sequence[str], report: str = "") -> str:
    """The command that accepts findings; ``report`` is the JSON report that has them, unless a check does."""
    source = f"--report {report} " if report else ""
    return f'{typed()} waive {" ".join(ids)} {source}--reason "…"'


def section_title(section: Section) -> str:
    """``What this change does``, or which rollback target it is compared with."""
    return (
        "What this change does"
        if section.against == Against.BASE
        else f"Against the rollback target {section.report.old.title}"
    )


#: Accepted findings that are listed one by one; a baseline can have thousands.
_MAX_SHOWN = 100
_MAX_REASON = 1000


def trust_lines(report: Report) -> list[str]:
    """What a person has to see before the findings, as plain text; nothing for other reports than a check."""
    if not isinstance(report, CheckReport):
        return []
    accepted = report.accepted_by_change
    if not accepted:
        return list(report.rules)
    counted = Counter(finding.severity for finding in accepted)
    counts = ", ".join(_count(number, severity) for severity in Severity if (number := counted[severity]))
    lines = [*report.rules, f"accepted by this change: {counts}"]
    return [*lines, *first_lines([*map(_line, accepted)], _MAX_SHOWN)]


def _count(number: int, severity: Severity) -> str:
    return f"{number} info" if severity is Severity.INFO else plural(number, severity)


def _line(finding: Finding) -> str:
    assert finding.waiver is not None
    where = f"{crd_name(finding.crd, finding.version)} {finding.path}".strip()
    owner = f" (owner: {cut(finding.waiver.owner, _MAX_REASON)})" if finding.waiver.owner else " (no owner)"
    return (
        f"accepted {finding.severity}[{finding.rule}] {where} ({finding.direction}), {finding.id}: "
        f"{finding.message}. Reason: {cut(why_accepted(finding), _MAX_REASON)}{owner}"
    )
