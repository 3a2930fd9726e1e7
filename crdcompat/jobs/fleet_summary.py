"""What the outcomes of many recordings come to: per finding how many clusters hold it, per cluster how far back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from typing import Any

from crdcompat.apiserver.eras import Server
from crdcompat.jobs.api import release
from crdcompat.jobs.causes import Spot, places_of
from crdcompat.jobs.fates import Became, Held
from crdcompat.jobs.outcome import HeldCause, Outcome
from crdcompat.jobs.reach import verdict_on
from crdcompat.jobs.releases import minor_of
from crdcompat.manifests.crdset import CrdSet
from crdcompat.policy.findings import Location, fingerprint
from crdcompat.problems import Problem, Skipped, problem_order, skipped_order
from crdcompat.records import dataclass
from crdcompat.report.fleet_model import (
    FleetCluster,
    FleetFinding,
    FleetReport,
    HeldValue,
    Standing,
    TargetShare,
    Unjudged,
    Unread,
)
from crdcompat.report.simulation_model import VERDICTS
from crdcompat.report.text_diff import many
from crdcompat.schema.enums import member_key

_MOST_VALUES = 50
_MOST_REASONS = 200
_MOST_SAID = 3


@dataclass(slots=True)
class _Share:
    """A finding in front of one target; clusters are bits of a number."""

    spot: Spot
    clusters: int = 0
    objects: int = 0
    values: dict[Any, tuple[Any, int]] = field(default_factory=dict)


@dataclass(slots=True)
class _Finding:
    cause: HeldCause
    example: str
    shares: dict[int, _Share] = field(default_factory=dict)

    @property
    def clusters(self) -> int:
        found = 0
        for share in self.shares.values():
            found |= share.clusters
        return found.bit_count()

    @property
    def objects(self) -> int:
        return max(share.objects for share in self.shares.values())


@dataclass(slots=True)
class _Reason:
    example: str
    clusters: int = 0
    objects: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Standing:
    verdicts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(VERDICTS, 0))
    findings: set[str] = field(default_factory=set)
    said: dict[str, int] = field(default_factory=dict)
    more: int = 0
    problems: int = 0
    unjudged: int = 0


@dataclass(slots=True)
class _Cluster:
    recordings: list[str]
    id: str | None
    version: str | None
    standings: tuple[_Standing, ...]
    held: Held
    objects: int = 0
    outside: int = 0


class FleetSummary:
    """Takes outcomes one by one; grows with clusters and distinct findings, and by 8 bytes for an object.

    ``readers`` are the releases that judge, in the order of each outcome's targets. Recordings whose ClusterVersions
    say the same cluster are one cluster: what any of them holds, it holds, and an object that several of them hold is
    one, with its worst verdict. Which of them is the newest is not asked: few tell their time, a file has that of its
    copy, and what stood in an object once is what its controllers write.
    """

    def __init__(self, readers: Sequence[CrdSet], upgrade: bool) -> None:
        self._readers = readers
        self._side, self._direction = ("new", "upgrade") if upgrade else ("old", "rollback")
        self._clusters: list[_Cluster] = []
        self._by_id: dict[str, int] = {}
        self._findings: dict[tuple[str, str, str], _Finding] = {}
        self._reasons: dict[str, _Reason] = {}
        self._fates: dict[tuple[Became, ...], tuple[Became, ...]] = {}
        self._problems: set[Problem] = set()
        self._unread: list[Unread] = []

    def add(self, recording: str, outcome: Outcome) -> None:
        """Take one more recording's outcome."""
        if outcome.failure:
            self._unread.append(Unread(recording, outcome.failure))
            return
        number = self._number(recording, outcome)
        cluster = self._clusters[number]
        outcome = cluster.held.news(outcome)
        cluster.objects += outcome.objects
        cluster.outside += outcome.outside
        self._take_problems(recording, outcome)
        for at, (standing, target) in enumerate(zip(cluster.standings, outcome.targets, strict=True)):
            for verdict, count in target.verdicts.items():
                standing.verdicts[verdict] += count
            for cause in target.causes:
                self._hold(cause, at, number, recording)
                standing.findings.add(self._id(cause.key))
            for missed in target.missed:
                self._miss(at, number, missed.reason, missed.objects, _where(missed.example, recording))
                standing.unjudged += missed.objects
                _say(standing, missed.reason, missed.objects)
            if outcome.problem_count:
                reason = "what could not be read (problems say what)"
                self._miss(at, number, reason, 0, recording)
                standing.problems += outcome.problem_count

    def report(
        self,
        old: CrdSet,
        new: CrdSet,
        server: Server | None,
        notes: Sequence[str],
        left_out: Sequence[Skipped],
    ) -> FleetReport:
        """The report on all that was added; ``server`` is the one that was asked for."""
        findings = self._report_findings()
        order = {finding.id: place for place, finding in enumerate(findings)}
        judged_by = [release(crds) for crds in self._readers]
        if server is not None:
            judged_by = [replace(told, kubernetes=server.kubernetes) for told in judged_by]
        problems = {*self._problems, *new.problems, *old.problems}
        problems.update(problem for crds in self._readers for problem in crds.problems)
        by_name = {told.name: told for told in judged_by}
        return FleetReport(
            old=by_name.get(old.name, release(old)),
            new=by_name.get(new.name, release(new)),
            direction=self._direction,
            targets=tuple(judged_by),
            clusters=tuple(
                sorted((self._report_cluster(item, order) for item in self._clusters), key=lambda item: item.name)
            ),
            findings=findings,
            unjudged=self._report_unjudged(),
            unread=tuple(sorted(self._unread, key=lambda item: item.recording)),
            problems=tuple(sorted(problems, key=problem_order)),
            left_out=tuple(sorted(left_out, key=skipped_order)),
            notes=(*notes, *self._doubts(old if self._direction == "upgrade" else new)),
        )

    def _number(self, recording: str, outcome: Outcome) -> int:
        """The cluster that a recording is of; another one for each that does not say."""
        known = self._by_id.get(outcome.id) if outcome.id is not None else None
        if known is not None:
            self._clusters[known].recordings.append(recording)
            if self._clusters[known].version != outcome.version:
                self._clusters[known].version = None  # it was recorded before and after an upgrade
            return known
        number = len(self._clusters)
        standings = tuple(_Standing() for _ in self._readers)
        self._clusters.append(_Cluster([recording], outcome.id, outcome.version, standings, Held(self._fates)))
        if outcome.id is not None:
            self._by_id[outcome.id] = number
        return number

    def _take_problems(self, recording: str, outcome: Outcome) -> None:
        told = [_in(recording, problem) for problem in outcome.problems]
        if rest := outcome.problem_count - len(told):
            told.append(Problem(recording, None, f"and {rest} more problems", "objects"))
        self._problems.update(told)

    def _hold(self, cause: HeldCause, at: int, number: int, recording: str) -> None:
        finding = self._findings.setdefault(cause.key, _Finding(cause, _where(cause.example, recording)))
        spot = (cause.file, cause.index, cause.pointer)
        share = finding.shares.setdefault(at, _Share(spot))
        share.clusters |= 1 << number
        share.objects += cause.objects
        for value in cause.values:
            key = member_key(value)
            known, clusters = share.values.get(key, (value, 0))
            if clusters or len(share.values) < _MOST_VALUES:
                share.values[key] = known, clusters | 1 << number

    def _miss(self, at: int, number: int, reason: str, objects: int, example: str) -> None:
        if reason not in self._reasons and len(self._reasons) >= _MOST_REASONS:
            reason = "for other reasons than these"
        entry = self._reasons.setdefault(reason, _Reason(example))
        entry.clusters |= 1 << number
        entry.objects[at] = entry.objects.get(at, 0) + objects

    def _id(self, key: tuple[str, str, str]) -> str:
        """As in other reports of the same cause."""
        crd, path, kind = key
        return fingerprint(f"rejected {kind}", self._direction, crd, "", path, (), ())

    def _doubts(self, writer: CrdSet) -> tuple[str, ...]:
        """Clusters that run something older than the release which is taken to have written their objects."""
        writes = minor_of(writer.name)
        runs = [minor_of(cluster.version) for cluster in self._clusters if cluster.version is not None]
        older = sum(minor is not None and writes is not None and minor < writes for minor in runs)
        told = f"{older} of {many(len(self._clusters), 'cluster')} ran a release before {writer.name}"
        return (f"{told}: judged as if that had written their objects",) if older else ()

    def _report_cluster(self, cluster: _Cluster, order: dict[str, int]) -> FleetCluster:
        standings = []
        for crds, standing in zip(self._readers, cluster.standings, strict=True):
            unjudged = (*self._no_way_back(cluster, crds), *_unread(crds), *_said(standing))
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

    def _no_way_back(self, cluster: _Cluster, target: CrdSet) -> Iterator[str]:
        """Why a rollback to a release says nothing of a cluster that runs nothing newer."""
        runs, there = (minor_of(name) if name else None for name in (cluster.version, target.name))
        if self._direction == "rollback" and runs is not None and there is not None and there >= runs:
            yield f"it runs {cluster.version}: that is no way back"

    def _report_findings(self) -> tuple[FleetFinding, ...]:
        found = sorted(self._findings.values(), key=lambda item: (-item.clusters, -item.objects, item.cause.key))
        places = [
            places_of(crds, [item.shares[at].spot for item in found if at in item.shares])
            for at, crds in enumerate(self._readers)
        ]
        return tuple(
            FleetFinding(
                id=self._id(item.cause.key),
                crd=item.cause.crd,
                kind=item.cause.kind,
                path=item.cause.path,
                type=item.cause.type,
                endpoint=item.cause.endpoint,
                clusters=item.clusters,
                targets=tuple(
                    TargetShare(
                        target=self._readers[at].name,
                        clusters=share.clusters.bit_count(),
                        objects=share.objects,
                        values=_held(share),
                        location=Location(self._side, share.spot[0], *places[at].get(share.spot, (None, None))),
                    )
                    for at, share in sorted(item.shares.items())
                ),
                example=item.example,
            )
            for item in found
        )

    def _report_unjudged(self) -> tuple[Unjudged, ...]:
        found = (
            Unjudged(
                reason=reason,
                targets=tuple(self._readers[at].name for at in sorted(entry.objects)),
                clusters=entry.clusters.bit_count(),
                objects=max(entry.objects.values()),
                example=entry.example,
            )
            for reason, entry in self._reasons.items()
        )
        return tuple(sorted(found, key=lambda item: (-item.clusters, -item.objects, item.reason)))


