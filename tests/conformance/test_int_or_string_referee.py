"""Server-side apply on real API servers where ``x-kubernetes-int-or-string`` stands beside a type.

Validation takes numbers and text then; the types that merge the objects are those of the schema.
"""

from __future__ import annotations

import pytest
from differences import Bench
from helpers import Json

_NODES: tuple[Json, ...] = (
    {"x-kubernetes-int-or-string": True},
    {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
    {"x-kubernetes-int-or-string": True, "type": "integer"},
    {"x-kubernetes-int-or-string": True, "type": "string"},
    {"x-kubernetes-int-or-string": True, "type": "integer", "pattern": "^.*"},
)


@pytest.mark.parametrize("node", _NODES, ids=str)
def test_apply_beside_a_type(bench: Bench, node: Json) -> None:
    values = (1, "x")
    asked = [
        {
            "node": node,
            "op": "apply",
            "old": {"spec": {"a": stored}},
            "new": {"spec": {"a": applied} if applied else {}},
        }
        for stored in values
        for applied in (*values, None)
    ]
    assert [line for case in asked for line in bench.differences(case)] == []
