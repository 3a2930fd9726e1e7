"""A report on many clusters as lines of text: how far back, what blocks, what was not judged, then the clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from crdcompat.policy.findings import listed
from crdcompat.report.matrix_model import AT_RISK, BLOCKED, UNKNOWN
from crdcompat.report.text_diff import many, place, problem_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crdcompat.report.fleet_model import FleetCluster, FleetFinding, FleetReport, Unjudged
    from crdcompat.report.style import Style

_T = TypeVar("_T")

_MOST = 20
_MOST_VALUES = 8
_COLOURS = {BLOCKED: "error", UNKNOWN: "warning", AT_RISK: "info"}


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
        for cluster in _some(least_far(report), style):
            yield style.wrap(cluster_sentence(cluster, report), indent="    ", first="  ")
        yield from _rest(len(report.clusters), "cluster", style)
    yield ""
    yield coverage(report)


def fleet_title(report: FleetReport) -> str:
    """What was replayed on how much."""
    targets = ", ".join(release.name for release in report.targets)
    if report.direction == "rollback":
        what = f"Rollback {report.new.name} -> {targets}"
    else:
        what = f"Upgrade {report.old.name} -> {targets}"
    read = f"{many(report.recordings, 'recording')}, {many(report.objects, 'object')}"
    return f"{what} replayed on {many(len(report.clusters), 'cluster')} ({read})"


def how_far(report: FleetReport) -> str:
    """The question that the verdicts answer."""
    return "How far back the clusters can go" if report.direction == "rollback" else "Whether the clusters can go there"


def fleet_notes(report: FleetReport) -> tuple[str, ...]:
    """What the run took for granted, each once."""
    sides = (note for release in (report.old, report.new, *report.targets) for note in release.notes)
    notes = [*sides, *report.notes]
    several = [cluster for cluster in report.clusters if len(cluster.recordings) > 1]
    if several:
        text = "has several recordings" if len(several) == 1 else "have several recordings"
        notes.append(
            f"{many(len(several), 'cluster')} {text}: one all the same, with what any of them holds, each object once"
        )
    if outside := sum(cluster.outside for cluster in report.clusters):
        notes.append(f"{many(outside, 'object')} of kinds that neither release defines play no part")
    return tuple(dict.fromkeys(notes))


def verdict_tally(counted: dict[str, int]) -> str:
    """``2 blocked, 5 clean``; ``none`` without clusters."""
    return ", ".join(f"{count} {verdict}" for verdict, count in counted.items() if count) or "none"


def finding_sentences(finding: FleetFinding, report: FleetReport) -> Iterator[str]:
    """Who holds what, which targets reject it, what to do about it, and where to look."""
    share = f"{finding.clusters} of {many(len(report.clusters), 'cluster')}"
    yield f"{share}: {finding.crd} {finding.path or 'the root'} {_held(finding)}  {finding.id}"
    for item in finding.targets:
        where = f" at {place(item.location)}" if item.location is not None else ""
        yield f"rejected by {item.target}{where} ({many(item.clusters, 'cluster')}, {many(item.objects, 'object')})"
    endpoint = "/status" if finding.endpoint == "status" else "the object itself"
    verb = "set it" if finding.type == "FieldValueRequired" else "take it out"
    yield f"{verb} by a write to {endpoint}, or widen the CRD there"
    yield f"e.g. {finding.example}"


def _held(finding: FleetFinding) -> str:
    if finding.type == "FieldValueRequired":
        return "is missing, and required"
    values: dict[str, int] = {}
    for target in finding.targets:
        for held in target.values:
            text = listed([held.value])
            values[text] = max(values.get(text, 0), held.clusters)
    if not values:
        return f"is rejected ({finding.type})"
    told = sorted(values.items(), key=lambda item: (-item[1], item[0]))
    same = all(count == finding.clusters for _, count in told)
    shown = ", ".join(text if same else f"{text} ({count})" for text, count in told[:_MOST_VALUES])
    rest = len(told) - _MOST_VALUES
    return f"holds {shown}{f' and {rest} more' if rest > 0 else ''}"


def unjudged_sentence(item: Unjudged, report: FleetReport) -> str:
    """Why, towards which targets, and how much."""
    objects = f"{many(item.objects, 'object')}: " if item.objects else ""
    share = f"{item.clusters} of {many(len(report.clusters), 'cluster')}"
    return f"{share}, to {', '.join(item.targets)}: {objects}{item.reason}, e.g. {item.example}"


def cluster_sentence(cluster: FleetCluster, report: FleetReport) -> str:
    """A cluster and each target: ``can go to``, ``unknown``, ``not to``, and why."""
    paths = {finding.id: f"{finding.kind} {finding.path}".strip() for finding in report.findings}
    by_text: dict[tuple[str, str], list[str]] = {}
    for standing in cluster.standings:
        said, why, name = "can go to", "", standing.target
        if standing.verdict == UNKNOWN:
            said, why = "unknown for", f" ({_first(standing.unjudged) or 'nothing was judged'})"
        elif standing.verdict == BLOCKED:
            said, why = "not to", f" ({_first([paths[id_] for id_ in standing.findings])})"
        elif lossy := standing.objects["loses-data"]:
            name = f"{name} (data of {many(lossy, 'object')} is lost)"
        by_text.setdefault((said, why), []).append(name)
    parts = [f"{said} {', '.join(names)}{why}" for (said, why), names in by_text.items()]
    version = f" ({cluster.version})" if cluster.version else ""
    others = f" and {many(len(cluster.recordings) - 1, 'other recording')}" if len(cluster.recordings) > 1 else ""
    return f"{cluster.name}{others}{version}: {'; '.join(parts)}"


def _first(texts: Sequence[str]) -> str:
    return f"{texts[0]}, and {len(texts) - 1} more" if len(texts) > 1 else "".join(texts)


def least_far(report: FleetReport) -> list[FleetCluster]:
    """The clusters, those first that can go least far; the most stuck of them first."""
    targets = [release.name for release in report.targets]

    def far(cluster: FleetCluster) -> tuple[int, int, str]:
        blocked = sum(standing.verdict == BLOCKED for standing in cluster.standings)
        return (targets.index(cluster.farthest) if cluster.farthest else -1, -blocked, cluster.name)

    return sorted(report.clusters, key=far)


def _some(items: Sequence[_T], style: Style) -> Sequence[_T]:
    return items if style.verbosity > 0 else items[:_MOST]


def _rest(count: int, what: str, style: Style) -> Iterator[str]:
    if style.verbosity <= 0 and count > _MOST:
        yield f"  and {many(count - _MOST, f'more {what}')} (-v shows all)"


def coverage(report: FleetReport) -> str:
    """How much was read, and what was not."""
    read = report.recordings - len(report.unread)
    return (
        f"Read {read} of {many(report.recordings, 'recording')}; {len(report.unread)} could not be read,"
        f" {many(len(report.problems), 'problem')}; left out {many(len(report.left_out), 'file')}."
    )
