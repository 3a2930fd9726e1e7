"""Many clusters as a page: verdicts by target, what blocks most, what was not judged, and the clusters."""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from crdcompat.errors import Problem
from crdcompat.models.fleet import REACHABLE, ClusterVerdict, FleetCluster, FleetFinding, FleetReport
from crdcompat.render.pages.blocks import (
    Bars,
    Block,
    Cell,
    Entries,
    Entry,
    Facet,
    Facts,
    Fold,
    Folded,
    Line,
    Listing,
    Notes,
    Section,
    Table,
)
from crdcompat.render.pages.page import Answer, Blocked, Page
from crdcompat.render.pages.replayed_objects import MAX_SAID
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
    how_far,
    reaction,
    short_name,
    unjudged_sentence,
    verdict_tally,
)
from crdcompat.render.wording.verdict import allowed_line
from crdcompat.vocabulary import Direction
from crdcompat.vocabulary.texts import cut
from crdcompat.vocabulary.writes import ReleaseVerdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from crdcompat.models.release import Release
    from crdcompat.render.escape import Style

_MOST = 20
#: A page opens and filters so many quickly (benchmarks/page.py). JSON, CSV and the tables have all clusters.
MOST_CLUSTERS = 5_000
#: Characters of a cluster's id in its entry.
_ID = 8
_HEAD = ("to", "verdict", "objects, by their worst write", "why")
_UNKNOWN = ReleaseVerdict.UNKNOWN
_FACETS = (
    Facet("verdict", "Worst verdict", tuple(ReleaseVerdict)),
    Facet("farthest", "Can go as far as"),
    Facet("version", "Version"),
    Facet("platform", "Platform"),
    Facet("blocked-by", "Blocked by"),
)


def page(report: FleetReport, style: Style) -> Page:
    """The page; a quiet one has what blocks and what could not be read."""
    heading, answers = _heading(report), tuple(_answers(report))
    return Page(
        command="simulate",
        title=fleet_title(report),
        heading=heading,
        answers=answers,
        head=(
            Line(coverage(report), depth=0, fold=Fold.ALWAYS),
            *(Line(each, depth=0) for each in allowed_line(style)),
        ),
        problems=(*(Problem(each.recording, None, each.reason) for each in report.unread), *report.problems),
        body=tuple(_body(report, style)),
        is_last=True,
        views=(Answer(heading, answers[0].tone),),
        sides=tuple(("", release) for release in (report.new, *report.targets)),
        facets=_FACETS,
        what="clusters",
    )


def _heading(report: FleetReport) -> str:
    """How many clusters can go to the nearest release."""
    nearest = report.targets[0].name
    counted = report.by_verdict(nearest)
    reachable = sum(counted[verdict] for verdict in REACHABLE)
    return f"{reachable} of {plural(len(report.clusters), 'cluster')} can go to {nearest}"


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
    yield Bars(how_far(report), tuple(_bar(report, target) for target in report.targets))
    if report.findings:
        each_alone = [("", [finding]) for finding in report.findings]
        folded = each_alone if is_full else folded_findings(report)
        entries = (_line(found, *finding_sentences(found[0], report, path)) for path, found in folded)
        yield Section("What blocks, by field", (Listing(tuple(entries), _MOST),), anchor="blocking")
    if report.unjudged and not is_quiet:
        unjudged = tuple(Line(unjudged_sentence(item, report)) for item in report.unjudged)
        yield Section("What was not judged", (Listing(unjudged, _MOST),), anchor="unjudged")
    if not is_quiet:
        yield from _clusters(report, is_full=is_full)


def _bar(report: FleetReport, target: Release) -> tuple[str, str, dict[str, int]]:
    counted = {verdict.value: count for verdict, count in report.by_verdict(target.name).items()}
    return target.name, f"Kubernetes {target.kubernetes}" if target.kubernetes else "", counted


def _line(found: Sequence[FleetFinding], first: str, *others: str) -> Line:
    below = tuple(Line(other, depth=2) for other in others)
    return Line(first, hang=2, below=below, anchors=tuple(f"held-{each.id}" for each in found))


def _clusters(report: FleetReport, *, is_full: bool) -> Iterator[Block]:
    """A line for each cluster, or for the worst clusters with the same answers; on a page an entry for each."""
    places, worst = finding_places(report), report.clusters.worst_first()
    if is_full:
        brief = Listing(tuple(Line(cluster_sentence(cluster, places)) for cluster in worst))
    else:
        sentences = cluster_sentences(islice(worst, _MOST), places)
        brief = Listing(tuple(map(Line, sentences)), rest=max(len(report.clusters) - _MOST, 0))
    count = min(len(report.clusters), MOST_CLUSTERS)
    left_out = len(report.clusters) - count
    title = "Clusters, worst first"
    shown = (Section(title, (brief,)),)
    yield Entries(title, count, partial(_entries, report), shown, "clusters", left_out=left_out)
    yield Folded("Files left out", tuple(f"{each.file}: {each.reason}" for each in report.left_out))


def _entries(report: FleetReport) -> Iterator[Entry]:
    sentences = finding_places(report)
    places = {each.id: f"{each.crd} {each.path}".strip() for each in report.findings}
    for number, cluster in enumerate(islice(report.clusters.worst_first(), MOST_CLUSTERS), 1):
        held = dict.fromkeys(id_ for each in cluster.verdicts for id_ in each.findings)
        worst = min((each.verdict for each in cluster.verdicts), key=lambda each: each.rank, default=_UNKNOWN)
        rows = tuple(_row(verdict, places) for verdict in cluster.verdicts)
        facts = ("Recorded in", cluster.recordings), *((("Cluster id", (cluster.id,)),) if cluster.id else ())
        yield Entry(
            name=(name := short_name(cluster.name)),
            tone=worst,
            beside=tuple(_about(cluster)),
            said=cut(cluster_sentence(cluster, sentences).partition(": ")[2], MAX_SAID),
            blocks=(Table(f"The verdict on {name} for each release", _HEAD, rows), Facts(facts)),
            anchor=f"c-{number}",
            facets={
                "verdict": worst,
                "farthest": cluster.farthest or "none of them",
                "version": cluster.version or "not recorded",
                "platform": cluster.platform or "not recorded",
                "blocked-by": tuple(places[id_] for id_ in held),
            },
        )


def _row(verdict: ClusterVerdict, places: Mapping[str, str]) -> tuple[Cell, ...]:
    objects = verdict_tally(verdict.objects) if any(verdict.objects.values()) else ""
    why = [(f"held-{id_}", places[id_]) for id_ in verdict.findings]
    why += [("", f"not judged: {line}") for line in verdict.unjudged]
    return Cell(verdict.target), Cell(verdict.verdict, verdict.verdict), Cell(objects), Cell("", links=tuple(why))


def _about(cluster: FleetCluster) -> Iterator[str]:
    """Version, platform, id and number of objects of a cluster, as far as known."""
    yield from filter(None, (cluster.version, cluster.platform))
    if cluster.id:
        yield f"cluster {cluster.id[:_ID]}"
    yield plural(cluster.objects, "object")
    if cluster.outside:
        yield f"{cluster.outside} of kinds that neither release defines"