def _unread(target: CrdSet) -> Iterator[str]:
    """What is not known of a release with CRDs that cannot be read: objects of theirs count as of no kind."""
    if target.problems:
        yield f"{many(len(target.problems), 'problem')} in {target.name}: what it has is not known"


def _held(share: _Share) -> tuple[HeldValue, ...]:
    """The values, those of most clusters first."""
    found = [HeldValue(value, clusters.bit_count()) for value, clusters in share.values.values()]
    return tuple(sorted(found, key=lambda item: (-item.clusters, str(item.value))))


def _say(standing: _Standing, reason: str, objects: int) -> None:
    """Keep why objects are not judged, once for all recordings of a cluster."""
    if reason in standing.said or len(standing.said) < _MOST_SAID:
        standing.said[reason] = standing.said.get(reason, 0) + objects
    elif objects:
        standing.more += 1


def _said(standing: _Standing) -> Iterator[str]:
    yield from (f"{many(objects, 'object')}: {reason}" for reason, objects in standing.said.items())
    if standing.more:
        yield many(standing.more, "other reason")
    if standing.problems:
        yield f"{many(standing.problems, 'problem')} while it was read"


def _where(example: str, recording: str) -> str:
    """An object, or the place of one without a name, and its recording."""
    name = recording.rpartition("/")[2]
    return f"{example.removeprefix(f'{name}: ')} in {recording}"


def _in(recording: str, problem: Problem) -> Problem:
    """A problem of a recording, with the whole path of the recording; one of a release as it is."""
    if problem.side != "objects":
        return problem
    name = recording.rpartition("/")[2]
    inside = "" if problem.file == name else problem.file.removeprefix(f"{name}: ")
    return replace(problem, file=f"{recording}: {inside}" if inside else recording)
