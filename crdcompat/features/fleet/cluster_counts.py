"""Tallies of a fleet: in how many clusters each value, finding and reason for not judging occurs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from crdcompat.crds.manifest_positions import Spot
from crdcompat.errors import Problem
from crdcompat.features.fleet.deduplicate import ClusterObjects
from crdcompat.features.fleet.judged import Judged
from crdcompat.features.fleet.recording_outcome import Outcome, RecordingCause
from crdcompat.findings.finding import fingerprint
from crdcompat.models.fleet import UnreadRecording
from crdcompat.models.simulation import DELETED, TOO_EARLY
from crdcompat.schema.listed_values import member_key
from crdcompat.vocabulary import Direction, Side
from crdcompat.vocabulary.writes import Apart, WriteResult

_MAX_VALUES = 50
_MAX_REASONS = 200
#: Reasons kept for one cluster and target.
_MAX_CLUSTER_REASONS = 3


class Distinct(Struct):
    """The number of different clusters; all calls for one cluster come together."""

    count: int = 0
    last: int = -1

    def add(self, number: int) -> None:
        """Count a cluster once."""
        self.count += number != self.last
        self.last = number


class ValueTally(Struct):
    """A rejected value, the clusters that hold it, and whether it is not to be published."""

    value: Any
    hidden: bool = False
    clusters: Distinct = field(default_factory=Distinct)


class ShareTally(Struct):
    """A finding against one target; ``spot`` is its place in the file that the first recording names, at ``place``."""

    place: int
    spot: Spot
    clusters: Distinct = field(default_factory=Distinct)
    objects: int = 0
    values: dict[Any, ValueTally] = field(default_factory=dict)


class FindingTally(Struct):
    """A cause of rejections with an example object, both of the recording at ``place``; counts by target index."""

    place: int
    cause: RecordingCause
    example: str
    found: Distinct = field(default_factory=Distinct)
    shares: dict[int, ShareTally] = field(default_factory=dict)

    @property
    def clusters(self) -> int:
        """The number of clusters with the cause, against any target."""
        return self.found.count

    @property
    def objects(self) -> int:
        """The number of objects with the cause, against the target with most."""
        return max(share.objects for share in self.shares.values())


class ReasonTally(Struct):
    """Objects not judged for one reason: an example of the recording at ``place``, counts by target index."""

    place: int
    example: str
    clusters: Distinct = field(default_factory=Distinct)
    objects: dict[int, int] = field(default_factory=dict)


class TargetTally(Struct):
    """The counts of one cluster against one target.

    ``reasons`` are the first reasons for not judging with their objects, ``other_reasons`` counts the rest.
    ``problems`` are problems of reading, ``unjudged`` counts objects. ``early``: an object holds a value before the
    release that is declared to write it. ``deleted`` counts objects that Helm deletes with their CRD.
    """

    verdicts: dict[WriteResult, int] = field(default_factory=lambda: dict.fromkeys(WriteResult, 0))
    findings: set[str] = field(default_factory=set)
    reasons: dict[str, int] = field(default_factory=dict)
    other_reasons: int = 0
    problems: int = 0
    unjudged: int = 0
    early: bool = False
    deleted: int = 0

    @property
    def fails(self) -> bool:
        """Whether the cluster is blocked though no write is rejected."""
        return self.early or self.deleted > 0


class ClusterTally(Struct):
    """One cluster: its recordings, its version if they agree on it, its platform, its counts against each target.

    ``recorded`` are the CRDs of which any recording has an object or an empty list.
    """

    recordings: list[str]
    id: str | None
    version: str | None
    platform: str | None
    targets: list[TargetTally]
    recorded: set[str] = field(default_factory=set)
    objects: int = 0
    outside: int = 0


class FleetTally:
    """Adds up outcomes, one cluster at a time; memory grows with distinct findings, values, reasons and problems.

    ``targets`` is the number of releases that judge. Recordings with the same cluster id are one cluster: it has the
    objects of all of them, and an object in several recordings counts once, with its worst verdict. No recording
    overrides another: few contain their time, a file's time is that of its copy, and a value that an object once had
    is a value that its controllers write.

    ``apart`` counts, for each target, objects that the writing release rejects or prunes too. ``versions`` counts
    clusters. ``everywhere`` are the CRDs that all clusters have recorded.
    """

    def __init__(self, targets: int, direction: Direction) -> None:
        self.direction = direction
        self.clusters = 0
        self.findings: dict[tuple[str, str, str], FindingTally] = {}
        self.reasons: dict[str, ReasonTally] = {}
        self.apart: list[Counter[Apart]] = [Counter() for _ in range(targets)]
        self.versions: Counter[str] = Counter()
        self.everywhere: set[str] = set()
        self.problems: set[Problem] = set()
        self.unread: list[UnreadRecording] = []

    def add(self, recordings: Iterable[Judged]) -> ClusterTally:
        """Add all recordings of one more cluster; the counts of that cluster."""
        cluster: ClusterTally | None = None
        known = ClusterObjects()
        for judged in recordings:
            outcome = judged.outcome
            if cluster is None:
                targets = [TargetTally() for _ in self.apart]
                cluster = ClusterTally([], outcome.id, outcome.version, outcome.platform, targets)
            elif cluster.version != outcome.version:
                cluster.version = None  # recorded before and after an upgrade
            cluster.platform = cluster.platform or outcome.platform
            cluster.recordings.append(judged.name)
            cluster.recorded.update(outcome.recorded)
            self._add(cluster, judged, known.added_by(outcome))
        assert cluster is not None, "a cluster has a recording"
        if cluster.version is not None:
            self.versions[cluster.version] += 1
        self.everywhere = self.everywhere & cluster.recorded if self.clusters else set(cluster.recorded)
        self.clusters += 1
        return cluster

    def add_unread(self, recording: str, reason: str) -> None:
        """Add a recording that could not be read."""
        self.unread.append(UnreadRecording(recording, reason))

    def _add(self, cluster: ClusterTally, judged: Judged, outcome: Outcome) -> None:
        cluster.objects += outcome.objects
        cluster.outside += outcome.outside
        self._add_problems(judged.name, outcome)
        for at, (counted, target) in enumerate(zip(cluster.targets, outcome.targets, strict=True)):
            for verdict, count in target.verdicts.items():
                counted.verdicts[verdict] += count
            self.apart[at].update(target.apart)
            for cause in target.causes:
                self._add_cause(cause, at, judged)
                counted.findings.add(self.id_of(cause))
                counted.early |= cause.type == TOO_EARLY
                counted.deleted += cause.objects if cause.type == DELETED else 0
            for missed in target.missed:
                example = _where(missed.example, judged.name)
                self._add_reason(at, judged.place, missed.reason, missed.objects, example)
                counted.unjudged += missed.objects
                _count_reason(counted, missed.reason, missed.objects)
            if outcome.problem_count:
                reason = "what could not be read (problems say what)"
                self._add_reason(at, judged.place, reason, 0, judged.name)
                counted.problems += outcome.problem_count

    def _add_problems(self, recording: str, outcome: Outcome) -> None:
        problems = [_in(recording, problem) for problem in outcome.problems]
        if rest := outcome.problem_count - len(problems):
            problems.append(Problem(recording, None, f"and {rest} more problems", Side.OBJECTS))
        self.problems.update(problems)

    def _add_cause(self, cause: RecordingCause, at: int, judged: Judged) -> None:
        example, spot = _where(cause.example, judged.name), (cause.file, cause.index, cause.pointer)
        finding = self.findings.setdefault(cause.key, FindingTally(judged.place, cause, example))
        share = finding.shares.setdefault(at, ShareTally(judged.place, spot))
        if judged.place < finding.place:
            finding.place, finding.cause, finding.example = judged.place, cause, example
        if judged.place < share.place:
            share.place, share.spot = judged.place, spot
        finding.found.add(self.clusters)
        share.clusters.add(self.clusters)
        share.objects += cause.objects
        for value, hidden in zip(cause.values, cause.hidden, strict=True):
            key = member_key(value)
            if key not in share.values and len(share.values) == _MAX_VALUES:
                continue
            held = share.values.setdefault(key, ValueTally(value))
            held.hidden |= hidden
            held.clusters.add(self.clusters)

    def _add_reason(self, at: int, place: int, reason: str, objects: int, example: str) -> None:
        if reason not in self.reasons and len(self.reasons) >= _MAX_REASONS:
            reason = "for other reasons than these"
        entry = self.reasons.setdefault(reason, ReasonTally(place, example))
        if place < entry.place:
            entry.place, entry.example = place, example
        entry.clusters.add(self.clusters)
        entry.objects[at] = entry.objects.get(at, 0) + objects

    def id_of(self, cause: RecordingCause) -> str:
        """The id of a cause, the same in all reports."""
        return finding_id(cause, self.direction)


def finding_id(cause: RecordingCause, direction: Direction) -> str:
    """The id of the finding that a cause belongs to, the same in all reports."""
    crd, path, kind = cause.key
    return fingerprint(f"rejected {kind}", direction, crd, "", path)


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
