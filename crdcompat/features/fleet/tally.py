"""Counts the outcomes of many recordings: per cluster, per cause of rejections, per reason for not judging."""

from __future__ import annotations

from collections import Counter
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from crdcompat.crds.positions import Spot
from crdcompat.errors import Problem
from crdcompat.features.fleet.deduplicate import ClusterObjects, ObjectResult
from crdcompat.features.fleet.outcome import Outcome, RecordingCause
from crdcompat.findings.finding import fingerprint
from crdcompat.models.fleet import UnreadRecording
from crdcompat.schema.enums import member_key
from crdcompat.vocabulary import Direction, Side
from crdcompat.vocabulary.writes import Apart, WriteResult

_MAX_VALUES = 50
_MAX_REASONS = 200
#: Reasons kept for one cluster and target.
_MAX_CLUSTER_REASONS = 3


class ShareTally(Struct):
    """A finding against one target; ``clusters`` is a bit set of cluster numbers.

    ``values``: a rejected value, whether it is not to be published, and the bit set of clusters that hold it.
    """

    spot: Spot
    clusters: int = 0
    objects: int = 0
    values: dict[Any, tuple[Any, bool, int]] = field(default_factory=dict)


class FindingTally(Struct):
    """A cause of rejections: an example object with its recording, and the counts by target index."""

    cause: RecordingCause
    example: str
    shares: dict[int, ShareTally] = field(default_factory=dict)

    @property
    def clusters(self) -> int:
        """The number of clusters with the cause, against any target."""
        found = 0
        for share in self.shares.values():
            found |= share.clusters
        return found.bit_count()

    @property
    def objects(self) -> int:
        """The number of objects with the cause, against the target with most."""
        return max(share.objects for share in self.shares.values())


class ReasonTally(Struct):
    """Objects not judged for one reason: an example, a bit set of cluster numbers, and counts by target index."""

    example: str
    clusters: int = 0
    objects: dict[int, int] = field(default_factory=dict)


class TargetTally(Struct):
    """The counts of one cluster against one target.

    ``apart`` counts objects that the writing release rejects or prunes too. ``reasons`` are the first reasons for
    not judging with their objects, ``other_reasons`` counts the rest. ``problems`` are those of reading, ``unjudged``
    counts objects.
    """

    verdicts: dict[WriteResult, int] = field(default_factory=lambda: dict.fromkeys(WriteResult, 0))
    apart: Counter[Apart] = field(default_factory=Counter)
    findings: set[str] = field(default_factory=set)
    reasons: dict[str, int] = field(default_factory=dict)
    other_reasons: int = 0
    problems: int = 0
    unjudged: int = 0


class ClusterTally(Struct):
    """One cluster: its recordings, its version if they agree on it, and its counts against each target.

    ``recorded`` are the CRDs of which any recording has an object or an empty list.
    """

    recordings: list[str]
    id: str | None
    version: str | None
    targets: tuple[TargetTally, ...]
    known: ClusterObjects
    recorded: set[str] = field(default_factory=set)
    objects: int = 0
    outside: int = 0


