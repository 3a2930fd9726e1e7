"""A matrix of releases as lines of text: the grid, what blocks and since when, what was not judged, the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.policy.findings import listed
from crdcompat.report.losses import loss_lines
from crdcompat.report.matrix_grid import COLOURS, grid
from crdcompat.report.matrix_model import BLOCKED, CLEAN, UNKNOWN
from crdcompat.report.matrix_obstacles import Obstacle, Part, obstacles
from crdcompat.report.text_diff import crd_name, many, tally
from crdcompat.report.text_simulation import verdict_tally

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crdcompat.report.matrix_model import Cell, Cluster, MatrixReport
    from crdcompat.report.simulation_model import SimulationReport
    from crdcompat.report.style import Style

_MOST_VALUES = 20
_MOST_WAYS = 4
_MOST_LINES = 12
#: By direction: what is listed, and how to read "since".
BLOCKING = {
    "rollback": ("What blocks a rollback, worst first", "Since R: on the way from R or newer to any release before R."),
    "upgrade": ("What blocks an upgrade, worst first", "Since R: on the way from any release before R to R or newer."),
}


def matrix_text(report: MatrixReport, style: Style) -> Iterator[str]:
    """All lines of the report."""
    yield from grid(report, style)
    for note in matrix_notes(report):
        yield style.wrap(f"note: {note}", indent="")
    for direction, (title, legend) in BLOCKING.items():
        yield from _blocking(title, legend, obstacles(report, direction), style)
    if style.verbosity >= 0:
        yield from _unjudged(report, style)
    if style.verbosity > 0:
        for cell in report.cells:
            yield from _findings(cell, style)
    if report.cluster is not None:
        yield ""
        yield from _cluster(report.cluster, style)
    yield ""
    yield from _footer(report, style)


def matrix_notes(report: MatrixReport) -> tuple[str, ...]:
    """What was taken for granted, each once."""
    sides = [note for release in report.releases for note in release.notes]
    return tuple(dict.fromkeys((*report.notes, *sides)))


def _blocking(title: str, legend: str, found: Sequence[Obstacle], style: Style) -> Iterator[str]:
    if found:
        yield ""
        yield style.paint(title, "bold")
        yield style.wrap(legend, indent="")
    for item in found:
        finding = item.finding
        head = style.paint(crd_name(finding.crd, finding.versions), "path")
        yield f"{head}  {style.paint(finding.rule, 'error')}, {finding.effect}"
        if any(item.paths):
            yield style.wrap(", ".join(item.paths), indent="    ", first="  ")
        for part in item.parts:
            yield style.wrap(part_line(part), indent="      ", first="    ")


def part_line(part: Part) -> str:
    """``since release-4.14: "MachineAPI", "Build"``, and which ways, where it is not all over that release."""
    values = f": {listed(part.values, _MOST_VALUES)}" if part.values else ""
    if part.usual:
        return f"since {part.since}{values}"
    rest = len(part.ways) - _MOST_WAYS
    ways = ", ".join(" -> ".join(way) for way in part.ways[:_MOST_WAYS]) + (f" and {rest} more" if rest > 0 else "")
    return f"since {part.since}{values} (only {ways})"


def reasons(report: MatrixReport) -> dict[str, int]:
    """Why something was not judged, and on how many ways."""
    found: dict[str, int] = {}
    for cell in report.cells:
        for reason in cell.unjudged:
            found[reason] = found.get(reason, 0) + 1
    return found


def _unjudged(report: MatrixReport, style: Style) -> Iterator[str]:
    found = reasons(report)
    if not found:
        return
    yield ""
    yield style.paint("What was not judged", "bold")
    told = [f"{reason} ({many(ways, 'way')})" for reason, ways in found.items()]
    yield from _cut_short(told, style)


def _findings(cell: Cell, style: Style) -> Iterator[str]:
    """Errors and warnings of a cell, a line each: diff tells all of them."""
    shown = [finding for finding in cell.findings if finding.counts and finding.severity != "info"]
    if not shown:
        return
    yield ""
    yield style.paint(f"{cell.origin} -> {cell.target}: {cell.verdict}, {tally(cell.by_severity())}", "bold")
    for finding in shown:
        kind = style.paint(f"{finding.severity}[{finding.rule}]", finding.severity)
        yield f"  {kind} {crd_name(finding.crd, finding.version)} {finding.path}  {finding.id}"


def _cluster(cluster: Cluster, style: Style) -> Iterator[str]:
    yield style.paint(cluster_title(cluster), "bold")
    for note in cluster.notes:
        yield style.wrap(f"note: {note}", indent="    ", first="  ")
    yield style.wrap(cluster_answer(cluster), indent="  ")
    for target in cluster.targets:
        verdict = style.paint(target.verdict, COLOURS[target.verdict])
        yield f"  to {target.target}: {verdict} (objects by their worst write: {verdict_tally(target.report)})"
        for line in target_lines(target.report):
            yield style.wrap(line, indent="      ", first="    ")
        yield from _cut_short([f"  not judged: {line}" for line in target.unjudged], style)


def cluster_title(cluster: Cluster) -> str:
    """What the cluster is, and what it runs."""
    names = ", ".join(source.rstrip("/").rpartition("/")[2] for source in cluster.sources)
    told = [f"runs {cluster.version}"] if cluster.version else []
    told += [f"taken as {cluster.origin}"] if cluster.origin else []
    return f"How far back the cluster of {names} can go" + (f" ({', '.join(told)})" if told else "")


def target_lines(report: SimulationReport) -> list[str]:
    """What stands in the way to one release, then what would be lost on it."""
    return [*_cause_lines(report), *loss_lines(report)]


def _cause_lines(report: SimulationReport) -> list[str]:
    """``ClusterVersion/version: status.a[*], status.b[*]: "A"``: which object, or how many, and what stands where."""
    alike: dict[tuple[str, str], list[str]] = {}
    for cause in report.causes:
        who = cause.example.partition(" in ")[0] if cause.objects == 1 else many(cause.objects, cause.kind)
        held = listed(cause.values, _MOST_VALUES) if cause.values else f"rejected ({cause.type})"
        alike.setdefault((who, held), []).append(cause.path or "the object")
    return [f"{who}: {', '.join(paths)}: {held}" for (who, held), paths in alike.items()]


def cluster_answer(cluster: Cluster) -> str:
    """The answer in a sentence; what neither release defines is left out of it, and that is said."""
    said = {
        "This cluster can go back to": [item for item in cluster.targets if item.verdict not in (BLOCKED, UNKNOWN)],
        "it cannot go back to": [item for item in cluster.targets if item.verdict == BLOCKED],
        "whether it can go back to these is not known:": [item for item in cluster.targets if item.verdict == UNKNOWN],
    }
    parts = [f"{words} {', '.join(item.target for item in found)}" for words, found in said.items() if found]
    sentence = "; ".join(parts) or "None of the releases is older: there is none to go back to"
    counted = (sum(item.outside for item in target.report.not_simulated) for target in cluster.targets)
    left_out = max(counted, default=0)
    more = f" Left out are {many(left_out, 'object')} of kinds that no release defines." if left_out else ""
    return f"{sentence[:1].upper()}{sentence[1:]}.{more}"


def _cut_short(lines: Sequence[str], style: Style) -> Iterator[str]:
    shown = lines if style.verbosity > 0 else lines[:_MOST_LINES]
    for line in shown:
        yield style.wrap(line, indent="    ", first="  ")
    if len(shown) < len(lines):
        yield f"  and {len(lines) - len(shown)} more (-v shows all)"


def _footer(report: MatrixReport, style: Style) -> Iterator[str]:
    worst = next((verdict for verdict, count in report.by_verdict().items() if count), CLEAN)
    yield f"{style.paint(verdicts(report), COLOURS[worst])}."
    yield style.wrap(coverage(report), indent="")


def verdicts(report: MatrixReport) -> str:
    """``5 releases: 10 rollbacks (10 blocked), 10 upgrades (9 at risk, 1 clean)``: numbers and words of ours only."""
    parts = []
    for direction in ("rollback", "upgrade"):
        counted = report.by_verdict(direction)
        told = ", ".join(f"{count} {verdict}" for verdict, count in counted.items() if count)
        parts += [f"{many(sum(counted.values()), direction)} ({told})"] if told else []
    waived = len({finding.id for cell in report.cells for finding in cell.findings if finding.waiver is not None})
    more = f"; {many(waived, 'finding')} waived, and not counted" if waived else ""
    return f"{len(report.releases)} releases: {', '.join(parts)}{more}"


def coverage(report: MatrixReport) -> str:
    """How much was compared, and what was not because only one release of a pair has it."""
    counts = [cell.report.counts for cell in report.cells]
    both = [each.compared for each in counts]
    alone = max((len(each.only_old) + len(each.only_new) for each in counts), default=0)
    span = f"{min(both)} to {max(both)}" if len(set(both)) > 1 else f"{max(both, default=0)}"
    more = f"; those of one alone, up to {alone} a pair, are not judged" if alone else ""
    return f"Compared are the CRDs that both releases of a pair have, {span}{more}."
