"""The root of a schema: what it may not say where the status subresource is enabled.

Source: apiextensions-apiserver, pkg/apis/apiextensions/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from crdcompat.apiserver.crd_validation import shown
from crdcompat.apiserver.crd_validation.decoded_keywords import Schema
from crdcompat.apiserver.crd_validation.definition import fault
from crdcompat.apiserver.field_errors import FORBIDDEN, INVALID, FieldError
from crdcompat.apiserver.server_versions import Server
from crdcompat.schema.paths import Pointer

#: The fields of Go's JSONSchemaProps that the root may have, in the order in which the server lists them.
_ALLOWED = {
    "Description": "description",
    "Type": "type",
    "Format": "format",
    "Title": "title",
    "Maximum": "maximum",
    "ExclusiveMaximum": "exclusiveMaximum",
    "Minimum": "minimum",
    "ExclusiveMinimum": "exclusiveMinimum",
    "MaxLength": "maxLength",
    "MinLength": "minLength",
    "Pattern": "pattern",
    "MaxItems": "maxItems",
    "MinItems": "minItems",
    "UniqueItems": "uniqueItems",
    "MultipleOf": "multipleOf",
    "Required": "required",
    "Items": "items",
    "Properties": "properties",
    "ExternalDocs": "externalDocs",
    "Example": "example",
    "XPreserveUnknownFields": "x-kubernetes-preserve-unknown-fields",
    "XValidations": "x-kubernetes-validations",
}
_AT_ROOT = "at the root of the schema if the status subresource is enabled"
_KEYWORDS = frozenset(_ALLOWED.values())
#: The keywords before ``type`` in JSONSchemaProps: the server reports the first that is not allowed.
_BEFORE_TYPE = frozenset({"id", "$schema", "$ref"})


def root_faults(schema: Schema, at: Pointer, server: Server, *, has_status: bool) -> Iterator[FieldError]:
    """The faults of the root beside those of structural schemas."""
    if has_status:
        forbidden = schema.keys() - _KEYWORDS
        kind = schema.get("type", "")
        if kind not in ("", "object") and not forbidden & _BEFORE_TYPE:
            detail = f'only "object" is allowed as the type {_AT_ROOT}'
            yield fault(INVALID, (*at, "type"), kind, detail, server)
        elif forbidden:
            allowed = f"[{' '.join(_ALLOWED)}]"
            detail = f"only {allowed} fields are allowed {_AT_ROOT}"
            yield fault(INVALID, at, shown.schema(schema, server), detail, server)
    if schema.get("nullable"):
        yield fault(FORBIDDEN, (*at, "nullable"), "", "nullable cannot be true at the root", server)
