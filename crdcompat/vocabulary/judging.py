"""What decides on a judgement: facts that make a finding severe (docs/judging.md), and the client's own choice."""

from __future__ import annotations

from enum import StrEnum


class Named(StrEnum):
    """Who writes the value that the reader rejects, in the words of a report."""

    ENUM = "named by the enum"
    DEFAULT = "the writer's default"
    TYPE = "named by the type"
    NULL = "null is allowed"
    PATTERN = "named by the pattern"
    CONSTANT = "a constant of the Go type"
    ZERO = "Go writes it for a field that is not set"
    LEFT_OUT = "the Go type may leave the field out"
    OPTIONAL = "the writer's schema made the field optional"
    SAMPLE = "in a test or sample of the sources"
    WRITTEN = "the Go type always writes the field"
    NOBODY = "nothing names the value"
    KEY = "each item has its key"


class Harm(StrEnum):
    """What a change takes from every user of a field."""

    NO_COMMON_VALUE = "neither side accepts a value of the other"
    FROZEN = "no value can be changed any more"


class FieldValidation(StrEnum):
    """What a client wants of unknown and duplicate fields; servers warn by default, kubectl asks for Strict."""

    STRICT = "Strict"
    WARN = "Warn"
    IGNORE = "Ignore"
