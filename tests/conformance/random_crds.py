"""Random small schemas and objects, the same for the same seed, and a shrinker for what they bring to light."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any

Json = dict[str, Any]
Place = tuple[str | int, ...]

_TEXTS = (
    "A", "B", "C", "", "AB", "abc", "10.0.0.1", "fd00::1", "10.0.0.0/8", "2006-01-02T15:04:05Z", "2006-01-02", "1h",
    "user@example.com", "YQ==", "11111111-2222-3333-4444-555555555555", "example.com", "ä€😀", 'a"b\\', "1",
)  # fmt: skip
_NUMBERS = (0, 1, 2, 3, 5, -1, 2**31, -(2**40), 2**53 + 1)
_FRACTIONS = (0.5, 1.5, -0.25, 1e21)
_FORMATS = ("date-time", "date", "ipv4", "ipv6", "cidr", "duration", "byte", "email", "uuid", "hostname", "uri", "mac")
_PATTERNS = ("^A$", "^(A|B)$", "^[A-C]*$", "^.?$", "B", "^[a-z]+$", "^[^a]*$")
_NAMES = ("a", "b", "c")
_POOLS: dict[str, tuple[Any, ...]] = {
    "string": _TEXTS,
    "integer": _NUMBERS,
    "number": (*_NUMBERS, *_FRACTIONS),
    "boolean": (True, False),
    "either": (*_TEXTS[:6], *_NUMBERS[:6]),
    "free": ("A", 1, True, 0.5, {"a": "A"}, {}, ["B"], {"z": {"y": 1}}),
}
_RULES = {
    "string": ("self != 'B'", "self.size() < 3", "self in ['A', 'B', 'C']", "self == oldSelf", "self.matches('^A')"),
    "integer": ("self > 1", "self != 2", "self % 2 == 0", "self >= oldSelf"),
    "number": ("self > 0.5", "self < 3.0"),
    "boolean": ("self", "!self || oldSelf"),
    "object": ("has(self.a)", "!has(self.b)", "!has(oldSelf.a) || has(self.a)"),
    "array": ("self.size() < 2", "self.size() >= oldSelf.size()"),
    "map": ("self.size() != 1", "self.all(k, k != 'b')"),
}


def random_schema(r: random.Random, depth: int) -> Json:
    """A structural schema that a server nearly always accepts."""
    kind = r.choice((*_POOLS, *(("object", "map", "array") * 2 if depth else ())))
    node: Json
    if kind == "object":
        chosen = r.sample(_NAMES, r.randint(1, 3))
        node = {"type": "object", "properties": {name: random_schema(r, depth - 1) for name in chosen}}
    elif kind == "map":
        node = {"type": "object", "additionalProperties": random_schema(r, depth - 1)}
    elif kind == "array":
        node = {"type": "array", "items": random_schema(r, depth - 1)}
    elif kind == "either":
        node = {"x-kubernetes-int-or-string": True}
    elif kind == "free":
        node = {"x-kubernetes-preserve-unknown-fields": True}
    else:
        node = {"type": kind}
    for add in r.sample((_validations, _rule, _junctor, _beside), r.randint(0, 2)):
        add(r, kind, node)
    return node


def another_schema(r: random.Random, schema: Json) -> Json:
    """The schema with one to three of its keywords and members taken away, or validations added: the next release's."""
    made = copy.deepcopy(schema)
    for _ in range(r.randint(1, 3)):
        node = r.choice([*_nodes(made)])
        loose = [key for key in node if key not in _SHAPE]
        members = sorted(node.get("properties", ()))
        if loose and r.random() < 0.5:
            del node[r.choice(loose)]
        elif len(members) > 1 and r.random() < 0.4:
            gone = r.choice(members)
            del node["properties"][gone]
            node.pop("required", None)
        else:
            add = r.choice((_validations, _rule, _junctor))
            add(r, _kind(node), node)
    return made


