"""Decoding of a schema: keywords whose value has a type that the API server cannot decode (``maximum: ten``).

The server decodes a CRD into Go's ``JSONSchemaProps`` before any validation, and answers 400 for the first value of a
wrong type. Types are those of ``k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1``. The message is that of
Go's ``encoding/json``: its path has no map keys and no indices, and ends at fields with a decoder of their own
(``items``, ``additionalProperties``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crdcompat.apiserver.crd_validation.keywords import RULE_FIELDS
from crdcompat.apiserver.versions import Server
from crdcompat.schema.paths import Pointer
from crdcompat.schema.structural import Schema

HEAD = 'CustomResourceDefinition in version "v1" cannot be handled as a CustomResourceDefinition: '
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


#: Field of a rule -> Go type, and the minor since which the server decodes it.
_RULE_FIELDS = {
    **{name: ("string", RULE_FIELDS[name]) for name in ("rule", "message", "messageExpression", "fieldPath")},
    "reason": ("v1.FieldValueErrorReason", RULE_FIELDS["reason"]),
    "optionalOldSelf": ("bool", RULE_FIELDS["optionalOldSelf"]),
}
_INT64 = range(-(2**63), 2**63)


def undecodable(schema: Any, server: Server, *, as_sent: bool = False) -> list[tuple[Pointer, str]]:
    """The values that do not decode: pointer in the schema and the server's message.

    ``as_sent``: the schema is the JSON of the request. In manifests, ``10.0`` is sent as ``10``.
    """
    return sorted(_Decoder(server, as_sent=as_sent).misfits(schema, ()))


class _Decoder:
    def __init__(self, server: Server, *, as_sent: bool) -> None:
        self.server = server
        self.as_sent = as_sent

    def misfits(self, raw: Schema, at: Pointer) -> Iterator[tuple[Pointer, str]]:
        for keyword, value in raw.items():
            fits = _CLASSES.get(keyword)
            if fits is not None and not self._fits(value, fits, _GO[keyword]):
                yield self._misfit((*at, keyword), value, _GO[keyword])
        for keyword in ("required", "x-kubernetes-list-map-keys"):
            listed = raw.get(keyword)
            for index, item in enumerate(listed if isinstance(listed, list) else ()):
                if item is not None and not isinstance(item, str):
                    yield self._misfit((*at, keyword, index), item, "string")
        additional = raw.get("additionalProperties")
        if additional is not None and not isinstance(additional, (bool, dict)):
            yield (*at, "additionalProperties"), f"{HEAD}boolean or JSON schema expected"
        properties, rules = raw.get("properties"), raw.get("x-kubernetes-validations")
        for name, sub in properties.items() if isinstance(properties, dict) else ():
            yield from self._below(sub, (*at, "properties", name))
        for keyword in _BELOW:
            if isinstance(sub := raw.get(keyword), dict):
                yield from self.misfits(sub, (*at, keyword))
        for keyword in _LISTS:
            branches = raw.get(keyword)
            for index, branch in enumerate(branches if isinstance(branches, list) else ()):
                yield from self._below(branch, (*at, keyword, index))
        for index, rule in enumerate(rules if isinstance(rules, list) else ()):
            yield from self._rule(rule, (*at, "x-kubernetes-validations", index))

    def _fits(self, value: Any, fits: frozenset[type], go: str) -> bool:
        if go == "int64" and isinstance(value, (int, float)) and not isinstance(value, bool):
            return value in _INT64 if isinstance(value, int) else value.is_integer() and not self.as_sent
        return type(value) in fits

    def _rule(self, rule: Any, at: Pointer) -> Iterator[tuple[Pointer, str]]:
        if not isinstance(rule, dict):
            if rule is not None:
                yield self._misfit(at, rule, "v1.ValidationRule")
            return
        for member, value in rule.items():
            go, since = _RULE_FIELDS.get(member, ("", 0))
            known = go and value is not None and self.server.minor >= since
            if known and not isinstance(value, bool if go == "bool" else str):
                yield self._misfit((*at, member), value, go, "ValidationRule")

    def _below(self, sub: Any, at: Pointer) -> Iterator[tuple[Pointer, str]]:
        if isinstance(sub, dict):
            yield from self.misfits(sub, at)
        elif sub is not None:
            yield self._misfit(at, sub, "v1.JSONSchemaProps")

    def _misfit(self, at: Pointer, value: Any, go: str, struct: str = "JSONSchemaProps") -> tuple[Pointer, str]:
        path, cut = _struct_path(at, whole=self.server.does("nested_decoding_paths"))
        struct = "JSONSchemaProps" if cut else struct
        sentence = f"{HEAD}json: cannot unmarshal {json_name(value, go)} into Go struct field {struct}."
        return at, f"{sentence}{'.'.join((*_AT, *path))} of type {go}"


def json_name(value: Any, go: str) -> str:
    """How Go names a value that does not decode into the type ``go``."""
    if isinstance(value, bool):
        return "bool"
    if go == "int64" and isinstance(value, (int, float)):
        return f"number {value!r}"
    names = {str: "string", int: "number", float: "number", list: "array", dict: "object"}
    return names[type(value)]


def _struct_path(at: Pointer, *, whole: bool) -> tuple[list[str], bool]:
    """The Go fields of a pointer: ``("properties", "spec", "items", "maximum")`` -> ``["properties", "items"]``; and
    whether a field with a decoder of its own is on the way, at which the path ends unless ``whole``."""
    path: list[str] = []
    named = cut = False
    for part in at:
        if isinstance(part, str) and not named:
            path.append(part)
            if part in ("items", "additionalProperties"):
                cut = True
                if not whole:
                    break
        named = part == "properties" and not named
    return path, cut
