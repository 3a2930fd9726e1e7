"""A report on many clusters as lines of text: verdicts by target, what blocks, what was not judged, the clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from crdcompat.render.wording.findings import plural, problem_line
from crdcompat.render.wording.fleet import (
    cluster_sentence,
    coverage,
    farthest_last,
    finding_sentences,
    fleet_notes,
    fleet_title,
    how_far,
    unjudged_sentence,
    verdict_tally,
)
from crdcompat.vocabulary.writes import ReleaseVerdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crdcompat.models.fleet import FleetReport
    from crdcompat.render.escape import Style

_T = TypeVar("_T")

_MOST = 20
_COLOURS = {ReleaseVerdict.BLOCKED: "error", ReleaseVerdict.UNKNOWN: "warning", ReleaseVerdict.AT_RISK: "info"}


def fleet_text(report: FleetReport, style: Style) -> Iterator[str]:
    """All lines of the report."""
    yield style.paint(fleet_title(report), "bold")
    for note in fleet_notes(report):
        yield f"  note: {note}"
    for problem in _some(report.problems, style):
        yield problem_line(problem, style)
    yield from _rest(len(report.problems), "problem", style)
    for unread in report.unread:
        yield f"{style.paint('not read', 'error')} {unread.recording}: {unread.reason}"
    yield ""
    yield style.paint(how_far(report), "bold")
    for release in report.targets:
        counted = report.by_verdict(release.name)
        colour = next((_COLOURS.get(verdict, "good") for verdict, count in counted.items() if count), "good")
        server = f" (Kubernetes {release.kubernetes})" if release.kubernetes else ""
        yield f"  {release.name}{server}: {style.paint(verdict_tally(counted), colour)}"
    if report.findings:
        yield from ("", style.paint("What blocks, by field", "bold"))
        for finding in _some(report.findings, style):
            for number, line in enumerate(finding_sentences(finding, report)):
                yield style.wrap(line, indent="      ", first="    " if number else "  ")
        yield from _rest(len(report.findings), "finding", style)
    if report.unjudged and style.verbosity >= 0:
        yield from ("", style.paint("What was not judged", "bold"))
        for item in _some(report.unjudged, style):
            yield style.wrap(unjudged_sentence(item, report), indent="    ", first="  ")
        yield from _rest(len(report.unjudged), "reason", style)
    if style.verbosity >= 0:
        yield from ("", style.paint("Clusters", "bold"))
        for cluster in _some(farthest_last(report), style):
            yield style.wrap(cluster_sentence(cluster, report), indent="    ", first="  ")
        yield from _rest(len(report.clusters), "cluster", style)
    yield ""
    yield coverage(report)


def _some(items: Sequence[_T], style: Style) -> Sequence[_T]:
    return items if style.verbosity > 0 else items[:_MOST]


def _rest(count: int, what: str, style: Style) -> Iterator[str]:
    if style.verbosity <= 0 and count > _MOST:
        yield f"  and {plural(count - _MOST, f'more {what}')} (-v shows all)"
