"""What an error is about: the keyword that a value breaks, and Kubernetes' type of the error."""

from __future__ import annotations

from enum import StrEnum


class Keyword(StrEnum):
    """What a value breaks. Keywords of the schema are spelled as the schema spells them."""

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
    #: A value or a bound is out of the range of its type.
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
    #: A CRD, which is judged as an object.
    CRD = "crd"
    #: No cause of its own: schema errors kept the server from evaluating CEL rules.
    NOT_CHECKED = "not-checked"


JUNCTORS = frozenset({Keyword.ANY_OF, Keyword.ONE_OF, Keyword.ALL_OF, Keyword.NOT})
