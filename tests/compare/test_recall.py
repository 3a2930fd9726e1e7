"""Recall: whatever an object written under one schema meets under another, a finding says so.

Random schemas with a few keywords changed, and objects drawn from either side. What the API server rejects, prunes
or defaults must be a finding of the comparison of the two schemas, which never saw the objects. The cases are the same
in every run; ``CRDCOMPAT_FUZZ=20000`` (``make fuzz``) asks for more of them.
"""

from __future__ import annotations

import copy
import os
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from helpers import Json, array, crd, crd_set, obj, root
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recall import untold

import crdcompat
from crdcompat.apiserver.server_versions import DEFAULT_SERVER
from crdcompat.candidates.local import NodeJudge
from crdcompat.schema.structural import Node

CASES = int(os.environ.get("CRDCOMPAT_FUZZ", "450"))  # pairs of schemas in all; each depth takes a third

_KEEP, _EMBEDDED = "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"
_LIST, _KEYS, _RULES = "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-validations"
_EITHER, _SCALARS = "x-kubernetes-int-or-string", ("string", "integer", "number", "boolean")
_TEXTS = (
    "A", "B", "C", "", "AB", "BB", "a", "abc", "10.0.0.1", "fd00::1", "10.0.0.0/8", "2006-01-02T15:04:05Z",
    "2006-01-02", "1h", "user@example.com", "YQ==", "11111111-2222-3333-4444-555555555555", "example.com",
)  # fmt: skip
_NUMBERS = (0, 1, 2, 3, 4, 5, 6, -1, -2, 2**31, -(2**40))
_FORMATS = ("date-time", "date", "ipv4", "ipv6", "cidr", "duration", "byte", "email", "uuid", "hostname", "unknown")
_PATTERN = st.sampled_from(("^A$", "^(A|B)$", "^[A-C]*$", "^.?$", "B", "^[a-z]+$", "^[^a]*$"))
#: Values to draw from, by type; those that a node takes are kept.
_POOLS: dict[str, tuple[Any, ...]] = {
    "string": _TEXTS,
    "integer": _NUMBERS,
    "number": (*_NUMBERS, 0.5, 1.5, -0.5),
    "boolean": (True, False),
    "either": (*_TEXTS[:9], *_NUMBERS),
    "free": ("A", 1, True, {"a": "A"}, {}, ["B"], {"z": {"y": 1}}),
}
_RULES_OF = {
    "string": ("self != 'B'", "self.size() < 3", "self in ['A', 'B', 'C']"),
    "integer": ("self > 1", "self != 2", "self % 2 == 0"),
    "object": ("has(self.a)", "!has(self.b)", "has(self.a) || has(self.c)"),
    "array": ("self.size() < 2",),
    "map": ("self.size() != 1",),
}


def _some(values: Iterable[Any], most: int = 3) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.sampled_from(list(values)), min_size=1, max_size=most, unique=True)


_SMALL, _FLAG = st.integers(0, 3), st.booleans()
_BOUNDS = {"minimum": st.integers(-1, 3), "maximum": st.integers(1, 5), "multipleOf": st.integers(1, 3)}
_BOUNDS |= {"exclusiveMinimum": _FLAG, "exclusiveMaximum": _FLAG}
_COUNTS = {"minProperties": st.integers(0, 2), "maxProperties": _SMALL}
#: Value validations by type: what may also stand in the branch of a junctor.
_VALIDATIONS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "string": {"enum": _some(_TEXTS[:5]), "minLength": st.integers(0, 2), "maxLength": _SMALL, "pattern": _PATTERN},
    "integer": {"enum": _some(_NUMBERS[:6]), **_BOUNDS},
    "number": {"enum": _some((*_NUMBERS[:4], 0.5)), **_BOUNDS},
    "boolean": {"enum": _some((True, False), 2)},
    "either": {"enum": _some((*_TEXTS[:2], *_NUMBERS[:2])), "pattern": _PATTERN},
    "object": {"required": _some("abc", 2), **_COUNTS},
    "array": {"minItems": st.integers(0, 2), "maxItems": _SMALL},
    "map": _COUNTS,
    "free": {},
}
#: What stands beside them at the node itself.
_BESIDE: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "string": {"format": st.sampled_from(_FORMATS)},
    "integer": {"format": st.sampled_from(("int32", "int64"))},
    "object": {_KEEP: st.just(True), _EMBEDDED: st.just(True), "default": st.just({})},
    "array": {_LIST: st.sampled_from(("set", "map", "map", "atomic"))},
}


