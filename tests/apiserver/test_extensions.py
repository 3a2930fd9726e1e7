"""Duplicates in lists of type set and map, as Kubernetes 1.28 and 1.36 report them; embedded resources."""

from __future__ import annotations

from typing import Any

import pytest

from crdcompat.apiserver.extensions import duplicate_errors, embedded_errors
from crdcompat.apiserver.server_versions import Server
from crdcompat.schema.structural import Node

_ITEM = {"type": "object", "properties": {"k": {"type": "string"}}}
_MAP = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": _ITEM}
_MISFIT = "must be an object for an array of list-type map"


@pytest.mark.parametrize(
    ("items", "said"),
    [
        ([{"k": "a"}, {"k": "b"}], []),
        ([{"k": "a"}, {"k": "a"}, {"k": "a"}], ['[1]: Duplicate value: {"k":"a"}']),
        # The first item that is no object is named, and nothing else of the list.
        ([{"k": "a"}, {"k": "a"}, 1, "x"], [f"[2]: Invalid value: 1: {_MISFIT}"]),
        ([None, ["a"], ["a"]], [f'[1]: Invalid value: ["a"]: {_MISFIT}']),
    ],
)
def test_a_list_with_keys(items: list[Any], said: list[str]) -> None:
    assert [error.text() for error in duplicate_errors(items, Node(_MAP), Server(36), None)] == said


def test_embedded_resources_in_a_list() -> None:
    resource = {"type": "object", "x-kubernetes-embedded-resource": True}
    node = Node({"type": "object", "properties": {"l": {"type": "array", "items": resource}}})
    value = {"l": [{"kind": "A"}, {"apiVersion": "v1"}]}
    assert [error.text() for error in embedded_errors(value, node, Server(33))] == [
        "l[0].apiVersion: Required value: must not be empty",
        "l[1].kind: Required value: must not be empty",
    ]
