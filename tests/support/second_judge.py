"""jsonschema as a second judge of plain schemas."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema
import re2
from helpers import Json

from crdcompat.apiserver.field_errors import FieldError, Unknown
from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.validate import SchemaValidator
from crdcompat.schema.structural import Node

SERVER = Server(31)


_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "multipleOf")


def translate(node: Json) -> Json:
    """One node of a structural schema in JSON Schema 2020-12; a null keyword is none."""
    node = {name: value for name, value in node.items() if value is not None}
    made: Json = {name: node[name] for name in (*_COUNTS, "pattern", "required") if node.get(name, "") != ""}
    if "enum" in node:
        # A null is never a member, even where the list has one.
        made["enum"] = [member for member in node["enum"] if member is not None]
    types = (
        ["integer", "string"] if node.get("x-kubernetes-int-or-string") else [node["type"]] if node.get("type") else []
    )
    if types:
        made["type"] = types
    for keyword in ("minimum", "maximum"):
        if keyword in node:
            exclusive = f"exclusive{keyword.capitalize()}"
            made[exclusive if node.get(exclusive) is True else keyword] = node[keyword]
    if "properties" in node:
        made["properties"] = {name: translate(sub) for name, sub in node["properties"].items()}
    for keyword in ("items", "additionalProperties", "not"):
        if keyword in node:
            made[keyword] = translate(node[keyword]) if isinstance(node[keyword], dict) else node[keyword]
    for keyword in ("allOf", "anyOf", "oneOf"):
        if keyword in node:
            made[keyword] = [translate(branch) for branch in node[keyword]]
    if types and not node.get("nullable"):
        return made
    # Of a null nothing else is asked, not even what stands in anyOf.
    return made if "enum" in node else {"anyOf": [{"type": "null"}, made]}


@cache
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.max_mem = 512 << 20
    options.log_errors = False
    return re2.compile(pattern, options)


def _pattern(_: Any, pattern: str, instance: Any, __: Any) -> Any:
    if isinstance(instance, str) and not _compiled(pattern).search(instance):
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


def _integer(_: Any, value: Any) -> bool:
    """Whole floats are integers as far as a float is exact."""
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
    return whole or (isinstance(value, int) and not isinstance(value, bool))


_PLAIN = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    {"pattern": _pattern},
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine("integer", _integer),
)


def without_formats(schema: Any) -> Any:
    """The schema as both judges see it."""
    if isinstance(schema, list):
        return [without_formats(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: {key: without_formats(sub) for key, sub in value.items()}
        if name == "properties"
        else value
        if name in ("enum", "default")
        else without_formats(value)
        for name, value in schema.items()
        if name not in ("format", "description")
    }


class Judges:
    """Both judges of one schema."""

    def __init__(self, schema: Json) -> None:
        schema = without_formats(schema)
        self.ours = SchemaValidator(Node(schema), SERVER)
        self.plain = _PLAIN(translate(schema))

    def errors(self, obj: Any) -> list[FieldError]:
        """What the program finds wrong, by the schema alone."""
        errors: list[FieldError] = []
        unknown: list[Unknown] = []
        self.ours.validate_root(obj, None, errors, unknown)
        assert not unknown
        return errors

    def disagree(self, obj: Any) -> str:
        """What each of them says, where that differs; else ""."""
        errors, fault = self.errors(obj), next(self.plain.iter_errors(obj), None)
        if bool(errors) == (fault is not None):
            return ""
        ours = "; ".join(error.text() for error in errors) or "valid"
        return f"the program: {ours}; JSON Schema: {fault.message[:300] if fault else 'valid'}; {json.dumps(obj)[:600]}"
