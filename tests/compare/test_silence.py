"""A change is silent only where a proof covers all cases; what was not tried has a finding, if only as "may"."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Json, array, both, crd, diff, obj, prove, root, string, write

_RULES = "x-kubernetes-validations"
_PAIR = obj(a=string(), b=string())
_NESTED = obj(a={**obj(x=string()), "required": ["x"]}, c=string())
_MAP = obj(labels={"type": "object", "additionalProperties": string()}, c=string())
_DEEP = obj(r=obj(m={"type": "object", "additionalProperties": string()}), c=string())
_TIMES = {"type": "object", "additionalProperties": string(format="date-time")}
_DIGITS = obj(a=string(pattern="^[0-9]+$"), c=string())
_EITHER = {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
#: Objects with ``a`` have ``b``, too.
_TOGETHER = {"anyOf": [{"required": ["b"]}, {"not": {"required": ["a"]}}]}
_NO_A = {"not": {"required": ["a"]}}
_LONG_OR_A = {"anyOf": [{"properties": {"t": {"minLength": 30}}}, {"properties": {"t": {"enum": ["A"]}}}]}
_ONLY_A = {"anyOf": [{"properties": {"t": {"enum": ["A"]}}, "required": ["t"]}]}

_ESCAPED = {"in": string(), "x-y": string()}
_NOT_BOTH = "self.a == self.b || self.a == '' || self.b == ''"


def rule(text: str) -> Json:
    return {_RULES: [{"rule": text}]}


_NEVER_ID = obj(id=string(), t=string("A", "B")) | {
    _RULES: [{"rule": "self.t != 'A'"}, {"rule": "has(self.t) && self.t == 'B' ? !has(self.id) : true"}]
}


def found(tmp_path: Path, old: Json, new: Json) -> list[tuple[str, str, bool]]:
    """Direction, rule, and whether an example proves it, of each finding on two schemas of spec.v."""
    sides = [root(spec=obj(v=side)) for side in (old, new)]
    findings = diff(*both(tmp_path, *sides))["findings"]
    for finding in findings:
        if finding["witness"]["object"] is None:
            assert finding["severity"] != "error" and "may" in finding["message"]
        elif finding["effect"] == "write-rejected":
            prove(finding, *map(crd, sides))
    return sorted((f["direction"], f["rule"], f["witness"]["object"] is not None) for f in findings)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        # {} breaks the union, but {b: …} lacks a, too.
        ({**_PAIR, **_EITHER}, {**_PAIR, **_EITHER, "required": ["a"]}, ("required-added", True)),
        # The cases of a rule say nothing of the keys of a map.
        (_MAP, _MAP | rule("!has(self.labels) || !('k' in self.labels)"), ("cel-rule-added", True)),
        # The union lets no object have a alone; with b it may.
        ({**_PAIR, **_TOGETHER}, {**_PAIR, **_TOGETHER} | rule("!has(self.a)"), ("cel-rule-added", True)),
        (
            obj(o={**_PAIR, **_TOGETHER}),
            obj(o={**_PAIR, **_TOGETHER}) | rule("!has(self.o) || !has(self.o.a)"),
            ("cel-rule-added", True),
        ),
        # {a: {}} and {a: "zz"} are no values of the writer; others with a are.
        (_NESTED, {**_NESTED, **_NO_A}, ("junctor-changed", True)),
        (_DIGITS, {**_DIGITS, **_NO_A}, ("junctor-changed", True)),
        # Two members are needed, and c is in no branch.
        (
            {**obj(a=string(), b=string(), c=string()), "minProperties": 2},
            {**obj(a=string(), b=string(), c=string()), "minProperties": 2, **_TOGETHER},
            ("junctor-changed", True),
        ),
        # No number breaks the rule, but only trials say so.
        ({"type": "integer"}, {"type": "integer"} | rule("self * 3 != 7"), ("cel-rule-added", False)),
        # Every member of a rule is tried, by whatever name and through whatever expression.
        (_PAIR, _PAIR | rule("!(has((self).a) && (self).a == 'B')"), ("cel-rule-added", True)),
        (obj(**_ESCAPED), obj(**_ESCAPED) | rule("!has(self.__in__) || self.__in__ != 'B'"), ("cel-rule-added", True)),
        (
            obj(**_ESCAPED),
            obj(**_ESCAPED) | rule("self.?x__dash__y.orValue('') in ['', 'A']"),
            ("cel-rule-added", True),
        ),
        # Members that a rule compares differ in values that it does not name.
        (_PAIR, _PAIR | rule(f"!(has(self.a) && has(self.b)) || {_NOT_BOTH}"), ("cel-rule-added", True)),
        # Plain strings are too short for the union.
        ({**obj(t=string()), **_LONG_OR_A}, {**obj(t=string("A")), **_LONG_OR_A}, ("enum-introduced", False)),
    ],
    ids=[
        "union",
        "map",
        "tied",
        "tied-below",
        "nested",
        "pattern",
        "count",
        "trials",
        "self",
        "in",
        "dash",
        "two",
        "long",
    ],
)
def test_what_some_object_shows_is_reported(tmp_path: Path, old: Json, new: Json, expected: tuple[str, bool]) -> None:
    assert found(tmp_path, old, new) == [("upgrade", *expected)]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        # No string but A passes the union.
        ({**obj(t=string()), **_ONLY_A}, {**obj(t=string("A")), **_ONLY_A}, []),
        # A required member with all values of its enum.
        ({**obj(t=string("A", "B")), "required": ["t"]}, {**obj(t=string("A", "B"))} | rule("has(self.t)"), []),
        # Kong: an object of OLD and each write of OLD's clients get the same default, which a rule keeps as it is.
        (
            obj(a=string()),
            obj(a=string(), s=string("A", "B", default="A")) | rule("self.s == oldSelf.s"),
            [("rollback", "property-added", True), ("upgrade", "property-added", True)],
        ),
        (
            obj(a=string(), s=string("A", "B")),
            obj(a=string(), s=string("A", "B", default="A")) | rule("self.s == oldSelf.s"),
            [("upgrade", "cel-transition-rule-added", True), ("upgrade", "default-added", True)],
        ),
        # Kong: rules about t leave one type, with which there is no id. They stand at the object around both.
        (_NEVER_ID, _NEVER_ID | {"properties": {**_NEVER_ID["properties"], "id": string(pattern="^[0-9]$")}}, []),
        # Crunchy Data: a rule that reads a member of a member is true only where both are there.
        ({**_DEEP, "required": ["r"]}, _DEEP | rule("has(self.r.m.k)"), [("upgrade", "cel-rule-added", True)]),
        (
            {**_DEEP, "required": ["r"]},
            _DEEP | rule("has(self.c) ? has(self.r.m) : 'k' in self.r.m"),
            [("upgrade", "cel-rule-added", True)],
        ),
        (
            {**_DEEP, "required": ["r"]},
            _DEEP | rule("has(self.c) || has(self.r.m)"),
            [("rollback", "required-removed", True), ("upgrade", "cel-rule-added", True)],
        ),
        # The reader has the type and all members, and reads them alike; only the way back has an effect.
        ({"type": "integer"}, {"type": "number"}, [("rollback", "type-changed", True)]),
        (string(), {"x-kubernetes-int-or-string": True}, [("rollback", "type-changed", True)]),
        (_PAIR, {"type": "object", "additionalProperties": string()}, [("rollback", "map-introduced", True)]),
        ({"type": "object", "additionalProperties": True}, obj(a=string()), [("upgrade", "map-dropped", True)]),
        (
            {**obj(a=string()), "minProperties": 1},
            {**_PAIR, "minProperties": 1},
            [("rollback", "property-added", True), ("rollback", "shared-constraint-broken", True)],
        ),
        (
            array(obj(a=string())),
            {"x-kubernetes-preserve-unknown-fields": True},
            [("rollback", "type-changed", True)],
        ),
        # A format that makes no other type for rules; one that does, in members that are counted alone.
        (
            string() | rule("duration(self) >= duration('1ms')"),
            string(format="ipv4") | rule("duration(self) >= duration('1ms')"),
            [("upgrade", "format-changed", True)],
        ),
        (
            {**_MAP, "minProperties": 1},
            {**obj(labels=_TIMES, c=string()), "minProperties": 1},
            [("upgrade", "format-changed", True)],
        ),
        # NEW gives the list up: no object of NEW has an item.
        (
            obj(l=array(obj(a=string()))),
            obj(l=array(string(), maxItems=0)),
            [("upgrade", "item-count-tightened", True), ("upgrade", "type-changed", True)],
        ),
        # Gatekeeper: the enum of the items stood at the list, so no object of OLD has a list at all.
        (
            obj(l=array(string(), enum=["A", "B"])),
            obj(l=array(string("A", "B"))),
            [("rollback", "enum-dropped", True)],
        ),
        (
            obj(l=array(string(), enum=[["A"], ["C"]])),
            obj(l=array(string("A", "B"), enum=[["A"], ["C"]])),
            [("upgrade", "enum-introduced", False)],
        ),
        (
            {"type": "object", "additionalProperties": obj(a=string(), b=string()), "enum": [{}, {"k": "A"}]},
            {"type": "object", "additionalProperties": obj(a=string("A"), b=string()), "enum": [{}, {"k": "A"}]},
            [],
        ),
    ],
    ids=[
        "union",
        "required",
        "kept default",
        "default that is not kept",
        "never",
        "deep",
        "both ways",
        "one way",
        "number",
        "int-or-string",
        "map",
        "open",
        "one more",
        "anything",
        "format",
        "counted",
        "empty",
        "enum of a list",
        "enum of lists",
        "enum of maps",
    ],
)
def test_what_is_proved_to_have_no_effect_is_silent(
    tmp_path: Path, old: Json, new: Json, expected: list[tuple[str, str, bool]]
) -> None:
    assert found(tmp_path, old, new) == expected


def test_a_shared_constraint_that_no_trial_breaks_may_be_broken(tmp_path: Path) -> None:
    """OLD sets c by default, and its rule then rejects one number of each thousand: no trial has one."""
    counts = rule("!has(self.c) || !has(self.n) || self.n * 7 % 1000 != 3")
    old, new = (obj(n={"type": "integer"}, c=c) | counts for c in (string(default="x"), string()))
    assert found(tmp_path, old, new) == [
        ("rollback", "default-removed", True),
        ("rollback", "shared-constraint-broken", False),
    ]


@pytest.mark.parametrize(
    ("minor", "expected"),
    [
        (
            "1.28",
            [
                ("rollback", "shared-constraint-broken", False),
                ("upgrade", "property-removed", False),
                ("upgrade", "shared-constraint-broken", True),
            ],
        ),
        ("1.29", [("upgrade", "property-removed", True)]),
        ("1.36", [("upgrade", "property-removed", True)]),
    ],
)
def test_a_rule_that_reads_an_object_which_nothing_describes(
    tmp_path: Path, minor: str, expected: list[tuple[str, str, bool]]
) -> None:
    """Before 1.29 a server answers that it has neither properties nor additionalProperties, whatever the rule says."""
    one = rule("(has(self.o) ? 1 : 0) + (has(self.c) ? 1 : 0) <= 1")
    old, new = (root(spec=obj(v=obj(o=o, c=string()) | one)) for o in (obj(a=string()), obj()))
    config = write(tmp_path / "c.yaml", {"kubernetes": [minor]})
    findings = diff(*both(tmp_path, old, new), "--config", config)["findings"]
    assert sorted((f["direction"], f["rule"], f["witness"]["object"] is not None) for f in findings) == expected
