"""Mark the findings of a check that do not fail it: they existed, or what they break was never released.

A finding existed if the base, or a release after the target, has it too, at each of its places and in each of its
contexts. A value that only a feature set without rollbacks had and that becomes everybody's is new.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from crdcompat.findings.split import FindingSplitter
from crdcompat.findings.waivers import has_values
from crdcompat.models.diff import DiffReport
from crdcompat.models.finding import Finding
from crdcompat.schema.listed_values import member_key
from crdcompat.vocabulary import FindingStatus

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
