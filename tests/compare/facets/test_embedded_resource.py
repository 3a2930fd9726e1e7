"""Embedded resources, whose ``apiVersion``, ``kind`` and ``metadata`` servers keep without a declaration."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Json, both, brief, diff, obj, string

_FREE = {"x-kubernetes-preserve-unknown-fields": True}
_EMBEDDED = {"x-kubernetes-embedded-resource": True}
_REFUSED = ("warning", True)
_LOST = ("info", True)


@pytest.mark.parametrize(
    ("node", "lost"),
    [
        (obj(spec=obj()), {_LOST}),
        (obj(apiVersion=string(), kind=string(), spec=obj()), {_LOST}),
        ({**obj(), **_FREE}, set()),
        ({**obj(spec=obj()), **_FREE}, set()),
        ({**obj(metadata=obj()), **_FREE}, {_LOST}),
    ],
    ids=["declared", "its type too", "free", "free and declared", "free but for its metadata"],
)
def test_a_reader_that_keeps_unknown_fields_loses_nothing(
    tmp_path: Path, node: Json, lost: set[tuple[str, bool]]
) -> None:
    plain, embedded = (obj(spec=obj(template={**node, **more})) for more in ({}, _EMBEDDED))
    for sides, rule, direction, opposite in (
        ((plain, embedded), "embedded-resource-added", "rollback", "upgrade"),
        ((embedded, plain), "embedded-resource-removed", "upgrade", "rollback"),
    ):
        found: dict[str, set[tuple[str, bool]]] = {direction: set(), opposite: set()}
        for finding in diff(*both(tmp_path, *sides))["findings"]:
            way, severity, name, _, path = brief(finding)
            assert (name, path) == (rule, "spec.template")
            found[way].add((severity, finding["witness"]["object"] is not None))
        assert found == {direction: lost, opposite: {_REFUSED}}