def _kind(node: Json) -> str:
    return "either" if _EITHER in node else "map" if "additionalProperties" in node else str(node.get("type", "free"))


def _keywords(kind: str) -> dict[str, st.SearchStrategy[Any]]:
    """What may stand beside the type and the shape of a node."""
    found: dict[str, st.SearchStrategy[Any]] = {"nullable": _FLAG, **_VALIDATIONS[kind], **_BESIDE.get(kind, {})}
    if kind != "free":
        branch = st.fixed_dictionaries({}, optional=_VALIDATIONS[kind])
        branches = st.lists(branch, min_size=1, max_size=2)
        found |= {"allOf": branches, "anyOf": branches, "oneOf": branches, "not": branch}
    if kind in _POOLS:
        found["default"] = st.sampled_from(_POOLS[kind][:6])
    if kind in _RULES_OF:
        found[_RULES] = _some(_RULES_OF[kind], 2).map(lambda rules: [{"rule": rule} for rule in rules])
    return found


@st.composite
def _schemas(draw: st.DrawFn, depth: int) -> Json:
    kind = draw(st.sampled_from((*_POOLS, *(("object", "map", "array") * 2 if depth > 0 else ()))))
    below = _schemas(depth - 1)
    if kind == "object":
        node = obj(**draw(st.dictionaries(st.sampled_from("abc"), below, min_size=1)))
    elif kind in ("map", "array"):
        node = array(draw(below)) if kind == "array" else {"type": "object", "additionalProperties": draw(below)}
    else:
        node = {"either": {_EITHER: True}, "free": {_KEEP: True}}.get(kind, {"type": kind})
    keywords = _keywords(kind)
    for keyword in draw(st.lists(st.sampled_from(sorted(keywords)), max_size=3, unique=True)):
        node[keyword] = draw(keywords[keyword])
    return node


@st.composite
def _mutants(draw: st.DrawFn, schema: Json, depth: int) -> Json:
    """The same schema with a few things changed."""
    mutant = copy.deepcopy(schema)
    for _ in range(draw(st.integers(1, 3))):
        node = draw(st.sampled_from(list(_nodes(mutant))))
        keywords, members = _keywords(_kind(node)), node.get("properties", {})
        what = draw(st.sampled_from((*sorted(keywords), "another", *("property",) * 4 * bool(members))))
        if what == "another":
            fresh = draw(_schemas(depth - 1))
            node.clear()
            node.update(fresh)
        elif what == "property":
            name = draw(st.sampled_from("abc"))
            if members.pop(name, None) is None or not members:
                members[name] = draw(_schemas(0))
        elif node.pop(what, None) is None or draw(_FLAG):
            node[what] = draw(keywords[what])
    return mutant


def _nodes(node: Json) -> Iterator[Json]:
    yield node
    for below in (*node.get("properties", {}).values(), node.get("items"), node.get("additionalProperties")):
        if isinstance(below, dict):
            yield from _nodes(below)


