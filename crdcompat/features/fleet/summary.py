"""Makes the fleet report from the tally: per finding the clusters it blocks, per cluster its rollback depth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from crdcompat.apiserver.versions import Server
from crdcompat.config.releases import minor_of
from crdcompat.crds.reader import CrdSet
from crdcompat.errors import Skipped, problem_order, skipped_order
from crdcompat.features.diff.workflow import release
from crdcompat.features.fleet.tally import ClusterTally, FleetTally, ShareTally, TargetTally
from crdcompat.features.simulate.notes import (
    already_note,
    hidden_findings,
    hidden_note,
    not_stored_note,
    older_than,
)
from crdcompat.models.finding import Location
from crdcompat.models.fleet import (
    ClusterVerdict,
    FleetCluster,
    FleetFinding,
    FleetReport,
    RejectedValue,
    TargetShare,
    UnjudgedReason,
)
from crdcompat.models.outcome import verdict_on
from crdcompat.models.simulation import Unrecorded
from crdcompat.render.wording.findings import plural
from crdcompat.render.wording.simulation import unrecorded_line
from crdcompat.vocabulary import Direction, Side
from crdcompat.vocabulary.writes import Apart


def summarize(
    tally: FleetTally,
    readers: Sequence[CrdSet],
    sides: tuple[CrdSet, CrdSet],
    server: Server | None,
    notes: Sequence[str],
    left_out: Sequence[Skipped],
    unrecorded: Sequence[Sequence[Unrecorded]],
) -> FleetReport:
    """The report on a tally.

    ``readers`` are the releases that judged, in the order of the tally's targets. ``sides`` are OLD and NEW.
    ``server`` is the one that the user asked for, if any. ``unrecorded`` are, for each reader, the kinds with findings
    that not every cluster has recorded.
    """
    old, new = sides
    writer = old if tally.direction == Direction.UPGRADE else new
    findings = _findings(tally, readers)
    order = {finding.id: place for place, finding in enumerate(findings)}
    judged_by = [release(crds) for crds in readers]
    if server is not None:
        judged_by = [replace(reader, kubernetes=server.kubernetes) for reader in judged_by]
    problems = {*tally.problems, *new.problems, *old.problems}
    problems.update(problem for crds in readers for problem in crds.problems)
    by_name = {reader.name: reader for reader in judged_by}
    return FleetReport(
        old=by_name.get(old.name, release(old)),
        new=by_name.get(new.name, release(new)),
        direction=tally.direction,
        targets=tuple(judged_by),
        clusters=tuple(
            sorted(
                (_cluster(item, readers, order, tally.direction, unrecorded) for item in tally.clusters),
                key=lambda item: item.name,
            )
        ),
        findings=findings,
        unjudged=(*_unjudged(tally, readers), *_unjudged_kinds(tally, readers, unrecorded)),
        unread=tuple(sorted(tally.unread, key=lambda item: item.recording)),
        problems=tuple(sorted(problems, key=problem_order)),
        left_out=tuple(sorted(left_out, key=skipped_order)),
        notes=(*notes, *_apart_notes(tally, writer.name), *_older_clusters(tally, writer, readers)),
    )


def _apart_notes(tally: FleetTally, writer: str) -> Iterator[str]:
    """Notes on objects of which the writing release says something alike, for the target with most of them."""
    targets = list(zip(*(cluster.targets for cluster in tally.clusters), strict=True))
    for apart, note in ((Apart.ALREADY, already_note), (Apart.NOT_STORED, not_stored_note)):
        objects = max((sum(counted.apart[apart] for counted in target) for target in targets), default=0)
        if objects:
            yield note(objects, writer)


def _older_clusters(tally: FleetTally, writer: CrdSet, readers: Sequence[CrdSet]) -> Iterator[str]:
    """Notes on clusters older than the release that is assumed to have written their objects."""
    runs = [cluster.version for cluster in tally.clusters if cluster.version is not None]
    older = older_than(runs, writer.name)
    if not older:
        return
    count = f"{len(older)} of {plural(len(tally.clusters), 'cluster')} ran a release before {writer.name}"
    yield f"{count}: judged as if that had written their objects"
    for reader in readers:
        old, new = (writer, reader) if tally.direction == Direction.UPGRADE else (reader, writer)
        hidden = hidden_findings(old, new, tally.direction)
        if note := hidden_note(hidden, tuple(dict.fromkeys(older)), reader.name):
            yield f"to {reader.name}: {note}"


def _cluster(
    cluster: ClusterTally,
    readers: Sequence[CrdSet],
    order: dict[str, int],
    direction: Direction,
    unrecorded: Sequence[Sequence[Unrecorded]],
) -> FleetCluster:
    verdicts = []
    for crds, counted, kinds in zip(readers, cluster.targets, unrecorded, strict=True):
        unjudged = (
            *(_not_a_rollback(cluster, crds) if direction == Direction.ROLLBACK else ()),
            *_unread_crds(crds),
            *_reasons(counted),
            *_not_recorded(cluster, kinds),
        )
        verdicts.append(
            ClusterVerdict(
                target=crds.name,
                verdict=verdict_on(counted.verdicts, unjudged=bool(unjudged)),
                objects=counted.verdicts,
                findings=tuple(sorted(counted.findings, key=order.__getitem__)),
                unjudged=unjudged,
                unjudged_objects=counted.unjudged,
            )
        )
    names = tuple(sorted(cluster.recordings))
    return FleetCluster(names[0], names, cluster.id, cluster.version, cluster.objects, cluster.outside, tuple(verdicts))


def _not_a_rollback(cluster: ClusterTally, target: CrdSet) -> Iterator[str]:
    """The reason for not judging a target that is not older than the cluster."""
    runs, there = (minor_of(name) if name else None for name in (cluster.version, target.name))
    if runs is not None and there is not None and there >= runs:
        yield f"it runs {cluster.version}: that is no way back"


def _findings(tally: FleetTally, readers: Sequence[CrdSet]) -> tuple[FleetFinding, ...]:
    found = sorted(tally.findings.values(), key=lambda item: (-item.clusters, -item.objects, item.cause.key))
    side = Side.NEW if tally.direction == Direction.UPGRADE else Side.OLD
    places = [
        crds.positions.of_spots([item.shares[at].spot for item in found if at in item.shares])
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
                    clusters=share.clusters.bit_count(),
                    objects=share.objects,
                    values=_values(share),
                    location=Location(side, share.spot[0], *places[at].get(share.spot, (None, None))),
                )
                for at, share in sorted(item.shares.items())
            ),
            example=item.example,
        )
        for item in found
    )


def _unjudged(tally: FleetTally, readers: Sequence[CrdSet]) -> tuple[UnjudgedReason, ...]:
    found = (
        UnjudgedReason(
            reason=reason,
            targets=tuple(readers[at].name for at in sorted(entry.objects)),
            clusters=entry.clusters.bit_count(),
            objects=max(entry.objects.values()),
            example=entry.example,
        )
        for reason, entry in tally.reasons.items()
    )
    return tuple(sorted(found, key=lambda item: (-item.clusters, -item.objects, item.reason)))


def _not_recorded(cluster: ClusterTally, kinds: Sequence[Unrecorded]) -> Iterator[str]:
    """The reason for not judging a cluster of which kinds with findings were not recorded."""
    if missing := [item for item in kinds if item.crd not in cluster.recorded]:
        yield unrecorded_line(missing)


def _unjudged_kinds(
    tally: FleetTally, readers: Sequence[CrdSet], unrecorded: Sequence[Sequence[Unrecorded]]
) -> Iterator[UnjudgedReason]:
    """The kinds with findings that were not recorded, with the targets and clusters of the same ones."""
    found: dict[str, tuple[dict[str, None], dict[int, str]]] = {}
    for crds, kinds in zip(readers, unrecorded, strict=True):
        for number, cluster in enumerate(tally.clusters):
            for reason in _not_recorded(cluster, kinds):
                targets, clusters = found.setdefault(reason, ({}, {}))
                targets[crds.name] = None
                clusters[number] = cluster.recordings[0]
    for reason, (targets, clusters) in found.items():
        yield UnjudgedReason(reason, tuple(targets), len(clusters), 0, next(iter(clusters.values())))


def _unread_crds(target: CrdSet) -> Iterator[str]:
    """The reason for not judging a target with unreadable CRDs: their objects look like objects of unknown kinds."""
    if target.problems:
        yield f"{plural(len(target.problems), 'problem')} in {target.name}: what it has is not known"


def _values(share: ShareTally) -> tuple[RejectedValue, ...]:
    """The rejected values, those of most clusters first."""
    found = [RejectedValue(value, clusters.bit_count(), hidden) for value, hidden, clusters in share.values.values()]
    return tuple(sorted(found, key=lambda item: (-item.clusters, str(item.value))))


def _reasons(target: TargetTally) -> Iterator[str]:
    yield from (f"{plural(objects, 'object')}: {reason}" for reason, objects in target.reasons.items())
    if target.other_reasons:
        yield plural(target.other_reasons, "other reason")
    if target.problems:
        yield f"{plural(target.problems, 'problem')} while it was read"
