"""When a new value counts as the old one (KEP-4008)."""

from __future__ import annotations

from typing import Any

import pytest

from crdcompat.apiserver.correlation import Pair
from crdcompat.schema.structural import Node

_OBJECT = {"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "number"}}}
_KEYED = {
    "type": "array",
    "items": {**_OBJECT, "required": ["a"]},
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["a"],
}
_PLAIN = {"type": "array", "items": _OBJECT}


@pytest.mark.parametrize(
    ("schema", "new", "old", "equal"),
    [
        (_OBJECT, {"a": "x"}, {"a": "x"}, True),
        (_OBJECT, {"a": "x"}, {"a": "y"}, False),
        (_OBJECT, {"a": "x"}, {"n": 1}, False),
        (_OBJECT, {"a": "x"}, {"a": "x", "n": 1}, False),
        (_OBJECT, {"a": "x", "n": 1}, {"a": "x"}, False),
        (_OBJECT, {"n": 1}, {"n": 1.0}, False),
        # A member that no schema describes never counts as unchanged.
        (_OBJECT, {"z": "x"}, {"z": "x"}, False),
        # Values of different types, as after a change of the type.
        (_OBJECT, {}, [], False),
        (_OBJECT, [], {}, False),
        (_OBJECT, {}, "", False),
        (_OBJECT, {}, 0, False),
        (_OBJECT, None, {}, False),
        (_OBJECT, {}, None, False),
        (_OBJECT, None, None, True),
        # Items of a keyed list are found by their keys; those of another list by their places.
        (_KEYED, [{"a": "x"}, {"a": "y"}], [{"a": "y"}, {"a": "x"}], True),
        (_KEYED, [{"a": "x", "n": 1}], [{"a": "x", "n": 2}], False),
        (_KEYED, [{"a": "x"}], [{"a": "x"}, {"a": "y"}], False),
        (_PLAIN, [{"a": "x"}, {"a": "y"}], [{"a": "y"}, {"a": "x"}], False),
        (_PLAIN, [{"a": "x"}], [{"a": "x"}], True),
    ],
)
def test_when_a_value_is_unchanged(schema: dict[str, Any], new: Any, old: Any, equal: bool) -> None:
    assert Pair(new, old, Node(schema)).equal() is equal
