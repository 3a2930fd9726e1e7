"""The rollback depth of one recorded cluster: its objects replayed against several releases in one pass."""

from __future__ import annotations

import os
import traceback
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson
from msgspec.structs import replace

from crdcompat.errors import CrdcompatError, Problem, Skipped
from crdcompat.features.fleet.deduplicate import ObjectResult, RecordingObjects
from crdcompat.features.fleet.recording_outcome import (
    OUTSIDE,
    Outcome,
    RecordingCause,
    RejectedObject,
    TargetOutcome,
    UnjudgedObjects,
    encode,
)
from crdcompat.features.simulate.early import NOTHING_GROWS, EarlyValues, Growing
from crdcompat.findings.growth import Declaration
from crdcompat.models.simulation import DELETED, TOO_EARLY, NotSimulated, RejectedCause
from crdcompat.recordings.capture import CaptureFacts
from crdcompat.recordings.clusters import ClusterFacts
from crdcompat.recordings.objects import EmptyList, ObjectItem, Recorded, read_objects
from crdcompat.replay.judges import Replayer
from crdcompat.replay.rejected_values import CauseCounter
from crdcompat.sources import open_objects
from crdcompat.vocabulary.writes import Apart, Endpoint, WriteResult

_MAX_PROBLEMS = 5
_MAX_CAUSES = 200
_MAX_REJECTED = 1000
_MAX_REASONS = 50
_MAX_CHARACTERS = 400
_MAX_VALUE_BYTES = 200


def judge_recording(
    path: str,
    replayers: Sequence[Replayer],
    crds: Sequence[str] = (),
    kinds: Collection[tuple[str, str]] | None = None,
    growth: Growing = NOTHING_GROWS,
) -> bytes:
    """The encoded outcome of one recording. Never raises because of its content: a failure is an outcome, too.

    ``kinds``: see `read_objects`.
    """
    try:
        return encode(judge_objects(read_objects(open_objects(f"path:{path}"), kinds=kinds), replayers, crds, growth))
    except CrdcompatError as error:
        return _failed(str(error).removeprefix("path:"))
    except MemoryError:
        return _failed("out of memory")
    except Exception as error:
        if os.environ.get("CRDCOMPAT_TRACEBACK"):
            traceback.print_exc()
        what = (f"{type(error).__name__}: {error}".splitlines() or [""])[0]
        return _failed(f"crashed ({what}): this is a bug; please report it")


def judge_objects(
    objects: Iterable[ObjectItem],
    replayers: Sequence[Replayer],
    crds: Sequence[str] = (),
    growth: Growing = NOTHING_GROWS,
) -> Outcome:
    """Replay the objects of one cluster against every target; ``crds`` restricts the judgement to these CRDs.

    Values that are held before the release that writes them, by ``growth``, are causes of the type TOO_EARLY. Objects
    that Helm deletes with their CRD are one cause per CRD, of the type DELETED.
    """
    targets = [_Target(replayer, crds, growth) for replayer in replayers]
    facts, listed = ClusterFacts(), RecordingObjects()
    problems: dict[Problem, None] = {}
    skipped: list[Skipped] = []
    empty: set[str] = set()
    rejected: list[tuple[str, tuple[ObjectResult, ...]]] = []
    problem_count = count = 0
    for item in objects:
        if isinstance(item, Problem):
            problem_count += 1
            if len(problems) < _MAX_PROBLEMS:
                problems[_cut_problem(item)] = None
        elif isinstance(item, EmptyList):
            empty.update(replayer.crd_of(item) for replayer in replayers)
        elif isinstance(item, CaptureFacts):
            for target in targets:
                target.doubt(item)
        elif isinstance(item, Skipped):
            skipped = [*skipped[:1], item]
        else:
            count += 1
            facts.add(item)
            results = tuple(result for target in targets if (result := target.add(item)) is not None)
            name = replayers[0].completed(item).name_in_cluster
            if len(results) < len(targets):
                continue
            if name is not None:
                listed.add(name, results)
            if len(rejected) < _MAX_REJECTED and any(result.verdict == WriteResult.REJECTED for result in results):
                rejected.append((_cut(replayers[0].completed(item).label), results))
    if not count:
        return Outcome(failure=_cut(_why_nothing(tuple(problems), skipped)))
    if len(facts.ids) > 1:
        return Outcome(failure=f"holds {len(facts.ids)} clusters ({', '.join(facts.ids[:2])}, …): name each by itself")
    for target in targets:
        problems.update(dict.fromkeys(target.refused))
        problem_count += len(target.refused)
    recorded = empty.union(*(target.recorded for target in targets)) - {""}
    early = growth.early(facts.versions)
    places = [target.places(early) for target in targets]
    return Outcome(
        id=facts.id,
        version=facts.version,
        platform=facts.platform,
        objects=targets[0].objects,
        outside=targets[0].outside,
        targets=tuple(target.outcome(early) for target in targets),
        problems=tuple(problems),
        problem_count=problem_count,
        recorded=tuple(sorted(recorded)),
        fates=listed.groups(places) if facts.id is not None else (),
        rejected=tuple(RejectedObject(name, _places(results, places)) for name, results in rejected),
    )


