"""Decoding of a schema: keywords whose value has a type that the API server cannot decode (``maximum: ten``).

The server decodes a CRD into Go's ``JSONSchemaProps`` before any validation, and answers 400 for the first value of a
wrong type. Types are those of ``k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1``. The message is that of
Go's ``encoding/json``: its path has no map keys and no indices, and ends at fields with a decoder of their own
(``items``, ``additionalProperties``).
"""

from __future__ import annotations

from typing import Any

from crdcompat.schema.paths import Pointer
from crdcompat.schema.structural import Schema

_HEAD = 'CustomResourceDefinition in version "v1" cannot be handled as a CustomResourceDefinition: '
_AT = ("spec", "versions", "schema", "openAPIV3Schema")

#: Keyword -> Go type. Other keywords accept any value (``default``), or the server refuses or ignores them.
_GO = {
    **dict.fromkeys(("description", "type", "format", "title", "id", "pattern"), "string"),
    **dict.fromkeys(("x-kubernetes-list-type", "x-kubernetes-map-type"), "string"),
    **dict.fromkeys(("maximum", "minimum", "multipleOf"), "float64"),
    **dict.fromkeys(("maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties"), "int64"),
    **dict.fromkeys(("exclusiveMaximum", "exclusiveMinimum", "uniqueItems", "nullable"), "bool"),
    **dict.fromkeys(("x-kubernetes-embedded-resource", "x-kubernetes-int-or-string"), "bool"),
    "x-kubernetes-preserve-unknown-fields": "bool",
    **dict.fromkeys(("required", "x-kubernetes-list-map-keys"), "[]string"),
    "enum": "[]v1.JSON",
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), "[]v1.JSONSchemaProps"),
    "properties": "map[string]v1.JSONSchemaProps",
    "not": "v1.JSONSchemaProps",
    "x-kubernetes-validations": "v1.ValidationRules",
}
#: Go type -> Python types that decode into it.
_FITS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "float64": (int, float),
    "int64": (int,),
    "bool": (bool,),
    "[]string": (list,),
    "[]v1.JSON": (list,),
    "[]v1.JSONSchemaProps": (list,),
    "v1.ValidationRules": (list,),
    "map[string]v1.JSONSchemaProps": (dict,),
    "v1.JSONSchemaProps": (dict,),
}
#: Keyword -> Python types of its values. Null decodes into every Go type.
_CLASSES = {keyword: frozenset({*_FITS[go], type(None)}) for keyword, go in _GO.items()}
_BELOW = ("items", "additionalProperties", "not")
_LISTS = ("allOf", "anyOf", "oneOf")


def undecodable(schema: Any) -> list[tuple[Pointer, str]]:
    """The values that do not decode: pointer in the schema and the server's message, in the order of the request."""
    found: list[tuple[Pointer, str]] = []
    _collect(schema, (), found)
    return sorted(found)


def _collect(raw: Schema, at: Pointer, found: list[tuple[Pointer, str]]) -> None:
    for keyword, value in raw.items():
        fits = _CLASSES.get(keyword)
        if fits is not None and type(value) not in fits and not _is_whole(value, keyword):
            found.append(_misfit((*at, keyword), value, _GO[keyword]))
    for keyword in ("required", "x-kubernetes-list-map-keys"):
        listed = raw.get(keyword)
        if isinstance(listed, list):
            misfits = ((i, item) for i, item in enumerate(listed) if item is not None and not isinstance(item, str))
            found.extend(_misfit((*at, keyword, index), item, "string") for index, item in misfits)
    additional = raw.get("additionalProperties")
    if additional is not None and not isinstance(additional, (bool, dict)):
        found.append(((*at, "additionalProperties"), f"{_HEAD}boolean or JSON schema expected"))
    properties = raw.get("properties")
    if isinstance(properties, dict):
        for name, sub in properties.items():
            _below(sub, (*at, "properties", name), found)
    for keyword in _BELOW:
        sub = raw.get(keyword)
        if isinstance(sub, dict):
            _collect(sub, (*at, keyword), found)
    for keyword in _LISTS:
        branches = raw.get(keyword)
        for index, branch in enumerate(branches if isinstance(branches, list) else ()):
            _below(branch, (*at, keyword, index), found)


def _below(sub: Any, at: Pointer, found: list[tuple[Pointer, str]]) -> None:
    if isinstance(sub, dict):
        _collect(sub, at, found)
    elif sub is not None:
        found.append(_misfit(at, sub, "v1.JSONSchemaProps"))


def _is_whole(value: Any, keyword: str) -> bool:
    """Whether a float is a whole number for an int64 keyword: JSON sends ``10.0`` as ``10``."""
    return isinstance(value, float) and value.is_integer() and _GO[keyword] == "int64"


def _misfit(at: Pointer, value: Any, go: str) -> tuple[Pointer, str]:
    sentence = f"{_HEAD}json: cannot unmarshal {_json_name(value, go)} into Go struct field JSONSchemaProps."
    return at, f"{sentence}{'.'.join((*_AT, *_struct_path(at)))} of type {go}"


def _json_name(value: Any, go: str) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, float) and go == "int64":
        return f"number {value!r}"
    names = {str: "string", int: "number", float: "number", list: "array", dict: "object"}
    return names[type(value)]


def _struct_path(at: Pointer) -> list[str]:
    """The Go fields of a pointer: ``("properties", "spec", "items", "maximum")`` -> ``["properties", "items"]``."""
    path: list[str] = []
    named = False
    for part in at:
        if isinstance(part, str) and not named:
            path.append(part)
            if part in ("items", "additionalProperties"):
                break
        named = part == "properties" and not named
    return path