class FleetTally:
    """Adds up outcomes; memory grows with clusters and distinct findings, and by 8 bytes per object.

    ``targets`` is the number of releases that judge. Recordings with the same cluster id are one cluster: it has the
    objects of all of them, and an object in several recordings counts once, with its worst verdict. No recording
    overrides another: few contain their time, a file's time is that of its copy, and a value that an object once had
    is a value that its controllers write.
    """

    def __init__(self, targets: int, direction: Direction) -> None:
        self.direction = direction
        self._targets = targets
        self.clusters: list[ClusterTally] = []
        self._by_id: dict[str, int] = {}
        self.findings: dict[tuple[str, str, str], FindingTally] = {}
        self.reasons: dict[str, ReasonTally] = {}
        self._results: dict[tuple[ObjectResult, ...], tuple[ObjectResult, ...]] = {}
        self.problems: set[Problem] = set()
        self.unread: list[UnreadRecording] = []

    def add(self, recording: str, outcome: Outcome) -> None:
        """Add the outcome of one more recording."""
        if outcome.failure:
            self.unread.append(UnreadRecording(recording, outcome.failure))
            return
        number = self._number(recording, outcome)
        cluster = self.clusters[number]
        cluster.recorded.update(outcome.recorded)
        outcome = cluster.known.added_by(outcome)
        cluster.objects += outcome.objects
        cluster.outside += outcome.outside
        self._add_problems(recording, outcome)
        for at, (counted, target) in enumerate(zip(cluster.targets, outcome.targets, strict=True)):
            for verdict, count in target.verdicts.items():
                counted.verdicts[verdict] += count
            counted.apart.update(target.apart)
            for cause in target.causes:
                self._add_cause(cause, at, number, recording)
                counted.findings.add(self.id_of(cause))
            for missed in target.missed:
                self._add_reason(at, number, missed.reason, missed.objects, _where(missed.example, recording))
                counted.unjudged += missed.objects
                _count_reason(counted, missed.reason, missed.objects)
            if outcome.problem_count:
                reason = "what could not be read (problems say what)"
                self._add_reason(at, number, reason, 0, recording)
                counted.problems += outcome.problem_count

    def _number(self, recording: str, outcome: Outcome) -> int:
        """The number of the recording's cluster; a recording without a cluster id is a cluster of its own."""
        known = self._by_id.get(outcome.id) if outcome.id is not None else None
        if known is not None:
            self.clusters[known].recordings.append(recording)
            if self.clusters[known].version != outcome.version:
                self.clusters[known].version = None  # recorded before and after an upgrade
            return known
        number = len(self.clusters)
        targets = tuple(TargetTally() for _ in range(self._targets))
        self.clusters.append(
            ClusterTally([recording], outcome.id, outcome.version, targets, ClusterObjects(self._results))
        )
        if outcome.id is not None:
            self._by_id[outcome.id] = number
        return number

    def _add_problems(self, recording: str, outcome: Outcome) -> None:
        problems = [_in(recording, problem) for problem in outcome.problems]
        if rest := outcome.problem_count - len(problems):
            problems.append(Problem(recording, None, f"and {rest} more problems", Side.OBJECTS))
        self.problems.update(problems)

    def _add_cause(self, cause: RecordingCause, at: int, number: int, recording: str) -> None:
        finding = self.findings.setdefault(cause.key, FindingTally(cause, _where(cause.example, recording)))
        spot = (cause.file, cause.index, cause.pointer)
        share = finding.shares.setdefault(at, ShareTally(spot))
        share.clusters |= 1 << number
        share.objects += cause.objects
        for value, hidden in zip(cause.values, cause.hidden, strict=True):
            key = member_key(value)
            known, hides, clusters = share.values.get(key, (value, False, 0))
            if clusters or len(share.values) < _MAX_VALUES:
                share.values[key] = known, hides or hidden, clusters | 1 << number

    def _add_reason(self, at: int, number: int, reason: str, objects: int, example: str) -> None:
        if reason not in self.reasons and len(self.reasons) >= _MAX_REASONS:
            reason = "for other reasons than these"
        entry = self.reasons.setdefault(reason, ReasonTally(example))
        entry.clusters |= 1 << number
        entry.objects[at] = entry.objects.get(at, 0) + objects

    def id_of(self, cause: RecordingCause) -> str:
        """The id of a cause, the same in all reports."""
        return finding_id(cause, self.direction)


def finding_id(cause: RecordingCause, direction: Direction) -> str:
    """The id of the finding that a cause belongs to, the same in all reports."""
    crd, path, kind = cause.key
    return fingerprint(f"rejected {kind}", direction, crd, "", path, (), ())


def _count_reason(target: TargetTally, reason: str, objects: int) -> None:
    """Count a reason for not judging, once for all recordings of a cluster."""
    if reason in target.reasons or len(target.reasons) < _MAX_CLUSTER_REASONS:
        target.reasons[reason] = target.reasons.get(reason, 0) + objects
    elif objects:
        target.other_reasons += 1


def _where(example: str, recording: str) -> str:
    """An object, or the place of an object without a name, with its recording."""
    name = recording.rpartition("/")[2]
    return f"{example.removeprefix(f'{name}: ')} in {recording}"


def _in(recording: str, problem: Problem) -> Problem:
    """A problem of a recording with the whole path of the recording; a problem of a release unchanged."""
    if problem.side != Side.OBJECTS:
        return problem
    name = recording.rpartition("/")[2]
    inside = "" if problem.file == name else problem.file.removeprefix(f"{name}: ")
    return replace(problem, file=f"{recording}: {inside}" if inside else recording)
