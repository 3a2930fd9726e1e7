"""Sentences on a matrix: verdicts, reasons, how far back each release and one cluster can go."""

from __future__ import annotations

import re
from collections import Counter
from itertools import takewhile
from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.findings.contrast import listed
from crdcompat.models.fleet import REACHABLE
from crdcompat.models.matrix import ObstaclePart
from crdcompat.models.release import short_names
from crdcompat.models.simulation import losses
from crdcompat.render.wording.findings import first_and_count, plural
from crdcompat.render.wording.installers import cell_lines
from crdcompat.render.wording.joined_entries import fold, siblings
from crdcompat.render.wording.simulation import not_found, too_early
from crdcompat.vocabulary import Direction, Effect, Severity
from crdcompat.vocabulary.texts import some
from crdcompat.vocabulary.writes import NOT_FOUND, ReleaseVerdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.models.finding import Finding
    from crdcompat.models.matrix import Cell, MatrixCluster, MatrixReport
    from crdcompat.models.simulation import SimulationReport

_MAX_VALUES = 20
#: What stands before a version: ``release-`` of ``release-4.13``.
_BEFORE_VERSION = re.compile(r"\D*[-_/](?=v?\d+\.\d)")
_LETTERS = {
    ReleaseVerdict.BLOCKED: "B",
    ReleaseVerdict.UNKNOWN: "?",
    ReleaseVerdict.AT_RISK: "R",
    ReleaseVerdict.CLEAN: "ok",
}
_MAX_WAYS = 4
_MAX_PATHS = 20

#: By direction: what is listed, and how to read "since".
BLOCKING = {
    Direction.ROLLBACK: (
        "What blocks a rollback, worst first",
        "Since R: each rollback from R or newer to a release before R.",
    ),
    Direction.UPGRADE: (
        "What blocks an upgrade, worst first",
        "Since R: each upgrade from a release before R to R or newer.",
    ),
}


def matrix_notes(report: MatrixReport) -> tuple[str, ...]:
    """Notes on assumptions, and the verdicts that depend on the installer, each once."""
    sides = [note for release in report.releases for note in release.notes]
    return tuple(dict.fromkeys((*report.notes, *sides, *cell_lines(report))))


def part_line(part: ObstaclePart) -> str:
    """``since release-4.14: "MachineAPI", "Build"``, and the pairs unless all across that release have it."""
    values = f": {listed(part.values, _MAX_VALUES)}" if part.values else ""
    if part.usual:
        return f"since {part.since}{values}"
    return f"since {part.since}{values} (only {some([' -> '.join(way) for way in part.ways], _MAX_WAYS)})"


def reasons(report: MatrixReport) -> dict[str, int]:
    """Reasons why something was not judged, each with its number of pairs of releases."""
    found: dict[str, int] = {}
    for cell in report.cells:
        for reason in cell.unjudged:
            found[reason] = found.get(reason, 0) + 1
    return found


def cluster_title(cluster: MatrixCluster) -> str:
    """The names of the recordings, and what the cluster runs."""
    names = ", ".join(source.rstrip("/").rpartition("/")[2] for source in cluster.sources)
    known = [f"runs {cluster.version}"] if cluster.version else []
    known += [f"taken as {cluster.origin}"] if cluster.origin else []
    return f"How far back the cluster of {names} can go" + (f" ({', '.join(known)})" if known else "")


def target_lines(report: SimulationReport) -> list[str]:
    """Rejected values for one target release, then fields that would be lost."""
    return [*_cause_lines(report), *_loss_lines(report)]


def _cause_lines(report: SimulationReport) -> list[str]:
    """``ClusterVersion/version: status.a[*], status.b[*]: "A"``: the object or the number of objects, paths, values."""
    by_value: dict[tuple[str, str], list[str]] = {}
    for cause in report.causes:
        who = cause.example.partition(" in ")[0] if cause.objects == 1 else plural(cause.objects, cause.kind)
        if cause.type == NOT_FOUND:
            by_value[who, not_found(cause.path, cause.values)] = []
            continue
        early = f" {too_early(cause.growth)}" if cause.growth is not None else ""
        held = listed(cause.values, _MAX_VALUES) if cause.values else f"rejected ({cause.type})"
        by_value.setdefault((who, held + early), []).append(cause.path or "the object")
    return [": ".join(filter(None, (who, ", ".join(paths), held))) for (who, held), paths in by_value.items()]


