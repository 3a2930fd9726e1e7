"""Questions that are large or asked often: the work is counted, and grows with what differs."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Json, both, crd, diff, obj, root, string
from operations import operations

from crdcompat.candidates.languages import strings_off_length, strings_off_pattern
from crdcompat.schema.structural import Node

_CRN = "^crn:v[0-9]+:bluemix:(public|private):(kms|hs-crypto):[a-z-]+:a/[0-9a-f]+:[0-9a-f-]{36}:key:[0-9a-f-]{36}$"


def test_strings_of_a_counted_repetition() -> None:
    """Members have a thousand characters: four are listed and judged, not a hundred and sixty."""
    writer, reader = (Node({"type": "string", "pattern": f"^(a{{1,100}}){{1,{most}}}$"}) for most in (10, 9))
    with operations() as done:
        found, _ = strings_off_pattern(writer, reader, lambda text: True)
    assert sorted(map(len, found)) == [901, 902, 903, 904]
    assert done.calls < 12_000_000


def test_lengths_beside_a_long_pattern() -> None:
    """Only the writer's surplus is asked for, not the reader's; a search of too many states ends in bounded work."""
    plain = {"type": "string", "pattern": _CRN, "maxLength": 154}
    writer, reader = (Node({**plain, "minLength": least}) for least in (140, 144))
    with operations() as done:
        found, complete = strings_off_length(writer, reader, lambda text: True)
    assert ([*map(len, found)], complete) == ([140] * 4, False)  # known members, where the search has found none
    assert done.calls < 1_500_000


def _calls(tmp_path: Path, count: int, new: Json) -> int:
    sides = (obj(**{f"p{number}": part for number in range(count)}) for part in (string("A"), new))
    old, new = (crd(root(status=side)) for side in sides)
    with operations() as done:
        report = diff(*both(tmp_path / str(count), old, new))
    assert {each["rule"] for each in report["findings"]} >= {"enum-value-added"}
    assert len(report["findings"]) >= count
    return done.calls


def test_work_is_linear_in_the_number_of_changed_properties(tmp_path: Path) -> None:
    _calls(tmp_path, 2, string("A", "B"))  # what is imported and read once
    few, many = (_calls(tmp_path, count, string("A", "B")) for count in (50, 200))
    assert many < 4.2 * few


def test_work_is_linear_in_the_number_of_members_that_no_value_has(tmp_path: Path) -> None:
    """A string has no members, so that no example is found: the search for why asks what both sides state of it."""
    (_, _), (few, _), (many, report) = (
        _compared(tmp_path, string(), string() | {"properties": {f"p{number}": string() for number in range(count)}})
        for count in (2, 100, 400)
    )
    assert many < 4.4 * few
    assert [each["rule"] for each in report["findings"]] == ["property-added"] * 400


def _siblings(tmp_path: Path, count: int, old: Json, new: Json, **more: object) -> tuple[int, Json]:
    """The calls of a comparison of ``count`` members of one object, and the report."""
    names = [f"p{number}" for number in range(count)]
    wanted = {"required": names} if more else {}
    before, after = (obj(**dict.fromkeys(names, part)) for part in (old, new))
    return _compared(tmp_path / str(count), before, after | wanted)


def _compared(tmp_path: Path, old: Json, new: Json) -> tuple[int, Json]:
    """The calls of a comparison of two schemas of ``spec``, and the report."""
    with operations() as done:
        report = diff(*both(tmp_path, crd(root(spec=old)), crd(root(spec=new))))
    return done.calls, report


@pytest.mark.parametrize(
    ("new", "rule", "required"),
    [(string(), "required-added", True), (string("A", "B", default="B"), "enum-value-added", False)],
    ids=["required", "defaults"],
)
def test_many_equal_changes_whose_examples_are_large(tmp_path: Path, new: Json, rule: str, required: bool) -> None:
    """Each example has all members. Some prove the effect for all: no change of hundreds passes as a mere *may*."""
    more = {"required": True} if required else {}
    old = string() if required else string("A")
    _siblings(tmp_path, 2, old, new, **more)
    (few, _), (many, report) = (_siblings(tmp_path, count, old, new, **more) for count in (120, 480))
    assert many < 5 * few
    found = [each for each in report["findings"] if each["rule"] == rule]
    assert len(found) == 480
    assert len({(each["severity"], each["effect"], tuple(each["added"])) for each in found}) == 1
    shown = [each["witness"]["object"] is not None for each in found]
    assert 0 < sum(shown) < 480
    assert not any("may reject" in each["message"] for each in found)


def test_defaults_that_the_reader_rejects_are_no_candidates_for_edits(tmp_path: Path) -> None:
    """Each object has all of them: their enums say at once that no other value is allowed."""
    _calls(tmp_path, 2, string("A", "B", default="B"))
    assert _calls(tmp_path, 60, string("A", "B", default="B")) < 1_700_000
