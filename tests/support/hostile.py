"""Hostile variations of good input, drawn from a seed, and the contract that every answer to them keeps."""

from __future__ import annotations

import copy
import json
import os
import random
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from helpers import Json, Run, git
from mutation import nodes
from offline import SHARED

import crdcompat

#: Pairs of CRDs of a run; ``make fuzz`` asks for more of them, and the other kinds of cases grow with their number.
CASES = int(os.environ.get("CRDCOMPAT_FUZZ", "40"))
#: Seconds of CPU that only a hang needs.
_MOST_SECONDS = 120
_MOST_BYTES = 120_000

_NUMBERS: tuple[Any, ...] = (
    *(sign * number + by for number in (2**31, 2**53, 2**63, 2**64) for by in (-1, 0, 1) for sign in (1, -1)),
    *(0, -1, 0.5, -0.0, 1e16, 1e308, 5e-324, 10**40),
)
_TEXTS: tuple[Any, ...] = (
    "", " ", "a", "\x00", "\x1b[31m", "\ud800", "\u2028", "\U0001f600", "x" * 5_000, "string", "object", "v1", "true",
    "(", "[", r"\pN", "^(a+)+$", "a{1000}", "(?i)ſ", r"\C", "self", "oldSelf", "self ==", "${a}", "{{ .a }}", "<b>",
    "::error::", "../a", "-", "=", "!!binary a", "*", "**", "main", "HEAD", "1.31", "openshift-4.16", "9" * 400,
)  # fmt: skip
_SHAPES: tuple[Any, ...] = (
    None, True, False, [], {}, [None], [[]], [{}], ["a", "a"], {"": None}, {"a": {"a": {}}}, {"type": 5},
    [{"type": []}], {"properties": []}, {"a": {"type": "string", "default": 1}}, {"$ref": "#"}, {"min": 1},
)  # fmt: skip
_RULES: tuple[Any, ...] = (
    [{}], [None], [{"rule": 5}], [{"rule": "("}], [{"rule": "self.nowhere == 1"}], [{"rule": "duration('x') == self"}],
    [{"rule": "self == oldSelf", "message": 5, "reason": [], "fieldPath": {}}], [{"rule": "has(self)", "reason": "x"}],
    [{"rule": "1 / 0 == 1"}], [{"rule": "self.all(a, self.all(b, self.all(c, a == b || b == c)))"}],
    [{"rule": "true", "messageExpression": "self", "fieldPath": ".a['b']", "optionalOldSelf": True}],
    [{"rule": "size(self) > 9223372036854775807"}], [{"rule": "self.matches('(')"}], {"rule": "true"},
)  # fmt: skip
_KEYWORDS = (
    "type", "format", "nullable", "enum", "required", "properties", "items", "additionalProperties", "anyOf", "oneOf",
    "allOf", "not", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minimum",
    "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern", "default", "uniqueItems", "description",
    "x-kubernetes-validations", "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type",
    "x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource", "$ref",
    "definitions", "dependencies", "patternProperties", "externalDocs", "example", "title", "id", "additionalItems",
)  # fmt: skip
_COUNTED = tuple(keyword for keyword in _KEYWORDS if keyword.startswith(("min", "max", "multiple")))


class Hang(BaseException):
    """More CPU than any answer needs. The program takes no exception of this kind for one of its own."""