def _sound(schema: Json) -> Json:
    """The schema without what a server refuses in a CRD: keys, defaults and rules that cannot stand there."""
    for node in reversed(list(_nodes(schema := copy.deepcopy(schema)))):
        items, members, kind = node.get("items", {}), node.get("properties", {}), _kind(node)
        if node.get(_LIST) == "map":
            scalars = [name for name, member in items.get("properties", {}).items() if _kind(member) in _SCALARS]
            if node.setdefault(_KEYS, scalars[:2]):
                items["required"] = sorted({*items.get("required", ()), *scalars[:2]})
        if (node.get(_LIST) == "set" and _kind(items) not in _SCALARS) or node.get(_KEYS) == []:
            del node[_LIST]
            node.pop(_KEYS, None)
        free = kind != "object" and any(_kind(below) == "free" for below in _nodes(node))
        if free or set(re.findall(r"self\.([abc])\b", str(node.get(_RULES)))) - members.keys():
            node.pop(_RULES, None)
        if "default" in node and (
            _EMBEDDED in node or not NodeJudge(Node(node), DEFAULT_SERVER).accepts(node["default"])
        ):
            del node["default"]  # {} is no resource: it has no kind
    return schema


def _objects(schema: Json, rng: random.Random) -> Iterator[Json]:
    for index in range(6):
        meta, part = {"name": f"a{index}", "namespace": "b"}, rng.choice(("spec", "status"))
        yield {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": meta, part: {"v": _value(schema, rng)}}


def _value(node: Json, rng: random.Random) -> Any:
    """A value of the node, mostly a valid one."""
    kind = _kind(node)
    if node.get("nullable") and rng.random() < 0.2:
        return None
    if kind in ("array", "map"):
        what, below = ("Items", node["items"]) if kind == "array" else ("Properties", node["additionalProperties"])
        low = node.get(f"min{what}", 0)
        most = max(low, min(node.get(f"max{what}", 3), low + 2))
        values = [_value(below, rng) for _ in range(rng.randint(low, most))]
        return values if kind == "array" else {f"k{at}": value for at, value in enumerate(values)}
    if kind == "object":
        made: Json = {"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}} if _EMBEDDED in node else {}
        for name, member in node["properties"].items():
            if name in node.get("required", ()) or rng.random() < 0.6:
                made[name] = _value(member, rng)
        if _KEEP in node and rng.random() < 0.5:
            made.setdefault(rng.choice("abz"), rng.choice(_POOLS["free"]))
        return made
    # To a server 1.5 is in [1]: it cuts off the fraction before it compares. No finding follows it there.
    pool = _POOLS["integer" if kind == "number" and "enum" in str(node) else kind]
    alone = NodeJudge(Node(node), DEFAULT_SERVER)
    return rng.choice([value for value in pool if alone.accepts(value)] or [pool[0]])


def unexplained(old: Json, new: Json, seed: int) -> list[Any]:
    """Errors and losses of objects of either side on the other that no finding and no undecided difference explains."""
    sides = [crd_set(name, crd(root(spec=obj(v=v), status=obj(v=v)))) for name, v in (("old", old), ("new", new))]
    rng = random.Random(seed)
    objects = [*_objects(new, rng), *_objects(old, rng)]
    return untold(crdcompat.diff(*sides, locate=False), *sides, objects, Counter())


@pytest.mark.parametrize("depth", [0, 1, 2])
@settings(max_examples=CASES // 3 + 1, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data(), turned=_FLAG, seed=st.integers(0, 2**16))
def test_what_objects_meet_has_a_finding(depth: int, data: st.DataObject, turned: bool, seed: int) -> None:
    old = data.draw(_schemas(depth), label="old")
    new = data.draw(_mutants(old, depth), label="new")
    old, new = (_sound(new), _sound(old)) if turned else (_sound(old), _sound(new))
    assert not unexplained(old, new, seed)


_FREE = obj(b={"type": "string"}) | {_KEEP: True}


def _union(keyword: str, modes: list[str]) -> Json:
    """Two types, whose modes differ in the branches."""
    fields = obj(type={"type": "string", "enum": ["A", "B"]}, mode={"type": "string", "enum": ["x", "y"]})
    branches = [{"properties": {"type": {"enum": [t]}, "mode": {"enum": m}}} for t, m in (("B", modes), ("A", "xy"))]
    branches[1]["properties"]["mode"]["enum"] = ["x", "y"]
    return {**fields, "required": ["type", "mode"], keyword: branches}


def _one_of(*names: str) -> Json:
    """At most one of two members, of which ``names`` are allowed."""
    one = obj(p={"type": "integer"}) | {"required": ["p"]}
    none = {"not": {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}}
    return {**obj(a=one, b=obj(q={"type": "string"})), "oneOf": [none, *({"required": [name]} for name in names)]}


def _beside(*values: str) -> Json:
    plain = obj(**{key: {"type": "string"} for key in "abc"})
    first = {"properties": {"a": {"enum": ["A", "B"]}}, "required": ["c"]}
    return {**plain, "anyOf": [first, {"properties": {"a": {"enum": list(values)}}, "required": ["b"]}]}


#: What the search found once, or a reader of the code: a pair of schemas, and every finding of their difference.
FOUND = {
    "a field that only one side of a free area declares": (
        obj(a={"type": "string"}, b={"type": "string"}) | {_KEEP: True},
        _FREE,
        {("rollback", "free-field-undeclared", "v.a", "write-rejected")},
    ),
    "a set inside a map": (
        {"type": "object", "additionalProperties": array({"type": "string"}) | {_LIST: "set"}},
        {"type": "object", "additionalProperties": array({"type": "string"})},
        {("rollback", "list-type-loosened", "v.*", "write-rejected")},
    ),
    "a oneOf whose branch of one type gains a mode of the other": (
        _union("oneOf", ["x"]),
        _union("oneOf", ["x", "y"]),
        {("rollback", "junctor-changed", "v", "write-rejected")},
    ),
    "a oneOf that gains a branch, of members with required members": (
        _one_of("a"),
        _one_of("a", "b"),
        {(direction, "junctor-changed", "v", "write-rejected") for direction in ("rollback", "upgrade")},
    ),
    "a branch whose enum grows beside what it requires": (
        _beside("A"),
        _beside("A", "B"),
        {("rollback", "junctor-changed", "v", "write-rejected")},
    ),
    "a default that is one member too many": (
        obj(**{key: {"type": "string"} for key in "abc"}) | {"maxProperties": 2},
        obj(**{key: {"type": "string"} for key in "ab"}, c={"type": "string", "default": "x"}) | {"maxProperties": 2},
        {
            ("upgrade", "shared-constraint-broken", "v", "write-rejected"),
            ("upgrade", "default-added", "v.c", "value-defaulted"),
        },
    ),
    "a null in a map that counts on one side": (
        {"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1},
        {"type": "object", "additionalProperties": {"type": "string", "nullable": True}, "minProperties": 1},
        {
            ("rollback", "shared-constraint-broken", "v", "write-rejected"),
            ("rollback", "nullable-added", "v.*", "value-pruned"),
        },
    ),
    "an embedded resource inside a map": (
        {"type": "object", "additionalProperties": obj(a={"type": "string"})},
        {"type": "object", "additionalProperties": obj(a={"type": "string"}) | {_EMBEDDED: True}},
        {
            ("rollback", "embedded-resource-added", "v.*", "value-pruned"),
            ("upgrade", "embedded-resource-added", "v.*", "write-rejected"),
        },
    ),
}


@pytest.mark.parametrize("case", FOUND)
def test_what_the_search_found(case: str) -> None:
    old, new, expected = FOUND[case]
    sides = [crd_set(name, crd(root(spec=obj(v=schema)))) for name, schema in (("old", old), ("new", new))]
    findings = crdcompat.diff(sides[0], sides[1], locate=False).findings
    assert {(f.direction, f.rule, f.path.removeprefix("spec."), f.effect) for f in findings} == expected
    assert all(finding.witness.object is not None for finding in findings)
    assert not [each for seed in range(20) for each in unexplained(old, new, seed)]
