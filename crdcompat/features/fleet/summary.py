"""What the outcomes of many recordings come to: per finding how many clusters hold it, per cluster how far back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from crdcompat.apiserver.versions import Server
from crdcompat.config.releases import minor_of
from crdcompat.crds.reader import CrdSet
from crdcompat.errors import Skipped, problem_order, skipped_order
from crdcompat.features.diff.workflow import release
from crdcompat.features.fleet.reach import verdict_on
from crdcompat.features.fleet.tally import ClusterTally, FleetTally, Share, Tallied
from crdcompat.features.simulate.causes import places_of
from crdcompat.models.finding import Location
from crdcompat.models.fleet import FleetCluster, FleetFinding, FleetReport, HeldValue, Standing, TargetShare, Unjudged
from crdcompat.render.wording.findings import many
from crdcompat.vocabulary import Direction, Side


def summarize(
    tally: FleetTally,
    readers: Sequence[CrdSet],
    sides: tuple[CrdSet, CrdSet],
    server: Server | None,
    notes: Sequence[str],
    left_out: Sequence[Skipped],
) -> FleetReport:
    """The report on all that was counted.

    ``readers`` are the releases that judged, in the order of the tally's targets, ``sides`` the older release and the
    newer, ``server`` the one that was asked for.
    """
    old, new = sides
    findings = _findings(tally, readers)
    order = {finding.id: place for place, finding in enumerate(findings)}
    judged_by = [release(crds) for crds in readers]
    if server is not None:
        judged_by = [replace(told, kubernetes=server.kubernetes) for told in judged_by]
    problems = {*tally.problems, *new.problems, *old.problems}
    problems.update(problem for crds in readers for problem in crds.problems)
    by_name = {told.name: told for told in judged_by}
    return FleetReport(
        old=by_name.get(old.name, release(old)),
        new=by_name.get(new.name, release(new)),
        direction=tally.direction,
        targets=tuple(judged_by),
        clusters=tuple(
            sorted(
                (_cluster(item, readers, order, tally.direction) for item in tally.clusters), key=lambda item: item.name
            )
        ),
        findings=findings,
        unjudged=_unjudged(tally, readers),
        unread=tuple(sorted(tally.unread, key=lambda item: item.recording)),
        problems=tuple(sorted(problems, key=problem_order)),
        left_out=tuple(sorted(left_out, key=skipped_order)),
        notes=(*notes, *_doubts(tally, old if tally.direction == Direction.UPGRADE else new)),
    )


def _doubts(tally: FleetTally, writer: CrdSet) -> tuple[str, ...]:
    """Clusters that run something older than the release which is taken to have written their objects."""
    writes = minor_of(writer.name)
    runs = [minor_of(cluster.version) for cluster in tally.clusters if cluster.version is not None]
    older = sum(minor is not None and writes is not None and minor < writes for minor in runs)
    told = f"{older} of {many(len(tally.clusters), 'cluster')} ran a release before {writer.name}"
    return (f"{told}: judged as if that had written their objects",) if older else ()


def _cluster(
    cluster: ClusterTally, readers: Sequence[CrdSet], order: dict[str, int], direction: Direction
) -> FleetCluster:
    standings = []
    for crds, standing in zip(readers, cluster.standings, strict=True):
        unjudged = (
            *(_no_way_back(cluster, crds) if direction == Direction.ROLLBACK else ()),
            *_unread(crds),
            *_said(standing),
        )
        standings.append(
            Standing(
                target=crds.name,
                verdict=verdict_on(standing.verdicts, unjudged=bool(unjudged)),
                objects=standing.verdicts,
                findings=tuple(sorted(standing.findings, key=order.__getitem__)),
                unjudged=unjudged,
                unjudged_objects=standing.unjudged,
            )
        )
    names = tuple(sorted(cluster.recordings))
    return FleetCluster(
        names[0], names, cluster.id, cluster.version, cluster.objects, cluster.outside, tuple(standings)
    )


def _no_way_back(cluster: ClusterTally, target: CrdSet) -> Iterator[str]:
    """Why a rollback to a release says nothing of a cluster that runs nothing newer."""
    runs, there = (minor_of(name) if name else None for name in (cluster.version, target.name))
    if runs is not None and there is not None and there >= runs:
        yield f"it runs {cluster.version}: that is no way back"


def _findings(tally: FleetTally, readers: Sequence[CrdSet]) -> tuple[FleetFinding, ...]:
    found = sorted(tally.findings.values(), key=lambda item: (-item.clusters, -item.objects, item.cause.key))
    side = Side.NEW if tally.direction == Direction.UPGRADE else Side.OLD
    places = [
        places_of(crds, [item.shares[at].spot for item in found if at in item.shares])
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
                    values=_held(share),
                    location=Location(side, share.spot[0], *places[at].get(share.spot, (None, None))),
                )
                for at, share in sorted(item.shares.items())
            ),
            example=item.example,
        )
        for item in found
    )


def _unjudged(tally: FleetTally, readers: Sequence[CrdSet]) -> tuple[Unjudged, ...]:
    found = (
        Unjudged(
            reason=reason,
            targets=tuple(readers[at].name for at in sorted(entry.objects)),
            clusters=entry.clusters.bit_count(),
            objects=max(entry.objects.values()),
            example=entry.example,
        )
        for reason, entry in tally.reasons.items()
    )
    return tuple(sorted(found, key=lambda item: (-item.clusters, -item.objects, item.reason)))


def _unread(target: CrdSet) -> Iterator[str]:
    """What is not known of a release with CRDs that cannot be read: objects of theirs count as of no kind."""
    if target.problems:
        yield f"{many(len(target.problems), 'problem')} in {target.name}: what it has is not known"


def _held(share: Share) -> tuple[HeldValue, ...]:
    """The values, those of most clusters first."""
    found = [HeldValue(value, clusters.bit_count()) for value, clusters in share.values.values()]
    return tuple(sorted(found, key=lambda item: (-item.clusters, str(item.value))))


def _said(standing: Tallied) -> Iterator[str]:
    yield from (f"{many(objects, 'object')}: {reason}" for reason, objects in standing.said.items())
    if standing.more:
        yield many(standing.more, "other reason")
    if standing.problems:
        yield f"{many(standing.problems, 'problem')} while it was read"
