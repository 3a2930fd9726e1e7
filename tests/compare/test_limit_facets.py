"""Limits on numbers, lengths and counts: a finding shows the line of the limit that moved."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from helpers import Json, array, both, diff, obj, root, string


def _items(low: int | None, high: int | None) -> Json:
    given = {"minItems": low, "maxItems": high}
    return array(string(), **{keyword: limit for keyword, limit in given.items() if limit is not None})


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(_items(1, 1), _items(1, 2), [("rollback", "maxItems", "maxItems")], id="the upper end"),
        pytest.param(_items(2, 4), _items(1, 4), [("rollback", "minItems", "minItems")], id="the lower end"),
        pytest.param(_items(1, 4), _items(1, None), [("rollback", "maxItems", "v")], id="an end that is gone"),
        pytest.param(
            _items(1, 4),
            _items(2, 5),
            [("rollback", "maxItems", "maxItems"), ("upgrade", "minItems", "minItems")],
            id="one end each way",
        ),
        pytest.param(
            {"type": "integer", "minimum": 1, "maximum": 9, "exclusiveMaximum": True},
            {"type": "integer", "minimum": 1, "maximum": 9},
            [("rollback", "exclusiveMaximum", "maximum")],
            id="an end that was excluded",
        ),
    ],
)
def test_the_line_of_the_end_that_moved(
    tmp_path: Path, old: Json, new: Json, expected: list[tuple[str, str, str]]
) -> None:
    """openshift/api: maxItems of the capabilities of a console went from 1 to 2, beside minItems: 1."""
    sides = both(tmp_path, *(root(spec=obj(v=side)) for side in (old, new)))
    shown = []
    for finding in diff(*sides)["findings"]:
        lines = {}
        for side, place in zip(("old", "new"), sides, strict=True):
            (at,) = [each for each in finding["locations"] if each["side"] == side]
            lines[side] = (place / at["file"]).read_text().splitlines()[at["line"] - 1].split(":")[0].strip()
        shown.append((finding["direction"], lines["old"], lines["new"]))
    assert shown == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"type": "integer", "maximum": 9}, {"type": "integer", "maximum": 7}, ["bounds-tightened"]),
        ({"type": "integer", "maximum": 7}, {"type": "integer", "maximum": 9}, ["bounds-loosened"]),
        ({"type": "number", "maximum": 1}, {"type": "number", "maximum": math.nextafter(1, 2)}, ["bounds-loosened"]),
        ({"type": "string", "maximum": 7}, {"type": "string", "maximum": 9}, []),
    ],
    ids=["tightened", "loosened", "the smallest step", "another type"],
)
def test_each_change_of_a_limit_has_one_direction(tmp_path: Path, old: Json, new: Json, expected: list[str]) -> None:
    """It is a finding in that direction, with an example, and has no effect in the other; on another type in none."""
    report = diff(*both(tmp_path, *(root(spec=obj(v=side)) for side in (old, new))))
    assert [each["rule"] for each in report["findings"] if each["witness"]["object"]] == expected
    assert (len(report["findings"]), report["summary"]["without_effect"]) == (len(expected), 2 - len(expected))


@pytest.mark.parametrize(
    ("kept", "limit", "value"),
    [
        ({"type": "integer"}, {"maximum": 10}, 11),
        ({"type": "integer"}, {"minimum": 5}, 4),
        ({"type": "number"}, {"maximum": 10}, 10.5),
        ({"type": "number", "maximum": 10.25}, {"maximum": 10}, 10.125),
        ({"type": "integer", "multipleOf": 7}, {"maximum": 10}, 14),
        ({"type": "integer", "minimum": -3_000_000}, {"minimum": 2_000_000, "exclusiveMinimum": True}, 2_000_000),
    ],
)
def test_an_example_is_a_number_beside_the_bound(tmp_path: Path, kept: Json, limit: Json, value: float) -> None:
    """The number shows where the bound is; a number far away would do as well, and show nothing."""
    sides = both(tmp_path, *(root(spec=obj(v=side)) for side in ({**kept, **limit}, kept)))
    assert [each["witness"]["object"]["spec"]["v"] for each in diff(*sides)["findings"]] == [value]


@pytest.mark.parametrize(("members", "factor"), [([0.5, 1.5], 0.5), ([4, 8, "a"], 4)])
def test_listed_values_are_all_multiples(tmp_path: Path, members: list[Any], factor: float) -> None:
    """All values of an enum are tried: proofs do not read factors of fractions, nor numbers beside texts."""
    kind: Json = {"x-kubernetes-int-or-string": True} if "a" in members else {"type": "number"}
    old = {**kind, "enum": members}
    for limit, expected in ((factor, set()), (factor * 2, {"multiple-of-changed"})):
        sides = (root(spec=obj(n=old)), root(spec=obj(n={**old, "multipleOf": limit})))
        found = diff(*both(tmp_path / str(limit), *sides))["findings"]
        assert {finding["rule"] for finding in found} == expected


@pytest.mark.parametrize(
    ("keyword", "free"),
    [
        ("maxLength", string()),
        ("maxItems", array(string())),
        ("maxProperties", {"type": "object", "additionalProperties": string()}),
    ],
)
def test_a_limit_beyond_the_size_of_a_request_is_none(tmp_path: Path, keyword: str, free: Json) -> None:
    """A server reads 3 MiB of a request."""
    reached, unreachable = ({**free, keyword: (3 << 20) - 1}, {**free, keyword: 3 << 20})
    for limited, expected in ((reached, ["warning"]), (unreachable, [])):
        report = diff(*both(tmp_path, root(spec=obj(v=limited)), root(spec=obj(v=free))))
        assert [finding["severity"] for finding in report["findings"]] == expected
