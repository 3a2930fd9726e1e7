"""The notation of ``render/report_schema.yaml``."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from crdcompat.render.data.schema import expanded, schema_of_reports

TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("written", "schema"),
    [
        ("string", TEXT),
        ("any", {}),
        ("integer or null", {"type": ["integer", "null"]}),
        ("integer or null from 1", {"type": ["integer", "null"], "minimum": 1}),
        ("string like ^[a-f ]$", {"type": "string", "pattern": "^[a-f ]$"}),
        ("one of at risk | clean", {"enum": ["at risk", "clean"]}),
        ("names", {"$ref": "#/$defs/names"}),
        ("names or null", {"oneOf": [{"type": "null"}, {"$ref": "#/$defs/names"}]}),
        ("list of string", {"type": "array", "items": TEXT}),
        ("string -- The name; one of many.", {"type": "string", "description": "The name; one of many."}),
        (
            "count for each of read | not read",
            {"type": "object", "required": ["read", "not read"], "additionalProperties": {"$ref": "#/$defs/count"}},
        ),
        (
            [{"crd": "string"}],
            {"type": "array", "items": {"type": "object", "required": ["crd"], "properties": {"crd": TEXT}}},
        ),
        (
            {"(about)": "Some.", "(at least)": 1, "(items)": "string"},
            {"description": "Some.", "type": "array", "minItems": 1, "items": TEXT},
        ),
        (
            {"(or null)": True, "a": None, "b?": "string", "(others)": "none"},
            {"type": ["object", "null"], "required": ["a"], "properties": {"b": TEXT}, "additionalProperties": False},
        ),
        (
            {"(adds to)": "shared", "a": "string"},
            {"allOf": [{"$ref": "#/$defs/shared"}], "required": ["a"], "properties": {"a": TEXT}},
        ),
        ({"(schema)": {"const": True}}, {"const": True}),
        ({"(schema)": True}, True),
    ],
)
def test_the_notation(written: Any, schema: Any) -> None:
    assert expanded(written) == schema


def test_each_reference_has_its_part() -> None:
    schema = schema_of_reports()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert set(_references(schema)) == set(schema["$defs"])


def _references(node: Any) -> list[str]:
    if isinstance(node, list):
        return [found for item in node for found in _references(item)]
    if not isinstance(node, dict):
        return []
    own = [node["$ref"].removeprefix("#/$defs/")] if isinstance(node.get("$ref"), str) else []
    return own + [found for item in node.values() for found in _references(item)]