def _loss_lines(report: SimulationReport) -> Iterator[str]:
    """``Widget/n/a loses spec.size``, ``3 Widgets lose spec.size, spec.tags[*].key``; equal kinds show the CRD."""
    by_value: dict[tuple[str, str, str], list[str]] = {}
    for loss in losses(report):
        who = f"{loss.example} loses" if loss.objects == 1 else f"{plural(loss.objects, loss.kind)} lose"
        by_value.setdefault((loss.kind, loss.crd, who), []).append(loss.path)
    crds = Counter(kind for kind, _ in {(kind, crd) for kind, crd, _ in by_value})
    for (kind, crd, who), paths in by_value.items():
        which = f" (of {crd})" if crds[kind] > 1 else ""
        yield f"{who} {some(paths, _MAX_PATHS)}{which}"


def cluster_answer(cluster: MatrixCluster) -> str:
    """Which releases the cluster can go back to, and how many objects no release defines."""
    targets = {
        "This cluster can go back to": [
            item for item in cluster.targets if item.verdict not in (ReleaseVerdict.BLOCKED, ReleaseVerdict.UNKNOWN)
        ],
        "it cannot go back to": [item for item in cluster.targets if item.verdict == ReleaseVerdict.BLOCKED],
        "whether it can go back to these is not known:": [
            item for item in cluster.targets if item.verdict == ReleaseVerdict.UNKNOWN
        ],
    }
    parts = [f"{words} {', '.join(item.target for item in found)}" for words, found in targets.items() if found]
    sentence = "; ".join(parts) or "None of the releases is older: there is none to go back to"
    counted = (sum(item.outside for item in target.report.not_simulated) for target in cluster.targets)
    left_out = max(counted, default=0)
    more = f" Left out are {plural(left_out, 'object')} of kinds that no release defines." if left_out else ""
    return f"{sentence[:1].upper()}{sentence[1:]}.{more}"


def verdicts(report: MatrixReport) -> str:
    """``5 releases: 10 rollbacks (10 blocked), 10 upgrades (9 at risk, 1 clean)``: only numbers and fixed words."""
    parts = []
    for direction in Direction:
        counted = report.by_verdict(direction)
        counts = ", ".join(f"{count} {verdict}" for verdict, count in counted.items() if count)
        parts += [f"{plural(sum(counted.values()), direction)} ({counts})"] if counts else []
    waived = len({finding.id for cell in report.cells for finding in cell.findings if finding.waiver is not None})
    more = f"; {plural(waived, 'finding')} waived, and not counted" if waived else ""
    return f"{len(report.releases)} releases: {', '.join(parts)}{more}"


def coverage(report: MatrixReport) -> str:
    """Number of CRDs compared, and of CRDs that only one release of a pair has."""
    counts = [cell.report.counts for cell in report.cells]
    both = [each.compared for each in counts]
    alone = max((len(each.only_old) + len(each.only_new) for each in counts), default=0)
    span = f"{min(both)} to {max(both)}" if len(set(both)) > 1 else f"{max(both, default=0)}"
    more = (
        f"; up to {plural(alone, 'CRD')} of a pair {'is' if alone == 1 else 'are'} in one release only" if alone else ""
    )
    return f"Each pair is compared in the CRDs that both releases have ({span}){more}."


_MAX_BLOCKERS = 2


class Reach(Struct, frozen=True):
    """The rollbacks of one release, the nearest older target first: those that work, and the first that does not.

    ``stop`` is None if the release can go back to every older one.
    """

    origin: str
    works: tuple[Cell, ...]
    stop: Cell | None

    @property
    def verdict(self) -> ReleaseVerdict:
        """The verdict on the first rollback that does not work; the worst verdict if all work."""
        if self.stop is not None:
            return self.stop.verdict
        return self.best

    @property
    def best(self) -> ReleaseVerdict:
        """The worst verdict of the rollbacks that work; if none works, the verdict of the first rollback."""
        ways = self.works or (self.stop,)
        return min((way.verdict for way in ways if way is not None), key=lambda verdict: verdict.rank)