def _places(
    results: Sequence[ObjectResult], places: Sequence[tuple[Mapping[Any, int], object]]
) -> tuple[tuple[int, ...], ...]:
    """For each target, the places of an object's causes in the list of the outcome."""
    return tuple(
        tuple(sorted(causes[key] for key in result.causes if key in causes))
        for result, (causes, _) in zip(results, places, strict=True)
    )


def _failed(reason: str) -> bytes:
    return encode(Outcome(failure=_cut(reason)))


class _Target:
    """Collects the results of objects against one target; memory grows with distinct causes and reasons."""

    def __init__(self, replayer: Replayer, crds: Sequence[str], growth: Growing) -> None:
        self._replayer = replayer
        self._crds = crds
        self._seen: set[tuple[str, ...]] = set()
        self._verdicts = Counter(dict.fromkeys(WriteResult, 0))
        self._apart = Counter(dict.fromkeys(Apart, 0))
        self._causes, self._early = CauseCounter(), EarlyValues(growth.declarations)
        self._missed: dict[str, UnjudgedObjects] = {}
        self._deleted: dict[str, RecordingCause] = {}
        self.refused: dict[Problem, None] = {}
        self.recorded: set[str] = set()
        self.objects = self.outside = 0

    def add(self, item: Recorded) -> ObjectResult | None:
        """The result of one more object; None if it was replayed before."""
        outcome = self._replayer.replay_once(item, self._seen)
        if outcome is None:
            return None
        self.objects += 1
        self.recorded.add(outcome.crd)
        if self._crds and outcome.crd and outcome.crd not in self._crds:
            return ObjectResult("")
        if isinstance(outcome, NotSimulated):
            return self._lose(outcome, item) if outcome.lost else self._miss(outcome)
        self._verdicts[outcome.worst] += 1
        causes: frozenset[tuple[str, Any, str]] = self._causes.add(outcome)
        causes |= {(each.crd, each.path, TOO_EARLY) for each in self._early.add(outcome)}
        self._apart.update(outcome.apart)
        if outcome.worst != WriteResult.UNKNOWN:
            return ObjectResult(outcome.worst, causes, apart=outcome.apart)
        missed = self._miss(NotSimulated(outcome.label, outcome.item.source, outcome.doubt))
        return ObjectResult(outcome.worst, causes, missed.reasons, outcome.apart)

    def _lose(self, lost: NotSimulated, item: Recorded) -> ObjectResult:
        """Count an object that Helm deletes with its CRD."""
        kind = self._replayer.completed(item).data["kind"]
        known = self._deleted.get(lost.crd) or _unrejected(lost.crd, kind, DELETED, lost.object)
        self._deleted[lost.crd] = replace(known, objects=known.objects + 1)
        return ObjectResult("", frozenset((known.key,)))

    def _miss(self, missed: NotSimulated) -> ObjectResult:
        if missed.outside:
            self.outside += 1
            return ObjectResult(OUTSIDE)
        if missed.problem is not None:
            self.refused[_cut_problem(missed.problem)] = None
        reason = self._note(missed.reason, 1, missed.object or missed.source)
        return ObjectResult("", reasons=frozenset((reason,)))

    def doubt(self, recording: CaptureFacts) -> None:
        """Note why the recording cannot answer for this target. Then none of its objects counts."""
        for why in self._replayer.doubts(recording):
            self._note(why, 0, recording.file)

    def _note(self, reason: str, objects: int, example: str) -> str:
        """Count a reason for not judging; the reason as it is kept."""
        reason = _cut(reason)
        if reason not in self._missed and len(self._missed) == _MAX_REASONS:
            reason = "for other reasons than these"
        known = self._missed.get(reason) or UnjudgedObjects(reason, 0, _cut(example))
        self._missed[reason] = replace(known, objects=known.objects + objects)
        return reason

    def outcome(self, early: Sequence[Declaration]) -> TargetOutcome:
        """The results of all objects; ``early`` are the declarations whose values they may not hold yet."""
        causes = (*self._held(), *self._held_early(early), *self._deleted.values())
        return TargetOutcome(dict(self._verdicts), causes, self._worst_missed(), dict(self._apart))

    def places(self, early: Sequence[Declaration]) -> tuple[dict[tuple[str, Any, str], int], dict[str, int]]:
        """The indices of causes and reasons in the lists of the outcome; an early value has its path as text."""
        keys: list[tuple[str, Any, str]] = [group.key for group in self._causes.groups()[:_MAX_CAUSES]]
        keys += (each.key for each in (*self._held_early(early), *self._deleted.values()))
        causes = {key: place for place, key in enumerate(keys)}
        return causes, {missed.reason: place for place, missed in enumerate(self._worst_missed())}

    def _worst_missed(self) -> tuple[UnjudgedObjects, ...]:
        return tuple(sorted(self._missed.values(), key=lambda missed: (-missed.objects, missed.reason)))

    def _held(self) -> Iterator[RecordingCause]:
        for group in self._causes.groups()[:_MAX_CAUSES]:
            file, index, pointer = group.spot
            yield RecordingCause(
                crd=group.chosen.document.crd.name,
                kind=group.kind,
                path=group.rendered,
                type=group.type,
                endpoint=group.endpoint,
                values=tuple(_short(value) for value in group.values.values()),
                hidden=tuple(key in group.hidden for key in group.values),
                objects=group.objects,
                example=_cut(group.label),
                file=file,
                index=index,
                pointer=pointer,
            )

    def _held_early(self, early: Sequence[Declaration]) -> tuple[RecordingCause, ...]:
        """The values that are held too early; declarations for the same field are one cause."""
        found: dict[tuple[str, str], list[RejectedCause]] = {}
        for each in self._early.causes(early):
            found.setdefault((each.crd, each.path), []).append(each)
        return tuple(_early_cause(path, listed) for (_, path), listed in found.items())


