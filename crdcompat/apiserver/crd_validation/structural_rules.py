"""The rules of structural schemas, which v1 CRDs must obey; with the server's messages.

Source: apiextensions-apiserver, pkg/apiserver/schema/validation.go, complete.go and convert.go;
docs/semantics.md#refused-crds.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from crdcompat.apiserver.crd_validation.decoded_keywords import Schema
from crdcompat.apiserver.crd_validation.definition import fault, map_keys
from crdcompat.apiserver.field_errors import FORBIDDEN, INVALID, REQUIRED, FieldError
from crdcompat.apiserver.field_paths import rule_place
from crdcompat.apiserver.server_versions import Server
from crdcompat.schema.paths import Pointer
from crdcompat.schema.re2 import syntax_error

#: Keywords that are forbidden inside anyOf, oneOf, allOf and not, because they shape the value; what they have to be.
_SHAPING = {
    "type": "empty",
    "additionalProperties": "undefined",
    "default": "undefined",
    "title": "empty",
    "description": "empty",
    "nullable": "false",
    "x-kubernetes-preserve-unknown-fields": "false",
    "x-kubernetes-embedded-resource": "false",
    "x-kubernetes-int-or-string": "false",
    "x-kubernetes-list-map-keys": "empty",
    "x-kubernetes-list-type": "undefined",
    "x-kubernetes-map-type": "undefined",
    "x-kubernetes-validations": "empty",
}
_UNSUPPORTED = ("id", "$schema", "$ref", "patternProperties", "dependencies", "additionalItems", "definitions")
_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]
_FREE, _EMBEDDED = "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"
_IOS = "x-kubernetes-int-or-string"
_ROOT, _ITEM, _FIELD = "at the root", "for specified array items", "for specified object fields"
_JUNCTOR_LISTS = ("anyOf", "allOf", "oneOf")


def conversion_error(schema: Schema) -> str:
    """The reason why the server cannot read a schema as a structural one; "" if it can."""
    for keyword in _UNSUPPORTED:
        if schema.get(keyword) or keyword == "additionalItems" in schema:
            return f"OpenAPIV3Schema '{keyword.removeprefix('$') if keyword != '$ref' else keyword}' is not supported"
    for keyword in ("not", *_JUNCTOR_LISTS):
        value = schema.get(keyword, ())
        for branch in (value,) if keyword == "not" and value else value:
            if text := conversion_error(branch):
                return text
    if schema.get("x-kubernetes-preserve-unknown-fields") is False:
        return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined"
    items, additional = schema.get("items"), schema.get("additionalProperties")
    if isinstance(items, list) and items:
        return "OpenAPIV3Schema 'items' must be a schema, but is an array"
    below = [*schema.get("properties", {}).values(), *(each for each in (items, additional) if isinstance(each, dict))]
    return next((text for each in below if (text := conversion_error(each))), "")


def structural_faults(schema: Schema, at: Pointer, server: Server) -> Iterator[FieldError]:
    """The faults of a schema that the server can read."""
    yield from _invariants(schema, _ROOT, at, server)
    yield from _completeness(schema, schema, at, at, server)


def _invariants(schema: Schema, level: str, at: Pointer, server: Server) -> Iterator[FieldError]:
    new = partial(_new, at=at, server=server)
    kind = schema.get("type", "")
    items, additional = schema.get("items"), schema.get("additionalProperties")
    if kind == "array" and not isinstance(items, dict):
        yield new(REQUIRED, ("items",), "", "must be specified")
    if isinstance(items, dict):
        yield from _invariants(items, _ITEM, (*at, "items"), server)
    properties = schema.get("properties", {})
    for name, sub in properties.items():
        yield from _invariants(sub, _FIELD, (*at, "properties", name), server)
    if additional is not None:
        if level is _ROOT:
            yield new(FORBIDDEN, ("additionalProperties",), "", "must not be used at the root")
        if isinstance(additional, dict):
            yield from _invariants(additional, _FIELD, (*at, "additionalProperties"), server)
    free, embedded, either = map(schema.get, (_FREE, _EMBEDDED, _IOS))
    for keyword in (_FREE, _EMBEDDED) if either else ():
        if schema.get(keyword):
            yield new(INVALID, (keyword,), True, "must be false if x-kubernetes-int-or-string is true")
    yield from _value_validation(
        schema, at, server, skip_any=_is_either(schema), skip_all=_is_either(_first_all(schema))
    )
    if embedded and kind != "object":
        detail = "must be object if x-kubernetes-embedded-resource is true"
        yield new(INVALID if kind else REQUIRED, ("type",), kind, detail)
    elif not kind and not either and not free:
        yield new(REQUIRED, ("type",), "", f"must not be empty {level}")
    if embedded and additional is not None:
        detail = "must not be used if x-kubernetes-embedded-resource is set"
        yield new(FORBIDDEN, ("additionalProperties",), "", detail)
    if level is _ROOT and kind and kind != "object":
        yield new(INVALID, ("type",), kind, "must be object at the root")
    if level is _ROOT or embedded:
        for name in ("kind", "apiVersion"):
            if name in properties and (found := properties[name].get("type", "")) != "string":
                yield new(INVALID, ("properties", name, "type"), found, "must be string")
    if "metadata" in properties:
        yield from _metadata(properties["metadata"], level, (*at, "properties", "metadata"), server, bool(embedded))
    if embedded and not free and not properties:
        detail = (
            "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"
        )
        yield new(REQUIRED, ("properties",), "", detail)


def _metadata(schema: Schema, level: str, at: Pointer, server: Server, embedded: bool) -> Iterator[FieldError]:
    if (level is _ROOT or embedded) and schema.get("type", "") != "object":
        yield _new(INVALID, ("type",), schema.get("type", ""), "must be object", at=at, server=server)
    if level is _ROOT:
        rest = {key: value for key, value in schema.items() if key not in ("type", "default")}
        if rest.get("properties") and rest["properties"].keys() <= {"name", "generateName"}:
            rest.pop("properties")
        if rest:
            detail = "must not specify anything other than name and generateName, but metadata is implicitly specified"
            yield fault(FORBIDDEN, at, "", detail, server)


def _value_validation(
    schema: Schema, at: Pointer, server: Server, *, skip_any: bool = False, skip_all: bool = False
) -> Iterator[FieldError]:
    """The faults of the branches and the pattern. ``skip_any``: anyOf are the types of an int-or-string."""
    for keyword in _JUNCTOR_LISTS:
        if keyword == "anyOf" and skip_any:
            continue
        for index, branch in enumerate(schema.get(keyword, ())):
            skip = keyword == "allOf" and skip_all and index == 0
            yield from _branch(branch, (*at, keyword, index), server, skip_any=skip)
    if "not" in schema:
        yield from _branch(schema["not"], (*at, "not"), server)
    pattern = schema.get("pattern")
    if pattern and (reason := syntax_error(pattern)):
        detail = f"must be a valid regular expression, but isn't: {reason}"
        yield fault(INVALID, (*at, "pattern"), pattern, detail, server)


def _branch(schema: Schema, at: Pointer, server: Server, *, skip_any: bool = False) -> Iterator[FieldError]:
    """The faults of a schema inside anyOf, allOf, oneOf or not."""
    yield from _value_validation(schema, at, server, skip_any=skip_any)
    if isinstance(schema.get("items"), dict):
        yield from _branch(schema["items"], (*at, "items"), server)
    properties = schema.get("properties", {})
    for name, sub in properties.items():
        yield from _branch(sub, (*at, "properties", name), server)
    for keyword, wanted in _SHAPING.items():
        value = schema.get(keyword)
        if keyword == "additionalProperties" and value is False and server.does("additional_false_in_junctors"):
            continue
        if value is not None:
            yield fault(FORBIDDEN, (*at, keyword), "", f"must be {wanted} to be structural", server)
    if "metadata" in properties:
        yield fault(FORBIDDEN, (*at, "properties", "metadata"), "", "must not be specified in a nested context", server)


def _completeness(
    branch: Schema, schema: Schema | None, at: Pointer, below: Pointer, server: Server
) -> Iterator[FieldError]:
    """What the branches at ``below`` constrain, and the schema itself, at ``at``, does not have."""
    for keyword in ("not", "allOf", "anyOf", "oneOf"):
        value = branch.get(keyword)
        branches = [((keyword,), value)] if isinstance(value, dict) else _indexed(keyword, value or ())
        for step, each in branches:
            yield from _nested_completeness(each, schema, at, (*below, *step), server)


def _indexed(keyword: str, branches: Any) -> list[tuple[tuple[Any, ...], Schema]]:
    return [((keyword, index), branch) for index, branch in enumerate(branches)]


def _nested_completeness(
    branch: Schema, schema: Schema | None, at: Pointer, below: Pointer, server: Server
) -> Iterator[FieldError]:
    if schema is None:
        yield fault(REQUIRED, at, "", f"because it is defined in {_place(below)}", server)
        return
    yield from _completeness(branch, schema, at, below, server)
    if isinstance(branch.get("items"), dict):
        inner = schema.get("items")
        items = inner if isinstance(inner, dict) else None
        yield from _nested_completeness(branch["items"], items, (*at, "items"), (*below, "items"), server)
    for name, sub in branch.get("properties", {}).items():
        step = ("properties", name)
        inner = schema.get("properties", {}).get(name)
        yield from _nested_completeness(sub, inner, (*at, *step), (*below, *step), server)


def _place(at: Pointer) -> str:
    return rule_place(at, map_keys(at))


def _is_either(schema: Schema) -> bool:
    """Whether the branches of anyOf are just the types integer and string."""
    return bool(schema.get("anyOf") == _INT_OR_STRING)


def _first_all(schema: Schema) -> Schema:
    branches = schema.get("allOf", ())
    return branches[0] if branches else {}


def _new(kind: str, step: Pointer, value: Any, detail: str, *, at: Pointer, server: Server) -> FieldError:
    return fault(kind, (*at, *step), value, detail, server)
