"""Outcomes of many recordings, counted: per cluster, per cause that held objects up, per reason for not judging."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any

from crdcompat.errors import Problem
from crdcompat.features.fleet.fates import Became, Held
from crdcompat.features.fleet.outcome import HeldCause, Outcome
from crdcompat.findings.finding import fingerprint
from crdcompat.findings.locations import Spot
from crdcompat.models.fleet import Unread
from crdcompat.records import dataclass
from crdcompat.schema.enums import member_key
from crdcompat.vocabulary import Direction, Side
from crdcompat.vocabulary.writes import WriteResult

_MOST_VALUES = 50
_MOST_REASONS = 200
_MOST_SAID = 3


@dataclass(slots=True)
class Share:
    """A finding in front of one target; clusters are bits of a number."""

    spot: Spot
    clusters: int = 0
    objects: int = 0
    values: dict[Any, tuple[Any, int]] = field(default_factory=dict)


@dataclass(slots=True)
class Found:
    """What was found: a cause that held objects up, one of them and its recording, and its share of each target."""

    cause: HeldCause
    example: str
    shares: dict[int, Share] = field(default_factory=dict)

    @property
    def clusters(self) -> int:
        """How many clusters hold it, in front of any target."""
        found = 0
        for share in self.shares.values():
            found |= share.clusters
        return found.bit_count()

    @property
    def objects(self) -> int:
        """How many objects hold it, in front of the target where most do."""
        return max(share.objects for share in self.shares.values())


@dataclass(slots=True)
class Reason:
    """Why objects were not judged: one of them, the clusters that have some as bits, and how many by target."""

    example: str
    clusters: int = 0
    objects: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class Tallied:
    """How one cluster stands in front of one target."""

    verdicts: dict[WriteResult, int] = field(default_factory=lambda: dict.fromkeys(WriteResult, 0))
    findings: set[str] = field(default_factory=set)
    said: dict[str, int] = field(default_factory=dict)
    more: int = 0
    problems: int = 0
    unjudged: int = 0


@dataclass(slots=True)
class ClusterTally:
    """One cluster: its recordings, the release it runs if they agree on it, how it stands in front of each target."""

    recordings: list[str]
    id: str | None
    version: str | None
    standings: tuple[Tallied, ...]
    held: Held
    objects: int = 0
    outside: int = 0


class FleetTally:
    """Takes outcomes one by one; grows with clusters and distinct findings, and by 8 bytes for an object.

    ``targets`` is how many releases judge, in the order of each outcome's targets. Recordings whose ClusterVersions
    say the same cluster are one cluster: what any of them holds, it holds, and an object that several of them hold is
    one, with its worst verdict. Which of them is the newest is not asked: few tell their time, a file has that of its
    copy, and what stood in an object once is what its controllers write.
    """

    def __init__(self, targets: int, direction: Direction) -> None:
        self.direction = direction
        self._targets = targets
        self.clusters: list[ClusterTally] = []
        self._by_id: dict[str, int] = {}
        self.findings: dict[tuple[str, str, str], Found] = {}
        self.reasons: dict[str, Reason] = {}
        self._fates: dict[tuple[Became, ...], tuple[Became, ...]] = {}
        self.problems: set[Problem] = set()
        self.unread: list[Unread] = []

    def add(self, recording: str, outcome: Outcome) -> None:
        """Take one more recording's outcome."""
        if outcome.failure:
            self.unread.append(Unread(recording, outcome.failure))
            return
        number = self._number(recording, outcome)
        cluster = self.clusters[number]
        outcome = cluster.held.news(outcome)
        cluster.objects += outcome.objects
        cluster.outside += outcome.outside
        self._take_problems(recording, outcome)
        for at, (standing, target) in enumerate(zip(cluster.standings, outcome.targets, strict=True)):
            for verdict, count in target.verdicts.items():
                standing.verdicts[verdict] += count
            for cause in target.causes:
                self._hold(cause, at, number, recording)
                standing.findings.add(self.id_of(cause))
            for missed in target.missed:
                self._miss(at, number, missed.reason, missed.objects, _where(missed.example, recording))
                standing.unjudged += missed.objects
                _say(standing, missed.reason, missed.objects)
            if outcome.problem_count:
                reason = "what could not be read (problems say what)"
                self._miss(at, number, reason, 0, recording)
                standing.problems += outcome.problem_count

    def _number(self, recording: str, outcome: Outcome) -> int:
        """The cluster that a recording is of; another one for each that does not say."""
        known = self._by_id.get(outcome.id) if outcome.id is not None else None
        if known is not None:
            self.clusters[known].recordings.append(recording)
            if self.clusters[known].version != outcome.version:
                self.clusters[known].version = None  # it was recorded before and after an upgrade
            return known
        number = len(self.clusters)
        standings = tuple(Tallied() for _ in range(self._targets))
        self.clusters.append(ClusterTally([recording], outcome.id, outcome.version, standings, Held(self._fates)))
        if outcome.id is not None:
            self._by_id[outcome.id] = number
        return number

    def _take_problems(self, recording: str, outcome: Outcome) -> None:
        told = [_in(recording, problem) for problem in outcome.problems]
        if rest := outcome.problem_count - len(told):
            told.append(Problem(recording, None, f"and {rest} more problems", Side.OBJECTS))
        self.problems.update(told)

    def _hold(self, cause: HeldCause, at: int, number: int, recording: str) -> None:
        finding = self.findings.setdefault(cause.key, Found(cause, _where(cause.example, recording)))
        spot = (cause.file, cause.index, cause.pointer)
        share = finding.shares.setdefault(at, Share(spot))
        share.clusters |= 1 << number
        share.objects += cause.objects
        for value in cause.values:
            key = member_key(value)
            known, clusters = share.values.get(key, (value, 0))
            if clusters or len(share.values) < _MOST_VALUES:
                share.values[key] = known, clusters | 1 << number

    def _miss(self, at: int, number: int, reason: str, objects: int, example: str) -> None:
        if reason not in self.reasons and len(self.reasons) >= _MOST_REASONS:
            reason = "for other reasons than these"
        entry = self.reasons.setdefault(reason, Reason(example))
        entry.clusters |= 1 << number
        entry.objects[at] = entry.objects.get(at, 0) + objects

    def id_of(self, cause: HeldCause) -> str:
        """As in other reports of the same cause."""
        crd, path, kind = cause.key
        return fingerprint(f"rejected {kind}", self.direction, crd, "", path, (), ())


def _say(standing: Tallied, reason: str, objects: int) -> None:
    """Keep why objects are not judged, once for all recordings of a cluster."""
    if reason in standing.said or len(standing.said) < _MOST_SAID:
        standing.said[reason] = standing.said.get(reason, 0) + objects
    elif objects:
        standing.more += 1


def _where(example: str, recording: str) -> str:
    """An object, or the place of one without a name, and its recording."""
    name = recording.rpartition("/")[2]
    return f"{example.removeprefix(f'{name}: ')} in {recording}"


def _in(recording: str, problem: Problem) -> Problem:
    """A problem of a recording, with the whole path of the recording; one of a release as it is."""
    if problem.side != Side.OBJECTS:
        return problem
    name = recording.rpartition("/")[2]
    inside = "" if problem.file == name else problem.file.removeprefix(f"{name}: ")
    return replace(problem, file=f"{recording}: {inside}" if inside else recording)
