"""Mark the findings of a check that do not fail it: they existed, or what they break was never released.

A finding existed if the base, or a release after the target, has it too, at each of its places and in each of its
contexts. A value that only a feature set without rollbacks had and that becomes everybody's is new.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from crdcompat.compare.refused import REFUSED
from crdcompat.compare.refused_by import REFUSED_BY
from crdcompat.features.diff.stricter import REFUSES_ALL, STRICTER
from crdcompat.findings.split import FindingSplitter
from crdcompat.findings.waivers import has_values
from crdcompat.models.diff import DiffReport
from crdcompat.models.finding import Finding
from crdcompat.schema.enums import member_key
from crdcompat.vocabulary import Direction, FindingStatus

#: CRD, version, rule, direction, path, context.
_Occurrence = tuple[str, ...]


def mark_existing(report: DiffReport, of_earlier: DiffReport, splitter: FindingSplitter) -> DiffReport:
    """The report of head and target; findings that ``of_earlier`` (target and base, say) has, too, are existing.

    A finding of which only some values existed becomes two.
    """
    known: dict[_Occurrence, list[Finding]] = {}
    for finding in of_earlier.findings:
        for occurrence in _occurrences(finding):
            known.setdefault(occurrence, []).append(finding)
    made = [
        part
        for finding in report.findings
        for part in _marked(finding, [known.get(occurrence, []) for occurrence in _occurrences(finding)], splitter)
    ]
    return replace(report, findings=tuple(made))


def _marked(finding: Finding, earlier: list[list[Finding]], splitter: FindingSplitter) -> Iterator[Finding]:
    """The finding, or its two parts. ``earlier`` are the base's findings, for each occurrence of this one."""
    if has_values(finding):
        values = [{member_key(v) for each in there for v in (*each.added, *each.removed)} for there in earlier]
        common = [v for v in (*finding.added, *finding.removed) if all(member_key(v) in each for each in values)]
        existing, fresh = splitter.split(finding, common)
        if existing is not None:
            yield replace(existing, status=FindingStatus.EXISTING)
        if fresh is not None:
            yield fresh
    else:
        sides = finding.old, finding.new
        is_same = all(any((each.old, each.new) == sides for each in there) for there in earlier)
        yield replace(finding, status=FindingStatus.EXISTING) if is_same else finding


def _occurrences(finding: Finding) -> Iterator[_Occurrence]:
    """One for each place of the finding in each of its contexts."""
    about = finding.crd, finding.version, finding.rule, finding.direction
    paths = (finding.path, *finding.places)
    return ((*about, path, context) for path in paths for context in finding.contexts)


# Mark the findings of a change that no rollback target meets: what they break was never released.
#
# A value or field that entered after the last release has no cluster to roll back to. Where rollback targets are
# compared, they decide; without targets the base is all there is, and its findings count.


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
