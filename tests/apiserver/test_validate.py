"""What a judge remembers of the texts it has met: a verdict is the same the first time and ever after."""

from __future__ import annotations

from typing import Any

import pytest

from crdcompat.apiserver import formats, limits
from crdcompat.apiserver.field_errors import FieldError, Unknown
from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.validate import SchemaValidator
from crdcompat.schema.structural import Node

SERVERS = [Server(25), Server(31)]
KEYWORDS: dict[str, tuple[dict[str, Any], ...]] = {
    "enum": ({"enum": ["a", "2020-01-01T00:00:00Z"]}, {"enum": ["a", None]}),
    "format": ({"format": "date-time"}, {"format": "uuid"}, {"format": "no such format"}),
    "checks": ({"pattern": "^[a-z]*$"}, {"maxLength": 3}, {"minLength": 2}, {"pattern": "("}),
}
VALUES = ["a", "ab", "A", "", "abcd", "2020-01-01T00:00:00Z", "2020-13-01T00:00:00Z", "x" * 200, 1, True, None, ["a"]]


def schemas() -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = [{}]
    for alternatives in KEYWORDS.values():
        made = [{**schema, **each} for schema in made for each in ({}, *alternatives)]
    kinds: tuple[dict[str, Any], ...] = ({"type": "string"}, {"type": "string", "nullable": True}, {"type": "integer"})
    kinds += ({"x-kubernetes-int-or-string": True},)
    return [{**kind, **schema} for kind in kinds for schema in made]


def judged(validator: SchemaValidator, value: Any) -> tuple[int, list[FieldError], list[Unknown]]:
    errors: list[FieldError] = []
    unknown: list[Unknown] = []
    inside = {"member": value, "list": [value]}
    count = validator.validate(inside, None, None, errors, unknown)
    return count, errors, unknown


@pytest.mark.parametrize("server", SERVERS, ids=str)
def test_a_verdict_does_not_depend_on_what_was_judged_before(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for schema in schemas():
        members = {"member": schema, "list": {"type": "array", "items": schema}}
        whole = Node({"type": "object", "properties": members})
        used = SchemaValidator(whole, server)
        for _ in range(3):
            for value in VALUES:
                found = judged(used, value)
                with monkeypatch.context() as fresh:
                    fresh.setattr(formats, "_cache", {})
                    assert found == judged(SchemaValidator(whole, server), value), (schema, value)


def test_caches_of_valid_strings_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "_cache", {})
    monkeypatch.setattr(formats, "_MAX_CACHED", 8)
    monkeypatch.setattr(limits, "_MAX_CACHED", 8)
    node = {"time": {"type": "string", "format": "date-time"}, "name": {"type": "string", "maxLength": 50}}
    validator = SchemaValidator(Node({"type": "object", "properties": node}), SERVERS[1])
    for second in range(60):
        value = {"time": f"2020-01-01T00:00:{second:02}Z", "name": f"n{second}"}
        errors: list[FieldError] = []
        validator.validate(value, None, None, errors, [])
        assert errors == []
    assert 0 < len(formats._cache["datetime"]) <= 8
    cached = validator.members["name"].string_limits
    assert cached is not None
    assert len(cached.passed) == 8


_COUNTED = {
    "maxProperties": {"type": "object", "maxProperties": 1, "properties": {"a": {"type": "string"}}},
    "minProperties": {"type": "object", "minProperties": 3, "properties": {"a": {"type": "string"}}},
}
_BESIDE = 'a: Invalid value: "integer": a in body must be of type string: "integer"'


@pytest.mark.parametrize(
    ("keyword", "minor", "said"),
    [
        ("maxProperties", 23, ["<nil>: Invalid value: 1:  in body should have at most 1 properties"]),
        ("maxProperties", 24, ["<nil>: Too many: 2: must have at most 1 items"]),
        ("maxProperties", 28, ["<nil>: Too many: 2: must have at most 1 items", _BESIDE]),
        ("minProperties", 23, ["<nil>: Invalid value: 3:  in body should have at least 3 properties"]),
        ("minProperties", 24, ["<nil>: Invalid value: 2:  in body should have at least 3 properties"]),
        ("minProperties", 28, ["<nil>: Invalid value: 2:  in body should have at least 3 properties", _BESIDE]),
    ],
)
def test_a_wrong_number_of_members(keyword: str, minor: int, said: list[str]) -> None:
    """Before 1.28 it hides the errors of the members; before 1.24 the error names the limit (``versions.py``)."""
    errors: list[FieldError] = []
    value = {"a": 1, "b": 2}
    SchemaValidator(Node(_COUNTED[keyword]), Server(minor)).validate(value, None, None, errors, [])
    assert [error.text() for error in errors] == said


@pytest.mark.parametrize(
    ("minor", "said"),
    [
        (23, "<nil>: Invalid value: 2:  in body should have at most 1 items"),
        (24, "<nil>: Too many: 2: must have at most 1 items"),
    ],
)
def test_a_list_that_is_too_long_is_named_by_its_size(minor: int, said: str) -> None:
    node = Node({"type": "array", "maxItems": 1, "items": {"type": "string"}})
    errors: list[FieldError] = []
    SchemaValidator(node, Server(minor)).validate(["a", "b"], None, None, errors, [])
    assert [error.text() for error in errors] == [said]
