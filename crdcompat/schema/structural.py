"""One structural schema, read once into nodes that the judge and the witness builder walk.

A node is a plain reading of the manifest: it knows what the keywords say, not what a server makes of
them. Source: the CRD API's JSONSchemaProps and "structural schema" (KEP-2331); reference section 3.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final


class _Absent:
    """The value of something that is not there; JSON null is a value of its own."""

    def __repr__(self) -> str:
        return "ABSENT"

    def __bool__(self) -> bool:
        return False


ABSENT: Final = _Absent()

Schema = dict[str, Any]


@dataclass(slots=True, eq=False)
class Node:
    """One node of a structural schema. Compared by identity: a node is a place, not a value."""

    raw: Schema
    type: str = ""
    format: str = ""
    nullable: bool = False
    int_or_string: bool = False
    preserve: bool = False
    embedded: bool = False
    properties: dict[str, Node] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    additional: Node | bool | None = None
    items: Node | None = None
    list_type: str = "atomic"
    list_keys: tuple[str, ...] = ()
    default: Any = ABSENT
    enum: tuple[Any, ...] = ()
    any_of: tuple[Node, ...] = ()
    one_of: tuple[Node, ...] = ()
    all_of: tuple[Node, ...] = ()
    not_: Node | None = None
    rules: tuple[dict[str, Any], ...] = ()

    def child(self, key: str) -> Node | None:
        """The schema of member ``key`` of an object of this node, ``None`` where nothing describes it."""
        found = self.properties.get(key)
        if found is not None:
            return found
        return self.additional if isinstance(self.additional, Node) else None

    def types(self) -> tuple[str, ...]:
        """The JSON types this node names: one, two for int-or-string, none where it is free."""
        if self.int_or_string:
            return ("integer", "string")
        return (self.type,) if self.type else ()


def read_schema(raw: Any) -> Node:
    """Read a schema (``openAPIV3Schema``: JSON object) into nodes.

    Values of the wrong shape are read as if absent: the API server refuses such CRDs, and saying so is
    the business of whoever loads them, not of the walk.
    """
    schema: Schema = raw if isinstance(raw, dict) else {}
    list_type = schema.get("x-kubernetes-list-type")
    return Node(
        raw=schema,
        type=_text(schema.get("type")),
        format=_text(schema.get("format")),
        nullable=schema.get("nullable") is True,
        int_or_string=schema.get("x-kubernetes-int-or-string") is True,
        preserve=schema.get("x-kubernetes-preserve-unknown-fields") is True,
        embedded=schema.get("x-kubernetes-embedded-resource") is True,
        properties={
            name: read_schema(sub)
            for name, sub in sorted(_mapping(schema.get("properties")).items(), key=lambda pair: pair[0])
        },
        required=tuple(name for name in _sequence(schema.get("required")) if isinstance(name, str)),
        additional=_additional(schema),
        items=read_schema(schema["items"]) if isinstance(schema.get("items"), dict) else None,
        list_type=list_type if isinstance(list_type, str) else "atomic",
        list_keys=tuple(key for key in _sequence(schema.get("x-kubernetes-list-map-keys")) if isinstance(key, str)),
        # A default of null is no default: the API machinery drops it on decode.
        default=ABSENT if schema.get("default") is None else schema["default"],
        enum=tuple(_sequence(schema.get("enum"))),
        any_of=_branches(schema, "anyOf"),
        one_of=_branches(schema, "oneOf"),
        all_of=_branches(schema, "allOf"),
        not_=read_schema(schema["not"]) if isinstance(schema.get("not"), dict) else None,
        rules=tuple(rule for rule in _sequence(schema.get("x-kubernetes-validations")) if isinstance(rule, dict)),
    )


def _additional(schema: Schema) -> Node | bool | None:
    value = schema.get("additionalProperties")
    if isinstance(value, bool):
        return value
    return read_schema(value) if isinstance(value, dict) else None


def _branches(schema: Schema, keyword: str) -> tuple[Node, ...]:
    return tuple(read_schema(branch) for branch in _sequence(schema.get(keyword)))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _sequence(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
