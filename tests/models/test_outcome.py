"""The verdict and the exit code of each judgement, with each option."""

from __future__ import annotations

from itertools import product

import pytest

from crdcompat.models.outcome import ALLOW_UNKNOWN, NEVER, Decision, Judgement, joined, judged_verdicts, judged_writes
from crdcompat.vocabulary import ExitCode, FailOn, Severity
from crdcompat.vocabulary.writes import ReleaseVerdict, WriteResult

_ERROR, _WARNING, _INFO = Severity


@pytest.mark.parametrize(
    ("judgement", "verdict", "code"),
    [
        (Judgement(), "clean", 0),
        (Judgement(_INFO), "clean", 0),
        (Judgement(_WARNING), "at risk", 0),
        (Judgement(_ERROR), "blocked", 1),
        (Judgement(_WARNING, is_unjudged=True), "unknown", 2),
        (Judgement(is_undone=True), "unknown", 2),
        (Judgement(_ERROR, is_unjudged=True), "blocked", 1),
        (Judgement(_ERROR, is_unjudged=True, is_undone=True), "blocked", 2),
    ],
)
def test_the_code_follows_from_the_verdict(judgement: Judgement, verdict: str, code: int) -> None:
    assert (judgement.verdict, judgement.decide("error")) == (verdict, Decision(ExitCode(code)))


@pytest.mark.parametrize(
    ("level", "worst", "code"),
    [
        ("warning", _WARNING, 1), ("warning", _INFO, 0), ("info", _INFO, 1), ("info", None, 0), ("undecided", _INFO, 1),
        ("never", _ERROR, 0),
    ],
)  # fmt: skip
def test_a_threshold_moves_what_fails(level: str, worst: Severity | None, code: int) -> None:
    assert Judgement(worst).decide(level) == Decision(ExitCode(code))


@pytest.mark.parametrize(
    ("worst", "level", "allow", "decision"),
    [
        (None, "error", True, Decision(ExitCode.CLEAN, ALLOW_UNKNOWN)),
        (_WARNING, "warning", True, Decision(ExitCode.FOUND, ALLOW_UNKNOWN)),
        (_WARNING, "never", False, Decision(ExitCode.CLEAN, NEVER)),
        (_ERROR, "error", True, Decision(ExitCode.FOUND)),
    ],
)
def test_two_options_allow_what_is_unknown(worst: Severity | None, level: str, allow: bool, decision: Decision) -> None:
    assert Judgement(worst, is_unjudged=True).decide(level, allow_unknown=allow) == decision


def test_no_option_allows_what_was_not_done() -> None:
    for worst, level, allow in product((None, *Severity), FailOn, (False, True)):
        assert Judgement(worst, is_undone=True).decide(level, allow_unknown=allow) == Decision(ExitCode.NOT_DONE)


def test_zero_beside_unknown_names_the_option() -> None:
    for worst, unjudged, undone, level, allow in product(
        (None, *Severity), (False, True), (False, True), FailOn, (False, True)
    ):
        judgement = Judgement(worst, unjudged, undone)
        decision = judgement.decide(level, allow_unknown=allow)
        if judgement.verdict is ReleaseVerdict.UNKNOWN and decision.code is not ExitCode.NOT_DONE:
            assert decision.allowed
        else:
            assert not decision.allowed


def test_parts_make_a_whole() -> None:
    assert joined(()) == Judgement()
    assert joined((Judgement(_WARNING), Judgement(is_unjudged=True))) == Judgement(_WARNING, is_unjudged=True)
    assert judged_verdicts((ReleaseVerdict.CLEAN, ReleaseVerdict.AT_RISK)).verdict is ReleaseVerdict.AT_RISK
    assert judged_verdicts((ReleaseVerdict.UNKNOWN, ReleaseVerdict.BLOCKED)).verdict is ReleaseVerdict.BLOCKED
    assert judged_verdicts((ReleaseVerdict.UNKNOWN, ReleaseVerdict.AT_RISK)).verdict is ReleaseVerdict.UNKNOWN


@pytest.mark.parametrize(
    ("found", "unjudged", "verdict"),
    [
        ({}, False, "unknown"),
        ({WriteResult.ACCEPTED: 1}, False, "clean"),
        ({WriteResult.ACCEPTED: 1, WriteResult.REJECTED: 0}, True, "unknown"),
        ({WriteResult.LOSES_DATA: 1}, False, "at risk"),
        ({WriteResult.LOSES_DATA: 1, WriteResult.UNKNOWN: 1}, False, "unknown"),
        ({WriteResult.REJECTED: 1, WriteResult.UNKNOWN: 1}, True, "blocked"),
    ],
)
def test_writes_of_objects(found: dict[WriteResult, int], unjudged: bool, verdict: str) -> None:
    assert judged_writes(found, unjudged=unjudged).verdict == verdict
