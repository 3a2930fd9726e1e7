"""Mark the findings of a change that no rollback target meets: what they break was never released.

A value or field that entered after the last release has no cluster to roll back to. Where rollback targets are
compared, they decide; without targets the base is all there is, and its findings count.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from crdcompat.compare.refused import REFUSED
from crdcompat.compare.refused_by import REFUSED_BY
from crdcompat.features.diff.stricter import REFUSES_ALL, STRICTER
from crdcompat.models.diff import DiffReport
from crdcompat.models.finding import Finding
from crdcompat.schema.listed_values import member_key
from crdcompat.vocabulary import Direction, FindingStatus

#: Changes that concern the new CRD alone: such a CRD fails on any cluster, whatever ran before.
_OF_NEW_ALONE = (REFUSED, REFUSED_BY, STRICTER, REFUSES_ALL)
_Place = tuple[str, ...]


def mark_unreleased(report: DiffReport, targets: Sequence[DiffReport]) -> DiffReport:
    """The report of base and head; its findings without a counterpart in ``targets`` are marked as unreleased."""
    if not targets:
        return report
    met: dict[_Place, list[Finding]] = {}
    for finding in (each for target in targets for each in target.findings if each.status != FindingStatus.EXISTING):
        for place in _places(finding):
            met.setdefault(place, []).append(finding)
    findings = (
        finding if _is_met(finding, met) else replace(finding, status=FindingStatus.UNRELEASED)
        for finding in report.findings
    )
    return replace(report, findings=tuple(findings))


def _is_met(finding: Finding, met: dict[_Place, list[Finding]]) -> bool:
    if finding.change in _OF_NEW_ALONE and finding.direction == Direction.UPGRADE:
        return True
    values, is_of_lack = _values(finding), _is_of_lack(finding)
    there = (other for place in _places(finding) for other in met.get(place, ()) if _is_of_lack(other) == is_of_lack)
    return any(not values or not (theirs := _values(other)) or values & theirs for other in there)


def _places(finding: Finding) -> list[_Place]:
    """The CRD, direction and path of each copy; another rule can say the same of another release."""
    return [(finding.crd, finding.direction, path) for path in (finding.path, *finding.places)]


def _is_of_lack(finding: Finding) -> bool:
    """Whether the finding is about objects that lack the field; other findings at its path are about its values."""
    return finding.change.startswith("required.")


def _values(finding: Finding) -> set[object]:
    return {member_key(value) for value in (*finding.added, *finding.removed)}
