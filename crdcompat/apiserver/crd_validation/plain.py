"""The part of a CRD that a server may refuse or ignore: the CRD without its plain schemas.

A schema is plain if each server accepts it wherever a member may have it, and nothing beside it depends on it: it has a
type and the usual keywords with usual values, and so have the schemas below it. Most schemas of most CRDs are plain.
So a server accepts a CRD if it accepts ``doubtful(crd)``, which is much smaller.

Kept whole are the schemas whose parts look at one another: with defaults of objects, anyOf and the like.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any

from crdcompat.apiserver.crd_validation.lists import KEYS, LIST_TYPE, key_faults
from crdcompat.apiserver.formats import is_unrecognized
from crdcompat.apiserver.server_versions import Server
from crdcompat.cel.identifiers import escape
from crdcompat.schema.equality import ById
from crdcompat.schema.re2 import syntax_error
from crdcompat.schema.structural import RULES

_FREE, _EITHER = "x-kubernetes-preserve-unknown-fields", "x-kubernetes-int-or-string"
_EMBEDDED = "x-kubernetes-embedded-resource"
#: Members of the root, and of embedded resources, with rules of their own.
_METADATA = frozenset({"metadata", "kind", "apiVersion"})
_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]
#: A name in a rule, or a part of a text in it.
_WORD = re.compile(r"\w+")
_SCALARS = frozenset({"string", "integer", "number", "boolean"})
#: The servers that warn of most formats: of strings, and of all types.
_WARNING = Server(34), Server(35)
_INT32 = range(-(2**31), 2**31)
#: Keywords of a schema whose members may be left out: rules aside, none of them needs to know the members.
_OPEN = frozenset(
    {
        *(RULES, _EMBEDDED, "minLength", "maxLength", "format"),
        *("type", "description", "title", "nullable", "required", "properties", "additionalProperties", "items"),
        *("minItems", "maxItems", "minProperties", "maxProperties", _FREE, LIST_TYPE, KEYS, "x-kubernetes-map-type"),
    }
)


def doubtful(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """A CRD of ``apiextensions.k8s.io/v1`` without its plain schemas.

    A server that accepts it accepts the CRD. Each server ignores the same parts of both, and estimates equal costs of
    rules.
    """
    return _doubtful(ById(raw))


@lru_cache(256)
def _doubtful(crd: ById[Mapping[str, Any]]) -> Mapping[str, Any]:
    raw = crd.value
    spec = raw.get("spec")
    versions = spec.get("versions") if isinstance(spec, dict) else None
    if not isinstance(spec, dict) or not isinstance(versions, list) or "selectableFields" in spec:
        return raw
    return {**raw, "spec": {**spec, "versions": [*map(_Plain().version, versions)]}}


class _Plain:
    """The plain schemas of one CRD, each looked at once."""

    def __init__(self) -> None:
        self._known: dict[int, bool] = {}

    def version(self, version: Any) -> Any:
        """A version without the plain schemas."""
        if not isinstance(version, dict):
            return version
        # Selectable fields are paths into the schema, and name members as rules do.
        words = frozenset(_words(version.get("selectableFields", [])))
        holder = version.get("schema")
        root = holder.get("openAPIV3Schema") if isinstance(holder, dict) else None
        if not isinstance(holder, dict) or not isinstance(root, dict):
            return version
        return {**version, "schema": {**holder, "openAPIV3Schema": self._rest(root, _METADATA, words)}}

    def _rest(
        self, schema: dict[str, Any], kept: Collection[str] = (), words: frozenset[str] = frozenset()
    ) -> dict[str, Any]:
        """A schema without the plain ones of its members, except for those with the names ``kept``.

        It is the same schema if another part of it needs to know the members. ``words`` occur in the CEL rules
        above, or in selectable fields; those members stay, too, that one may name, and that count in its cost.
        """
        if not _OPEN.issuperset(schema) or ("properties" in schema and "additionalProperties" in schema):
            return schema
        found = dict(schema)
        properties, items, additional = map(schema.get, ("properties", "items", "additionalProperties"))
        if RULES in schema:
            words = words.union(_words(schema[RULES]))
        if _EMBEDDED in schema:
            kept = _METADATA
        if isinstance(properties, dict):
            required = schema.get("required") if words else None
            found["properties"] = {
                name: self._rest(sub, (), words) if isinstance(sub, dict) and name not in kept else sub
                for name, sub in properties.items()
                if name in kept or not self._is_plain(sub) or (words and _may_name(name, words, required))
            }
            if _EMBEDDED in schema and not found["properties"]:  # they must not be empty
                return schema
        if isinstance(items, dict):
            found["items"] = self._rest(items, _keys(schema), words)
        if isinstance(additional, dict):
            found["additionalProperties"] = self._rest(additional, (), words)
        if type(schema.get("description")) is str:
            del found["description"]
        return found

    def _is_plain(self, schema: Any) -> bool:
        known = self._known.get(id(schema))
        if known is None:
            known = self._known[id(schema)] = isinstance(schema, dict) and self._is_plain_schema(schema)
        return known

    def _is_plain_schema(self, schema: dict[str, Any]) -> bool:
        kind = schema.get("type")
        keywords = _PLAIN.get(kind) if kind is None or isinstance(kind, str) else None
        if keywords is None:
            return False
        for keyword, value in schema.items():
            test = keywords.get(keyword)
            if test is None or not test(value):
                return False
        if kind == "object":
            return self._is_plain_object(schema)
        if kind == "array":
            return self._is_plain(schema.get("items")) and _has_plain_keys(schema)
        if kind is None:
            return _FREE in schema if _EITHER not in schema else _FREE not in schema and "anyOf" in schema
        if "format" in schema and not _is_known_format(schema["format"], kind):
            return False
        return "default" not in schema or _is_plain_default(schema, kind)

    def _is_plain_object(self, schema: Mapping[str, Any]) -> bool:
        properties, additional = schema.get("properties", {}), schema.get("additionalProperties", True)
        if "properties" in schema and "additionalProperties" in schema:
            return False
        return all(map(self._is_plain, properties.values())) and (additional is True or self._is_plain(additional))


def _words(rules: Any) -> Iterator[str]:
    """The words of CEL rules and of their messages; all words of a value that is no list of rules."""
    texts = (text for rule in rules for text in rule.values()) if _are_objects(rules) else (str(rules),)
    return (word for text in texts for word in _WORD.findall(str(text)))


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


def _may_name(name: str, words: Collection[str], required: Any) -> bool:
    """Whether rules may name a member, or count it in their cost. Rules spell some names in another way."""
    return name in words or escape(name) != name or (isinstance(required, list) and name in required)


def _has_plain_keys(schema: Mapping[str, Any]) -> bool:
    """Whether a list of plain items has a list type and keys that fit the items."""
    items, listed, keys = schema["items"], schema.get(LIST_TYPE, "atomic"), _keys(schema)
    if (KEYS in schema) != (listed == "map"):
        return False
    if listed == "atomic":
        return True
    kind = items.get("type")
    if listed == "set":
        return kind in _SCALARS and "nullable" not in items
    properties = items.get("properties", {})
    return (
        kind == "object"
        and 0 < len(keys) == len(set(keys))
        and all(key in properties and properties[key].get("type") in _SCALARS for key in keys)
        and not any(key_faults(schema))
    )


def _keys(schema: Mapping[str, Any]) -> list[str]:
    keys = schema.get(KEYS)
    return list(keys) if isinstance(keys, list) and _are_texts(keys) else []


def _is_plain_default(schema: Mapping[str, Any], kind: str) -> bool:
    """Whether a default is accepted by a schema that says no more than its type, format and enum."""
    default, enum = schema["default"], schema.get("enum")
    if not _SIMPLE.issuperset(schema) or (enum is not None and default not in enum):
        return False
    if kind == "integer":
        return type(default) is int and default in _INT32
    return "format" not in schema and type(default) is _OF_TYPE.get(kind)


@lru_cache
def _is_known_format(name: str, kind: str) -> bool:
    """Whether no server warns of a format."""
    return not any(is_unrecognized(name, kind, server) for server in _WARNING)


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_flag(value: Any) -> bool:
    return type(value) is bool


def _is_true(value: Any) -> bool:
    return value is True


def _is_small(value: Any) -> bool:
    return type(value) is int and value in _INT32


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**31


def _is_object(value: Any) -> bool:
    return type(value) is dict


def _are_texts(value: Any) -> bool:
    return type(value) is list and all(type(each) is str for each in value)


def _is_pattern(value: Any) -> bool:
    return type(value) is str and not syntax_error(value)


_Test = Callable[[Any], bool]
_SIMPLE = frozenset({"type", "default", "description", "title", "nullable", "format", "enum"})
_OF_TYPE = {"string": str, "boolean": bool}
_OF_ALL: dict[str, _Test] = {"type": _is_text, "description": _is_text, "title": _is_text, "nullable": _is_flag}
_DEFAULT: dict[str, _Test] = {"default": lambda _: True, "format": _is_text}
_BOUNDS: dict[str, _Test] = {"minimum": _is_small, "maximum": _is_small}
#: Type -> the keywords of a plain schema, and the test of their values; those of schemas below come apart.
_PLAIN: dict[str | None, dict[str, _Test]] = {
    "string": _OF_ALL
    | _DEFAULT
    | {"enum": _are_texts, "minLength": _is_size, "maxLength": _is_size, "pattern": _is_pattern},
    "boolean": _OF_ALL | {"default": _is_flag},
    "integer": _OF_ALL | _DEFAULT | _BOUNDS,
    "number": _OF_ALL | {"format": _is_text} | _BOUNDS,
    "array": _OF_ALL
    | {
        "items": _is_object,
        "minItems": _is_size,
        "maxItems": _is_size,
        LIST_TYPE: lambda value: value in ("atomic", "set", "map"),
        KEYS: _are_texts,
    },
    "object": _OF_ALL
    | {
        "properties": _is_object,
        "additionalProperties": lambda value: _is_true(value) or _is_object(value),
        "required": _are_texts,
        "minProperties": _is_size,
        "maxProperties": _is_size,
        _FREE: _is_true,
        "x-kubernetes-map-type": lambda value: value in ("atomic", "granular"),
    },
    # any value, or int-or-string
    None: {
        "description": _is_text,
        "title": _is_text,
        "nullable": _is_flag,
        _FREE: _is_true,
        _EITHER: _is_true,
        "anyOf": lambda value: value == _INT_OR_STRING,
        "pattern": _is_pattern,
    },
}
