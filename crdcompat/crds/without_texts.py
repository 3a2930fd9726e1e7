"""Schemas without their texts: copies of a CRD often lack descriptions."""

from __future__ import annotations

from typing import Any

#: Keywords with data as values: nothing in them is a description.
_VALUES = frozenset({"default", "enum", "example"})


def without_texts(value: Any) -> Any:
    """A schema, or a document with schemas, without descriptions."""
    if isinstance(value, list):
        return [without_texts(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _below(key, member)
        for key, member in value.items()
        if not (key == "description" and isinstance(member, str))
    }


def _below(key: str, member: Any) -> Any:
    if key in _VALUES:
        return member
    if key == "properties" and isinstance(member, dict):  # its keys are names of fields, such as "default"
        return {name: without_texts(schema) for name, schema in member.items()}
    return without_texts(member)