def reaches(report: MatrixReport) -> list[Reach]:
    """The reach of each release, the newest release first; empty if no rollback was judged."""
    made = []
    for release in reversed(report.releases):
        rows = [cell for cell in report.cells if (cell.origin, cell.direction) == (release.name, Direction.ROLLBACK)]
        if rows:
            works = tuple(cell for cell in reversed(rows) if cell.verdict in REACHABLE)
            made.append(Reach(release.name, works, next((each for each in reversed(rows) if each not in works), None)))
    return made


def reach_sentence(reach: Reach) -> str:
    """``back to release-4.15; BLOCKED to release-4.14 by ClusterVersion status.a``."""
    parts = []
    if reach.works:
        risk = [cell for cell in reach.works if cell.verdict == ReleaseVerdict.AT_RISK]
        every = len(risk) == len(reach.works) > 1
        names = ", ".join(f"{cell.target}{' (AT RISK)' if cell in risk and not every else ''}" for cell in reach.works)
        parts.append(f"back to {names}{' (all AT RISK)' if every else ''}")
    if reach.stop is not None:
        word = reach.stop.verdict.upper()
        parts.append(f"{word} to {reach.stop.target}{why(reach.stop)}")
    return "; ".join(parts)


def why(cell: Cell) -> str:
    """The obstacles (`` by ClusterVersion status.a``), else the first reason why objects or CRDs were not judged."""
    if cell.verdict == ReleaseVerdict.BLOCKED:
        groups = siblings(
            (blocker.finding for blocker in cell.blockers), lambda finding: finding.path, lambda finding: finding.crd
        )
        groups.sort(key=lambda group: group[0].effect != Effect.WRITE_REJECTED)
        subjects = dict.fromkeys(map(_subject, groups))  # versions of a CRD have the same one
        return f" by {some([*subjects], _MAX_BLOCKERS)}"
    return f" ({first_and_count(cell.unjudged or ('nothing was judged',))})"


def _subject(group: list[Finding]) -> str:
    return f"{group[0].kind} {fold([finding.path for finding in group])}".strip()


def labels(report: MatrixReport) -> dict[str, str]:
    """Names for the grid: a long path is cut to the shortest end that is unique."""
    return short_names([release.name for release in report.releases])


def shortest_names(report: MatrixReport) -> dict[str, str]:
    """The labels without their common beginning, versions kept whole: ``4.13`` for ``release-4.13``.

    Without a common beginning, the text that most names have before a version is left out. The labels stay as they are
    if the short names would not all differ.
    """
    shown = labels(report)
    same = "".join(
        chars[0] for chars in takewhile(lambda chars: len(set(chars)) == 1, zip(*shown.values(), strict=False))
    )
    before = Counter(found[0] for label in shown.values() if (found := _BEFORE_VERSION.match(label)))
    common = same.rstrip("v.0123456789") or next((text for text, count in before.most_common(1) if count > 1), "")
    short = {name: label.removeprefix(common) or label for name, label in shown.items()}
    return short if len({*short.values()}) == len(short) else shown


def cell_text(cell: Cell, *, letters: bool = False) -> str:
    """``blocked 5/12``: the verdict with errors and warnings; a mark where not all was judged."""
    counted = cell.by_severity()
    words = [_LETTERS[cell.verdict] if letters else cell.verdict]
    if counted[Severity.ERROR] or counted[Severity.WARNING]:
        words.append(f"{counted[Severity.ERROR]}/{counted[Severity.WARNING]}")
    return " ".join(words) + ("?" if cell.verdict == ReleaseVerdict.BLOCKED and cell.unjudged else "")


def legend(report: MatrixReport, *, letters: bool = False) -> str:
    """How to read the grid."""
    text = "From the row to the column: errors/warnings."
    if letters:
        text += f" {', '.join(f'{letter}: {verdict}' for verdict, letter in _LETTERS.items())}."
    doubt = any(cell.verdict == ReleaseVerdict.BLOCKED and cell.unjudged for cell in report.cells)
    return f"{text} A ? at the end: not all of it was judged." if doubt else text