#: What a node's other keywords rely on.
_SHAPE = (
    "type", "properties", "additionalProperties", "items", "x-kubernetes-int-or-string",
    "x-kubernetes-preserve-unknown-fields", "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "required",
)  # fmt: skip


def _nodes(node: Json) -> Iterator[Json]:
    yield node
    below = (*node.get("properties", {}).values(), node.get("items"), node.get("additionalProperties"))
    for sub in below:
        if isinstance(sub, dict):
            yield from _nodes(sub)


def _kind(node: Json) -> str:
    if "additionalProperties" in node:
        return "map"
    kind: str = node.get("type", "either" if "x-kubernetes-int-or-string" in node else "free")
    return kind


def _validations(r: random.Random, kind: str, node: Json) -> None:
    node.update(_validation(r, kind, node))


def _validation(r: random.Random, kind: str, node: Json) -> Json:
    """One or two value validations, which may also stand in a branch of a junctor."""
    made: Json = {}
    for _ in range(r.randint(1, 2)):
        if kind == "string":
            made |= r.choice(
                (
                    {"enum": r.sample(_TEXTS[:5], r.randint(1, 3))},
                    {"minLength": r.randint(0, 2)},
                    {"maxLength": r.randint(0, 3)},
                    {"pattern": r.choice(_PATTERNS)},
                )
            )
        elif kind in ("integer", "number"):
            made |= r.choice(
                (
                    {"enum": r.sample(_NUMBERS[:5], r.randint(1, 3))},
                    {"minimum": r.randint(-1, 3), "exclusiveMinimum": r.random() < 0.5},
                    {"maximum": r.choice((*range(6), 2**32 - 1)), "exclusiveMaximum": r.random() < 0.5},
                    {"multipleOf": r.choice((1, 2, 3, 2.5))},
                )
            )
        elif kind == "boolean":
            made["enum"] = [r.random() < 0.5]
        elif kind == "either":
            made |= r.choice(({"enum": ["A", 1]}, {"pattern": r.choice(_PATTERNS)}, {"maximum": 2}))
        elif kind == "array":
            made |= r.choice(({"minItems": r.randint(0, 2)}, {"maxItems": r.randint(0, 2)}))
        elif kind in ("object", "map"):
            made |= r.choice(({"minProperties": r.randint(0, 2)}, {"maxProperties": r.randint(0, 2)}))
            if kind == "object" and r.random() < 0.5:
                made["required"] = r.sample(sorted(node["properties"]), 1)
    return made


def _rule(r: random.Random, kind: str, node: Json) -> None:
    if kind == "object" and not {"a", "b"} <= node["properties"].keys():
        return
    if kind in _RULES:
        rule: Json = {"rule": r.choice(_RULES[kind])}
        if r.random() < 0.3:
            rule |= r.choice(
                ({"message": "no good"}, {"reason": "FieldValueForbidden"}, {"messageExpression": "'not ' + 'good'"})
            )
        node["x-kubernetes-validations"] = [rule]


def _junctor(r: random.Random, kind: str, node: Json) -> None:
    branches = [found for _ in range(r.randint(1, 2)) if (found := _validation(r, kind, node))]
    if branches:
        node |= r.choice(({"allOf": branches}, {"anyOf": branches}, {"oneOf": branches}, {"not": branches[0]}))


def _beside(r: random.Random, kind: str, node: Json) -> None:
    """A keyword that shapes the value, and so never stands in a branch."""
    if r.random() < 0.3 and kind != "free":
        node["nullable"] = True
    elif kind == "string":
        node["format"] = r.choice(_FORMATS)
    elif kind == "integer":
        node["format"] = r.choice(("int32", "int64"))
    elif kind == "object":
        node["x-kubernetes-map-type"] = r.choice(("granular", "atomic"))
    elif kind == "array":
        _list_type(r, node)
    if kind in _POOLS and kind != "free" and r.random() < 0.15:
        node["default"] = random_value(r, node)


