"""The results of the objects of one recording against one target: verdicts, causes, and why objects are not judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import orjson
from msgspec.structs import replace

from crdcompat.errors import Problem
from crdcompat.features.fleet.deduplicate import ObjectResult
from crdcompat.features.fleet.recording_outcome import OUTSIDE, RecordingCause, TargetOutcome, UnjudgedObjects
from crdcompat.features.simulate.early import EarlyValues, Growing
from crdcompat.findings.growth import Declaration
from crdcompat.models.simulation import DELETED, TOO_EARLY, NotSimulated, RejectedCause
from crdcompat.recordings.capture import CaptureFacts
from crdcompat.recordings.recorded_objects import Recorded
from crdcompat.replay.judges import Replayer, Unasked
from crdcompat.replay.rejected_values import CauseCounter
from crdcompat.vocabulary.writes import Apart, Endpoint, WriteResult

_MAX_CAUSES = 200
_MAX_REASONS = 50
_MAX_CHARACTERS = 400
_MAX_VALUE_BYTES = 200


class TargetResults:
    """Collects the results of objects against one target; memory grows with distinct causes and reasons."""

    def __init__(self, replayer: Replayer, growth: Growing) -> None:
        self._replayer = replayer
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
        if isinstance(outcome, Unasked):
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
        example = shortened(lost.object)
        known = self._deleted.get(lost.crd) or RecordingCause(
            lost.crd, kind, "", DELETED, Endpoint.MAIN, (), (), 0, example
        )
        self._deleted[lost.crd] = replace(known, objects=known.objects + 1)
        return ObjectResult("", frozenset((known.key,)))

    def _miss(self, missed: NotSimulated) -> ObjectResult:
        if missed.outside:
            self.outside += 1
            return ObjectResult(OUTSIDE)
        if missed.problem is not None:
            self.refused[shortened_problem(missed.problem)] = None
        reason = self._note(missed.reason, 1, missed.object or missed.source)
        return ObjectResult("", reasons=frozenset((reason,)))

    def doubt(self, recording: CaptureFacts) -> None:
        """Note why the recording cannot answer for this target. Then none of its objects counts."""
        for why in self._replayer.doubts(recording):
            self._note(why, 0, recording.file)

    def _note(self, reason: str, objects: int, example: str) -> str:
        """Count a reason for not judging; the reason as it is kept."""
        reason = shortened(reason)
        if reason not in self._missed and len(self._missed) == _MAX_REASONS:
            reason = "for other reasons than these"
        known = self._missed.get(reason) or UnjudgedObjects(reason, 0, shortened(example))
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
                example=shortened(group.label),
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
    hidden = (False,) * len(values)
    return RecordingCause(
        first.crd, first.kind, path, TOO_EARLY, first.endpoint, tuple(values), hidden, most, shortened(example)
    )


def _short(value: Any) -> Any:
    try:
        text = orjson.dumps(value)
    except TypeError:
        return shortened(str(value))
    return value if len(text) <= _MAX_VALUE_BYTES else shortened(text.decode(), _MAX_VALUE_BYTES)


def shortened(text: str, limit: int = _MAX_CHARACTERS) -> str:
    text = text if len(text) <= limit else f"{text[: limit - 1]}…"
    return text.encode("utf-8", "backslashreplace").decode()  # JSON cannot encode a lone surrogate


def shortened_problem(problem: Problem) -> Problem:
    return Problem(shortened(problem.file), problem.line, shortened(problem.message), problem.side)
