"""What junctors share with other facets: lists of values and patterns are changes of these, and of nothing else."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import ANY

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


_LETTERS = {"pattern": "^[a-z]+$"}


@pytest.mark.parametrize(
    ("free", "limited"),
    [
        ({}, {"allOf": [_LETTERS]}),
        ({"pattern": "[a-z]"}, {"pattern": "[a-z]", "allOf": [_LETTERS]}),
        ({"allOf": [{"pattern": "[a-z]"}]}, {"allOf": [_LETTERS]}),
        ({"allOf": [{"maxLength": 9}]}, {"allOf": [_LETTERS, {"maxLength": 9}]}),
    ],
    ids=["alone", "beside a pattern", "instead of another", "beside a length"],
)
def test_a_pattern_in_a_branch_of_all_is_one_change_of_the_pattern(tmp_path: Path, free: Json, limited: Json) -> None:
    free, limited = ({**string(), **side} for side in (free, limited))
    for sides, direction, rule in (
        ((free, limited), "upgrade", "pattern-narrowed"),
        ((limited, free), "rollback", "pattern-widened"),
    ):
        report = diff(*both(tmp_path, *(root(status=obj(name=side)) for side in sides)))
        assert [brief(finding)[:3] for finding in report["findings"]] == [(direction, ANY, rule)]
        assert {each["change"] for each in report["without_effect"]} == {rule.replace("-", ".", 1)}


def test_what_other_facets_compare_is_no_part_of_the_change_of_the_junctor(tmp_path: Path) -> None:
    limited = {**string(), "allOf": [_LETTERS, {"maxLength": 5}]}
    report = diff(*both(tmp_path, *(root(status=obj(name=side)) for side in (string(), limited))))
    found = {finding["rule"]: finding["new"] for finding in report["findings"]}
    assert found == {"pattern-narrowed": "^[a-z]+$", "junctor-changed": {"allOf": [{"maxLength": 5}]}}
