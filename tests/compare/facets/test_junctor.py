"""Junctors that only list values: what they take away is a change of the enum, and of nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Json, both, brief, diff, obj, root, string

_LISTS = [{"enum": ["A"]}, {"enum": ["B"]}]
_SHARED = [{"enum": ["A", "B"]}, {"enum": ["B", "C"]}]


@pytest.mark.parametrize(
    ("junctor", "removed"),
    [
        ({"allOf": [{"enum": ["A", "B"]}, {"enum": ["B", "C"]}]}, ["A", "C"]),
        ({"anyOf": _LISTS}, ["C"]),
        ({"oneOf": _LISTS}, ["C"]),
    ],
    ids=["allOf", "anyOf", "oneOf"],
)
def test_lists_are_one_change_of_the_enum(tmp_path: Path, junctor: Json, removed: list[str]) -> None:
    free, listed = string("A", "B", "C"), {**string("A", "B", "C"), **junctor}
    for sides, direction, rule, values in (
        ((free, listed), "upgrade", "enum-value-removed", ("removed", removed)),
        ((listed, free), "rollback", "enum-value-added", ("added", removed)),
    ):
        report = diff(*both(tmp_path, *(root(status=obj(phase=side)) for side in sides)))
        assert [brief(finding)[:3] for finding in report["findings"]] == [(direction, "error", rule)]
        assert report["findings"][0][values[0]] == values[1]
        assert {each["change"] for each in report["without_effect"]} == {rule.replace("-", ".", 1)}


@pytest.mark.parametrize("junctor", [{"oneOf": _SHARED}, {"not": {"enum": ["B"]}}], ids=["shared values", "not"])
def test_what_no_list_says_is_a_change_of_the_junctor(tmp_path: Path, junctor: Json) -> None:
    sides = (root(status=obj(phase={**string(), **more})) for more in ({}, junctor))
    report = diff(*both(tmp_path, *sides))
    assert ("upgrade", "junctor-changed") in {(each["direction"], each["rule"]) for each in report["findings"]}
