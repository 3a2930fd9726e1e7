"""Small steps of single keywords of real schemas: what a developer changes from one release to the next."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from helpers import Json
from rewriting import UnwritableError
from rewriting import mutated as mutated_rule

from crdcompat.cel.parse import RefusedError
from crdcompat.schema.paths import ITEM, VALUE, SchemaPath

_RULES, _LIST, _KEYS = "x-kubernetes-validations", "x-kubernetes-list-type", "x-kubernetes-list-map-keys"
_KEEP, _EITHER = "x-kubernetes-preserve-unknown-fields", "x-kubernetes-int-or-string"
_JUNCTORS = ("allOf", "anyOf", "oneOf", "not")


class Step(NamedTuple):
    """One keyword of the node at ``path`` changed. ``wider``: whether more values are valid, None: other values."""

    path: SchemaPath
    keyword: str
    wider: bool | None


#: A changed node, and whether more values are valid.
_Changed = tuple[Json, bool | None]


def nodes(schema: Json, path: SchemaPath = ()) -> Iterator[tuple[SchemaPath, Json]]:
    """The nodes of a schema, outside of junctors, without those that every resource has."""
    yield path, schema
    for name, member in schema.get("properties", {}).items():
        if path or name not in ("apiVersion", "kind", "metadata"):
            yield from nodes(member, (*path, name))
    for keyword, step in (("items", ITEM), ("additionalProperties", VALUE)):
        if isinstance(schema.get(keyword), dict):
            yield from nodes(schema[keyword], (*path, step))


def mutated(schema: Json, rng: random.Random, near: SchemaPath | None = None) -> tuple[Json, Step] | None:
    """The schema with one small step, at or around ``near``; None if the place that was drawn allows none."""
    places = [place for place in nodes(schema) if place[0] and (near is None or _are_near(place[0], near))]
    by_keyword: dict[str, list[tuple[SchemaPath, Json]]] = {}
    for path, node in places:
        for keyword in _STEPS:
            if keyword in node or _may_gain(node, keyword):
                by_keyword.setdefault(keyword, []).append((path, node))
    keyword = rng.choice(sorted(by_keyword))
    there = [place for place in by_keyword[keyword] if keyword in place[1]]
    path, node = rng.choice(there if there and rng.random() < 0.8 else by_keyword[keyword])
    changed = _STEPS[keyword](node, rng)
    if changed is None or changed[0] == node:
        return None
    made = _replaced(schema, path, changed[0])
    lost = node.get("properties", {}).keys() - changed[0].get("properties", {}).keys()
    installable = _has_keys(made, path) and not any(_is_named(name, made) for name in lost)
    return (made, Step(path, keyword, changed[1])) if installable else None


def _is_named(name: str, schema: Json) -> bool:
    """Whether a rule names a member: servers refuse rules that name undeclared ones."""
    rules = (rule["rule"] for _, node in nodes(schema) for rule in node.get(_RULES, ()))
    return any(re.search(rf"\b{re.escape(name)}\b", rule) for rule in rules)


def _has_keys(schema: Json, path: SchemaPath) -> bool:
    """Whether lists around a place declare the keys of their items, as servers demand."""
    for step in path:
        below = schema.get("items") if step is ITEM else schema.get("additionalProperties") if step is VALUE else None
        below = schema["properties"].get(step) if below is None and isinstance(step, str) else below
        if below is None:
            return True
        if set(schema.get(_KEYS, ())) - below.get("properties", {}).keys():
            return False
        schema = below
    return True


def _are_near(path: SchemaPath, other: SchemaPath) -> bool:
    """Whether one of two places is the other, above it, below it or beside it."""
    short = min(len(path), len(other))
    return path[:short] == other[:short] or (len(path) == len(other) and path[:-1] == other[:-1])


def _replaced(schema: Json, path: SchemaPath, node: Json) -> Json:
    """The schema with another node at ``path``; what is beside the path is shared."""
    if not path:
        return node
    step, rest = path[0], path[1:]
    if step in (ITEM, VALUE):
        keyword = "items" if step is ITEM else "additionalProperties"
        return {**schema, keyword: _replaced(schema[keyword], rest, node)}
    members = schema["properties"]
    return {**schema, "properties": {**members, step: _replaced(members[step], rest, node)}}


def _may_gain(node: Json, keyword: str) -> bool:
    """Whether a node without the keyword may get it."""
    kinds = _GAINED_BY.get(keyword, ())
    return node.get("type") in kinds and (keyword != "enum" or not node.keys() & {"pattern", "format", "default"})


_GAINED_BY = {
    **dict.fromkeys(("enum", "minLength", "maxLength", "pattern", "format"), ("string",)),
    **dict.fromkeys(("minimum", "maximum", "multipleOf"), ("integer",)),
    **dict.fromkeys(("minItems", "maxItems", _LIST), ("array",)),
    **dict.fromkeys(("required", "properties", "maxProperties", _KEEP), ("object",)),
    "minProperties": ("object",),
    "default": ("string", "integer", "boolean"),
    "nullable": ("string", "integer", "boolean", "array", "object"),
}


def _without(node: Json, keyword: str) -> Json:
    return {key: value for key, value in node.items() if key != keyword}


def _enum(node: Json, rng: random.Random) -> _Changed | None:
    members = node.get("enum")
    if members is None:
        return {**node, "enum": ["A", "Other"]}, False
    if len(members) > 1 and rng.random() < 0.5:
        gone = rng.choice(members)
        return {**node, "enum": [member for member in members if member != gone]}, False
    if rng.random() < 0.2:
        return _without(node, "enum"), True
    return {**node, "enum": [*members, "Other" if isinstance(members[0], str) else 4711]}, True


def _limit(keyword: str) -> Callable[[Json, random.Random], _Changed | None]:
    def step(node: Json, rng: random.Random) -> _Changed | None:
        least = keyword.startswith("min")
        if keyword not in node:
            return {**node, keyword: rng.choice((0, 1, 2) if least else (1, 2, 63))}, False
        if rng.random() < 0.2:
            return _without(node, keyword), True
        by = rng.choice((1, -1))
        if keyword not in ("minimum", "maximum") and node[keyword] + by < 0:
            return None
        return {**node, keyword: node[keyword] + by}, (by < 0) == least

    return step


def _multiple_of(node: Json, rng: random.Random) -> _Changed | None:
    return (_without(node, "multipleOf"), True) if "multipleOf" in node else ({**node, "multipleOf": 2}, False)


def _pattern(node: Json, rng: random.Random) -> _Changed | None:
    known = node.get("pattern")
    if known is None:
        return {**node, "pattern": rng.choice(("^[a-z]+$", "^[A-Za-z0-9-]*$"))}, False
    return rng.choice(
        (
            (_without(node, "pattern"), True),
            ({**node, "pattern": f"^(Other|{known})$"}, None),
            ({**node, "pattern": known.replace("+", "*", 1)}, None),
            ({**node, "pattern": known.replace("z", "y", 1)}, None),
        )
    )


def _format(node: Json, rng: random.Random) -> _Changed | None:
    if "format" in node:
        return _without(node, "format"), None
    # Rules see a date-time as a timestamp: servers refuse rules that take it for a string.
    return {**node, "format": rng.choice(("ipv4", "uuid") if _RULES in node else ("date-time", "ipv4", "uuid"))}, False


def _required(node: Json, rng: random.Random) -> _Changed | None:
    listed = node.get("required", [])
    others = sorted(node.get("properties", {}).keys() - set(listed))
    if listed and (not others or rng.random() < 0.5):
        gone = rng.choice(listed)
        left = [name for name in listed if name != gone]
        return {**_without(node, "required"), **({"required": left} if left else {})}, True
    return ({**node, "required": sorted([*listed, rng.choice(others)])}, False) if others else None


def _properties(node: Json, rng: random.Random) -> _Changed | None:
    members = node.get("properties", {})
    if "additionalProperties" in node:
        return None
    if members and rng.random() < 0.5:
        gone = rng.choice(sorted(members))
        return {**node, "properties": {name: member for name, member in members.items() if name != gone}}, None
    return {**node, "properties": {**members, "other": {"type": "string"}}}, None


def _default(node: Json, rng: random.Random) -> _Changed | None:
    if "default" in node and rng.random() < 0.4:
        return _without(node, "default"), None
    values = {"string": ["other"], "integer": [1, 3], "boolean": [True, False]}.get(str(node.get("type")))
    return None if values is None else ({**node, "default": rng.choice([*node.get("enum", ()), *values])}, None)


def _nullable(node: Json, rng: random.Random) -> _Changed | None:
    return (_without(node, "nullable"), None) if node.get("nullable") else ({**node, "nullable": True}, None)


def _type(node: Json, rng: random.Random) -> _Changed | None:
    other = {"string": "integer", "integer": rng.choice(("string", "number")), "boolean": "string"}
    kind = other.get(str(node["type"]))
    return ({"type": kind}, None) if kind else None


def _list_type(node: Json, rng: random.Random) -> _Changed | None:
    items = node.get("items", {})
    if _LIST in node:
        return _without(_without(node, _LIST), _KEYS), True
    if items.get("type") in ("string", "integer"):
        return {**node, _LIST: "set"}, False
    keys = [name for name in items.get("required", ()) if items["properties"].get(name, {}).get("type") == "string"]
    return ({**node, _LIST: "map", _KEYS: keys[:1]}, False) if keys else None


def _keep(node: Json, rng: random.Random) -> _Changed | None:
    if _KEEP in node:
        return _without(node, _KEEP), None
    return ({**node, _KEEP: True}, None) if "additionalProperties" not in node else None


def _rules(node: Json, rng: random.Random) -> _Changed | None:
    rules = list(node[_RULES])
    at = rng.randrange(len(rules))
    if rng.random() < 0.4:
        del rules[at]
        return {**_without(node, _RULES), **({_RULES: rules} if rules else {})}, True
    try:
        rules[at] = {**rules[at], "rule": mutated_rule(rules[at]["rule"], rng)}
    except (UnwritableError, RefusedError):
        return None
    return {**node, _RULES: rules}, None


def _junctor(keyword: str) -> Callable[[Json, random.Random], _Changed | None]:
    def step(node: Json, rng: random.Random) -> _Changed | None:
        branches: Any = node[keyword]
        if node.get(_EITHER):
            return None
        if keyword == "not" or len(branches) < 2 or rng.random() < 0.3:
            return _without(node, keyword), True
        at = rng.randrange(len(branches))
        wider = {"allOf": True, "anyOf": False}.get(keyword)
        return {**node, keyword: [*branches[:at], *branches[at + 1 :]]}, wider

    return step


#: What one small step of each keyword is; it may gain the keyword, too.
_STEPS: dict[str, Callable[[Json, random.Random], _Changed | None]] = {
    "enum": _enum,
    **{f"{which}{what}": _limit(f"{which}{what}") for which in ("min", "max") for what in ("Length", "Items", "imum")},
    "minProperties": _limit("minProperties"),
    "maxProperties": _limit("maxProperties"),
    "multipleOf": _multiple_of,
    "pattern": _pattern,
    "format": _format,
    "required": _required,
    "properties": _properties,
    "default": _default,
    "nullable": _nullable,
    "type": _type,
    _LIST: _list_type,
    _KEEP: _keep,
    _RULES: _rules,
    **{keyword: _junctor(keyword) for keyword in _JUNCTORS},
}
