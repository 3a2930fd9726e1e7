"""Schemas as the server decodes them: known keywords with values that are not empty."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from crdcompat.schema.paths import Pointer

Schema = Mapping[str, Any]
"""A decoded schema: known keywords with values that are not empty."""

#: Keywords whose empty value counts as absent; of the others only null does.
_EMPTY_IS_ABSENT = frozenset(
    {
        *("id", "$schema", "description", "type", "format", "title", "pattern"),
        *("exclusiveMaximum", "exclusiveMinimum", "uniqueItems", "nullable"),
        *("x-kubernetes-embedded-resource", "x-kubernetes-int-or-string"),
        *("enum", "required", "x-kubernetes-list-map-keys"),
    }
)
_KEPT = frozenset(
    {
        *("$ref", "default", "maximum", "minimum", "maxLength", "minLength", "maxItems", "minItems", "multipleOf"),
        *("maxProperties", "minProperties", "externalDocs", "example", "x-kubernetes-preserve-unknown-fields"),
        *("x-kubernetes-list-type", "x-kubernetes-map-type"),
    }
)
#: Lists of strings, in which Go reads null as the empty string.
_TEXTS = frozenset({"required", "x-kubernetes-list-map-keys"})
_LISTS = frozenset({"allOf", "anyOf", "oneOf"})
_SINGLE = frozenset({"items", "not", "additionalProperties", "additionalItems"})
_MAPS = frozenset({"properties", "patternProperties", "definitions"})
#: All keywords of a schema that servers know.
KNOWN = _EMPTY_IS_ABSENT | _KEPT | _LISTS | _SINGLE | _MAPS | {"dependencies", "x-kubernetes-validations"}
#: Field of a rule -> the minor that introduced it.
RULE_FIELDS = {"rule": 25, "message": 25, "messageExpression": 27, "reason": 28, "fieldPath": 28, "optionalOldSelf": 29}


def decoded_schema(raw: Schema, kept: frozenset[str] = frozenset(RULE_FIELDS)) -> Schema:
    """A schema as the server decodes it; members of a wrong type, for which it refuses to decode, are left out.

    ``kept`` are the fields of rules that it knows.
    """
    found: dict[str, Any] = {}
    sub = partial(_sub, kept=kept)
    for key, value in raw.items():
        if value is None:
            continue
        if key in _EMPTY_IS_ABSENT:
            if value and (key not in _TEXTS or isinstance(value, list)):
                found[key] = [text or "" for text in value] if key in _TEXTS else value
        elif key in _KEPT:
            found[key] = value
        elif key in _MAPS:
            if value and isinstance(value, dict):
                found[key] = {name: sub(each) for name, each in value.items()}
        elif key in _LISTS:
            if value and isinstance(value, list):
                found[key] = [sub(each) for each in value]
        elif key == "not":
            found[key] = sub(value)
        elif key == "items" and isinstance(value, (dict, list)):
            found[key] = [sub(each) for each in value] if isinstance(value, list) else sub(value)
        elif key in ("additionalProperties", "additionalItems"):
            found[key] = sub(value) if isinstance(value, dict) else value
        elif key == "dependencies" and isinstance(value, dict):
            found[key] = {name: sub(each) if isinstance(each, dict) else each for name, each in value.items()}
        elif key == "x-kubernetes-validations" and value and isinstance(value, list):
            found[key] = [_rule(each, kept) for each in value]
    return found


def _sub(raw: Any, kept: frozenset[str]) -> Schema:
    return decoded_schema(raw, kept) if isinstance(raw, dict) else {}


def _rule(raw: Any, kept: frozenset[str]) -> Mapping[str, Any]:
    pointers = ("reason", "optionalOldSelf")
    fields = raw.items() if isinstance(raw, dict) else ()
    return {key: value for key, value in fields if key in kept and (value or (key in pointers and value is not None))}


def schemas_in(keyword: str, value: Any) -> Iterator[tuple[Pointer, Any]]:
    """What the value of a keyword has in the places of schemas, each with the steps to it."""
    if keyword in _MAPS or keyword == "dependencies":
        if isinstance(value, Mapping):
            yield from (((name,), each) for name, each in value.items())
    elif isinstance(value, list):
        if keyword in _LISTS or keyword == "items":
            yield from (((index,), each) for index, each in enumerate(value))
    elif keyword in _SINGLE:
        yield (), value


def anywhere(schema: Schema, test: Callable[[Schema], object]) -> bool:
    """Whether ``test`` is true of the schema or of any schema in it."""
    return bool(test(schema)) or any(
        anywhere(each, test)
        for keyword, value in schema.items()
        for _, each in schemas_in(keyword, value)
        if isinstance(each, Mapping)
    )