@contextmanager
def bounded() -> Iterator[None]:
    """Raises Hang inside the block after CPU time that only a hang needs; a busy machine changes nothing."""

    def ended(_number: int, _frame: object) -> None:
        raise Hang(f"more than {_MOST_SECONDS} seconds of CPU")

    before = signal.signal(signal.SIGPROF, ended)
    signal.setitimer(signal.ITIMER_PROF, _MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def sound(ran: Run, what: object) -> Run:
    """The run. Raises AssertionError for a crash, for an exit code that is none, and for a 2 without a word."""
    assert ran.code in (0, 1, 2), (what, ran.code, ran.err[-3000:])
    for sign in ("Traceback (most", "crashed (", "this is a bug"):
        assert sign not in ran.err and sign not in ran.out, (what, ran.err, ran.out[max(ran.out.find(sign), 0) :][:500])
    assert ran.code != 2 or ran.err or ran.out, (what, "exit 2 without a word")
    return ran


def real_crds(openshift_api: Callable[[], Any], projects: Callable[[], Any], fixtures: str) -> list[Json]:
    """CRDs of all projects in the shared data, else those of the demo; in the order of their names."""
    if SHARED.is_dir():
        tags = git(projects(), "tag").split()
        newest = {tag.partition("/")[0]: tag for tag in sorted(tags)}
        sets = [crdcompat.load("release-4.16", repo=str(openshift_api()))]
        sets += [crdcompat.load(f"git:{tag}", repo=str(projects())) for tag in newest.values()]
    else:
        sets = [crdcompat.load(f"path:{fixtures}")]
    found = {(each.crd.name, each.file): dict(each.crd.raw) for crds in sets for each in crds.documents}
    return [found[key] for key in sorted(found) if len(json.dumps(found[key], default=str)) < _MOST_BYTES]


def garbage(rng: random.Random) -> Any:
    """A value of any type."""
    kind = rng.randrange(8)
    if kind < 5:
        return copy.deepcopy(rng.choice((_NUMBERS, _TEXTS, _SHAPES, _RULES, _TEXTS)[kind]))
    if kind == 5:
        return nested(rng.choice((3, 60, 150)), rng.choice((_in_list, _in_map)))
    if kind == 6:
        return [garbage(rng) for _ in range(rng.randrange(4))]
    return {rng.choice((*_KEYWORDS, "a", "")): garbage(rng) for _ in range(rng.randrange(3))}


def nested(depth: int, around: Callable[[Any], Any]) -> Any:
    """A value inside so many others."""
    made: Any = {}
    for _ in range(depth):
        made = around(made)
    return made


def spoiled(data: Any, rng: random.Random, words: Sequence[str]) -> None:
    """Replace, remove or add one member somewhere in ``data``; a new one is called by one of the ``words``."""
    places = list(_places(data))
    if not places:
        return
    holder, key = rng.choice(places)
    match rng.randrange(5):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[rng.choice(words)] = garbage(rng)
        case 2:
            holder[key] = copy.deepcopy(rng.choice(places)[0])
        case 3 if isinstance(holder[key], int | float):
            holder[key] = rng.choice(_NUMBERS)
        case _:
            holder[key] = garbage(rng)


def spoiled_crd(definition: Json, rng: random.Random) -> Json:
    """A CRD with one to three hostile changes."""
    made = copy.deepcopy(definition)
    for _ in range(rng.choice((1, 1, 2, 3))):
        if rng.random() < 0.15:
            spoiled(made, rng, _KEYWORDS)
        elif (node := _node(made, rng)) is not None:
            rng.choice(_CHANGES)(node, rng)
    return made


def _node(definition: Json, rng: random.Random) -> Json | None:
    """A node of a schema of the CRD, if it still has one."""
    try:
        schema = rng.choice(definition["spec"]["versions"])["schema"]["openAPIV3Schema"]
        return rng.choice([node for _, node in nodes(schema)])
    except (LookupError, TypeError, AttributeError, RecursionError):
        return None


def _wrong_type(node: Json, rng: random.Random) -> None:
    there = [key for key in node if key in _KEYWORDS]
    node[rng.choice(there if there and rng.random() < 0.5 else _KEYWORDS)] = garbage(rng)


def _number(node: Json, rng: random.Random) -> None:
    node[rng.choice(_COUNTED)] = rng.choice(_NUMBERS)


def _value(node: Json, rng: random.Random) -> None:
    """Another enum or default of the right kind of value, or of a number at a limit."""
    value = rng.choice((*_NUMBERS, *_TEXTS[:8], None, {}, []))
    node.update({"default": value} if rng.random() < 0.4 else {"enum": [value, rng.choice(_NUMBERS)]})


def _deep(node: Json, rng: random.Random) -> None:
    below = nested(rng.choice((5, 40, 200)), rng.choice((_in_items, _in_property, _in_junctor, _in_not)))
    rng.choice((node.update, lambda found: node.setdefault("properties", {}).update(deep=found)))(below)


def _long(node: Json, rng: random.Random) -> None:
    count = rng.choice((300, 3_000))
    names = [f"n{number}" for number in range(count)]
    made: Json = rng.choice(
        (
            {"enum": names},
            {"enum": list(range(count))},
            {"required": names},
            {"properties": {name: {"type": "string"} for name in names}},
            {"pattern": "|".join(names)},
            {"pattern": f"(a?){{{min(count, 1000)}}}"},
            {"description": "x" * count * 100},
            {"anyOf": [{"enum": [name]} for name in names[:300]]},
            {"x-kubernetes-validations": [{"rule": f"self != '{name}'"} for name in names[:100]]},
            {"properties": {"x" * count * 10: {"type": "string"}}},
        )
    )
    node.update(made)


def _rule(node: Json, rng: random.Random) -> None:
    node["x-kubernetes-validations"] = copy.deepcopy(rng.choice(_RULES))


def _moved(node: Json, rng: random.Random) -> None:
    """A member of the node becomes the node, or a branch of it."""
    below = [value for value in _below(node) if isinstance(value, dict)]
    if below:
        node.update(copy.deepcopy(rng.choice(({"anyOf": below[:3]}, {"not": below[0]}, below[0], {"items": below[0]}))))


def _below(node: Json) -> list[Any]:
    members = node.get("properties")
    return [*(members.values() if isinstance(members, dict) else ()), node.get("items")]


_CHANGES = (_wrong_type, _wrong_type, _wrong_type, _number, _number, _value, _deep, _long, _rule, _moved)


def _in_list(value: Any) -> Any:
    return [value]


def _in_map(value: Any) -> Any:
    return {"a": value}


def _in_items(value: Any) -> Any:
    return {"type": "array", "items": value}


def _in_property(value: Any) -> Any:
    return {"type": "object", "properties": {"a": value}}


def _in_junctor(value: Any) -> Any:
    return {"anyOf": [value, {}]}


def _in_not(value: Any) -> Any:
    return {"not": value}


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    stack = [data]
    while stack:
        held = stack.pop()
        steps = held.items() if isinstance(held, dict) else enumerate(held) if isinstance(held, list) else ()
        for key, value in list(steps):
            yield held, key
            stack.append(value)
