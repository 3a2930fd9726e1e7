"""matrix: which release can be rolled back or upgraded to which, what blocks it, and since which release.

Each release is read once. Each pair of releases is compared once, directly and in both directions: a rollback that
skips releases is not the sum of its steps.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations, permutations
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from crdcompat.compare.comparison_cache import ComparisonCache
from crdcompat.config.applied import apply_config, read_source, reader_for, shipped_of, with_servers
from crdcompat.config.channels import Channel
from crdcompat.config.configuration import Config
from crdcompat.config.releases import ReleaseList
from crdcompat.crds.reader import CrdSet
from crdcompat.errors import UsageError
from crdcompat.features.diff.compared import compare
from crdcompat.features.diff.diff_options import DiffOptions
from crdcompat.features.diff.diff_report import release, report_on
from crdcompat.features.diff.diff_workflow import completed
from crdcompat.features.diff.staying import both_ways
from crdcompat.features.matrix.pool import Pool
from crdcompat.findings.locations import find_places
from crdcompat.findings.split import FindingSplitter
from crdcompat.findings.waiver_file import Accepted
from crdcompat.findings.waivers import has_values
from crdcompat.models.diff import DiffReport, outcome, unjudged
from crdcompat.models.finding import Finding
from crdcompat.models.installers import InstallerVerdict, by_installer
from crdcompat.models.matrix import Blocker, Cell, MatrixCluster, MatrixReport, Since
from crdcompat.recordings.recorded_objects import ObjectItem
from crdcompat.schema.listed_values import member_key
from crdcompat.sources.urls import public_name
from crdcompat.vocabulary import Direction, Severity, Side
from crdcompat.vocabulary.filters import Filters
from crdcompat.vocabulary.steps import stepping

#: By index of the older release, of the newer one, and direction: the report, and the filter name that matches nothing.
_Transitions = dict[tuple[int, int, str], tuple[DiffReport, str]]


class MatrixOptions(Struct, frozen=True):
    """The options of a matrix besides its releases.

    ``recorded`` reads the objects of the recordings named ``sources``, with the contents of those of the (group, kind)
    that it is given. ``origin`` is the release that their cluster runs. ``excerpts``: a format shows the lines of both
    sides. ``channels`` are those of catalogs among the releases.
    """

    filters: Filters = field(default_factory=Filters)
    sources: Sequence[str] = ()
    recorded: Callable[[Collection[tuple[str, str]]], Iterable[ObjectItem]] = lambda kinds: ()
    origin: str | None = None
    repo: str | None = None
    excerpts: bool = False
    channels: Sequence[Channel] = ()


def matrix(releases: ReleaseList, config: Config, accepted: Accepted, options: MatrixOptions) -> MatrixReport:
    """Compare every pair of releases; with recordings, judge the rollback of their cluster to each older release.

    Raises SourceError and RefNotFoundError for a release or recording that does not exist, UsageError for a filter
    name that matches nothing in any pair, or for an origin that is none of the releases.
    """
    names = tuple(map(public_name, releases.names))
    if options.origin is not None:
        options = replace(options, origin=public_name(options.origin))
        if options.origin not in names:
            raise UsageError(f"{options.origin} is none of the releases: {', '.join(names)}")
    if (double := next((name for name in names if names.count(name) > 1), None)) is not None:
        raise UsageError(f"{double}: two releases differ only in the secret part of their URLs, which reports hide")
    reader = reader_for(config)
    read = stepping(releases.names, "Releases read", len(releases.names))
    sets = [read_source(name, Side.ANY, reader, config, options.repo) for name in read]
    pool = Pool()
    transitions = _transitions(sets, config, accepted, options.filters, pool)
    if options.excerpts:
        for transition, (report, missing) in transitions.items():
            transitions[transition] = pool.report(_shown(report, sets, transition)), missing
    cells = tuple(_offered(_cells(names, transitions), options.channels))
    return MatrixReport(
        releases=tuple(map(release, sets)),
        cells=cells,
        cluster=_cluster(sets, config, accepted, options) if options.sources else None,
        notes=(*releases.notes, *_upgrade_notes(options.channels, cells)),
    )


def _transitions(
    sets: Sequence[CrdSet], config: Config, accepted: Accepted, wanted: Filters, pool: Pool
) -> _Transitions:
    """Compare each pair once, and make one report per direction.

    The pairs of one older release share a cache: what a pair used is there for the next one, and differences for all.
    """
    found: _Transitions = {}
    missing: list[str] = []
    unknown: dict[str, list[str]] = {}
    pairs = list(combinations(range(len(sets)), 2))
    shared, row = ComparisonCache(), 0
    for older, newer in stepping(pairs, "Pairs of releases compared", len(pairs)):
        if older != row:
            shared, row = ComparisonCache(shared), older
        shared.turn()
        old, new = shipped_of(_as(sets[older], Side.OLD, config), _as(sets[newer], Side.NEW, config), config)
        judging = both_ways(wanted, old, new)
        compared = completed(
            compare(old, new, judging, shared),
            DiffOptions(judging, command="matrix", advise=False, released=sets[:newer], cache=shared),
        )
        places, splitter = find_places(old, new, compared.judged, compared.open), FindingSplitter(old, new)
        missing += [compared.missing] if compared.missing else []
        for name, message in compared.unknown.items():
            unknown.setdefault(name, []).append(message)
        for direction in wanted.directions:
            one_direction = DiffOptions(replace(wanted, directions=(direction,)), command="matrix")
            report = report_on(compared, one_direction, places)
            report = pool.report(apply_config(report, config, accepted, splitter, new.go))
            found[older, newer, direction] = report, compared.missing
    for messages in (missing, *unknown.values()):
        if len(messages) == len(pairs):
            raise UsageError(messages[0])
    return found


def _offered(cells: Iterable[Cell], channels: Iterable[Channel]) -> Iterator[Cell]:
    """The cells, each with the upgrade between its releases that OLM offers."""
    offered = {
        frozenset((public_name(each.older), public_name(each.newer))): each.why
        for channel in channels
        for each in channel.upgrades
    }
    for cell in cells:
        why = offered.get(frozenset((cell.origin, cell.target)))
        yield cell if why is None else replace(cell, upgrade=why)


def _upgrade_notes(channels: Iterable[Channel], cells: Sequence[Cell]) -> Iterator[str]:
    """A note for each upgrade that OLM offers in a channel: whether there is a way back."""
    verdicts = {(cell.origin, cell.target): cell.verdict for cell in cells}
    for channel in channels:
        for each in channel.upgrades:
            older, newer = public_name(each.older), public_name(each.newer)
            shown = [name.rpartition("@")[2] for name in (older, newer)]
            back = verdicts.get((newer, older))
            way = f": the way back is {back}" if back is not None else ""
            yield f"{channel.label}: OLM upgrades {shown[0]} to {shown[1]} ({each.why}){way}"


def _shown(report: DiffReport, sets: Sequence[CrdSet], transition: tuple[int, int, str]) -> DiffReport:
    """The report with excerpts for errors and warnings; a matrix has too many other findings."""
    from crdcompat.findings.excerpts import with_excerpts

    return with_excerpts(report, sets[transition[0]], sets[transition[1]], Severity.WARNING)


def _as(crds: CrdSet, side: Side, config: Config) -> CrdSet:
    """A set as one side of a pair, on its server; both share the documents."""
    return replace(
        with_servers(crds, config),
        skipped=tuple(replace(item, side=side) for item in crds.skipped),
        problems=tuple(replace(item, side=side) for item in crds.problems),
        remarks=tuple(replace(item, side=side) for item in crds.remarks),
    )


def _cells(names: Sequence[str], transitions: _Transitions) -> Iterator[Cell]:
    """The cells row by row; blockers are traced back over the releases newer than the older one of each pair."""
    for origin, target in permutations(range(len(names)), 2):
        older, newer = sorted((origin, target))
        direction = Direction.ROLLBACK if target == older else Direction.UPGRADE
        if (older, newer, direction) not in transitions:
            continue
        report, missing = transitions[older, newer, direction]
        back = [(names[each], transitions[older, each, direction][0].findings) for each in range(newer, older, -1)]
        reasons = tuple(unjudged(report, missing))
        yield Cell(
            origin=names[origin],
            target=names[target],
            direction=direction,
            verdict=outcome(report, direction),
            report=report,
            blockers=blockers(back),
            unjudged=reasons,
            installers=_by_installer(transitions, older, newer, direction),
        )


def _by_installer(
    transitions: _Transitions, older: int, newer: int, direction: Direction
) -> tuple[InstallerVerdict, ...]:
    """The verdicts of a way that depend on the installer; some follow from the findings of the other direction."""
    ways = [way for way in Direction if (older, newer, way) in transitions]
    reports = [transitions[older, newer, way][0] for way in ways]
    findings = tuple(finding for report in reports for finding in report.findings)
    whole = replace(reports[0], findings=findings, directions=tuple(ways))
    return tuple(each for each in by_installer(whole) if each.direction is direction)


def _cluster(sets: Sequence[CrdSet], config: Config, accepted: Accepted, options: MatrixOptions) -> MatrixCluster:
    """Judge the recorded cluster; the replay is imported only for recordings."""
    from crdcompat.features.matrix.recorded_cluster import judge_cluster
    from crdcompat.features.simulate.early import growing

    contexts, crds = options.filters.contexts, options.filters.crds
    context = contexts[0] if len(contexts) == 1 and "=" not in contexts[0] else None
    releases = [with_servers(each, config) for each in sets]
    kinds = frozenset().union(*(each.kinds(crds) for each in releases))
    return judge_cluster(
        releases,
        releases,
        partial(options.recorded, kinds),
        options.sources,
        origin=options.origin,
        context=context,
        crds=crds,
        growth=lambda release: growing(accepted.growth, release, config),
    )


#: (Newer release, findings) against one older release, newest first; the first entry is the pair itself.
Chain = Sequence[tuple[str, Sequence[Finding]]]
#: The key of a blocker: CRD, versions, rule, path, and a value (None: the finding as a whole).
_Key = tuple[str, str, str, str, Any]


def blockers(chain: Chain) -> tuple[Blocker, ...]:
    """The counting errors of a chain's first pair, and the release since which each of their values blocks.

    A value that was added, removed and added again blocks since the last addition: releases without it can be rolled
    back. A waiver does not interrupt the chain, because the value still exists.
    """
    errors = [finding for finding in chain[0][1] if finding.counts and finding.severity == Severity.ERROR]
    if not errors:
        return ()
    known = [{key for finding in findings for key in _keys(finding)} for _, findings in chain]
    return tuple(_blocker(finding, known, [name for name, _ in chain]) for finding in errors)


def _blocker(finding: Finding, known: Sequence[set[_Key]], names: Sequence[str]) -> Blocker:
    values = (*finding.added, *finding.removed) if has_values(finding) else ()
    runs = [_run(finding, member_key(value), known) for value in values] or [_run(finding, None, known)]
    since = tuple(Since(value, names[run - 1]) for value, run in zip(values, runs, strict=False))
    return Blocker(finding, names[max(runs) - 1], since)


def _run(finding: Finding, value: Any, known: Sequence[set[_Key]]) -> int:
    """The number of consecutive releases with the blocker, at the place with most."""
    keys = (_key(finding, path, value) for path in (finding.path, *finding.places))
    return max(next((run for run, there in enumerate(known) if key not in there), len(known)) for key in keys)


def _keys(finding: Finding) -> Iterator[_Key]:
    if finding.severity == Severity.ERROR:
        values = map(member_key, (*finding.added, *finding.removed)) if has_values(finding) else ()
        for value in (None, *values):
            yield from (_key(finding, path, value) for path in (finding.path, *finding.places))


def _key(finding: Finding, path: str, value: Any) -> _Key:
    return finding.crd, finding.versions, finding.rule, path, value
