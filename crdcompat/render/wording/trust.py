"""Sentences that stand first in a check: what the change edits in the rules of its own check, and what it accepts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from crdcompat.models.check import CheckReport
from crdcompat.render.wording.findings import crd_name, plural
from crdcompat.render.wording.growth import why_accepted
from crdcompat.vocabulary import Severity
from crdcompat.vocabulary.texts import cut

if TYPE_CHECKING:
    from crdcompat.models.finding import Finding
    from crdcompat.models.reports import Report

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
    lines += [_line(finding) for finding in accepted[:_MAX_SHOWN]]
    return [*lines, *([f"and {len(accepted) - _MAX_SHOWN} more"] if len(accepted) > _MAX_SHOWN else [])]


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
