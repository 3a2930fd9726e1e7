"""What a second recording of a cluster adds: nothing that the first one has counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import pytest

from crdcompat.features.fleet.deduplicate import ClusterObjects, ObjectResult, RecordingObjects
from crdcompat.features.fleet.recording_outcome import OUTSIDE, Outcome, RecordingCause, TargetOutcome, UnjudgedObjects
from crdcompat.vocabulary.writes import Apart, Endpoint, WriteResult

REJECTED, ACCEPTED = WriteResult.REJECTED, WriteResult.ACCEPTED
_KEYS = {path: ("widgets.example.com", path, "Unsupported") for path in ("a", "b", "c")}


def _result(verdict: str, causes: str = "", reasons: str = "", apart: Sequence[Apart] = ()) -> ObjectResult:
    """``causes`` and ``reasons`` are names of one letter each."""
    return ObjectResult(verdict, frozenset(_KEYS[path] for path in causes), frozenset(reasons), tuple(apart))


def _outcome(objects: dict[str, ObjectResult]) -> Outcome:
    """The outcome of a recording with these objects, against one target."""
    causes = Counter(key for each in objects.values() for key in each.causes)
    reasons = Counter(reason for each in objects.values() for reason in each.reasons)
    apart = Counter(kind for each in objects.values() for kind in each.apart)
    verdicts = Counter(each.verdict for each in objects.values())
    listed = RecordingObjects()
    for name, result in objects.items():
        listed.add((name,), (result,))
    places = {key: at for at, key in enumerate(causes)}, {reason: at for at, reason in enumerate(reasons)}
    target = TargetOutcome(
        {verdict: verdicts[verdict] for verdict in WriteResult},
        tuple(_cause(key, count) for key, count in causes.items()),
        tuple(UnjudgedObjects(reason, count, "") for reason, count in reasons.items()),
        {kind: apart[kind] for kind in Apart},
    )
    fates = listed.groups([places])
    return Outcome(objects=len(objects), outside=verdicts[OUTSIDE], targets=(target,), fates=fates)


def _cause(key: tuple[str, str, str], objects: int) -> RecordingCause:
    crd, path, type_ = key
    return RecordingCause(crd, "Widget", path, type_, Endpoint.MAIN, (), (), objects, "", "w.yaml", 0, ())


def _added(*recordings: dict[str, ObjectResult]) -> tuple[int, int, dict[str, dict[str, int]]]:
    """What the last of these recordings adds: objects, those of undefined kinds, and the counts that are not 0."""
    known = ClusterObjects()
    outcome = [known.added_by(_outcome(objects)) for objects in recordings][-1]
    (target,) = outcome.targets
    counts: dict[str, Mapping[str, int]] = {
        "verdicts": target.verdicts,
        "causes": {cause.path: cause.objects for cause in target.causes},
        "reasons": {missed.reason: missed.objects for missed in target.missed},
        "apart": target.apart,
    }
    kept = {what: {str(name): count for name, count in each.items() if count} for what, each in counts.items()}
    return outcome.objects, outcome.outside, {what: each for what, each in kept.items() if each}


def test_the_first_recording_adds_all_that_it_has() -> None:
    one = {"w": _result(REJECTED, "a", "x", [Apart.ALREADY]), "v": _result(OUTSIDE), "u": _result(REJECTED, "ab")}
    counted = {"verdicts": {"rejected": 2}, "causes": {"a": 2, "b": 1}, "reasons": {"x": 1}, "apart": {"already": 1}}
    assert _added(one) == (3, 1, counted)


def test_the_same_objects_add_nothing() -> None:
    one = {"w": _result(REJECTED, "a", "x", [Apart.ALREADY]), "v": _result(OUTSIDE)}
    assert _added(one, one) == _added(one, {}, one) == (0, 0, {})


def test_an_object_adds_only_what_it_did_not_have_before() -> None:
    """Causes, reasons and what the writing release has too: those of both recordings are counted already."""
    before = _result(REJECTED, "ab", "xy", [Apart.ALREADY])
    here = _result(REJECTED, "bc", "yz", [Apart.ALREADY, Apart.NOT_STORED])
    assert _added({"w": before}, {"w": here}) == (
        0, 0, {"causes": {"c": 1}, "reasons": {"z": 1}, "apart": {"not-stored": 1}},
    )  # fmt: skip


def test_an_object_has_what_any_earlier_recording_says_of_it() -> None:
    recordings = [{"w": _result(REJECTED, cause, cause)} for cause in "aba"]
    assert _added(*recordings) == (0, 0, {})


@pytest.mark.parametrize(
    ("before", "here", "moved"),
    [
        (ACCEPTED, REJECTED, {"rejected": 1, "accepted": -1}),
        (REJECTED, ACCEPTED, {}),
        (ACCEPTED, WriteResult.LOSES_DATA, {"loses-data": 1, "accepted": -1}),
        ("", ACCEPTED, {"accepted": 1}),
    ],
)
def test_an_object_counts_with_its_worst_verdict(before: str, here: str, moved: dict[str, int]) -> None:
    counted = {"verdicts": moved} if moved else {}
    assert _added({"w": _result(before)}, {"w": _result(here)}) == (0, 0, counted)


def test_other_objects_of_a_second_recording_are_added() -> None:
    one, two = {"w": _result(REJECTED, "a")}, {"w": _result(REJECTED, "a"), "v": _result(REJECTED, "a")}
    assert _added(one, two) == (1, 0, {"verdicts": {"rejected": 1}, "causes": {"a": 1}})
