"""The keywords that a value can violate."""

from __future__ import annotations

from enum import StrEnum


class Keyword(StrEnum):
    """The violated constraint. Keywords of the schema have the schema's spelling."""

    TYPE = "type"
    FORMAT = "format"
    ENUM = "enum"
    PATTERN = "pattern"
    MIN_LENGTH = "minLength"
    MAX_LENGTH = "maxLength"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    EXCLUSIVE_MINIMUM = "exclusiveMinimum"
    EXCLUSIVE_MAXIMUM = "exclusiveMaximum"
    MULTIPLE_OF = "multipleOf"
    #: A value or a bound outside the range of its type.
    RANGE = "range"
    MIN_ITEMS = "minItems"
    MAX_ITEMS = "maxItems"
    MIN_PROPERTIES = "minProperties"
    MAX_PROPERTIES = "maxProperties"
    ADDITIONAL_PROPERTIES = "additionalProperties"
    REQUIRED = "required"
    ANY_OF = "anyOf"
    ONE_OF = "oneOf"
    ALL_OF = "allOf"
    NOT = "not"
    RULE = "x-kubernetes-validations"
    LIST_TYPE = "x-kubernetes-list-type"
    EMBEDDED = "x-kubernetes-embedded-resource"
    DEFAULT = "default"
    #: apiVersion and kind of the object.
    TYPE_META = "type-meta"
    METADATA = "metadata"
    SCALE = "scale"
    #: A constraint on a CRD.
    CRD = "crd"
    #: A marker: the server skipped CEL rules because of schema errors.
    NOT_CHECKED = "not-checked"


JUNCTORS = frozenset({Keyword.ANY_OF, Keyword.ONE_OF, Keyword.ALL_OF, Keyword.NOT})
