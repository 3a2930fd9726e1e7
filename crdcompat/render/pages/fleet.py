"""Many clusters as a page: verdicts by target, what blocks most, what was not judged, and the clusters."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from crdcompat.render.pages.blocks import Answer, Block, Blocked, Fold, Line, Listing, Notes, Page, Section
from crdcompat.render.wording.findings import plural
from crdcompat.render.wording.fleet import (
    cluster_sentence,
    cluster_sentences,
    coverage,
    finding_places,
    finding_sentences,
    fleet_notes,
    fleet_title,
    folded_findings,
    reaction,
    unjudged_sentence,
)
from crdcompat.render.wording.verdict import allowed_line
from crdcompat.vocabulary import Direction
from crdcompat.vocabulary.writes import ReleaseVerdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.models.fleet import FleetReport
    from crdcompat.render.escape import Style

_MOST = 20


def page(report: FleetReport, style: Style) -> Page:
    """The page; a quiet one has what blocks and what could not be read."""
    return Page(
        command="simulate",
        title=(title := fleet_title(report)),
        heading=title,
        answers=tuple(_answers(report)),
        head=(
            Line(coverage(report), depth=0, fold=Fold.ALWAYS),
            *(Line(each, depth=0) for each in allowed_line(style)),
        ),
        problems=report.problems,
        body=tuple(_body(report, style)),
        is_last=True,
    )


def _answers(report: FleetReport) -> Iterator[Answer]:
    """The verdicts for each target; the last one has what blocks most clusters."""
    origin = report.new.title if report.direction == Direction.ROLLBACK else report.old.title
    total = plural(len(report.clusters), "cluster")
    found = ((path or "the object", first) for path, (first, *_) in folded_findings(report))
    blocked = tuple(Blocked(each.kind, path, reaction(each, total)) for path, each in found)
    for release in report.targets:
        counted = {verdict: count for verdict, count in report.by_verdict(release.name).items() if count}
        worst, *_ = (*counted, ReleaseVerdict.UNKNOWN)
        shares = ", ".join(f"{verdict.upper()} for {count}" for verdict, count in counted.items())
        word = f"{shares or 'UNKNOWN for all'} of {total}"
        yield Answer(
            f"{origin} -> {release.name}", worst, word, blocked=blocked if release is report.targets[-1] else ()
        )


def _body(report: FleetReport, style: Style) -> Iterator[Block]:
    is_quiet, is_full = style.verbosity < 0, style.verbosity > 0
    if not is_quiet:
        yield Notes(fleet_notes(report), depth=1, hang=1)
    for each in report.unread:
        yield Line(f"not read {each.recording}: {each.reason}", part="not read", tone="error", depth=0)
    if report.findings:
        each_alone = [("", [finding]) for finding in report.findings]
        folded = each_alone if is_full else folded_findings(report)
        entries = (_entry(*finding_sentences(first, report, path)) for path, (first, *_) in folded)
        yield Section("What blocks, by field", (Listing(tuple(entries), _MOST),), anchor="blocking")
    if report.unjudged and not is_quiet:
        unjudged = tuple(Line(unjudged_sentence(item, report)) for item in report.unjudged)
        yield Section("What was not judged", (Listing(unjudged, _MOST),), anchor="unjudged")
    if not is_quiet:
        yield Section("Clusters, worst first", (_clusters(report, is_full=is_full),), anchor="clusters")


def _entry(first: str, *others: str) -> Line:
    return Line(first, hang=2, below=tuple(Line(other, depth=2) for other in others))


def _clusters(report: FleetReport, *, is_full: bool) -> Listing:
    """A line for each cluster, or for the worst clusters with the same answers."""
    places, worst = finding_places(report), report.clusters.worst_first()
    if is_full:
        return Listing(tuple(Line(cluster_sentence(cluster, places)) for cluster in worst))
    sentences = cluster_sentences(islice(worst, _MOST), places)
    return Listing(tuple(map(Line, sentences)), rest=max(len(report.clusters) - _MOST, 0))
