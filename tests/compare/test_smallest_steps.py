"""Each facet finds the smallest step of each of its keywords: in both directions, in spec and in status.

Limits are compared with an oracle: all numbers and sizes around them, tried one by one. The cases are the same in every
run; ``CRDCOMPAT_FUZZ=20000`` (``make fuzz``) asks for more of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

import pytest
from helpers import Json, array, crd, crd_set, obj, root, string
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import crdcompat
from crdcompat.compare.registry import all_facets
from crdcompat.findings.rules import catalogue

CASES = int(os.environ.get("CRDCOMPAT_FUZZ", "2000")) // 10

_LIST, _KEYS, _RULES = "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-validations"
_KEEP, _EMBEDDED, _EITHER = (
    f"x-kubernetes-{name}" for name in ("preserve-unknown-fields", "embedded-resource", "int-or-string")
)

Found = set[tuple[str, str]]


def _found(old: Json, new: Json, runs: str = "") -> Found:
    """Direction and rule of each finding; they must be the same in spec and status, each with a witness.

    ``runs``: the Kubernetes minor of both releases.
    """
    sides = [crd_set(name, crd(root(spec=obj(v=v), status=obj(v=v)))) for name, v in (("old", old), ("new", new))]
    report = crdcompat.diff(*(replace(side, runs=runs) for side in sides), locate=False)
    assert not report.undecided
    findings = [finding for finding in report.findings if finding.effect != "none"]  # advice is about status alone
    for finding in findings:
        # Only an object that no release writes any more shows a changed default.
        assert (finding.witness.object is None) == (finding.rule == "default-changed"), finding.witness.reason
    in_spec, in_status = (
        {(str(f.direction), f.rule) for f in findings if f.path.startswith(f"{part}.v")} for part in ("spec", "status")
    )
    assert in_spec == in_status
    return in_spec


def _mirrored(found: Found) -> Found:
    other = {"rollback": "upgrade", "upgrade": "rollback"}
    return {(other[direction], catalogue()[rule].mirror) for direction, rule in found}


# -- limits, with an oracle ---------------------------------------------------------------------------

_INTEGERS, _QUARTERS = range(-20, 21), [n / 4 for n in range(-60, 61)]
#: The kinds of limit: the facet, the rest of the schema, the keywords, the value of each size, the sizes to try.
_KINDS: dict[str, tuple[str, Json, tuple[str, str], Iterable[float]]] = {
    "integer": ("bounds", {"type": "integer"}, ("minimum", "maximum"), _INTEGERS),
    "number": ("bounds", {"type": "number"}, ("minimum", "maximum"), _QUARTERS),
    "multiples": ("bounds", {"type": "integer", "multipleOf": 3}, ("minimum", "maximum"), range(-21, 22, 3)),
    "numbers of an enum": ("bounds", {"type": "integer", "enum": [-1, 0, 2]}, ("minimum", "maximum"), (-1, 0, 2)),
    "string": ("length", {"type": "string"}, ("minLength", "maxLength"), range(20)),
    "string of a pattern": ("length", string(pattern="^(aa)*$"), ("minLength", "maxLength"), range(0, 20, 2)),
    "list": ("item-count", array(string()), ("minItems", "maxItems"), range(20)),
    "set": ("item-count", array(string(), **{_LIST: "set"}), ("minItems", "maxItems"), range(20)),
    "list of objects": ("item-count", array(obj(a=string())), ("minItems", "maxItems"), range(20)),
    "map": (
        "property-count",
        {"type": "object", "additionalProperties": string()},
        ("minProperties", "maxProperties"),
        range(20),
    ),
    "object": ("property-count", obj(a=string(), b=string()), ("minProperties", "maxProperties"), range(3)),
    "object with a required member": (
        "property-count",
        {**obj(a=string(), b=string()), "required": ["a"]},
        ("minProperties", "maxProperties"),
        range(1, 3),
    ),
    "unknown members": (
        "property-count",
        {"type": "object", _KEEP: True},
        ("minProperties", "maxProperties"),
        range(20),
    ),
}
_FLAGS = {"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}


def _accepts(node: Json, low: str, high: str) -> Callable[[float], bool]:
    least, most = node.get(low), node.get(high)
    open_low, open_high = (node.get(_FLAGS.get(keyword, ""), False) for keyword in (low, high))

    def accepts(value: float) -> bool:
        above = least is None or value > least or (value == least and not open_low)
        return above and (most is None or value < most or (value == most and not open_high))

    return accepts


@st.composite
def _limits(draw: st.DrawFn, kind: str) -> tuple[Json, Json]:
    """A schema with limits, and the same schema with one of them moved by the smallest step, set or removed."""
    facet, rest, keywords, _ = _KINDS[kind]
    unit = 0.5 if kind == "number" else 1
    values = st.integers(-4 if facet == "bounds" else 0, 6).map(lambda count: count * unit)
    old = {**rest, **draw(st.fixed_dictionaries({}, optional=dict.fromkeys(keywords, values)))}
    if facet == "bounds":
        old |= draw(st.fixed_dictionaries({}, optional=dict.fromkeys(_FLAGS.values(), st.just(True))))
    new = dict(old)
    keyword = draw(st.sampled_from(keywords))
    moves = [draw(values)] if keyword not in old else [old[keyword] + unit, old[keyword] - unit, None]
    flag = _FLAGS.get(keyword) if facet == "bounds" and keyword in old else None
    moved = draw(st.sampled_from([*moves, flag] if flag else moves))
    if isinstance(moved, str):
        new[moved] = not old.get(moved, False)
    elif moved is None:
        del new[keyword]
    else:
        new[keyword] = moved
    assume(facet == "bounds" or all(side.get(key, 0) >= 0 for side in (old, new) for key in keywords))
    return old, new


@pytest.mark.parametrize("kind", _KINDS)
@settings(max_examples=CASES // len(_KINDS) + 10, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_limit_moved_by_the_smallest_step(kind: str, data: st.DataObject) -> None:
    old, new = data.draw(_limits(kind))
    facet, _, keywords, sizes = _KINDS[kind]
    before, after = ({size for size in sizes if _accepts(side, *keywords)(size)} for side in (old, new))
    assume(before and after)  # a field that has no value at all is never written
    expected: Found = set()
    if after - before:
        expected.add(("rollback", f"{facet}-loosened"))
    if before - after:
        expected.add(("upgrade", f"{facet}-tightened"))
    assert _found(old, new) == expected
    assert _found(new, old) == _mirrored(expected)


# -- one step of each other keyword -------------------------------------------------------------------

_A, _B = string(), {"type": "integer"}
_ITEM = {**obj(a=string(), b=string()), "required": ["a", "b"], "x-kubernetes-map-type": "atomic"}


def _two_ways(rollback: str, upgrade: str = "") -> Found:
    return {("rollback", rollback), ("upgrade", upgrade or rollback)}


_TRANSITION = "cel-transition-rule-changed"


def _rule(*rules: str) -> Json:
    return {_RULES: [{"rule": rule} for rule in rules]}


#: OLD, NEW, and the findings. Each is tried in the mirror, too.
STEPS: list[tuple[Json, Json, Found]] = [
    (
        {**_B, "minimum": 1, "maximum": 10},
        {**_B, "minimum": 0, "maximum": 10},
        {("rollback", "bounds-loosened")},
    ),
    (
        {**_B, "minimum": 0, "maximum": 9},
        {**_B, "minimum": 0, "maximum": 10},
        {("rollback", "bounds-loosened")},
    ),
    (string("a", "b"), string("a", "b", "c"), {("rollback", "enum-value-added")}),
    ({**_B, "enum": [1]}, {**_B, "enum": [1, 2]}, {("rollback", "enum-value-added")}),
    (string("a"), string("b"), _two_ways("enum-value-added", "enum-value-removed")),
    (string("a"), string(), {("rollback", "enum-dropped")}),
    (array(string("a")), array(string("a", "b")), {("rollback", "enum-value-added")}),
    (string(pattern="^a$"), string(pattern="^[ab]$"), {("rollback", "pattern-widened")}),
    (string(pattern="^a$"), string(pattern="^b$"), _two_ways("pattern-changed")),
    (string(pattern="^a+$"), string(pattern="^a*$"), {("rollback", "pattern-widened")}),
    (string(pattern="^a*$"), string(), {("rollback", "pattern-widened")}),
    (string(format="date"), string(), {("rollback", "format-changed")}),
    (string(format="date"), string(format="date-time"), _two_ways("format-changed")),
    ({**_B, "format": "int32"}, {**_B, "format": "int64"}, {("rollback", "format-changed")}),  # on the newest server
    ({**_B, "multipleOf": 2}, {**_B, "multipleOf": 3}, _two_ways("multiple-of-changed")),
    ({**_B, "multipleOf": 2}, {**_B, "multipleOf": 1}, {("rollback", "multiple-of-changed")}),
    ({**_B, "multipleOf": 2}, _B, {("rollback", "multiple-of-changed")}),
    ({**_B, "multipleOf": 1}, _B, set()),
    (
        {"type": "number", "multipleOf": 0.5},
        {"type": "number", "multipleOf": 0.25},
        {("rollback", "multiple-of-changed")},
    ),
    ({**obj(a=_A), "required": ["a"]}, obj(a=_A), {("rollback", "required-removed")}),
    (
        {**obj(a=_A, b=_A), "required": ["a"]},
        {**obj(a=_A, b=_A), "required": ["b"]},
        _two_ways("required-removed", "required-added"),
    ),
    (obj(a=_A), obj(a={**_A, "nullable": True}), {("rollback", "nullable-added")}),
    (array(_A), array({**_A, "nullable": True}), {("rollback", "nullable-added")}),
    (
        {**obj(a=_A), "required": ["a"]},
        {**obj(a={**_A, "nullable": True}), "required": ["a"]},
        {("rollback", "nullable-added")},
    ),
    (_A, {**_A, "default": "x"}, {("upgrade", "default-added")}),
    ({**_A, "default": "x"}, {**_A, "default": "y"}, _two_ways("default-changed")),
    (array(_A), array(_A, **{_LIST: "set"}), {("upgrade", "list-type-tightened")}),
    (array(_ITEM), array(_ITEM, **{_LIST: "map", _KEYS: ["a"]}), {("upgrade", "list-type-tightened")}),
    (
        array(_ITEM, **{_LIST: "map", _KEYS: ["a"]}),
        array(_ITEM, **{_LIST: "map", _KEYS: ["a", "b"]}),
        {("rollback", "list-keys-changed")},
    ),
    (
        array(_ITEM, **{_LIST: "map", _KEYS: ["a"]}),
        array(_ITEM, **{_LIST: "map", _KEYS: ["b"]}),
        _two_ways("list-keys-changed"),
    ),
    (obj(a=_A), {"type": "object", "additionalProperties": _A}, {("rollback", "map-introduced")}),
    (obj(a=_A), {**obj(a=_A), _KEEP: True}, {("rollback", "preserve-unknown-added")}),
    (obj(a=_A), {**obj(a=_A), _EMBEDDED: True}, _two_ways("embedded-resource-added")),
    (obj(a=_A), obj(a=_A, b=_A), {("rollback", "property-added")}),
    (obj(a=_A), obj(a=_A, b={**_A, "default": "x"}), _two_ways("property-added")),
    ({**obj(a=_A), _KEEP: True}, {**obj(a=_A, b=_A), _KEEP: True}, {("upgrade", "free-field-declared")}),
    (_A, _B, _two_ways("type-changed")),
    (_B, {"type": "number"}, {("rollback", "type-changed")}),
    (_B, {_EITHER: True}, {("rollback", "type-changed")}),
    ({**_A, "anyOf": [{"minLength": 2}]}, {**_A, "anyOf": [{"minLength": 1}]}, {("rollback", "junctor-changed")}),
    ({**_B, "not": {"minimum": 2}}, {**_B, "not": {"minimum": 3}}, {("rollback", "junctor-changed")}),
    (
        {**obj(a=_A, b=_A), "minProperties": 1},
        {**obj(a=_A), "minProperties": 1},
        {("upgrade", "property-removed"), ("upgrade", "shared-constraint-broken")},
    ),
    ({**_A, **_rule("self != 'a'")}, {**_A, **_rule("self != 'b'")}, _two_ways("cel-rule-changed")),
    (array(_ITEM, **{_LIST: "set"}), array(_ITEM, **{_LIST: "map", _KEYS: ["a"]}), {("upgrade", "list-type-changed")}),
    ({**_A, **_rule("self != 'a'")}, _A, {("rollback", "cel-rule-removed")}),
    ({**_A, **_rule("self == oldSelf")}, _A, {("rollback", "cel-transition-rule-removed")}),
    (
        {**_A, **_rule("self != 'a' || oldSelf == 'a'")},
        {**_A, **_rule("self != 'b' || oldSelf == 'b'")},
        _two_ways(_TRANSITION),
    ),
]


_SHORT = {**_B, "format": "int32"}
_RANGE = "number-range-changed"
#: Steps with other findings on a server that checks the ranges of numbers.
STEPS_ON_1_36: list[tuple[Json, Json, Found]] = [
    (_SHORT, {**_B, "format": "int64"}, {("rollback", "format-changed")}),
    (_SHORT, {**_SHORT, "maximum": 2**31 - 2}, {("upgrade", "bounds-tightened")}),
    (_SHORT, {**_SHORT, "maximum": 2**31 - 1}, set()),
    (_SHORT, {**_SHORT, "maximum": 2**31}, {("upgrade", _RANGE)}),
    (_SHORT, {**_SHORT, "minimum": -(2**31)}, set()),
    (_SHORT, {**_SHORT, "minimum": -(2**31) - 1}, {("upgrade", _RANGE)}),
    ({**_SHORT, "maximum": 100}, {**_SHORT, "maximum": 2**32 - 1}, {("upgrade", _RANGE)}),
    ({**_SHORT, "maximum": 2**32 - 1}, {**_B, "format": "int64", "maximum": 2**32 - 1}, {("rollback", _RANGE)}),
    ({**_SHORT, "maximum": 2**32 - 1}, {**_SHORT, "maximum": 2**32}, set()),
    ({**_B, "minimum": 1}, {**_B, "minimum": 0.5}, {("upgrade", _RANGE)}),
    ({**_B, "multipleOf": 2}, {**_B, "multipleOf": 3.5}, {("upgrade", _RANGE)}),
    (
        {"type": "number", "format": "float"},
        {"type": "number", "format": "float", "maximum": 1e39},
        {("upgrade", _RANGE)},
    ),
]


@pytest.mark.parametrize(("old", "new", "expected"), STEPS_ON_1_36)
def test_the_smallest_step_on_a_server_that_checks_ranges(old: Json, new: Json, expected: Found) -> None:
    assert _found(old, new, "1.36") == expected
    assert _found(new, old, "1.36") == _mirrored(expected)


def test_the_smallest_step_on_a_server_that_ignores_ranges() -> None:
    short, long = _SHORT, {**_B, "format": "int64"}
    assert _found(short, long, "1.35") == _found(long, short, "1.35") == set()


@pytest.mark.parametrize(("old", "new", "expected"), STEPS)
def test_the_smallest_step(old: Json, new: Json, expected: Found) -> None:
    assert _found(old, new) == expected
    assert _found(new, old) == _mirrored(expected)


def test_every_kind_of_change_with_an_effect_has_a_step() -> None:
    limits = {f"{facet}-{how}" for facet, *_ in _KINDS.values() for how in ("loosened", "tightened")}
    tried = {rule for *_, found in STEPS + STEPS_ON_1_36 for _, rule in (*found, *_mirrored(found))} | limits
    kinds = {kind for facet in all_facets() for kind, effects in facet.effects.items() if effects != type(effects)()}
    assert tried == {kind.replace(".", "-") for kind in kinds}
