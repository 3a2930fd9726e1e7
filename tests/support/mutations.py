"""Mutations of CRDs that find crashes: wrong types, numbers at the edges, long and deep values, for each keyword.

``mutate(random, crd)`` returns a changed copy. The parts are small pure functions; ``single(crd, keyword)`` yields each
wrong value at one keyword, without chance.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from helpers import Json

KEYWORDS = (
    "type", "format", "nullable", "enum", "required", "properties", "items", "additionalProperties", "anyOf", "oneOf",
    "allOf", "not", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minimum",
    "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern", "default", "uniqueItems", "description",
    "title", "example", "externalDocs", "$ref", "$schema", "id", "definitions", "dependencies", "patternProperties",
    "additionalItems", "x-kubernetes-validations", "x-kubernetes-list-type", "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type", "x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-embedded-resource", "x-unknown",
)  # fmt: skip
"""The keywords of schemas, and one that no server knows."""

NUMBERS: tuple[Any, ...] = (
    *(sign * (base + step) for base in (0, 2**31, 2**53, 2**63, 2**64) for step in (-1, 0, 1) for sign in (1, -1)),
    *(10**30, 10**400, 1e308, -1e308, 5e-324, -0.0, 0.5, 3.0),
)
"""Numbers at the edges of the types that servers decode them into."""

TEXTS: tuple[str, ...] = (
    "", "a", "\x00", "\x1b[31m", "\ud800", "\U0001f600", "string", "object", "array", "map", "set", "atomic",
    "date-time", "int32", "byte", "duration", "(", "[", "[a", "(?<x>a)", "a{1001}", r"\pN", "^(a+)+$", r"\C",
    "(?i)[^\u0130]", "a" * 5_000, "(" * 1_500, "[" * 1_500,
)  # fmt: skip

RULES: tuple[Any, ...] = (
    {"rule": "self"},
    {"rule": "self.a.b > 1"},
    {"rule": "self == oldSelf", "message": 5, "messageExpression": 5, "reason": 5, "fieldPath": 5},
    {"rule": "false", "messageExpression": "self", "fieldPath": ".a", "reason": "x", "optionalOldSelf": 5},
    {"rule": "self.all(a, self.all(b, self.all(c, a == b || b == c)))"},
    {"rule": "oldSelf.hasValue()", "optionalOldSelf": True},
    {"rule": "("},
    {"rule": "(" * 400 + "true" + ")" * 400},
    {"rule": "!" * 400 + "true"},
    {"rule": " || ".join(["self == 1"] * 400)},
    {"rule": "[" * 300 + "]" * 300 + " == []"},
    {"rule": "-" * 400 + "1 == 1"},
    {"rule": "self" + ".a" * 400 + " == 1"},
)

WRONG: tuple[Any, ...] = (
    None, True, False, 1, -1, 0.5, 10**30, "", "a", "[", [], {}, [None], [1], ["a"], [{}], [[]], {"a": None}, {"a": 1},
    {"": {}}, {"type": "string"}, {"type": 5}, [{"type": []}], [{"properties": []}],
    {"a": {"type": "string", "default": 1}}, [RULES[0]], [RULES[2]], [{"rule": 5}], [{"rule": ""}],
)  # fmt: skip
"""One or more values of each JSON type."""

Place = tuple[Any, Any]


def mutate(random: Random, crd: Json) -> Json:
    """A copy with one to three mutations."""
    made = _copy(crd)
    for _ in range(random.randint(1, 3)):
        random.choice(_STEPS)(random, made)
    return made


def _copy(value: Any) -> Any:
    """A copy of JSON; ``copy.deepcopy`` needs more of the stack than deep values leave."""
    return json.loads(json.dumps(value))


def single(crd: Json, keyword: str) -> Iterator[Json]:
    """The CRD with each wrong value of a keyword in each of its schemas in turn, and without the keyword."""
    for at in range(len(_schemas(crd))):
        for value in WRONG:
            made = _copy(crd)
            _schemas(made)[at][keyword] = _copy(value)
            yield made


def value_of(random: Random) -> Any:
    """A value of any JSON type: an edge, a text, a shape, something deep or long."""
    choice = random.randrange(8)
    if choice == 0:
        return random.choice(NUMBERS)
    if choice == 1:
        return random.choice(TEXTS)
    if choice == 2:
        return [_copy(random.choice(RULES)) for _ in range(random.randint(1, 3))]
    if choice == 3:
        return _deep(random.choice(("properties", "items", "anyOf", "not", "")), random.choice((3, 60, 120)))
    if choice == 4:
        return [f"v{index}" for index in range(random.choice((1, 50, 2_000)))]
    return _copy(random.choice(WRONG))


def _deep(keyword: str, levels: int) -> Any:
    made: Any = {"type": "string"}
    for _ in range(levels):
        made = {"properties": {"a": made}} if keyword == "properties" else [made] if not keyword else {keyword: made}
        if keyword == "anyOf":
            made = {"anyOf": [made["anyOf"]]}
    return made


def _replace(random: Random, crd: Json) -> None:
    """Any value anywhere."""
    holder, key = random.choice(_places(crd))
    holder[key] = value_of(random)


def _remove(random: Random, crd: Json) -> None:
    holder, key = random.choice(_places(crd))
    del holder[key]


def _swap(random: Random, crd: Json) -> None:
    """The values of two places change places."""
    (one, a), (other, b) = random.choice(_places(crd)), random.choice(_places(crd))
    one[a], other[b] = _copy(other[b]), _copy(one[a])


def _set_keyword(random: Random, crd: Json) -> None:
    """A keyword of a schema, with a value of any type."""
    if schemas := _schemas(crd):
        random.choice(schemas)[random.choice(KEYWORDS)] = value_of(random)


def _limit(random: Random, crd: Json) -> None:
    """A limit at an edge: those of sizes and numbers are the ones that examples are made for."""
    if schemas := _schemas(crd):
        random.choice(schemas)[random.choice(KEYWORDS[12:20])] = random.choice(NUMBERS)


def _rule(random: Random, crd: Json) -> None:
    if schemas := _schemas(crd):
        random.choice(schemas)["x-kubernetes-validations"] = [_copy(random.choice(RULES))]


def _keep(random: Random, crd: Json) -> None:
    """Unknown fields are kept, beside what is there."""
    if schemas := _schemas(crd):
        random.choice(schemas)["x-kubernetes-preserve-unknown-fields"] = True


def _version(random: Random, crd: Json) -> None:
    """A copy of a version, under another name or the same."""
    spec = crd.get("spec")
    versions = spec.get("versions") if isinstance(spec, dict) else None
    if isinstance(versions, list) and versions:
        more = _copy(random.choice(versions))
        if isinstance(more, dict) and random.random() < 0.8:
            more |= {"name": random.choice(("v2", "v1alpha1", "")), "storage": random.random() < 0.2}
        versions.append(more)


_STEPS: tuple[Callable[[Random, Json], None], ...] = (
    _replace, _replace, _remove, _swap, _set_keyword, _set_keyword, _set_keyword, _limit, _rule, _keep, _version,
)  # fmt: skip


def _places(data: Any) -> list[Place]:
    """Each member and item below a value."""
    found: list[Place] = []
    stack = [data]
    while stack:
        held = stack.pop()
        steps = held.items() if isinstance(held, dict) else enumerate(held) if isinstance(held, list) else ()
        for key, value in steps:
            found.append((held, key))
            stack.append(value)
    return found


def _schemas(crd: Json) -> list[Json]:
    """The schemas in a CRD: the mappings of its versions' schemas that are no map of members."""
    spec = crd.get("spec")
    versions = spec.get("versions") if isinstance(spec, dict) else None
    found: list[Json] = []
    for version in versions if isinstance(versions, list) else ():
        schema = version.get("schema") if isinstance(version, dict) else None
        stack = [schema.get("openAPIV3Schema") if isinstance(schema, dict) else None]
        while stack:
            held = stack.pop()
            if not isinstance(held, dict):
                continue
            found.append(held)
            members = held.get("properties")
            stack += members.values() if isinstance(members, dict) else ()
            stack += [held.get(key) for key in ("items", "additionalProperties", "not")]
            for junctor in ("anyOf", "oneOf", "allOf"):
                branches = held.get(junctor)
                stack += branches if isinstance(branches, list) else ()
    return found
