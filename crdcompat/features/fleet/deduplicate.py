"""Count an object only once if several recordings of one cluster contain it.

A worker lists the objects of one recording by their results (`RecordingObjects`). `ClusterObjects` compares these
lists within a cluster and subtracts what an earlier recording has counted. An object is 8 bytes there, a digest of its
name. Most objects of a cluster have the same results, so lists by result stay small.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.features.fleet.recording_outcome import (
    NAME_BYTES,
    OBJECT_VERDICTS,
    OUTSIDE,
    Outcome,
    RecordingCause,
    ResultGroup,
    StoredResult,
    TargetOutcome,
)
from crdcompat.vocabulary.writes import Apart

#: Limits for one recording. Objects beyond them count once per recording.
_MAX_OBJECTS = 100_000
_MAX_RESULTS = 2_000


class ObjectResult(Struct, frozen=True):
    """The result of one object against one target; ``causes`` are keys of causes, ``reasons`` texts."""

    verdict: str
    causes: frozenset[Any] = frozenset()
    reasons: frozenset[str] = frozenset()
    apart: tuple[Apart, ...] = ()


#: The results of one object against every target.
_Results = tuple[ObjectResult, ...]


class RecordingObjects:
    """Lists the objects of one recording by their results."""

    def __init__(self) -> None:
        self._by_results: dict[_Results, bytearray] = {}
        self._count = 0

    def add(self, name: Sequence[str], results: _Results) -> None:
        """List one more object; beyond the limits it is not listed."""
        is_new = results not in self._by_results
        if self._count == _MAX_OBJECTS or (is_new and len(self._by_results) == _MAX_RESULTS):
            return
        self._count += 1
        text = "\0".join(name).encode("utf-8", "backslashreplace")
        self._by_results.setdefault(results, bytearray()).extend(blake2b(text, digest_size=NAME_BYTES).digest())

    def groups(self, places: Sequence[tuple[Mapping[Any, int], Mapping[str, int]]]) -> tuple[ResultGroup, ...]:
        """The lists for an outcome; ``places`` give the indices of causes and reasons in each target's lists."""
        return tuple(
            ResultGroup(
                b64encode(objects).decode(), tuple(_stored(*each) for each in zip(results, places, strict=True))
            )
            for results, objects in self._by_results.items()
        )


def _stored(result: ObjectResult, places: tuple[Mapping[Any, int], Mapping[str, int]]) -> StoredResult:
    causes, reasons = (
        tuple(sorted(where[each] for each in names if each in where))
        for names, where in zip((result.causes, result.reasons), places, strict=True)
    )
    return StoredResult(result.verdict, causes, reasons, result.apart)


class ClusterObjects:
    """The objects of one cluster."""

    def __init__(self) -> None:
        self._known: dict[_Results, _Results] = {}  # equal results are in memory once
        self._by_results: dict[_Results, bytes] = {}

    def added_by(self, outcome: Outcome) -> Outcome:
        """Add one recording: its outcome, less what earlier recordings of the cluster have counted.

        An object in several recordings has its worst verdict, and the causes and reasons of all of them.
        """
        if not self._by_results:
            self._by_results = dict(self._listed(outcome))
            return outcome
        by_object = {each: results for results, objects in self._by_results.items() for each in _split(objects)}
        repeated: Counter[tuple[_Results, _Results]] = Counter()
        for here, objects in self._listed(outcome):
            merged: dict[_Results, _Results] = {}
            for each in _split(objects):
                before = by_object.get(each)
                if before is None:
                    by_object[each] = here
                    continue
                repeated[before, here] += 1
                if before not in merged:
                    merged[before] = self._shared(_worse(before, here))
                by_object[each] = merged[before]
        by_results: dict[_Results, bytearray] = {}
        for each, results in by_object.items():
            by_results.setdefault(results, bytearray()).extend(each)
        self._by_results = {results: bytes(objects) for results, objects in by_results.items()}
        return _subtract(outcome, repeated)

    def _listed(self, outcome: Outcome) -> Iterator[tuple[_Results, bytes]]:
        by_results: dict[_Results, bytes] = {}
        for group in outcome.fates:
            results = tuple(_result(*each) for each in zip(group.stands, outcome.targets, strict=True))
            results = self._shared(results)
            by_results[results] = by_results.get(results, b"") + b64decode(group.objects)
        return iter(by_results.items())

    def _shared(self, results: _Results) -> _Results:
        return self._known.setdefault(results, results)


def _result(stored: StoredResult, target: TargetOutcome) -> ObjectResult:
    causes = frozenset(target.causes[at].key for at in stored.causes)
    reasons = frozenset(target.missed[at].reason for at in stored.missed)
    return ObjectResult(stored.verdict, causes, reasons, stored.apart)


def _split(objects: bytes) -> Iterator[bytes]:
    return (objects[at : at + NAME_BYTES] for at in range(0, len(objects), NAME_BYTES))


def _worse(before: _Results, here: _Results) -> _Results:
    return tuple(
        ObjectResult(_worst(a, b), a.causes | b.causes, a.reasons | b.reasons, _union(a.apart, b.apart))
        for a, b in zip(before, here, strict=True)
    )


def _union(a: tuple[Apart, ...], b: tuple[Apart, ...]) -> tuple[Apart, ...]:
    return tuple(each for each in Apart if each in a or each in b)


def _worst(a: ObjectResult, b: ObjectResult) -> str:
    return min(a.verdict, b.verdict, key=OBJECT_VERDICTS.index)


def _subtract(outcome: Outcome, repeated: Counter[tuple[_Results, _Results]]) -> Outcome:
    """The outcome without repeated objects; a repeated object that is worse here moves to its worse verdict."""
    outside = Counter({OUTSIDE: outcome.outside})
    if outcome.targets:
        _move(outside, 0, repeated)
    return replace(
        outcome,
        objects=outcome.objects - repeated.total(),
        outside=outside[OUTSIDE],
        targets=tuple(_subtract_target(target, at, repeated) for at, target in enumerate(outcome.targets)),
    )


def _subtract_target(target: TargetOutcome, at: int, repeated: Counter[tuple[_Results, _Results]]) -> TargetOutcome:
    verdicts = Counter(target.verdicts)
    _move(verdicts, at, repeated)
    counted: Counter[Any] = Counter()
    apart: Counter[Apart] = Counter()
    for (before, here), count in repeated.items():
        for each in (*(before[at].causes & here[at].causes), *(before[at].reasons & here[at].reasons)):
            counted[each] += count
        apart.update(dict.fromkeys(set(before[at].apart).intersection(here[at].apart), count))
    return TargetOutcome(
        {verdict: verdicts[verdict] for verdict in target.verdicts},
        tuple(_subtract_cause(cause, counted) for cause in target.causes),
        tuple(replace(missed, objects=missed.objects - counted[missed.reason]) for missed in target.missed),
        {each: number - apart[each] for each, number in target.apart.items()},
    )


def _subtract_cause(cause: RecordingCause, counted: Counter[Any]) -> RecordingCause:
    return replace(cause, objects=cause.objects - counted.pop(cause.key, 0))


def _move(counts: Counter[Any], at: int, repeated: Counter[tuple[_Results, _Results]]) -> None:
    """Subtract the verdicts counted before and here, and add the worst of both."""
    for (before, here), count in repeated.items():
        counts[_worst(before[at], here[at])] += count
        counts[before[at].verdict] -= count
        counts[here[at].verdict] -= count
