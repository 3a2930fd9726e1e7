"""JSON patches as the server's library applies them (evanphx/json-patch v4), and merge patches."""

from __future__ import annotations

from typing import Any

import pytest

from crdcompat.apiserver.patch import PatchError, json_patch, merge_patch

_LIST = [1, 2]


def _step(op: str, key: str, **more: Any) -> dict[str, Any]:
    return {"op": op, "path": f"/a/{key}", **more}


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (_step("remove", "0"), [2]),
        (_step("remove", "1"), [1]),
        (_step("remove", "2"), None),
        (_step("remove", "-1"), [1]),
        (_step("remove", "-2"), [2]),
        (_step("remove", "-3"), None),
        (_step("remove", "x"), None),
        (_step("replace", "1", value=9), [1, 9]),
        (_step("replace", "2", value=9), None),
        # An item may be added behind the last one; negative indices count from there.
        (_step("add", "0", value=9), [9, 1, 2]),
        (_step("add", "2", value=9), [1, 2, 9]),
        (_step("add", "3", value=9), None),
        (_step("add", "-", value=9), [1, 2, 9]),
        (_step("add", "-1", value=9), [1, 2, 9]),
        (_step("add", "-3", value=9), [9, 1, 2]),
        (_step("add", "-4", value=9), None),
        (_step("test", "0", value=1), _LIST),
        (_step("test", "0", value=2), None),
        (_step("move", "1", **{"from": "/a/0"}), [2, 1]),
        (_step("copy", "0", **{"from": "/a/1"}), [2, 1, 2]),
        (_step("copy", "0", **{"from": "/a/2"}), None),
        (_step("merge", "0"), None),
    ],
)
def test_a_step_on_a_list(step: dict[str, Any], expected: list[int] | None) -> None:
    """None: the patch does not apply."""
    before = {"a": [*_LIST]}
    if expected is None:
        with pytest.raises(PatchError):
            json_patch(before, [step])
    else:
        assert json_patch(before, [step]) == {"a": expected}
    assert before == {"a": _LIST}


@pytest.mark.parametrize(
    ("value", "patch", "expected"),
    [
        ({"a": 1, "b": 2}, {"a": None}, {"b": 2}),
        ({"a": {"b": 1}}, {"a": {"c": 2}}, {"a": {"b": 1, "c": 2}}),
        ({"a": [1]}, {"a": [{"b": None, "c": 1}, None]}, {"a": [{"c": 1}, None]}),
        ({"a": {"b": 1}}, {"a": [2]}, {"a": [2]}),
        ({"a": 1}, {"a": {"b": None, "c": 1}}, {"a": {"c": 1}}),
        ({}, {"a": {"b": None}}, {"a": {}}),
    ],
)
def test_a_merge(value: Any, patch: Any, expected: Any) -> None:
    assert merge_patch(value, patch) == expected
