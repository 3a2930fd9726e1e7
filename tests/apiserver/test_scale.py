"""The paths of the scale subresource: the sentences are those of API server 1.36."""

from __future__ import annotations

from typing import Any

import pytest
from helpers import Json, crd, version

import crdcompat

_KEPT = {"x-kubernetes-preserve-unknown-fields": True}
_SCALE = {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n", "labelSelectorPath": ".status.s"}
_SCHEMA = {"type": "object", "properties": {"spec": _KEPT, "status": _KEPT}}

#: The write, its part, and of each sentence the path, the shown value, and the rest without the words that repeat.
_CASES: list[tuple[str, Json, list[tuple[str, str, str]]]] = [
    ("update", {"spec": {"n": "x"}}, [(".spec.n", "0", "x is string, expected int64")]),
    ("update", {"spec": {"n": -1}}, [(".spec.n", "-1", "should be a non-negative integer")]),
    ("update", {"spec": {"n": 2147483648}}, [(".spec.n", "2147483648", "should be less than or equal to 2147483647")]),
    ("update", {"spec": {"n": 1.5}}, [(".spec.n", "0", "1.5 is float64, expected int64")]),
    ("update", {"spec": {"n": True}}, [(".spec.n", "0", "true is bool, expected int64")]),
    ("update", {"spec": {"n": [1]}}, [(".spec.n", "0", "[1] is []interface {}, expected int64")]),
    ("update", {"spec": {"n": {"a": 1}}}, [(".spec.n", "0", "map[a:1] is map[string]interface {}, expected int64")]),
    ("update", {"spec": "x"}, [(".spec.n", "0", "x is string, expected map[string]interface{}")]),
    ("update", {"spec": [1]}, [(".spec.n", "0", "[1] is []interface {}, expected map[string]interface{}")]),
    ("updateStatus", {"status": {"n": "x"}}, [(".status.n", "0", "x is string, expected int64")]),
    ("updateStatus", {"status": {"n": -1}}, [(".status.n", "-1", "should be a non-negative integer")]),
    ("updateStatus", {"status": {"s": 5}}, [(".status.s", '""', "5 is int64, expected string")]),
    ("updateStatus", {"status": {"s": ["a"]}}, [(".status.s", '""', "[a] is []interface {}, expected string")]),
    ("updateStatus", {"status": {"s": True}}, [(".status.s", '""', "true is bool, expected string")]),
    (
        "updateStatus",
        {"status": {"n": 2147483648, "s": 1.5}},
        [
            (".status.n", "2147483648", "should be less than or equal to 2147483647"),
            (".status.s", '""', "1.5 is float64, expected string"),
        ],
    ),
    (
        "updateStatus",
        {"status": "x"},
        [
            (".status.n", "0", "x is string, expected map[string]interface{}"),
            (".status.s", '""', "x is string, expected map[string]interface{}"),
        ],
    ),
    (
        "updateStatus",
        {"status": {"s": {"a": 1}}},
        [(".status.s", '""', "map[a:1] is map[string]interface {}, expected string")],
    ),
]


def _sentence(path: str, shown: str, rest: str) -> str:
    found, is_type, kind = rest.partition(" is ")
    detail = f"{path} accessor error: {found} is of the type {kind}" if is_type else rest
    return f"{path}: Invalid value: {shown}: {detail}"


@pytest.mark.parametrize(("operation", "part", "sentences"), _CASES)
def test_sentences(operation: str, part: dict[str, Any], sentences: list[tuple[str, str, str]]) -> None:
    """Replicas are a number of 32 bits, the selector is a text; the server shows no selector of another type."""
    made = version(_SCHEMA, subresources={"status": {}, "scale": _SCALE})
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a", "namespace": "b"}}
    verdict = crdcompat.judge(
        crd(versions=[made]), operation, {**widget, **part}, {**widget, "spec": {}}, kubernetes="1.36"
    )
    assert sorted(error.text() for error in verdict.errors) == [_sentence(*each) for each in sentences]
