"""A simulation of many clusters as parts of a page: how far back, what blocks, and every cluster."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.models.fleet import REACHABLE
from crdcompat.render.html.facets import Facet, Facets
from crdcompat.render.wording.findings import plural
from crdcompat.render.wording.fleet import (
    cluster_sentence,
    finding_places,
    finding_sentences,
    folded_findings,
    short_name,
    unjudged_sentence,
    verdict_tally,
)
from crdcompat.vocabulary.writes import ReleaseVerdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crdcompat.models.fleet import ClusterVerdict, FleetCluster, FleetReport

#: The page opens and filters so many quickly (benchmarks/page.py). JSON, CSV and the tables have all clusters.
MOST_CLUSTERS = 5_000
#: Characters of a cluster's id in its row.
_ID = 8
#: The width of a bar.
_BAR = 1000
_FACETS = (
    Facet("verdict", "Worst verdict", tuple(ReleaseVerdict)),
    Facet("farthest", "Can go as far as"),
    Facet("version", "Version"),
    Facet("platform", "Platform"),
    Facet("blocked-by", "Blocked by"),
)


class Segment(Struct, frozen=True):
    """The clusters with one verdict, as a part of a bar: where it begins and how wide it is, in thousandths."""

    verdict: ReleaseVerdict
    count: int
    start: float
    width: float


class Target(Struct, frozen=True):
    """A target release: its bar of clusters by verdict, and the counts in words."""

    name: str
    server: str
    segments: tuple[Segment, ...]
    counts: str


class Blocking(Struct, frozen=True):
    """A rejected value in several clusters: a sentence, and the lines below it."""

    anchors: tuple[str, ...]
    title: str
    lines: tuple[str, ...]


class TargetVerdict(Struct, frozen=True):
    """The verdict on one cluster for one target; ``blocked_by`` are the anchors and places of what blocks it."""

    target: str
    verdict: ReleaseVerdict
    objects: str
    blocked_by: tuple[tuple[str, str], ...]
    unjudged: tuple[str, ...]


class ClusterItem(Struct, frozen=True):
    """A cluster as the page shows it."""

    anchor: str
    verdict: ReleaseVerdict
    name: str
    about: tuple[str, ...]
    summary: str
    recordings: tuple[str, ...]
    id: str
    verdicts: tuple[TargetVerdict, ...]


class ClusterItems:
    """The clusters of the page, the worst first, one at a time in memory."""

    def __init__(self, report: FleetReport) -> None:
        self._report = report
        self._sentences = finding_places(report)
        self._places = {each.id: f"{each.crd} {each.path}".strip() for each in report.findings}

    def __len__(self) -> int:
        return min(len(self._report.clusters), MOST_CLUSTERS)

    def __iter__(self) -> Iterator[ClusterItem]:
        for number, cluster in enumerate(self._clusters(), 1):
            yield _item(cluster, number, cluster_sentence(cluster, self._sentences), self._places)

    def facets(self) -> Facets:
        """The filters of the clusters."""
        facets = Facets(_FACETS)
        for cluster in self._clusters():
            held = dict.fromkeys(id_ for each in cluster.verdicts for id_ in each.findings)
            facets.add(
                **{
                    "verdict": _worst(cluster),
                    "farthest": cluster.farthest or "none of them",
                    "version": cluster.version or "not recorded",
                    "platform": cluster.platform or "not recorded",
                    "blocked-by": tuple(self._places[id_] for id_ in held),
                }
            )
        return facets

    def _clusters(self) -> Iterator[FleetCluster]:
        return islice(self._report.clusters.worst_first(), MOST_CLUSTERS)


class Fleet(Struct, frozen=True):
    """All parts. ``answer`` is the number of clusters that can go to the nearest release.

    ``clusters`` are the worst ones, made when they are asked for; ``rest`` counts those that the page has no room for.
    """

    answer: str
    verdict: ReleaseVerdict
    targets: tuple[Target, ...]
    blocking: tuple[Blocking, ...]
    unjudged: tuple[str, ...]
    unread: tuple[str, ...]
    clusters: ClusterItems
    rest: int
    left_out: tuple[str, ...]


def fleet(report: FleetReport) -> tuple[Fleet, Facets]:
    """The parts of the page, and the filters of its clusters."""
    clusters = ClusterItems(report)
    blocking = []
    for path, found in folded_findings(report):
        title, *lines = finding_sentences(found[0], report, path or "the object")
        blocking.append(Blocking(tuple(f"held-{each.id}" for each in found), title, tuple(lines)))
    answer, verdict = _answer(report)
    shown = Fleet(
        answer=answer,
        verdict=verdict,
        targets=tuple(
            Target(
                each.name,
                f"Kubernetes {each.kubernetes}" if each.kubernetes else "",
                tuple(_segments(report.by_verdict(each.name))),
                verdict_tally(report.by_verdict(each.name)),
            )
            for each in report.targets
        ),
        blocking=tuple(blocking),
        unjudged=tuple(unjudged_sentence(each, report) for each in report.unjudged),
        unread=tuple(f"{each.recording}: {each.reason}" for each in report.unread),
        clusters=clusters,
        rest=len(report.clusters) - len(clusters),
        left_out=tuple(f"{each.file}: {each.reason}" for each in report.left_out),
    )
    return shown, clusters.facets()


def _answer(report: FleetReport) -> tuple[str, ReleaseVerdict]:
    """How many clusters can go to the nearest release, and the worst verdict on that."""
    nearest = report.targets[0].name
    counted = report.by_verdict(nearest)
    reachable = sum(counted[verdict] for verdict in REACHABLE)
    worst = next((verdict for verdict, count in counted.items() if count), ReleaseVerdict.UNKNOWN)
    return f"{reachable} of {plural(len(report.clusters), 'cluster')} can go to {nearest}", worst


def _segments(counted: Mapping[ReleaseVerdict, int]) -> Iterator[Segment]:
    total, start = max(sum(counted.values()), 1), 0.0
    for verdict, count in counted.items():
        if count:
            yield Segment(verdict, count, start, width := _BAR * count / total)
            start += width


def _worst(cluster: FleetCluster) -> ReleaseVerdict:
    return min(
        (each.verdict for each in cluster.verdicts), key=lambda verdict: verdict.rank, default=ReleaseVerdict.UNKNOWN
    )


def _item(cluster: FleetCluster, number: int, sentence: str, places: Mapping[str, str]) -> ClusterItem:
    return ClusterItem(
        anchor=f"c-{number}",
        verdict=_worst(cluster),
        name=short_name(cluster.name),
        about=tuple(_about(cluster)),
        summary=sentence.partition(": ")[2],
        recordings=cluster.recordings,
        id=cluster.id or "",
        verdicts=tuple(_verdict(each, places) for each in cluster.verdicts),
    )


def _about(cluster: FleetCluster) -> Iterator[str]:
    yield from filter(None, (cluster.version, cluster.platform))
    if cluster.id:
        yield f"cluster {cluster.id[:_ID]}"
    yield plural(cluster.objects, "object")
    if cluster.outside:
        yield f"{cluster.outside} of kinds that neither release defines"


def _verdict(verdict: ClusterVerdict, places: Mapping[str, str]) -> TargetVerdict:
    return TargetVerdict(
        target=verdict.target,
        verdict=verdict.verdict,
        objects=", ".join(f"{count} {verdict}" for verdict, count in verdict.objects.items() if count),
        blocked_by=tuple((f"held-{id_}", places[id_]) for id_ in verdict.findings),
        unjudged=verdict.unjudged,
    )
