"""Makes the fleet report from the tally: findings with the clusters they block, reasons for not judging, notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from crdcompat.crds.reader import CrdSet
from crdcompat.crds.resolving import usual_context
from crdcompat.errors import Skipped, problem_order, skipped_order
from crdcompat.features.diff.diff_report import release
from crdcompat.features.fleet.cluster_counts import FleetTally, ShareTally
from crdcompat.features.fleet.clusters_on_disk import ClusterTallies
from crdcompat.features.fleet.depths import ClusterLister
from crdcompat.features.fleet.fleet_judge import FleetJudge
from crdcompat.features.fleet.recording_outcome import RecordingCause
from crdcompat.features.simulate.recording_notes import (
    already_note,
    hidden_findings,
    hidden_note,
    not_stored_note,
    older_than,
)
from crdcompat.findings.growth import Declaration
from crdcompat.models.finding import Growth, Location
from crdcompat.models.fleet import FleetFinding, FleetReport, RejectedValue, TargetShare, UnjudgedReason
from crdcompat.models.simulation import TOO_EARLY, Unrecorded
from crdcompat.render.wording.findings import plural
from crdcompat.vocabulary import Direction, Side
from crdcompat.vocabulary.growth import GrowthState
from crdcompat.vocabulary.writes import Apart


def summarize(
    tally: FleetTally,
    tallies: ClusterTallies,
    judge: FleetJudge,
    notes: Sequence[str],
    left_out: Sequence[Skipped],
    unrecorded: Sequence[Sequence[Unrecorded]],
) -> FleetReport:
    """The report on a tally of all clusters, and on the tallies of each cluster.

    ``unrecorded`` are, for each release that judged, the kinds with findings that not every cluster has recorded.
    """
    old, new, readers, server = judge.old, judge.new, judge.readers, judge.plan.server
    writer = old if tally.direction == Direction.UPGRADE else new
    findings = _findings(tally, readers, judge.plan.growth)
    judged_by = [release(crds) for crds in readers]
    if server is not None:
        judged_by = [replace(reader, kubernetes=server.kubernetes) for reader in judged_by]
    problems = {*tally.problems, *new.problems, *old.problems}
    problems.update(problem for crds in readers for problem in crds.problems)
    by_name = {reader.name: reader for reader in judged_by}
    listed = ClusterLister(
        readers, tally.direction, {finding.id: at for at, finding in enumerate(findings)}, unrecorded
    )
    for cluster in tallies:
        listed.add(cluster)
    return FleetReport(
        old=by_name.get(old.name, release(old)),
        new=by_name.get(new.name, release(new)),
        direction=tally.direction,
        targets=tuple(judged_by),
        clusters=listed.clusters,
        totals=listed.totals(),
        findings=findings,
        unjudged=(*_unjudged(tally, readers), *listed.unrecorded()),
        unread=tuple(sorted(tally.unread, key=lambda item: item.recording)),
        problems=tuple(sorted(problems, key=problem_order)),
        left_out=tuple(sorted(left_out, key=skipped_order)),
        notes=(*notes, *_apart_notes(tally, writer.name), *_older_clusters(tally, writer, judge)),
    )


def _apart_notes(tally: FleetTally, writer: str) -> Iterator[str]:
    """Notes on objects of which the writing release says something alike, for the target with most of them."""
    for apart, note in ((Apart.ALREADY, already_note), (Apart.NOT_STORED, not_stored_note)):
        if objects := max(counted[apart] for counted in tally.apart):
            yield note(objects, writer)


def _older_clusters(tally: FleetTally, writer: CrdSet, judge: FleetJudge) -> Iterator[str]:
    """Notes on clusters older than the release that is assumed to have written their objects."""
    older = older_than(tally.versions, writer.name)
    if not older:
        return
    of_all = plural(tally.clusters, "cluster")
    count = f"{sum(tally.versions[version] for version in older)} of {of_all} ran a release before {writer.name}"
    yield f"{count}: judged as if that had written their objects"
    for reader in judge.readers:
        old, new = (writer, reader) if tally.direction == Direction.UPGRADE else (reader, writer)
        context = judge.plan.context or usual_context(reader, writer)
        hidden = hidden_findings((old, new), tally.direction, context)
        if note := hidden_note(hidden, tuple(older), reader.name):
            yield f"to {reader.name}: {note}"


def _findings(tally: FleetTally, readers: Sequence[CrdSet], growth: Sequence[Declaration]) -> tuple[FleetFinding, ...]:
    found = sorted(tally.findings.values(), key=lambda item: (-item.clusters, -item.objects, item.cause.key))
    side = Side.NEW if tally.direction == Direction.UPGRADE else Side.OLD
    places = [
        crds.positions.of_spots(
            [item.shares[at].spot for item in found if at in item.shares and item.shares[at].spot[0]]
        )
        for at, crds in enumerate(readers)
    ]
    return tuple(
        FleetFinding(
            id=tally.id_of(item.cause),
            crd=item.cause.crd,
            kind=item.cause.kind,
            path=item.cause.path,
            type=item.cause.type,
            endpoint=item.cause.endpoint,
            clusters=item.clusters,
            targets=tuple(
                TargetShare(
                    target=readers[at].name,
                    clusters=share.clusters.count,
                    objects=share.objects,
                    values=_values(share),
                    location=Location(side, share.spot[0], *places[at].get(share.spot, (None, None)))
                    if share.spot[0]
                    else None,
                )
                for at, share in sorted(item.shares.items())
            ),
            example=item.example,
            growth=_declared(item.cause, growth),
        )
        for item in found
    )


def _declared(cause: RecordingCause, growth: Sequence[Declaration]) -> Growth | None:
    """What was declared about values that are held too early; None for other causes."""
    if cause.type != TOO_EARLY:
        return None
    about = [each for each in growth if (each.crd, each.path) == (cause.crd, cause.path)]
    return next(each.shown(GrowthState.EARLY) for each in about if any(map(each.names, cause.values)))


def _unjudged(tally: FleetTally, readers: Sequence[CrdSet]) -> tuple[UnjudgedReason, ...]:
    found = (
        UnjudgedReason(
            reason=reason,
            targets=tuple(readers[at].name for at in sorted(entry.objects)),
            clusters=entry.clusters.count,
            objects=max(entry.objects.values()),
            example=entry.example,
        )
        for reason, entry in tally.reasons.items()
    )
    return tuple(sorted(found, key=lambda item: (-item.clusters, -item.objects, item.reason)))


def _values(share: ShareTally) -> tuple[RejectedValue, ...]:
    """The rejected values; values of most clusters come first."""
    found = [RejectedValue(held.value, held.clusters.count, held.hidden) for held in share.values.values()]
    return tuple(sorted(found, key=lambda item: (-item.clusters, str(item.value))))
