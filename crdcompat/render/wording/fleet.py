"""Sentences on a fleet: how far back its clusters can go, and what blocks them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.findings.contrast import listed
from crdcompat.models.simulation import DELETED
from crdcompat.render.wording.findings import place, plural
from crdcompat.render.wording.joined_entries import fold, siblings
from crdcompat.render.wording.simulation import early_fix, not_found, not_found_fix, too_early
from crdcompat.vocabulary import Direction
from crdcompat.vocabulary.texts import some
from crdcompat.vocabulary.writes import NOT_FOUND, Endpoint, ReleaseVerdict, WriteResult

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from crdcompat.models.fleet import FleetCluster, FleetFinding, FleetReport, UnjudgedReason


_MAX_VALUES = 8


def fleet_title(report: FleetReport) -> str:
    """Direction, targets, and number of clusters and objects."""
    targets = ", ".join(release.name for release in report.targets)
    if report.direction == Direction.ROLLBACK:
        what = f"Rollback {report.new.title} -> {targets}"
    else:
        what = f"Upgrade {report.old.title} -> {targets}"
    read = f"{plural(report.recordings, 'recording')}, {plural(report.objects, 'object')}"
    return f"{what} replayed on {plural(len(report.clusters), 'cluster')} ({read})"


def how_far(report: FleetReport) -> str:
    """The question that the verdicts answer."""
    return (
        "How far back the clusters can go"
        if report.direction == Direction.ROLLBACK
        else "Whether the clusters can go there"
    )


def fleet_notes(report: FleetReport) -> tuple[str, ...]:
    """Notes on what the run assumed, each once."""
    sides = (note for release in (report.old, report.new, *report.targets) for note in release.notes)
    notes = [*sides, *report.notes]
    if several := report.totals.several:
        have = "has" if several == 1 else "have"
        notes.append(
            f"{plural(several, 'cluster')} {have} several recordings: those with the same clusterID are merged"
        )
    if outside := report.totals.outside:
        notes.append(f"{plural(outside, 'object')} of kinds that neither release defines: ignored")
    return tuple(dict.fromkeys(notes))


def verdict_tally(counted: Mapping[ReleaseVerdict, int] | Mapping[WriteResult, int]) -> str:
    """``2 blocked, 5 clean``; ``none`` without clusters."""
    return ", ".join(f"{count} {verdict}" for verdict, count in counted.items() if count) or "none"


def folded_findings(report: FleetReport) -> list[tuple[str, list[FleetFinding]]]:
    """Findings that differ in one step of their paths as one: the folded path, and all of them."""

    def facts(finding: FleetFinding) -> Hashable:
        shares = tuple((each.target, each.clusters, each.objects) for each in finding.targets)
        return finding.crd, finding.type, finding.clusters, shares, _values(finding)

    groups = siblings(report.findings, lambda finding: finding.path, facts)
    return [(fold([finding.path for finding in group]), group) for group in groups]


def reaction(finding: FleetFinding, total: str) -> str:
    """How many of the ``total`` clusters have the value, and which targets reject it."""
    rejecting = ", ".join(each.target for each in finding.targets)
    by = f"; rejected by {rejecting}" if _is_rejected(finding) else ""
    return f"blocks {finding.clusters} of {total}: {_what(finding)}{by}"


def finding_sentences(finding: FleetFinding, report: FleetReport, path: str = "") -> Iterator[str]:
    """Which clusters have the value, which targets reject it, the fix, an example.

    ``path`` is the folded path of several findings, which are worded after the first; without it the id is shown.
    """
    share = f"{finding.clusters} of {plural(len(report.clusters), 'cluster')}"
    at = ":" if finding.type in (NOT_FOUND, DELETED) else f" {path or finding.path or 'the root'}"
    yield f"{share}: {finding.crd}{at} {_what(finding)}{'' if path else f'  {finding.id}'}"
    for item in finding.targets if _is_rejected(finding) else ():
        where = f" at {place(item.location)}" if item.location is not None else ""
        yield f"rejected by {item.target}{where} ({plural(item.clusters, 'cluster')}, {plural(item.objects, 'object')})"
    yield _fix(finding)
    yield f"e.g. {finding.example}"


def _is_rejected(finding: FleetFinding) -> bool:
    """Whether a server rejects it: not what is only too early, nor what Helm deletes."""
    return finding.growth is None and finding.type != DELETED


def _fix(finding: FleetFinding) -> str:
    if finding.type == NOT_FOUND:
        return f"{not_found_fix(finding.path)} in the CRD there"
    if finding.growth is not None:
        return early_fix(finding.growth)
    if finding.type == DELETED:
        return "annotate the CRD with helm.sh/resource-policy: keep before the move (docs/installers.md)"
    endpoint = "/status" if finding.endpoint == Endpoint.STATUS else "the object itself"
    verb = "set it" if finding.type == "FieldValueRequired" else "take it out"
    return f"{verb} by a write to {endpoint}, or widen the CRD there"


def _what(finding: FleetFinding) -> str:
    """The rejected values, or what the CRD lacks."""
    if finding.type == NOT_FOUND:
        versions = dict.fromkeys(held.value for target in finding.targets for held in target.values)
        return not_found(finding.path, tuple(versions))
    return _values(finding) + (f" {too_early(finding.growth)}" if finding.growth is not None else "")


def _values(finding: FleetFinding) -> str:
    if finding.type == "FieldValueRequired":
        return "is required, and missing"
    if finding.type == DELETED:
        deleting = (f"{each.target} ({plural(each.objects, 'object')})" for each in finding.targets)
        return f"helm deletes the CRD, and each object with it, on the way to {', '.join(deleting)}"
    values: dict[str, int] = {}
    for target in finding.targets:
        for held in target.values:
            text = listed([held.value])
            values[text] = max(values.get(text, 0), held.clusters)
    if not values:
        return f"is rejected ({finding.type})"
    counted = sorted(values.items(), key=lambda item: (-item[1], item[0]))
    same = all(count == finding.clusters for _, count in counted)
    return f"holds {some([text if same else f'{text} ({count})' for text, count in counted], _MAX_VALUES)}"


def unjudged_sentence(item: UnjudgedReason, report: FleetReport) -> str:
    """Reason, targets, number of clusters and objects."""
    objects = f"{plural(item.objects, 'object')}: " if item.objects else ""
    share = f"{item.clusters} of {plural(len(report.clusters), 'cluster')}"
    return f"{share}, to {', '.join(item.targets)}: {objects}{item.reason}, e.g. {item.example}"


def finding_places(report: FleetReport) -> dict[str, str]:
    """Kind and path of each finding, by its id."""
    return {finding.id: f"{finding.kind} {finding.path}".strip() for finding in report.findings}


def cluster_sentence(cluster: FleetCluster, places: Mapping[str, str]) -> str:
    """A cluster and each target: ``can go to``, ``unknown``, ``not to``, and why. ``places``: of `finding_places`."""
    (sentence,) = cluster_sentences((cluster,), places)
    return sentence


def cluster_sentences(clusters: Iterable[FleetCluster], places: Mapping[str, str]) -> Iterator[str]:
    """A sentence for clusters of one version with the same answers, in the order of the first cluster of each."""
    alike: dict[tuple[str | None, str], list[str]] = {}
    for cluster in clusters:
        count = len(cluster.recordings) - 1
        others = f" and {plural(count, 'other recording')}" if count else ""
        alike.setdefault((cluster.version, _answers(cluster, places)), []).append(f"{cluster.name}{others}")
    for (version, answers), names in alike.items():
        yield f"{', '.join(names)}{f' ({version})' if version else ''}: {answers}"


def _answers(cluster: FleetCluster, places: Mapping[str, str]) -> str:
    by_text: dict[tuple[str, str], list[str]] = {}
    for item in cluster.verdicts:
        answer, why, name = "can go to", "", item.target
        if item.verdict == ReleaseVerdict.UNKNOWN:
            answer, why = "unknown for", f" ({_first(item.unjudged) or 'nothing was judged'})"
        elif item.verdict == ReleaseVerdict.BLOCKED:
            answer, why = "not to", f" ({_first([places[id_] for id_ in item.findings])})"
        elif lossy := item.objects[WriteResult.LOSES_DATA]:
            name = f"{name} (data of {plural(lossy, 'object')} is lost)"
        by_text.setdefault((answer, why), []).append(name)
    return "; ".join(f"{answer} {', '.join(names)}{why}" for (answer, why), names in by_text.items())


def short_name(recording: str) -> str:
    """The name of a recording without its folder."""
    return recording.rstrip("/").rpartition("/")[2] or recording


def _first(texts: Sequence[str]) -> str:
    return f"{texts[0]}, and {len(texts) - 1} more" if len(texts) > 1 else "".join(texts)


def coverage(report: FleetReport) -> str:
    """How many recordings and files were read, and how many not."""
    read = report.recordings - len(report.unread)
    unread = f", {len(report.unread)} could not be read" if report.unread else ""
    problems = f", {plural(len(report.problems), 'problem')}" if report.problems else ""
    left_out = f"; {plural(len(report.left_out), 'file')} left out" if report.left_out else ""
    return (
        f"Read {read} of {plural(report.recordings, 'recording')} with {plural(report.objects, 'object')}"
        f"{unread}{problems}{left_out}."
    )
