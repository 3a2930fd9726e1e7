"""Which findings a waiver is about, what it accepts of them, and when it has ended."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

import pytest
from msgspec.structs import replace

from crdcompat.compare.witness import Witness
from crdcompat.findings.waivers import Waiver, apply_waivers, brief, with_ended
from crdcompat.models.finding import Acceptance, Finding, Windows
from crdcompat.schema.structural import ABSENT
from crdcompat.vocabulary import Direction, Effect, Owner, Severity


def _waiver(path: str = "spec.a", **more: Any) -> Waiver:
    return Waiver("widgets.example.com", "v1", path, "enum-value-added", Direction.ROLLBACK, "known", **more)


def _until(end: str) -> Waiver:
    return _waiver(until=end)


def _finding(**more: Any) -> Finding:
    """An enum of spec.a gained B and C."""
    effect = Effect.WRITE_REJECTED
    found = Finding(
        id="1",
        rule="enum-value-added",
        change="enum.value-added",
        direction=Direction.ROLLBACK,
        effect=effect,
        severity=Severity.WARNING,
        crd="widgets.example.com",
        kind="Widget",
        version="v1",
        contexts=("default",),
        path="spec.a",
        owner=Owner.SPEC,
        old=["A"],
        new=["A", "B", "C"],
        added=("B", "C"),
        removed=(),
        message="",
        witness=Witness(None),
        windows=Windows(effect, effect),
        locations=(),
    )
    return replace(found, **more)


def _split(finding: Finding, values: Sequence[Any]) -> tuple[Finding | None, Finding | None]:
    parts = ([value for value in finding.added if (value in values) == inside] for inside in (True, False))
    first, second = (replace(finding, added=tuple(part)) if part else None for part in parts)
    return first, second


def _applied(finding: Finding, *waivers: Waiver) -> list[tuple[tuple[Any, ...], str]]:
    """The parts of a finding after waivers: the values of each, and the reason that accepts them."""
    found = apply_waivers([finding], waivers, _split).findings
    return [(part.added, part.waiver.reason if part.waiver is not None else "") for part in found]


_B = _waiver(values=("B",))
_PATTERN = {"rule": "pattern-narrowed", "added": (), "old": "^a", "new": "^b"}


@pytest.mark.parametrize(
    ("waiver", "finding", "expected"),
    [
        (_B, {}, True),
        (_B, {"crd": "others.example.com"}, False),
        (_B, {"version": "v2"}, False),
        (_B, {"rule": "enum-value-removed"}, False),
        (_B, {"direction": Direction.UPGRADE}, False),
        (_B, {"path": "spec.b"}, False),
        (_B, {"path": "spec.b", "places": ("spec.a",)}, True),
        (_B, {"added": ("C",)}, False),
        (_B, {"added": (), "removed": ("B",)}, True),
        (_B, {"added": (), "removed": ("C",)}, False),
        (_waiver(), {}, False),
        # The worst accepted severity.
        (replace(_B, severity=Severity.WARNING), {}, True),
        (replace(_B, severity=Severity.INFO), {}, False),
        (replace(_B, severity=Severity.ERROR), {}, True),
    ],
)
def test_what_a_waiver_is_about(waiver: Waiver, finding: dict[str, Any], expected: bool) -> None:
    assert waiver.is_about(_finding(**finding)) is expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("^a", "^b", True),
        (ABSENT, "^b", True),
        ("^a", ABSENT, True),
        ("^a", "^c", False),
        ("^c", "^b", False),
    ],
)
def test_a_waiver_of_a_keyword_names_its_values(old: Any, new: Any, expected: bool) -> None:
    waiver = replace(_waiver(old=old, new=new), rule="pattern-narrowed")
    assert waiver.is_about(_finding(**_PATTERN)) is expected


def test_a_long_value_is_written_as_a_digest() -> None:
    """The longest JSON that is written whole has 200 characters, with two quotes."""
    whole, long = "a" * 198, "a" * 199
    assert (brief(whole), brief(long)) == (whole, "digest:0741f021a7500c7a2b794578")
    waiver = replace(_waiver(old=brief(long)), rule="pattern-narrowed")
    assert waiver.is_about(_finding(**{**_PATTERN, "old": long}))
    assert not waiver.is_about(_finding(**{**_PATTERN, "old": f"{long}b"}))


def test_a_waiver_accepts_its_values_and_no_others() -> None:
    assert _applied(_finding(), _B) == [(("B",), "known"), (("C",), "")]
    assert _applied(_finding(), _waiver(values=("B", "C", "D"))) == [(("B", "C"), "known")]
    assert _applied(_finding(), _B, _waiver(values=("C",))) == [(("B", "C"), "known")]
    assert _applied(_finding(), _waiver(values=("D",))) == [(("B", "C"), "")]


def test_a_finding_with_several_places_needs_a_waiver_for_each() -> None:
    finding = _finding(places=("spec.b",))
    assert _applied(finding, _B) == [(("B", "C"), "")]
    assert _applied(finding, _B, _waiver("spec.b", values=("B",))) == [(("B",), "known"), (("C",), "")]
    assert _applied(finding, _B, _waiver("spec.b", values=("C",))) == [(("B", "C"), "")]


def test_a_keyword_is_accepted_as_a_whole() -> None:
    waiver = replace(_waiver(), rule="pattern-narrowed", reason="fine")
    (found,) = apply_waivers([_finding(**_PATTERN)], [waiver], _split).findings
    assert found.waiver == Acceptance("fine")


def test_the_entry_of_a_change_is_shown_first() -> None:
    older, newer = _B, replace(_waiver(values=("C",), of_change=True), reason="of this change")
    for waivers in ((older, newer), (newer, older)):
        assert _applied(_finding(), *waivers) == [(("B", "C"), "of this change")]


def test_which_waivers_were_used() -> None:
    other = _waiver("spec.z", values=("B",))
    assert apply_waivers([_finding()], [_B, other], _split).used == {id(_B)}
    accepted = _finding(waiver=Acceptance("before"))
    assert apply_waivers([accepted], [_B], _split) == replace(
        apply_waivers([], [], _split), findings=(accepted,), used=frozenset()
    )


def test_a_finding_that_counts_again_has_a_note() -> None:
    ended = replace(_B, until="2026-01-31", file="w.yaml", line=7)
    assert [each.ended for each in with_ended([_finding(), _finding(added=("C",))], [ended])] == [
        "w.yaml:7: until 2026-01-31",
        "",
    ]
    (accepted,) = with_ended([_finding(waiver=Acceptance("known"))], [ended])
    assert accepted.ended == ""


def test_a_marker_in_the_source_has_a_place() -> None:
    waiver = replace(_B, owner="me", until="5.0", baseline=True, of_change=True, file="a.go", line=3)
    assert waiver.acceptance == Acceptance("known", "me", "5.0", baseline=True, by_change=True)
    assert replace(waiver, in_source=True).acceptance.marker == "a.go:3"


@pytest.mark.parametrize(
    ("end", "release", "ended"),
    [
        ("", "release-4.17", False),
        ("2027-01-30", "release-4.17", True),
        ("2027-01-31", "release-4.17", False),
        ("2027-02-01", "release-4.17", False),
        ("4.16", "release-4.17", True),
        ("4.17", "release-4.17", True),
        ("4.18", "release-4.17", False),
        ("4.9", "release-4.17", True),
        ("5.0", "release-4.17", False),
        ("4.17", "main", False),
    ],
)
def test_a_waiver_holds_through_its_last_day_and_up_to_its_release(end: str, release: str, ended: bool) -> None:
    assert _until(end).expired(date(2027, 1, 31), release) is ended


@pytest.mark.parametrize(
    ("end", "release", "unknown"),
    [("", "main", False), ("2027-01-31", "main", False), ("4.17", "release-4.17", False), ("4.17", "main", True)],
)
def test_the_end_of_a_waiver_is_unknown_on_a_branch_without_a_version(end: str, release: str, unknown: bool) -> None:
    assert _until(end).end_is_unknown(release) is unknown
