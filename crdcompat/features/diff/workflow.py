"""The functions behind the commands: load, diff and suggest_patch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from crdcompat.apiserver.supported.ranges import ends
from crdcompat.apiserver.versions import DEFAULT_SERVER, known_server
from crdcompat.compare.advice import judge_new_status
from crdcompat.compare.memory import ComparisonCache
from crdcompat.compare.result import Judged
from crdcompat.crds.reader import CrdReader, CrdSet
from crdcompat.errors import UsageError, problem_order
from crdcompat.features.diff.comparison import Compared, compare, report_on
from crdcompat.features.diff.refused import find_refused, remarks_on, with_refused
from crdcompat.findings.locations import Places, find_places
from crdcompat.models.diff import DiffReport
from crdcompat.models.finding import Finding, Location
from crdcompat.models.report import Release
from crdcompat.schema.enums import member_key
from crdcompat.vocabulary import Direction, Side
from crdcompat.vocabulary.filters import UNFILTERED, Filters


def load(source: str, *, repo: str | None = None, reader: CrdReader | None = None, side: Side = Side.ANY) -> CrdSet:
    """The CRDs of a source: ``git:REF``, ``index:``, ``worktree:``, ``path:P``, or a bare ref or path.

    ``reader`` shares parsed blobs between several loads. Raises SourceError, RefNotFoundError, UsageError.
    """
    from crdcompat.sources import open_source

    return (reader or CrdReader()).read(open_source(source, repo=repo), side)


def diff(
    old: CrdSet,
    new: CrdSet,
    wanted: Filters = UNFILTERED,
    *,
    command: str = "diff",
    locate: bool = True,
    judge_new: bool = True,
    advise: bool = True,
    more_places: Callable[[Judged], tuple[Location, ...]] | None = None,
    without_gates: Sequence[CrdSet] | None = None,
    cache: ComparisonCache | None = None,
) -> DiffReport:
    """Compare two CRD sets; ``wanted`` has the directions and the filters.

    ``judge_new``: whether CRDs of NEW that the API server refuses are findings, and those of OLD remarks; without it
    those of NEW are remarks, and OLD, which is out already, is not looked at. ``advise``: whether new fields of status
    that will be expensive to change are findings. ``more_places`` gives the locations of a change outside the
    manifests. ``without_gates``: see ``report_on``. ``cache`` may serve several comparisons of sets that one reader has
    read. Raises UsageError for a filter name that matches nothing.
    """
    cache = cache or ComparisonCache()
    compared = _compare(old, new, wanted, cache)
    of_old, of_new = find_refused(compared, cache, of_both=judge_new) if locate else ((), ())
    if judge_new:
        compared = with_refused(compared, of_new, wanted)
    if locate and (old.supported or new.supported):
        from crdcompat.features.diff.across_servers import with_differences

        compared = with_differences(compared, wanted, cache, judge_new=judge_new)
    if advise:
        advice = judge_new_status(compared.judged, wanted.directions)
        compared = replace(compared, judged=(*compared.judged, *advice))
    places = find_places(old, new, compared.judged, compared.open) if locate else Places({}, {})
    releases = release(old), release(new)
    report = report_on(
        compared, releases, wanted, places, command=command, more_places=more_places, without_gates=without_gates
    )
    remarks = {*report.remarks, *remarks_on(old, Side.OLD, of_old)}
    if not judge_new:
        remarks.update(remarks_on(new, Side.NEW, of_new))
    return replace(report, remarks=tuple(sorted(remarks, key=problem_order)))


def suggest_patch(old: CrdSet, new: CrdSet, wanted: Filters = UNFILTERED, *, waived: Sequence[Finding] = ()) -> str:
    """A unified diff of OLD's files with which its schemas accept what NEW stores; "" if nothing can be widened.

    It widens exactly what the rollback findings on the CRDs, paths and contexts of ``wanted`` need, except for
    ``waived`` ones. crdcompat never applies it.
    """
    from crdcompat.findings.patch import suggest_patch as suggested

    wanted = Filters((Direction.ROLLBACK,), crds=wanted.crds, paths=wanted.paths, contexts=wanted.contexts)
    judged = _compare(old, new, wanted, ComparisonCache()).judged
    return suggested((left for item in judged if (left := _unwaived(item, waived)) is not None), old)


def _unwaived(item: Judged, waived: Sequence[Finding]) -> Judged | None:
    """A judged change without its waived values; None if all are waived."""
    about = [f for f in waived if (f.change, f.direction, f.crd) == (item.change.kind, item.direction, item.crd)]
    about = [f for f in about if f.version == item.version and item.change.place in (f.path, *f.places)]
    if not about:
        return item
    accepted = {member_key(value) for finding in about for value in finding.added}
    left = tuple(value for value in item.labels or item.change.added if member_key(value) not in accepted)
    return replace(item, labels=left) if left else None


def _compare(old: CrdSet, new: CrdSet, wanted: Filters, cache: ComparisonCache) -> Compared:
    """Compare two sets. Raises UsageError for a filter name that matches nothing."""
    compared = compare(old, new, wanted, cache)
    if wrong := compared.missing or ". ".join(compared.unknown.values()):
        raise UsageError(wrong)
    return compared


def release(crds: CrdSet) -> Release:
    """The description of a side for reports."""
    server = known_server(crds)
    notes = crds.notes
    if server is None and crds.supported:
        oldest, newest = ends(crds.supported)
        notes += (f"{oldest} runs {crds.title} as the older release, {newest} as the newer one",)
    elif server is None and not crds.may_be_openshift:
        notes += (f"{DEFAULT_SERVER} is assumed to run {crds.title} (configuration: releases)",)
    return Release(crds.name, crds.commit, server.kubernetes if server else None, notes, crds.label)
