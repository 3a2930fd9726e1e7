"""A simulation of many clusters as parts of a page: how far back, what blocks, and every cluster."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from crdcompat.models.fleet import REACHABLE
from crdcompat.render.html.facets import Facet, Facets
from crdcompat.render.pages.fleet import cluster_sentence, finding_places, finding_sentences, folded_findings
from crdcompat.render.wording.findings import plural
from crdcompat.vocabulary.writes import ReleaseVerdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crdcompat.models.fleet import FleetCluster, FleetReport

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


class Clusters:
    """The clusters of the page, the worst first, one at a time in memory, and what the page says of each."""

    def __init__(self, report: FleetReport) -> None:
        self._report = report
        self._sentences = finding_places(report)
        self._places = {each.id: f"{each.crd} {each.path}".strip() for each in report.findings}

    def __len__(self) -> int:
        return min(len(self._report.clusters), MOST_CLUSTERS)

    def __iter__(self) -> Iterator[FleetCluster]:
        return islice(self._report.clusters.worst_first(), MOST_CLUSTERS)

    def place(self, finding: str) -> str:
        """The place of a finding, by its id."""
        return self._places[finding]

    def summary(self, cluster: FleetCluster) -> str:
        """The verdicts on a cluster in one sentence."""
        return cluster_sentence(cluster, self._sentences).partition(": ")[2]

    def facets(self) -> Facets:
        """The filters of the clusters."""
        facets = Facets(_FACETS)
        for cluster in self:
            held = dict.fromkeys(id_ for each in cluster.verdicts for id_ in each.findings)
            facets.add(
                **{
                    "verdict": worst(cluster),
                    "farthest": cluster.farthest or "none of them",
                    "version": cluster.version or "not recorded",
                    "platform": cluster.platform or "not recorded",
                    "blocked-by": tuple(self._places[id_] for id_ in held),
                }
            )
        return facets


def blocking(report: FleetReport) -> Iterator[tuple[list[str], list[str]]]:
    """The rejected values: the ids of their findings, then a sentence and the lines below it."""
    for path, found in folded_findings(report):
        yield [each.id for each in found], [*finding_sentences(found[0], report, path or "the object")]


def answer(report: FleetReport) -> tuple[str, ReleaseVerdict]:
    """How many clusters can go to the nearest release, and the worst verdict on that."""
    nearest = report.targets[0].name
    counted = report.by_verdict(nearest)
    reachable = sum(counted[verdict] for verdict in REACHABLE)
    found = next((verdict for verdict, count in counted.items() if count), ReleaseVerdict.UNKNOWN)
    return f"{reachable} of {plural(len(report.clusters), 'cluster')} can go to {nearest}", found


def segments(counted: Mapping[ReleaseVerdict, int]) -> Iterator[tuple[ReleaseVerdict, int, float, float]]:
    """The parts of a bar: the clusters with one verdict, where the part begins and how wide it is, in thousandths."""
    total, start = max(sum(counted.values()), 1), 0.0
    for verdict, count in counted.items():
        if count:
            yield verdict, count, start, (width := _BAR * count / total)
            start += width


def worst(cluster: FleetCluster) -> ReleaseVerdict:
    """The worst verdict on a cluster."""
    return min(
        (each.verdict for each in cluster.verdicts), key=lambda verdict: verdict.rank, default=ReleaseVerdict.UNKNOWN
    )


def about(cluster: FleetCluster) -> Iterator[str]:
    """Version, platform, id and number of objects of a cluster, as far as known."""
    yield from filter(None, (cluster.version, cluster.platform))
    if cluster.id:
        yield f"cluster {cluster.id[:_ID]}"
    yield plural(cluster.objects, "object")
    if cluster.outside:
        yield f"{cluster.outside} of kinds that neither release defines"