def _list_type(r: random.Random, node: Json) -> None:
    items = node["items"]
    if items.get("type") == "object" and items.get("properties", {}).get("a", {}).get("type") in ("string", "integer"):
        node |= {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"]}
        items["required"] = ["a"]
        items["properties"]["a"].pop("nullable", None)
        items["properties"]["a"].pop("default", None)
        items.pop("nullable", None)
    elif items.get("type") in ("string", "integer", "boolean"):
        node["x-kubernetes-list-type"] = r.choice(("set", "atomic"))
        items.pop("nullable", None)


# -- values ---------------------------------------------


def random_value(r: random.Random, node: Json, wrong: float = 0.0) -> Any:
    """A value of the node's shape; with probability ``wrong`` at each place one of another."""
    if r.random() < wrong / 2:
        return r.choice((None, 7, "x", 1.25, True, [], {}, ["A"], {"a": 1}))
    if isinstance(node.get("enum"), list) and r.random() > wrong * 2:
        return r.choice(node["enum"])
    if "properties" in node:
        made = {}
        for name, sub in node["properties"].items():
            if r.random() < (1 - wrong if name in node.get("required", ()) else 0.6):
                made[name] = random_value(r, sub, wrong)
        if r.random() < wrong:
            made["zz"] = r.choice((1, {"a": 1}))
        return made
    if "additionalProperties" in node:
        return {
            name: random_value(r, node["additionalProperties"], wrong) for name in r.sample(_NAMES, r.randint(0, 2))
        }
    if "items" in node:
        return [random_value(r, node["items"], wrong) for _ in range(r.randint(0, 3))]
    if node.get("x-kubernetes-int-or-string"):
        return r.choice(_POOLS["either"])
    return r.choice(_POOLS[node.get("type", "free")])


def random_change(r: random.Random, value: Any, node: Json) -> Any:
    """The value with one or two members redrawn or taken away: what an update sends."""
    made = copy.deepcopy(value)
    for _ in range(r.randint(0, 2)):
        other = random_value(r, node, 0.15)
        places = [place for place in _places(made) if _has(other, place)] or [()]
        place = r.choice(places)
        if not place:
            made = other
        elif r.random() < 0.25:
            made = without(made, place)
        else:
            _at(made, place[:-1])[place[-1]] = copy.deepcopy(_at(other, place))
    return made


def _has(value: Any, place: Place) -> bool:
    try:
        _at(value, place)
    except (LookupError, TypeError):
        return False
    return True


def _at(value: Any, place: Place) -> Any:
    for step in place:
        value = value[step]
    return value


def _places(value: Any, here: Place = ()) -> Iterator[Place]:
    """All places in a value, outermost first."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, member in list(pairs):
        yield (*here, step)
        yield from _places(member, (*here, step))


def without(value: Any, place: Place) -> Any:
    """A copy without what stands at the place."""
    made = copy.deepcopy(value)
    del _at(made, place[:-1])[place[-1]]
    return made


def without_nulls(value: Any) -> Any:
    """A copy without members and items that are null."""
    if isinstance(value, dict):
        return {key: without_nulls(member) for key, member in value.items() if member is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value if item is not None]
    return value


# -- the shrinker ---------------------------------------------


def shrink(request: Json, shows: Callable[[Json], bool], *, tries: int = 250) -> Json:
    """A smaller request that still shows what was found: parts are taken away while ``shows`` says yes."""
    found = True
    while found and tries > 0:
        found = False
        for smaller in _smaller(request):
            tries -= 1
            if shows(smaller):
                request, found = smaller, True
                break
            if tries <= 0:
                break
    return request


def _smaller(request: Json) -> Iterator[Json]:
    """The request with one part less: objects first, a schema costs the server more."""
    for part in ("new", "old", "schema", "then"):
        kept = [place for place in _places(request.get(part)) if place[0] not in ("apiVersion", "kind", "metadata")]
        for place in kept:
            yield {**request, part: without(request[part], place)}
    if request.get("status"):
        yield {**request, "status": False}
