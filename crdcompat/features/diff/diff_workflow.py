"""The functions behind the commands: load, diff and suggest_patch."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from crdcompat.compare.advice import judge_new_status
from crdcompat.compare.comparison_cache import ComparisonCache
from crdcompat.compare.result import Judged
from crdcompat.crds.reader import CrdReader, CrdSet
from crdcompat.errors import UsageError
from crdcompat.features.diff.compared import Compared, compare
from crdcompat.features.diff.diff_options import DiffOptions
from crdcompat.features.diff.diff_report import report_on
from crdcompat.features.diff.refused_crds import with_refused
from crdcompat.features.diff.staying import both_ways, with_staying
from crdcompat.findings.locations import Places, find_places
from crdcompat.models.diff import DiffReport
from crdcompat.models.finding import Finding
from crdcompat.schema.listed_values import member_key
from crdcompat.vocabulary import Direction, Side
from crdcompat.vocabulary.filters import UNFILTERED, Filters


def load(source: str, *, repo: str | None = None, reader: CrdReader | None = None, side: Side = Side.ANY) -> CrdSet:
    """The CRDs of a source: ``git:REF``, ``index:``, ``worktree:``, ``path:P``, or a bare ref or path.

    ``reader`` shares parsed blobs between several loads. Raises SourceError, RefNotFoundError, UsageError.
    """
    from crdcompat.sources import open_source

    return (reader or CrdReader()).read(open_source(source, repo=repo), side)


def diff(old: CrdSet, new: CrdSet, options: DiffOptions | None = None) -> DiffReport:
    """Compare two CRD sets. Raises UsageError for a filter name that matches nothing."""
    options = options or DiffOptions()
    judging = replace(options, filters=both_ways(options.filters, old, new))
    compared = _complete(old, new, judging)
    places = find_places(old, new, compared.judged, compared.open) if options.locate else Places({}, {})
    return report_on(compared, options, places)


def completed(compared: Compared, options: DiffOptions) -> Compared:
    """The comparison with the results that are about whole CRDs and about servers: all findings come from here."""
    for step in (with_refused, _with_refused_on_way, _with_deleted, _with_differences, _with_advice, _with_since):
        compared = step(compared, options)
    return with_staying(compared)


def _with_refused_on_way(compared: Compared, options: DiffOptions) -> Compared:
    from crdcompat.features.diff.on_way import with_refused_on_way

    return with_refused_on_way(compared, options.filters)


def _with_deleted(compared: Compared, options: DiffOptions) -> Compared:
    if not (compared.old.installers.has_chart and compared.new.installers.has_chart):
        return compared
    from crdcompat.features.diff.deleted import with_deleted

    return with_deleted(compared, options.filters)


def _with_differences(compared: Compared, options: DiffOptions) -> Compared:
    if not options.across_servers or not (compared.old.supported or compared.new.supported):
        return compared
    from crdcompat.features.diff.across_servers import with_differences

    return with_differences(compared, options)


def _with_advice(compared: Compared, options: DiffOptions) -> Compared:
    if not options.advise:
        return compared
    advice = judge_new_status(compared.judged, options.filters.directions)
    return replace(compared, judged=(*compared.judged, *advice))


def _with_since(compared: Compared, options: DiffOptions) -> Compared:
    from crdcompat.features.diff.since import with_since

    return with_since(compared, options)


def suggest_patch(old: CrdSet, new: CrdSet, wanted: Filters = UNFILTERED, *, waived: Sequence[Finding] = ()) -> str:
    """A unified diff of OLD's files with which its schemas accept what NEW stores; "" if nothing can be widened.

    It widens what the rollback findings on the CRDs, paths and contexts of ``wanted`` need, except for ``waived`` ones,
    and accepts only what OLD or NEW accepts; where no schema can say that, a line says so. crdcompat never applies it.
    """
    from crdcompat.features.diff.tolerant import tolerant_patch

    wanted = Filters((Direction.ROLLBACK,), crds=wanted.crds, paths=wanted.paths, contexts=wanted.contexts)
    judged = _compare(old, new, wanted, ComparisonCache()).judged
    needed = [left for item in judged if (left := _unwaived(item, waived)) is not None]
    return tolerant_patch(old, new, needed, _complete)


def _complete(old: CrdSet, new: CrdSet, options: DiffOptions) -> Compared:
    return completed(_compare(old, new, options.filters, options.cache), options)


def _unwaived(item: Judged, waived: Sequence[Finding]) -> Judged | None:
    """A judged change without its waived values; None if all are waived."""
    about = [f for f in waived if (f.change, f.judged_as, f.crd) == (item.change.kind, item.direction, item.crd)]
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
