"""Notes of a simulation: the origin of the recording, and what it can and cannot show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from crdcompat.config.releases import version_of
from crdcompat.crds.reader import CrdSet
from crdcompat.crds.resolving import as_filter
from crdcompat.features.diff.diff_options import DiffOptions
from crdcompat.features.diff.diff_workflow import diff
from crdcompat.models.finding import Finding
from crdcompat.models.simulation import SimulationReport, not_stored
from crdcompat.render.wording.findings import plural
from crdcompat.vocabulary import Direction, Owner, Severity
from crdcompat.vocabulary.filters import Filters
from crdcompat.vocabulary.texts import some


def cluster_notes(versions: Sequence[str], writer: str) -> Iterator[str]:
    """Notes on the versions of recorded clusters, with a warning if the assumed writer of the objects is newer."""
    if len(versions) == 1:
        yield f"the recording is of a cluster of {versions[0]}"
    elif versions:
        yield f"the recordings are of clusters of {', '.join(versions)} (--fleet judges many)"
    for version in older_than(versions, writer):
        yield (
            f"warning: a cluster of {version} is older than {writer}: its objects are judged as if {writer} had "
            "written them, and hold nothing of what only that writes"
        )


def other_feature_set(feature_sets: Sequence[str], context: str) -> Iterator[str]:
    """A warning if the CRDs of a context judge and no recorded cluster has its feature set; none if none is shown."""
    judging, slash, _ = context.partition("/")
    if slash and feature_sets and judging not in feature_sets:
        yield (
            f"warning: the cluster has the feature set {some(feature_sets)}, and the CRDs of context {context} judge "
            "its objects: choose another context with --context"
        )


def older_than(versions: Iterable[str], release: str) -> list[str]:
    """The versions before that of a release; none if the release's name has no version."""
    return [version for version in versions if _is_older(version, release)]


def is_of(versions: Iterable[str], release: str) -> bool:
    """Whether no version is of another minor than a release, as far as the names tell."""
    there = version_of(release)
    known = [found for version in versions if (found := version_of(version)) is not None]
    return there is None or all(found[0][:2] == there[0][:2] for found in known)


def _is_older(version: str, release: str) -> bool:
    runs, there = version_of(version), version_of(release)
    if runs is None or there is None:
        return False
    return runs[0][:2] < there[0][:2] or (len(there[0]) > 2 and runs < there)


def hidden_findings(
    sides: tuple[CrdSet, CrdSet], direction: Direction, context: str, crds: Iterable[str] | None = None
) -> tuple[Finding, ...]:
    """The errors and warnings on values that only objects of the writing release have, for all or some CRDs.

    ``sides`` are OLD and NEW, ``context`` is the one whose CRDs judge the objects.
    """
    both = sides[0].names & sides[1].names
    named = both if crds is None else both.intersection(crds)
    if not named:
        return ()
    wanted = Filters((direction,), touched=named, contexts=as_filter(context, *sides))
    found = diff(*sides, DiffOptions(wanted, judge_new=False, across_servers=False, locate=False)).findings
    return tuple(f for f in found if f.severity is not Severity.INFO and f.owner is not Owner.CRD)


def hidden_note(findings: Sequence[Finding], versions: Sequence[str], reader: str) -> str:
    """Which findings cannot show in the objects of clusters of ``versions``; "" without findings.

    If the clusters are newer than the reader, the comparison does not show which changes are newer than they are.
    """
    if not findings:
        return ""
    named = some([f"{finding.rule} at {finding.crd} {finding.path}" for finding in findings])
    clusters = ", ".join(versions)
    if all(_is_not_after(version, reader) for version in versions):
        return f"{plural(len(findings), 'finding')} cannot show in objects of {clusters}: {named}"
    return f"of {plural(len(findings), 'finding')}, those younger than {clusters} cannot show in its objects: {named}"


def _is_not_after(version: str, release: str) -> bool:
    """Whether a cluster's version is of a release or before it."""
    runs, there = version_of(version), version_of(release)
    if runs is None or there is None:
        return False
    return runs[0][:2] <= there[0][:2] if len(there[0]) <= 2 else runs <= there


def apart_notes(report: SimulationReport) -> Iterator[str]:
    """Rejections and losses that the writing release has as well, so that they do not count."""
    writer = (report.old if report.direction is Direction.UPGRADE else report.new).name
    alike = sum(any(write.already for write in item.writes.values()) for item in report.objects)
    if alike:
        named = some([f"{cause.kind} {cause.path}".rstrip() for cause in report.already])
        yield already_note(alike, writer, named)
    unstored = sum(bool(item.not_stored) for item in report.objects)
    if unstored:
        yield not_stored_note(unstored, writer, some([f"{field.kind} {field.path}" for field in not_stored(report)]))


def restore_notes(report: SimulationReport) -> Iterator[str]:
    """The objects that cannot be created anew, which no rollback does."""
    only = [item.label for item in report.objects if item.only_create_is_rejected]
    if only:
        yield f"not counted: {plural(len(only), 'object')} cannot be restored from a backup ({some(only)})"


def already_note(objects: int, writer: str, named: str = "") -> str:
    """Objects with writes that the writing release rejects as well."""
    return f"already so under {writer}, and not counted: rejections of {plural(objects, 'object')}{_in_brackets(named)}"


def not_stored_note(objects: int, writer: str, named: str = "") -> str:
    """Objects with fields that the writing release prunes as well."""
    return (
        f"not counted, because {writer} prunes them, too, and so does not store them: fields of "
        f"{plural(objects, 'object')}{_in_brackets(named)}"
    )


def _in_brackets(named: str) -> str:
    return f" ({named})" if named else ""
