"""What a schema may say beside being structural: forbidden keywords, list and map types, keys.

Source: apiextensions-apiserver, pkg/apis/apiextensions/validation/validation.go
(ValidateCustomResourceDefinitionOpenAPISchema).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.apiserver.crd_validation import lists
from crdcompat.apiserver.crd_validation.decoded_keywords import Schema
from crdcompat.apiserver.crd_validation.definition import fault
from crdcompat.apiserver.crd_validation.tolerated import Tolerated
from crdcompat.apiserver.field_errors import FORBIDDEN, INVALID, NOT_SUPPORTED, REQUIRED, FieldError
from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.wording import supported_values
from crdcompat.schema.paths import Pointer

if TYPE_CHECKING:
    from crdcompat.apiserver.crd_validation.expressions import Expressions, Scope

TYPES = ("array", "boolean", "integer", "number", "object", "string")
_METADATA = ("metadata", "kind", "apiVersion")
_NOT_SUPPORTED = (*("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"),)


class Place(Struct, frozen=True):
    """What the position of a schema forbids: ``no_default`` is the reason against defaults, None without one;
    ``uncorrelatable`` is the first path above whose values have no counterpart in the old object."""

    no_default: str | None = None
    in_metadata: bool = False
    uncorrelatable: Pointer | None = None


class SchemaRules:
    """The walk over one schema. ``expressions`` compiles its CEL rules; None if another fault forbids that."""

    def __init__(self, server: Server, tolerated: Tolerated, expressions: Expressions | None) -> None:
        self.server = server
        self.tolerated = tolerated
        self.expressions = expressions

    def faults(self, schema: Schema, at: Pointer) -> list[FieldError]:
        """The faults of the schema and of all schemas below it; those of CEL rules come last."""
        scope = self.expressions.root(schema) if self.expressions is not None else None
        own, expressions = self._faults(schema, at, Place(), scope, is_root=True)
        return own + expressions

    def _faults(
        self, schema: Schema, at: Pointer, place: Place, scope: Scope | None, *, is_root: bool = False
    ) -> tuple[list[FieldError], list[FieldError]]:
        found = [*self._keywords(schema, at, place)]
        of_rules: list[FieldError] = []
        for sub, step, inner, visible in self._below(schema, at, place, is_root=is_root):
            child = scope.child(sub) if scope is not None and visible else None
            own, expressions = self._faults(sub, (*at, *step), inner, child)
            found += own
            of_rules += expressions
        found += self._extensions(schema, at)
        if "x-kubernetes-validations" in schema:
            from crdcompat.apiserver.crd_validation.rule_members import rule_faults

            found += rule_faults(schema, at, self.server)
            if not found and scope is not None and self.expressions is not None:
                of_rules += self.expressions.faults(scope, at, place.uncorrelatable)
        return found, of_rules

    def _below(
        self, schema: Schema, at: Pointer, place: Place, *, is_root: bool
    ) -> Iterator[tuple[Schema, Pointer, Place, bool]]:
        """The schemas below: steps, position, and whether CEL rules see their values."""
        additional, items = schema.get("additionalProperties"), schema.get("items")
        if isinstance(additional, dict):
            inner = place
            if place.in_metadata:
                inner = replace(place, no_default="inside additionalProperties applying to object metadata")
            yield additional, ("additionalProperties",), inner, True
        for name, sub in schema.get("properties", {}).items():
            inner = place
            if schema.get("x-kubernetes-map-type", "granular") not in ("granular", "atomic"):
                inner = _uncorrelatable(inner, at)
            if (is_root or schema.get("x-kubernetes-embedded-resource")) and name in _METADATA:
                inner = replace(inner, in_metadata=True)
                if is_root:
                    inner = replace(inner, no_default=f"in top-level {name}")
            yield sub, ("properties", name), inner, True
        if "not" in schema:
            yield schema["not"], ("not",), place, False
        for keyword in ("allOf", "oneOf", "anyOf"):
            for index, branch in enumerate(schema.get(keyword, ())):
                yield branch, (keyword, index), place, False
        for keyword in ("definitions", "dependencies"):
            for name, sub in schema.get(keyword, {}).items():
                if isinstance(sub, dict):
                    yield sub, (keyword, name), place, False
        inner = place if schema.get("x-kubernetes-list-type") == "map" else _uncorrelatable(place, at)
        if isinstance(items, dict):
            yield items, ("items",), inner, True
        for index, sub in enumerate(items if isinstance(items, list) else ()):
            yield sub, ("items", index), inner, True

    def _keywords(self, schema: Schema, at: Pointer, place: Place) -> Iterator[FieldError]:
        new = partial(_new, at=at, server=self.server)
        kind = schema.get("type", "")
        if kind and kind not in TYPES and not self.tolerated.property_types:
            yield new(NOT_SUPPORTED, "type", kind, supported_values(TYPES))
        if schema.get("default") is not None and place.no_default is not None:
            yield new(FORBIDDEN, "default", "", f"must not be set {place.no_default}")
        for keyword in _NOT_SUPPORTED:
            if keyword in schema:
                yield new(FORBIDDEN, keyword, "", f"{keyword} is not supported")
        if kind == "null":
            yield new(FORBIDDEN, "type", "", "type cannot be set to null, use nullable as an alternative")
        items, additional = schema.get("items"), schema.get("additionalProperties")
        if isinstance(items, list) and items:
            yield new(FORBIDDEN, "items", "", "items must be a schema object and not an array")
        if place.in_metadata and schema.get("x-kubernetes-embedded-resource"):
            yield new(FORBIDDEN, "x-kubernetes-embedded-resource", "", "must not be used inside of resource meta")
        if schema.get("uniqueItems"):
            detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
            yield new(FORBIDDEN, "uniqueItems", "", detail)
        if additional is not None and additional is not True and schema.get("properties"):
            detail = "additionalProperties and properties are mutual exclusive"
            yield new(FORBIDDEN, "additionalProperties", "", detail)

    def _extensions(self, schema: Schema, at: Pointer) -> Iterator[FieldError]:
        new = partial(_new, at=at, server=self.server)
        kind = schema.get("type", "")
        if schema.get("x-kubernetes-preserve-unknown-fields") is False:
            yield new(INVALID, "x-kubernetes-preserve-unknown-fields", False, "must be true or undefined")
        map_type = schema.get("x-kubernetes-map-type")
        if map_type is not None and kind != "object":
            detail = "must be object if x-kubernetes-map-type is specified"
            yield new(INVALID if kind else REQUIRED, "type", kind, detail)
        if map_type is not None and map_type not in ("atomic", "granular"):
            yield new(NOT_SUPPORTED, "x-kubernetes-map-type", map_type, supported_values(("atomic", "granular")))
        yield from lists.list_faults(schema, at, self.server, self.tolerated)


def _uncorrelatable(place: Place, at: Pointer) -> Place:
    return place if place.uncorrelatable is not None else replace(place, uncorrelatable=at)


def _new(kind: str, keyword: str, value: Any, detail: str, *, at: Pointer, server: Server) -> FieldError:
    return fault(kind, (*at, keyword), value, detail, server)
