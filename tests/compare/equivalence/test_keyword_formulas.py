"""What the keywords of a schema state of a value."""

from __future__ import annotations

import pytest

from crdcompat.compare.equivalence.connectives import TRUE, fact, opposite
from crdcompat.compare.equivalence.formula import Kind
from crdcompat.compare.equivalence.keyword_formulas import distinct_items
from crdcompat.schema.structural import Node

_KEY = {"type": "string", "enum": ["A", "B"]}
_KEYED = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}


@pytest.mark.parametrize(
    ("item", "most"),
    [
        ({"properties": {"k": _KEY}, "required": ["k"]}, 2),
        ({"properties": {"k": {**_KEY, "default": "A"}}}, 2),
        ({"properties": {"k": _KEY}}, 3),
        ({"properties": {"k": {"type": "string"}}, "required": ["k"]}, None),
    ],
    ids=["required", "by default", "perhaps absent", "any text"],
)
def test_a_keyed_list_has_an_item_for_each_key(item: dict[str, object], most: int | None) -> None:
    node = Node({**_KEYED, "items": {"type": "object", **item}})
    expected = TRUE if most is None else opposite(fact(Kind.SIZE, ("self",), most + 1))
    assert distinct_items(("self",), node) == expected
