"""matrix: which release can go back to which, and what stands in the way since when.

Each release is read once, and each pair of them compared once, in both directions and directly: a rollback that skips
releases is not the sum of its steps.

What blocks a way between two releases, and since which release it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, permutations
from typing import Any

from crdcompat.apiserver.versions import server_of
from crdcompat.compare.memory import ComparisonCache
from crdcompat.config.applied import apply_config, read_source, reader_for
from crdcompat.config.configuration import Config
from crdcompat.config.releases import ReleaseList
from crdcompat.crds.reader import CrdSet
from crdcompat.errors import UsageError
from crdcompat.features.diff.comparison import Filters, compare, report_on
from crdcompat.features.diff.workflow import release
from crdcompat.findings.locations import find_places
from crdcompat.findings.split import FindingSplitter
from crdcompat.findings.waivers import Waiver, has_values
from crdcompat.models.diff import DiffReport
from crdcompat.models.finding import Finding
from crdcompat.models.matrix import Blocker, Cell, MatrixCluster, MatrixReport, Since
from crdcompat.recordings.objects import ObjectItem
from crdcompat.schema.enums import member_key
from crdcompat.vocabulary import Direction, Severity, Side
from crdcompat.vocabulary.writes import ReleaseVerdict

#: What was found between two releases in one direction, by their places in the order, the older one's first.
_Ways = dict[tuple[int, int, str], tuple[DiffReport, str]]


@dataclass(frozen=True, slots=True)
class MatrixOptions:
    """What a matrix was asked for beside the releases.

    ``recorded`` reads what the recordings named ``sources`` hold, ``origin`` the release that their cluster runs.
    ``excerpts``: a format shows the lines of both sides.
    """

    filters: Filters = field(default_factory=Filters)
    sources: Sequence[str] = ()
    recorded: Callable[[], Iterable[ObjectItem]] = tuple
    origin: str | None = None
    repo: str | None = None
    excerpts: bool = False


def matrix(chosen: ReleaseList, config: Config, waivers: Sequence[Waiver], wishes: MatrixOptions) -> MatrixReport:
    """Compare every two of the releases; with recordings, judge their cluster towards each older one.

    Raises SourceError and RefNotFoundError for a release or recording that is not there, UsageError for a filter that
    leaves nothing of any pair, or for an origin that is none of the releases.
    """
    if wishes.origin is not None and wishes.origin not in chosen.names:
        raise UsageError(f"{wishes.origin} is none of the releases: {', '.join(chosen.names)}")
    reader = reader_for(config)
    sets = [read_source(name, Side.ANY, reader, config, wishes.repo) for name in chosen.names]
    ways = _ways(sets, config, waivers, wishes.filters)
    if wishes.excerpts:
        ways = {way: (_shown(report, sets, way), missing) for way, (report, missing) in ways.items()}
    return MatrixReport(
        releases=tuple(map(release, sets)),
        cells=tuple(_cells(chosen.names, ways)),
        cluster=_cluster(sets, wishes) if wishes.sources else None,
        notes=chosen.notes,
    )


def _ways(sets: Sequence[CrdSet], config: Config, waivers: Sequence[Waiver], wanted: Filters) -> _Ways:
    """Each pair compared once, and reported on once for each direction."""
    shared = ComparisonCache()
    found: _Ways = {}
    missing: list[str] = []
    for older, newer in combinations(range(len(sets)), 2):
        old, new = _as(sets[older], Side.OLD), _as(sets[newer], Side.NEW)
        compared = compare(old, new, (server_of(old), server_of(new)), wanted, shared)
        places, splitter = find_places(old, new, compared.judged, compared.open), FindingSplitter(old, new)
        missing += [compared.missing] if compared.missing else []
        for direction in wanted.directions:
            one_way = replace(wanted, directions=(direction,))
            report = report_on(compared, (release(old), release(new)), one_way, places, command="matrix")
            found[older, newer, direction] = apply_config(report, config, waivers, splitter), compared.missing
    if len(missing) == len(list(combinations(sets, 2))):
        raise UsageError(missing[0])
    return found


def _shown(report: DiffReport, sets: Sequence[CrdSet], way: tuple[int, int, str]) -> DiffReport:
    """The report with the lines of its errors and warnings: of the rest a matrix has too many."""
    from crdcompat.findings.excerpts import with_excerpts

    return with_excerpts(report, sets[way[0]], sets[way[1]], brief=True)


def _as(crds: CrdSet, side: Side) -> CrdSet:
    """A set as one side of a pair; the documents are the same."""
    return replace(
        crds,
        skipped=tuple(replace(item, side=side) for item in crds.skipped),
        problems=tuple(replace(item, side=side) for item in crds.problems),
        remarks=tuple(replace(item, side=side) for item in crds.remarks),
    )


def _cells(names: Sequence[str], ways: _Ways) -> Iterator[Cell]:
    """Row by row; what blocks is traced back over the releases newer than the older one of each pair."""
    for origin, target in permutations(range(len(names)), 2):
        older, newer = sorted((origin, target))
        direction = Direction.ROLLBACK if target == older else Direction.UPGRADE
        if (older, newer, direction) not in ways:
            continue
        report, missing = ways[older, newer, direction]
        back = [(names[each], ways[older, each, direction][0].findings) for each in range(newer, older, -1)]
        unjudged = tuple(_unjudged(report, missing))
        yield Cell(
            origin=names[origin],
            target=names[target],
            direction=direction,
            verdict=_verdict(report, unjudged),
            report=report,
            blockers=blockers(back),
            unjudged=unjudged,
        )


def _verdict(report: DiffReport, unjudged: Sequence[str]) -> ReleaseVerdict:
    """What blocks is known to block, whatever was not judged; without it nothing better than unknown is said."""
    counted = report.by_severity()
    if counted[Severity.ERROR]:
        return ReleaseVerdict.BLOCKED
    if unjudged:
        return ReleaseVerdict.UNKNOWN
    return ReleaseVerdict.AT_RISK if counted[Severity.WARNING] else ReleaseVerdict.CLEAN


def _unjudged(report: DiffReport, missing: str) -> Iterator[str]:
    for problem in report.problems:
        release = report.old if problem.side == Side.OLD else report.new
        line = f":{problem.line}" if problem.line else ""
        yield f"{release.name}: {problem.file}{line}: {problem.message}"
    for entry in report.undecided:
        yield f"{entry.crd}/{entry.version} {entry.path}: {entry.keyword}: {entry.reason}"
    for crd in report.counts.apart:
        yield f"{crd}: no context has it in both releases"
    if not report.counts.compared:
        yield missing or report.why_nothing


def _cluster(sets: Sequence[CrdSet], wishes: MatrixOptions) -> MatrixCluster:
    """Imported when asked for: without recordings nothing is replayed."""
    from crdcompat.features.matrix.cluster import judge_cluster

    contexts = wishes.filters.contexts
    context = contexts[0] if len(contexts) == 1 and "=" not in contexts[0] else None
    crds = wishes.filters.crds
    return judge_cluster(sets, wishes.recorded, wishes.sources, origin=wishes.origin, context=context, crds=crds)


#: The findings against one older release, each set with the newer release's name, back in time: the first is that of
#: the pair itself.
Chain = Sequence[tuple[str, Sequence[Finding]]]
#: What blocks: CRD, versions, rule and place, and the value of the enum (None: whatever the values are).
_Key = tuple[str, str, str, str, Any]


def blockers(chain: Chain) -> tuple[Blocker, ...]:
    """The errors that count among the findings of a chain's first pair, and since when each of their values blocks.

    A value that was added, taken out and added again blocks since the last time: the releases in between could go
    back. A waiver does not end the chain: the value is there all the same.
    """
    errors = [finding for finding in chain[0][1] if finding.counts and finding.severity == Severity.ERROR]
    if not errors:
        return ()
    known = [{key for finding in met for key in _keys(finding)} for _, met in chain]
    return tuple(_blocker(finding, known, [name for name, _ in chain]) for finding in errors)


def _blocker(finding: Finding, known: Sequence[set[_Key]], names: Sequence[str]) -> Blocker:
    values = (*finding.added, *finding.removed) if has_values(finding) else ()
    runs = [_run(finding, member_key(value), known) for value in values] or [_run(finding, None, known)]
    told = tuple(Since(value, names[run - 1]) for value, run in zip(values, runs, strict=False))
    return Blocker(finding, names[max(runs) - 1], told)


def _run(finding: Finding, value: Any, known: Sequence[set[_Key]]) -> int:
    """How many releases in a row block so, at the place where they are most."""
    keys = (_key(finding, path, value) for path in (finding.path, *finding.places))
    return max(next((run for run, met in enumerate(known) if key not in met), len(known)) for key in keys)


def _keys(finding: Finding) -> Iterator[_Key]:
    if finding.severity == Severity.ERROR:
        values = map(member_key, (*finding.added, *finding.removed)) if has_values(finding) else ()
        for value in (None, *values):
            yield from (_key(finding, path, value) for path in (finding.path, *finding.places))


def _key(finding: Finding, path: str, value: Any) -> _Key:
    return finding.crd, finding.versions, finding.rule, path, value
