"""Structural schemas as nodes, for validation, comparison and the construction of example objects.

A node has the keywords of the manifest, without the behaviour of any server. Source: the CRD API's JSONSchemaProps and
"structural schema" (KEP-2331); docs/semantics.md#values.

A CEL rule that only lists values (``self in ['A', 'B']``, ``self == 'A' || self == 'B'``) is equivalent to an enum and
is compared as one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Final

from crdcompat.schema.listed import listed_values


class _Absent:
    """The value of a missing member, which JSON null is not."""

    def __repr__(self) -> str:
        return "ABSENT"

    def __bool__(self) -> bool:
        return False


ABSENT: Final = _Absent()

Schema = dict[str, Any]

#: The keyword of CEL rules.
RULES: Final = "x-kubernetes-validations"
#: The keyword of values whose unknown fields servers keep.
PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"

_STRING: Final = {"type": "string"}
_STRINGS: Final = {"type": "object", "additionalProperties": _STRING}
#: The metadata of an embedded resource that a schema may limit, as a server decodes them.
_OF_METADATA: Final = dict.fromkeys(("name", "generateName", "namespace"), _STRING) | dict.fromkeys(
    ("labels", "annotations"), _STRINGS
)

#: The number of values from which on no example value is built.
MAX_SIZE = 20_000


class Node:
    """One node of a structural schema (a JSON object), compared by identity: a node is a place, not a value.

    Child nodes are created on first use, because an object or a comparison needs only parts of a schema. Values of the
    wrong shape count as absent: the API server refuses such CRDs, and the loader reports them.

    ``default`` is ABSENT if there is none or if it is null, which the API machinery drops when it decodes the CRD.
    ``types``: the JSON types named; two for int-or-string, empty if any type is allowed. ``name``: the field whose
    value, items or map values the node describes; "" if there is none.
    """

    def __init__(self, raw: Any, name: str = "") -> None:
        schema: Schema = raw if isinstance(raw, dict) else {}
        get = schema.get
        self.raw = schema
        self.name = name
        self.type = _text(get("type"))
        self.format = _text(get("format"))
        self.nullable = get("nullable") is True
        self.int_or_string = get("x-kubernetes-int-or-string") is True
        self.preserve = get(PRESERVE) is True
        self.embedded = get("x-kubernetes-embedded-resource") is True
        self.list_type = _text(get("x-kubernetes-list-type")) or "atomic"
        self.enum = tuple(_sequence(get("enum")))
        self.required = tuple(name for name in _sequence(get("required")) if isinstance(name, str))
        self.default = ABSENT if get("default") is None else get("default")
        self.types = ("integer", "string") if self.int_or_string else ((self.type,) if self.type else ())

    @cached_property
    def properties(self) -> dict[str, Node]:
        """Declared members by name, sorted: the server's order is random, ours is reproducible."""
        return {name: Node(sub, name) for name, sub in sorted(mapping_of(self.raw.get("properties")).items())}

    @cached_property
    def members(self) -> dict[str, Node]:
        """The declared members, and those of an embedded resource that a server knows without a declaration.

        A server checks the latter by other means than the schema, so they are not among the ``properties``.
        """
        if not self.embedded:
            return self.properties
        metadata = mapping_of(mapping_of(self.raw.get("properties")).get("metadata", {"type": "object"}))
        if "additionalProperties" not in metadata:
            metadata = {**metadata, "properties": {**_OF_METADATA, **mapping_of(metadata.get("properties"))}}
        known = {"apiVersion": Node(_STRING, "apiVersion"), "kind": Node(_STRING, "kind"), **self.properties}
        return dict(sorted({**known, "metadata": Node(metadata, "metadata")}.items()))

    @cached_property
    def additional(self) -> Node | bool | None:
        value = self.raw.get("additionalProperties")
        if isinstance(value, bool):
            return value
        return Node(value, self.name) if isinstance(value, dict) else None

    @cached_property
    def items(self) -> Node | None:
        value = self.raw.get("items")
        return Node(value, self.name) if isinstance(value, dict) else None

    @cached_property
    def list_keys(self) -> tuple[str, ...]:
        return tuple(key for key in _sequence(self.raw.get("x-kubernetes-list-map-keys")) if isinstance(key, str))

    @cached_property
    def any_of(self) -> tuple[Node, ...]:
        return tuple(map(Node, _sequence(self.raw.get("anyOf"))))

    @cached_property
    def one_of(self) -> tuple[Node, ...]:
        return tuple(map(Node, _sequence(self.raw.get("oneOf"))))

    @cached_property
    def all_of(self) -> tuple[Node, ...]:
        return tuple(map(Node, _sequence(self.raw.get("allOf"))))

    @cached_property
    def not_(self) -> Node | None:
        value = self.raw.get("not")
        return Node(value) if isinstance(value, dict) else None

    @cached_property
    def rules(self) -> tuple[dict[str, Any], ...]:
        """``x-kubernetes-validations``, raw."""
        return tuple(rule for rule in _sequence(self.raw.get(RULES)) if isinstance(rule, dict))

    @cached_property
    def listed(self) -> tuple[tuple[int, tuple[Any, ...]], ...]:
        """The rules that only list values: index and values. Empty for nullable fields: servers skip rules for null."""
        if self.nullable:
            return ()
        found = ((index, listed_values(rule, self.type)) for index, rule in enumerate(self.rules))
        return tuple((index, values) for index, values in found if values is not None)

    @cached_property
    def defaulted(self) -> tuple[str, ...]:
        """The declared members with a default."""
        return tuple(name for name, member in self.properties.items() if member.default is not ABSENT)

    @cached_property
    def has_defaults(self) -> bool:
        """Whether this node or one below may have a default."""
        return self.anywhere(lambda schema: "default" in schema)

    @cached_property
    def has_unique_lists(self) -> bool:
        """Whether this node or one below may be a list of type set or map."""
        return self.anywhere(lambda schema: schema.get("x-kubernetes-list-type") in ("set", "map"))

    @cached_property
    def members_with_unique_lists(self) -> tuple[tuple[str, Node], ...]:
        """The declared members with ``has_unique_lists``."""
        return tuple((name, sub) for name, sub in self.properties.items() if sub.has_unique_lists)

    @cached_property
    def least_size(self) -> int:
        """The least number of values in a valid value, itself included; larger numbers count as MAX_SIZE.

        Nested minimums multiply: two levels of ``minItems: 1900`` need 3.6 million items.
        """
        if self.enum or self.default is not ABSENT or self.nullable:
            return 1
        size = 1
        if self.type == "array" and (count := self.count("minItems")):
            size += count * (self.items.least_size if self.items is not None else 1)
        elif self.type == "object":
            needed = [sub.least_size for name in self.required if (sub := self.child(name)) is not None]
            others = max((self.count("minProperties") or 0) - len(self.required), 0)
            each = self.additional.least_size if isinstance(self.additional, Node) and not self.properties else 1
            size += sum(needed) + others * each
        return min(size, MAX_SIZE)

    def child(self, key: str) -> Node | None:
        """The schema of member ``key`` of an object of this node; None if the schema does not describe it."""
        found = self.properties.get(key)
        if found is not None:
            return found
        return self.additional if isinstance(self.additional, Node) else None

    def count(self, keyword: str) -> int | None:
        """The value of a keyword for lengths and counts (``maxLength``, ``minItems``, …), an int64; None if absent."""
        value = self.raw.get(keyword)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63 else None

    def anywhere(self, wanted: Callable[[Schema], bool]) -> bool:
        """Whether ``wanted`` is true for any JSON object in this schema, at any depth."""
        return any(map(wanted, self.parts()))

    def parts(self) -> Iterator[Schema]:
        """Every JSON object in this schema, at any depth, itself included."""
        left: list[Any] = [self.raw]
        while left:
            value = left.pop()
            if isinstance(value, dict):
                yield value
                left.extend(value.values())
            elif isinstance(value, list):
                left.extend(value)

    def junctor_branches(self) -> tuple[Node, ...]:
        """The branches of anyOf, oneOf, allOf and not: value validations on the same value."""
        negated = (self.not_,) if self.not_ is not None else ()
        return (*self.any_of, *self.one_of, *self.all_of, *negated)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def mapping_of(value: Any) -> Schema:
    """``value`` if it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def _sequence(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
