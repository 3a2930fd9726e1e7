"""Which members no object of a schema has."""

from __future__ import annotations

import pytest

from crdcompat.compare.equivalence.alike import prunes
from crdcompat.schema.structural import Node

_EMBEDDED = {"x-kubernetes-embedded-resource": True}
_PRESERVING = {"x-kubernetes-preserve-unknown-fields": True}


@pytest.mark.parametrize(
    ("keywords", "name", "expected"),
    [
        ({}, "kind", True),
        (_EMBEDDED, "kind", False),
        (_EMBEDDED, "other", True),
        (_EMBEDDED | _PRESERVING, "other", False),
        ({"additionalProperties": {"type": "string"}}, "other", False),
    ],
)
def test_what_a_server_prunes(keywords: dict[str, object], name: str, expected: bool) -> None:
    assert prunes(Node({"type": "object", **keywords}), name) == expected
    assert not prunes(Node({"type": "object", **keywords}), "kind", resource=True)
