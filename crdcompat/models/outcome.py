"""The verdict on a move between two releases, by their comparison or by a replay; what the comparison did not judge."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from crdcompat.vocabulary import Severity, Side
from crdcompat.vocabulary.writes import ReleaseVerdict, WriteResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crdcompat.models.diff import DiffReport
    from crdcompat.vocabulary import Direction


def outcome(report: DiffReport, direction: Direction) -> ReleaseVerdict:
    """An error blocks even if something was not judged; without an error, unjudged parts make the verdict unknown."""
    counted = severities(report, direction)
    if counted[Severity.ERROR]:
        return ReleaseVerdict.BLOCKED
    if any(unjudged(report)):
        return ReleaseVerdict.UNKNOWN
    return ReleaseVerdict.AT_RISK if counted[Severity.WARNING] else ReleaseVerdict.CLEAN


def severities(report: DiffReport, direction: Direction) -> Mapping[Severity, int]:
    """The number of counting findings of one direction for every severity."""
    counted = Counter(each.severity for each in report.findings if each.counts and each.direction == direction)
    return {severity: counted[severity] for severity in Severity}


def unjudged(report: DiffReport, missing: str = "") -> Iterator[str]:
    """The reasons why a part of the comparison was not judged; ``missing`` is the reason why nothing was compared."""
    for problem in report.problems:
        release = report.old if problem.side == Side.OLD else report.new
        line = f":{problem.line}" if problem.line else ""
        yield f"{release.name}: {problem.file}{line}: {problem.message}"
    for entry in report.undecided:
        yield f"{entry.crd}/{entry.version} {entry.path}: {entry.keyword}: {entry.reason}"
    yield from report.not_compared
    if report.has_nothing_compared:
        yield missing or report.why_nothing


def verdict_on(verdicts: Mapping[WriteResult, int], *, unjudged: bool) -> ReleaseVerdict:
    """The verdict on a cluster, from the number of its objects per worst verdict.

    ``unjudged``: something was not judged, so that the verdict is ``unknown`` at best.
    """
    if verdicts.get(WriteResult.REJECTED):
        return ReleaseVerdict.BLOCKED
    if unjudged or verdicts.get(WriteResult.UNKNOWN) or not any(verdicts.values()):
        return ReleaseVerdict.UNKNOWN
    return ReleaseVerdict.AT_RISK if verdicts.get(WriteResult.LOSES_DATA) else ReleaseVerdict.CLEAN
