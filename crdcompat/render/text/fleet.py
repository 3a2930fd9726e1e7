"""A report on many clusters as lines of text: verdicts by target, what blocks, what was not judged, the clusters."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from crdcompat.render.wording.findings import plural, problem_line
from crdcompat.render.wording.fleet import (
    cluster_sentence,
    cluster_sentences,
    finding_places,
    finding_sentences,
    fleet_notes,
    fleet_title,
    fleet_verdict,
    folded_findings,
    unjudged_sentence,
)
from crdcompat.render.wording.verdict import with_verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crdcompat.models.fleet import FleetReport
    from crdcompat.render.escape import Style

_T = TypeVar("_T")

_MOST = 20


def fleet_text(report: FleetReport, style: Style) -> Iterator[str]:
    """All lines of the report, then the verdict; a long report begins with it, too."""
    yield from with_verdict([*_body(report, style)], [*fleet_verdict(report, style)], style)


def _body(report: FleetReport, style: Style) -> Iterator[str]:
    yield style.title(fleet_title(report))
    for note in fleet_notes(report) if style.verbosity >= 0 else ():
        yield style.wrap(f"note: {note}", indent="    ", first="  ")
    for problem in _some(report.problems, style):
        yield problem_line(problem, style)
    yield from _rest(len(report.problems), "problem", style)
    for unread in report.unread:
        line = f"{style.paint('not read', 'error')} {unread.recording}: {unread.reason}"
        yield style.wrap(line, indent="  ", first="")
    if report.findings:
        yield from ("", style.paint("What blocks, by field", "bold"))
        each = [("", [finding]) for finding in report.findings]
        folded = each if style.verbosity > 0 else folded_findings(report)
        for path, (finding, *_) in _some(folded, style):
            for number, line in enumerate(finding_sentences(finding, report, path)):
                yield style.wrap(line, indent="      ", first="    " if number else "  ")
        yield from _rest(len(folded), "finding", style)
    if report.unjudged and style.verbosity >= 0:
        yield from ("", style.paint("What was not judged", "bold"))
        for item in _some(report.unjudged, style):
            yield style.wrap(unjudged_sentence(item, report), indent="    ", first="  ")
        yield from _rest(len(report.unjudged), "reason", style)
    if style.verbosity >= 0:
        yield from ("", style.paint("Clusters, worst first", "bold"))
        places = finding_places(report)
        worst = report.clusters.worst_first()
        one_by_one = (cluster_sentence(cluster, places) for cluster in worst)
        for sentence in one_by_one if style.verbosity > 0 else cluster_sentences(islice(worst, _MOST), places):
            yield style.wrap(sentence, indent="    ", first="  ")
        yield from _rest(len(report.clusters), "cluster", style)


def _some(items: Sequence[_T], style: Style) -> Sequence[_T]:
    return items if style.verbosity > 0 else items[:_MOST]


def _rest(count: int, what: str, style: Style) -> Iterator[str]:
    if style.verbosity <= 0 and count > _MOST:
        yield f"  and {plural(count - _MOST, f'more {what}')} (-v shows all)"