def _early_cause(path: str, found: Sequence[RejectedCause]) -> RecordingCause:
    first, values = found[0], [_short(value) for each in found for value in each.values]
    most, example = max(each.objects for each in found), first.example.partition(" in ")[0]
    return _unrejected(first.crd, first.kind, TOO_EARLY, example, most, path, first.endpoint, values)


def _unrejected(
    crd: str,
    kind: str,
    why: str,
    example: str,
    objects: int = 0,
    path: str = "",
    endpoint: Endpoint = Endpoint.MAIN,
    values: Sequence[Any] = (),
) -> RecordingCause:
    """A cause that no line of a CRD explains."""
    hidden = (False,) * len(values)
    return RecordingCause(
        crd, kind, path, why, endpoint, tuple(values), hidden, objects, _cut(example), file="", index=0, pointer=()
    )


def _why_nothing(problems: Sequence[Problem], skipped: Sequence[Skipped]) -> str:
    """Why a recording contains no object: its first problem, or why its only file was skipped."""
    if problems:
        return f"no object could be read: {problems[0].file}: {problems[0].message}"
    if len(skipped) == 1:
        return f"holds no objects ({skipped[0].file}: {skipped[0].reason})"
    return "holds no objects"


def _short(value: Any) -> Any:
    try:
        text = orjson.dumps(value)
    except TypeError:
        return _cut(str(value))
    return value if len(text) <= _MAX_VALUE_BYTES else _cut(text.decode(), _MAX_VALUE_BYTES)


def _cut(text: str, limit: int = _MAX_CHARACTERS) -> str:
    text = text if len(text) <= limit else f"{text[: limit - 1]}…"
    return text.encode("utf-8", "backslashreplace").decode()  # JSON cannot encode a lone surrogate


def _cut_problem(problem: Problem) -> Problem:
    return Problem(_cut(problem.file), problem.line, _cut(problem.message), problem.side)
