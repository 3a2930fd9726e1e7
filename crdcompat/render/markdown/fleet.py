"""The parts of a report on many clusters as GitHub Markdown: what blocks first, then the clusters, to unfold."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from crdcompat.render.escape import escape_text
from crdcompat.render.markdown.markup import block, bullets, code, details, span, unread
from crdcompat.render.wording.findings import plural
from crdcompat.render.wording.fleet import (
    cluster_sentence,
    finding_places,
    finding_sentences,
    fleet_notes,
    fleet_title,
    how_far,
    unjudged_sentence,
    verdict_tally,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.models.fleet import FleetReport

_MAX_TARGETS = 20
_CLUSTERS_IN_ONE = 15


def fleet_head(report: FleetReport) -> Iterator[str]:
    """The replay, its verdicts by target, and recordings that could not be read."""
    yield f"## crdcompat: {plural(len(report.clusters), 'cluster')}, {plural(len(report.unread), 'recording')} not read"
    yield span(fleet_title(report))
    lines = [f"- {span(target.name)}: {verdict_tally(report.by_verdict(target.name))}" for target in report.targets]
    yield f"**{how_far(report)}:**\n\n" + "\n".join(lines[:_MAX_TARGETS])
    yield from unread(report.problems, [f"{each.recording}: {each.reason}" for each in report.unread])


def fleet_entries(report: FleetReport) -> Iterator[tuple[str, int]]:
    """Parts that may be left out, each with the number of findings or clusters in it."""
    for finding in report.findings:
        lines = "\n".join(escape_text(line) for line in finding_sentences(finding, report))
        held = f"{finding.clusters} of {plural(len(report.clusters), 'cluster')}"
        yield details(f"{held}: {code(f'{finding.crd} {finding.path}')}", block(lines)), 1
    clusters, places = report.clusters.worst_first(), finding_places(report)
    for start in range(0, len(report.clusters), _CLUSTERS_IN_ONE):
        some = [escape_text(cluster_sentence(cluster, places)) for cluster in islice(clusters, _CLUSTERS_IN_ONE)]
        title = f"clusters {start + 1} to {start + len(some)}, those first that go least far"
        yield details(title, block("\n".join(some))), len(some)


def fleet_tail(report: FleetReport) -> Iterator[str]:
    """Reasons why objects were not judged, and notes on assumptions."""
    if report.unjudged:
        lines = "\n".join(escape_text(unjudged_sentence(item, report)) for item in report.unjudged)
        yield details(f"{plural(len(report.unjudged), 'reason')} why objects were not judged", block(lines))
    if notes := fleet_notes(report):
        yield bullets(notes)
