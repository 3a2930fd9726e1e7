"""Constraints that both sides share: which states that break them count, and for how much."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers import Json, array, both, crd, diff, obj, only, prove, root, select, string, write

_RULE = {"x-kubernetes-validations": [{"rule": "self.?mode.orValue('') != 'Strict' || has(self.a)"}]}
_UNLOCKED = {"x-kubernetes-validations": [{"rule": "self.?mode.orValue('A') != 'B' || !has(self.lock)"}]}
_MORE = {"conditions": array(obj(type=string())), "phase": string()}


def broken(tmp_path: Path, old: Json, new: Json) -> Json:
    """The finding about the shared constraint after a rollback, proved."""
    finding = only(diff(*both(tmp_path, old, new)), rule="shared-constraint-broken", direction="rollback")
    prove(finding, crd(old), crd(new))
    return finding


def at_least_one(**members: Json) -> Json:
    return {**obj(**members), "minProperties": 1}


@pytest.mark.parametrize(
    "added", [string(), {**obj(at=string()), "x-kubernetes-validations": [{"rule": "has(self.at)"}]}]
)
def test_a_status_that_holds_only_what_is_new_is_written_by_nobody(tmp_path: Path, added: Json) -> None:
    """cluster-api 1.12 -> 1.13: the status of a Machine has at least one property, and gains failureDomain.

    Trainer 2.1 -> 2.2: what a TrainJob gains has a rule of its own.
    """
    old, new = (root(status=at_least_one(**_MORE, **more)) for more in ({}, {"added": added}))
    finding = broken(tmp_path, old, new)
    assert (finding["path"], finding["direction"], finding["severity"]) == ("status", "rollback", "info")
    assert "no controller writes that" in finding["message"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # A union below the status: a controller writes one of its members alone.
        (obj(source=at_least_one(file=string())), obj(source=at_least_one(file=string(), url=string()))),
        # The rule says which members count; OLD sets one of them by default.
        (
            {**obj(a=string(), mode=string(default="Strict"), **_MORE), **_RULE},
            {**obj(a=string(), mode=string(), **_MORE), **_RULE},
        ),
        # Both sides have no other member.
        (at_least_one(a=string()), at_least_one(b=string())),
        # The rejected object holds a member that both sides have; any other value of it would be fine.
        (
            {**obj(mode=string("A", "B"), lock=string(default="on")), **_UNLOCKED},
            {**obj(mode=string("A", "B"), lock=string()), **_UNLOCKED},
        ),
    ],
    ids=["a union", "a rule", "nothing shared", "a value of a member"],
)  # fmt: skip
def test_a_status_that_a_controller_may_write_is_an_error(tmp_path: Path, old: Json, new: Json) -> None:
    assert broken(tmp_path, root(status=old), root(status=new))["severity"] == "error"


def test_conditions_are_always_written(tmp_path: Path) -> None:
    old, new = (root(status=obj(v1=at_least_one(**_MORE, **more))) for more in ({}, {"x": string()}))
    assert broken(tmp_path, old, new)["severity"] == "info"


def test_a_union_of_members_does_not_depend_on_the_type_of_a_member_for_rules(tmp_path: Path) -> None:
    """A string with format date-time is a timestamp for rules; a union counts the member alone."""
    union = {"oneOf": [{"required": ["at"]}, {"required": ["name"]}]}
    sides = ({**obj(at=at, name=string()), **union} for at in (string(), {"type": "string", "format": "date-time"}))
    found = diff(*both(tmp_path, *(crd(root(spec=obj(v=side))) for side in sides)))["findings"]
    assert [(each["rule"], each["path"], each["direction"]) for each in found] == [
        ("format-changed", "spec.v.at", "upgrade")
    ]


@pytest.mark.parametrize(
    ("rule", "sees_elements"),
    [
        ("size(self.m) > 0", False),
        ("!has(self.m) || self.m.size() < 9", False),
        ("size(self.m) > 0 && 'a' in self.m && self.m['a'] != ''", True),
        ("has(self.m) && self.?m.a.hasValue()", False),
        ("has(self.m) && optional.ofNonZeroValue(self.m.a).hasValue()", True),
        ("has(self.m) && self.m.all(key, self.m[key] != '')", True),
    ],
)
def test_the_size_of_a_map_does_not_depend_on_the_type_of_its_values(
    tmp_path: Path, rule: str, sees_elements: bool
) -> None:
    date = {"type": "string", "format": "date-time"}
    sides = (
        {**obj(m={"type": "object", "additionalProperties": value}), "x-kubernetes-validations": [{"rule": rule}]}
        for value in (string(), date)
    )
    found = diff(*both(tmp_path, *(crd(root(spec=obj(v=side))) for side in sides)))["findings"]
    assert ("shared-constraint-broken" in {each["rule"] for each in found}) == sees_elements


@pytest.mark.parametrize(
    ("rule", "reads_the_value"),
    [
        ("has(self.b) || !has(self.at)", False),
        ("has(self.b) || !self.?at.hasValue()", False),
        ("has(self.b) || !self.l.exists(each, has(each.at))", False),
        ("has(self.b) || self.l.all(each, !has(each.at) || dyn(each.at) != 'x')", True),
        ("has(self.b) || !optional.ofNonZeroValue(self.at).hasValue()", True),
        ("has(self.b) || dyn(self.at) != 'x'", True),
    ],
)
def test_a_rule_that_asks_whether_a_member_is_there_does_not_depend_on_its_value(
    tmp_path: Path, rule: str, reads_the_value: bool
) -> None:
    """A format makes another type for rules; ``has`` is about the member alone."""
    dates = (string(), {"type": "string", "format": "date-time"})
    sides = (_ruled(obj(at=at, b=string(), l=array(obj(at=at), maxItems=3)), rule) for at in dates)
    found = diff(*both(tmp_path, *(crd(root(spec=obj(v=side))) for side in sides)))["findings"]
    formats = {("format-changed", f"spec.v.{path}", "upgrade") for path in ("at", "l[*].at")}
    shared = {("shared-constraint-broken", "spec.v", way) for way in ("rollback", "upgrade")}
    assert {(each["rule"], each["path"], each["direction"]) for each in found} - formats == (
        shared if reads_the_value else set()
    )


def test_a_rule_that_does_not_compile_is_on_no_cluster(tmp_path: Path) -> None:
    """openshift/api in August 2024: rules came before the members that they are about, and servers refused the CRD."""
    rule = {"x-kubernetes-validations": [{"rule": "!has(self.b) || self.b == 'x'"}]}
    old, new = ({**obj(a=string(maxLength=4), **more), **rule} for more in ({}, {"b": string(maxLength=4)}))
    report = diff(*both(tmp_path, root(status=old), root(status=new)))
    assert [(finding["rule"], finding["direction"]) for finding in report["findings"]] == [
        ("crd-refused", "rollback"),
        ("property-added", "rollback"),
    ]


# -- a default that an unchanged constraint does not expect ---------------------------------------------

RULES = "x-kubernetes-validations"


def _ruled(schema: Json, rule: str) -> Json:
    return {**schema, RULES: [{"rule": rule}]}


def _item(**of_v: str) -> Json:
    return {**obj(k=string(maxLength=9), v=string(maxLength=9, **of_v)), "required": ["k"]}


_UNLIKE = "!has({0}.v) || {0}.v != {0}.k"
_BRANCH = {"properties": {"l": {"items": {"properties": {"v": {"enum": ["a", "b"]}}}}}}
_PAIRS = "self.all(x, self.exists_one(y, x.k == y.k && x.?v == y.?v))"
#: The schema of spec with an item, the constraint, and what of the example shows it.
_DEFAULTED: dict[str, tuple[Any, Json]] = {
    "in a list": (
        lambda item: _ruled(obj(l=array(item, maxItems=9)), f"!has(self.l) || self.l.all(x, {_UNLIKE.format('x')})"),
        {"l": [{"k": "d"}]},
    ),
    "in a map": (
        lambda item: _ruled(
            obj(m={**obj(), "additionalProperties": item, "maxProperties": 9}),
            f"!has(self.m) || self.m.all(key, {_UNLIKE.format('self.m[key]')})",
        ),
        {"m": {"key": {"k": "d"}}},
    ),
    "in an object in an object": (
        lambda item: _ruled(obj(p=obj(q=item)), f"!has(self.p) || !has(self.p.q) || {_UNLIKE.format('self.p.q')}"),
        {"p": {"q": {"k": "d"}}},
    ),
    "of two items": (
        lambda item: obj(l=_ruled(array(item, maxItems=9), _PAIRS)),
        {"l": [{"k": "a"}, {"k": "a", "v": "d"}]},
    ),
    "beside a member": (
        lambda item: _ruled(
            obj(p=obj(q=item, n={"type": "integer"})),
            f"!has(self.p) || !has(self.p.q) || self.p.?n.orValue(0) < 7 || {_UNLIKE.format('self.p.q')}",
        ),
        {"p": {"q": {"k": "d"}, "n": 7}},
    ),
    "in a branch": (lambda item: {**obj(l=array(item)), "anyOf": [_BRANCH]}, {"l": [{"k": "a"}]}),
}


@pytest.mark.parametrize(("schema", "spec"), _DEFAULTED.values(), ids=_DEFAULTED)
def test_a_default_that_an_unchanged_constraint_refuses(tmp_path: Path, schema: Any, spec: Json) -> None:
    """The comparison finds what ``simulate`` meets: the object is valid until the reader adds its default."""
    old, new = root(spec=schema(_item())), root(spec=schema(_item(default="d")))
    found = diff(*both(tmp_path, old, new))["findings"]
    assert {(each["direction"], each["rule"]) for each in found} == {
        ("upgrade", "shared-constraint-broken"),
        ("upgrade", "default-added"),
    }
    finding = only({"findings": found}, rule="shared-constraint-broken")
    prove(finding, crd(old), crd(new))
    assert finding["witness"]["object"]["spec"] == spec


@pytest.mark.parametrize(
    "rule",
    [
        "!has(self.l) || self.l.all(x, x.k != 'a')",  # about another member of the items
        "!has(self.l) || self.l.size() < 3",
        "!has(self.l) || self.l.exists(x, true) || size(self.l) == 0",
    ],
)
def test_a_default_that_an_unchanged_rule_does_not_see(tmp_path: Path, rule: str) -> None:
    old, new = (root(spec=_ruled(obj(l=array(_item(**of_v), maxItems=9)), rule)) for of_v in ({}, {"default": "d"}))
    assert {each["rule"] for each in diff(*both(tmp_path, old, new))["findings"]} == {"default-added"}


def test_a_default_of_what_each_item_has(tmp_path: Path) -> None:
    """gateway-api 1.3 -> 1.4, xlistenersets: a port is no longer required, and has a default."""
    item = _item(default="d")
    old, new = (_ruled(array(each, maxItems=9), _PAIRS) for each in ({**_item(), "required": ["k", "v"]}, item))
    found = diff(*both(tmp_path, root(spec=obj(l=old)), root(spec=obj(l=new))))["findings"]
    assert {(each["direction"], each["rule"]) for each in found} == set()


#: Rules that read an absent n as 1, and another default with which they refuse an object without n. None: no example is
#: found of one.
_AS_ONE = {
    "(has(self.n) ? self.n : 1) >= size(self.l)": 0,
    "self.?n.orValue(1) >= size(self.l)": 0,
    "has(self.n) ? self.n >= size(self.l) : size(self.l) <= 1": 0,
    "(!has(self.n) && size(self.l) <= 1) || (has(self.n) && self.n >= size(self.l))": 0,
    "(self.?n.hasValue() ? self.n : 1) * size(self.l) < 4": 9,
    "size(self.l) < 2 || !has(self.n) || self.n == 1": 9,
    "self.l.all(x, x != string(has(self.n) ? self.n : 1))": None,
}


def _numbered(rule: str, **of_n: Any) -> Json:
    numbers = {"type": "integer", "maximum": 9, **of_n}
    return root(spec={**_ruled(obj(l=array(string(maxLength=9), maxItems=9), n=numbers), rule), "required": ["l"]})


def _by_direction(tmp_path: Path, old: Json, new: Json) -> set[tuple[str, str]]:
    found = diff(*both(tmp_path, old, new))["findings"]
    return {(each["direction"], each["rule"]) for each in found}


@pytest.mark.parametrize("rule", _AS_ONE)
def test_a_default_that_equals_what_an_unchanged_rule_assumes(tmp_path: Path, rule: str) -> None:
    """prometheus-operator 0.92 -> 0.93: shards get the default 1, and a rule counts absent ones as 1."""
    sides = _numbered(rule), _numbered(rule, default=1)
    assert _by_direction(tmp_path, *sides) == {("upgrade", "default-added")}
    assert _by_direction(tmp_path, *reversed(sides)) == {("rollback", "default-removed")}


@pytest.mark.parametrize(("rule", "default"), [(rule, other) for rule, other in _AS_ONE.items() if other is not None])
def test_a_default_that_differs_from_what_an_unchanged_rule_assumes(tmp_path: Path, rule: str, default: int) -> None:
    old, new = _numbered(rule), _numbered(rule, default=default)
    found = diff(*both(tmp_path, crd(old), crd(new)))
    assert {each["rule"] for each in found["findings"]} == {"default-added", "shared-constraint-broken"}
    prove(only(found, rule="shared-constraint-broken", direction="upgrade"), crd(old), crd(new))


def test_a_default_that_comes_with_a_rule_that_relies_on_it(tmp_path: Path) -> None:
    """The rule changes only what it says of an object without n, which there is none of on the side of the default."""
    old, new = _numbered("self.?n.orValue(1) >= size(self.l)"), _numbered("self.n >= size(self.l)", default=1)
    assert _by_direction(tmp_path, old, new) == {("upgrade", "default-added")}
    assert _by_direction(tmp_path, new, old) == {("rollback", "default-removed")}


def test_a_default_that_makes_two_values_differ(tmp_path: Path) -> None:
    """A rule that compares whole objects sees the default inside of one of them."""
    parts = [obj(n={"type": "integer", **default}) for default in ({}, {"default": 1})]
    old, new = (root(spec=_ruled(obj(p=obj(n={"type": "integer"}), q=part), _EQUAL)) for part in parts)
    finding = only(diff(*both(tmp_path, old, new)), rule="shared-constraint-broken", direction="upgrade")
    prove(finding, crd(old), crd(new))


_EQUAL = "!has(self.p) || !has(self.q) || self.p == self.q"


_LARGE = "!has(self.n) || self.n > 1 || size(self.l) > 0"


@pytest.mark.parametrize("words", ["!(has(self.n) && self.n <= 1 && size(self.l) == 0)", _LARGE.replace(" > ", ">")])
def test_a_default_that_a_rule_in_other_words_refuses(tmp_path: Path, words: str) -> None:
    """The rule means the same of each object, but NEW adds a member to the object first."""
    old, new = _numbered(_LARGE), _numbered(words, default=1)
    found = diff(*both(tmp_path, crd(old), crd(new)))
    assert {(each["direction"], each["rule"]) for each in found["findings"]} == {
        ("upgrade", "default-added"),
        ("upgrade", "cel-rule-changed"),
    }
    prove(only(found, rule="cel-rule-changed", direction="upgrade"), crd(old), crd(new))
    harmless = _numbered(words, default=2)
    assert _by_direction(tmp_path, old, harmless) == {("upgrade", "default-added")}
    assert _by_direction(tmp_path, harmless, old) == {("rollback", "default-removed")}


def test_a_default_that_is_longer_than_lists_of_the_other_side(tmp_path: Path) -> None:
    """Items of a list of one are equal, but NEW adds a list of two where OLD allows one."""
    rule = "!has(self.p) || !has(self.p.l) || self.p.l.all(x, self.p.l.all(y, x == y))"
    lists = (array(string(maxLength=9), maxItems=most) for most in (1, 2))
    old, new = (obj(l={**each, "x-kubernetes-list-type": "atomic"}) for each in lists)
    sides = root(spec=obj(p=old)), root(spec=_ruled(obj(p={**new, "default": {"l": ["a", "b"]}}), rule))
    finding = only(diff(*both(tmp_path, *sides)), rule="cel-rule-added", direction="upgrade")
    assert finding["witness"]["object"] is not None


_PRESERVE = {"x-kubernetes-preserve-unknown-fields": True}


def _about_members(tmp_path: Path, old: Json, new: Json) -> list[tuple[str, list[str]]]:
    """Directions in which the unchanged list of required members of ``spec.v`` counts, each with the errors."""
    sides = (crd(root(spec=obj(v={**side, "required": ["host"]}))) for side in (old, new))
    found = diff(*both(tmp_path, *sides))["findings"]
    broken = [each for each in found if each["rule"] == "shared-constraint-broken"]
    return [(each["direction"], each["witness"]["errors"]) for each in broken]


@pytest.mark.parametrize(
    "other",
    [
        {"type": "object", **_PRESERVE},
        {**obj(port=string()), **_PRESERVE},
        {"type": "object", "additionalProperties": string()},
        {**obj(host=string()), **_PRESERVE},
    ],
    ids=["any members", "any others", "a map", "declared as well"],
)
def test_a_required_member_that_both_sides_keep(tmp_path: Path, other: Json) -> None:
    """VictoriaMetrics operator 0.45 -> 0.46: oauth2 requires client_id and token_url, and gains what it declares."""
    for index, sides in enumerate([(obj(host=string()), other), (other, obj(host=string()))]):
        assert _about_members(tmp_path / str(index), *sides) == []


def test_a_required_member_that_one_side_prunes(tmp_path: Path) -> None:
    """Nothing that OLD accepts has the member after pruning, so it rejects each object of NEW."""
    kept, pruned = {"type": "object", **_PRESERVE}, obj(port=string())
    errors = ["spec.v.host: Required value"]
    assert _about_members(tmp_path / "rollback", pruned, kept) == [("rollback", errors)]
    assert _about_members(tmp_path / "upgrade", kept, pruned) == [("upgrade", errors)]


# -- CRDs that prune nothing -----------------------------------------------------------------------------

_ONE = {"minProperties": 1}
_NAMED = {"type": "object", "required": ["name"]}


def _map(values: Json) -> Json:
    return {"type": "object", "additionalProperties": values}


def _of_shared(tmp_path: Path, old: Json, new: Json, *, old_keeps: bool, new_keeps: bool) -> list[tuple[str, str, Any]]:
    """The findings about shared constraints of two specs: direction, path, and the spec of the example."""
    sides = [crd(root(spec=old)), crd(root(spec=new))]
    for side, keeps in zip(sides, (old_keeps, new_keeps), strict=True):
        side["spec"]["preserveUnknownFields"] = keeps
    found = select(diff(*both(tmp_path, *sides)), rule="shared-constraint-broken")
    return [(each["direction"], each["path"], (each["witness"]["object"] or {}).get("spec")) for each in found]


@pytest.mark.parametrize(
    ("old", "new", "path", "broken_by"),
    [
        ({**obj(a=string()), **_ONE}, {**obj(a=string(), b=string()), **_ONE}, "spec", {"b": "a"}),
        ({**obj(a=string()), **_ONE}, {**obj(a={**string(), "nullable": True}), **_ONE}, "spec", {"a": None}),
        ({**obj(a=string()), **_ONE}, {**obj(a=string()), **_ONE, **_PRESERVE}, "spec", {"crdcompatUnknown": "a"}),
        (
            obj(l=array(_NAMED)),
            obj(l=array({**obj(name=string()), **_NAMED})),
            "spec.l[*]",
            {"l": [{"name": "example"}]},
        ),
        (
            obj(m=_map(_NAMED)),
            obj(m=_map({**obj(name=string()), **_NAMED})),
            "spec.m.*",
            {"m": {"key": {"name": "example"}}},
        ),
    ],
    ids=["a member", "a null", "unknown members", "items", "values of a map"],
)
def test_a_reader_that_prunes_nothing_breaks_no_constraint(
    tmp_path: Path, old: Json, new: Json, path: str, broken_by: Json
) -> None:
    """VictoriaMetrics operator 0.17 -> 0.18: v1beta1 CRDs with preserveUnknownFields."""
    assert _of_shared(tmp_path / "kept", old, new, old_keeps=True, new_keeps=True) == []
    assert _of_shared(tmp_path / "pruned", old, new, old_keeps=False, new_keeps=False) == [
        ("rollback", path, broken_by)
    ]


def test_a_writer_that_prunes_nothing(tmp_path: Path) -> None:
    """NEW removes the members that OLD kept, and then there are too few."""
    old, new = ({**obj(a=string(), **more), **_ONE} for more in ({}, {"b": string()}))
    expected = [("upgrade", "spec", {"crdcompatUnknown": "a"})]
    assert _of_shared(tmp_path, old, new, old_keeps=True, new_keeps=False) == expected


def test_a_writer_that_prunes_nothing_beside_one_that_prunes(tmp_path: Path) -> None:
    """Proofs are shared by CRDs with equal nodes; whether the writer prunes is a part of the question."""
    for kind, keeps in (("Apple", False), ("Berry", True)):
        for name, more in (("old", {}), ("new", {"b": string()})):
            made = crd(root(spec={**obj(a=string(), **more), **_ONE}), kind=kind)
            made["spec"]["preserveUnknownFields"] = keeps and name == "old"
            write(tmp_path / name / f"{kind}.yaml", made)
    found = select(diff(tmp_path / "old", tmp_path / "new"), rule="shared-constraint-broken")
    assert [(each["kind"], each["direction"]) for each in found] == [("Apple", "rollback"), ("Berry", "upgrade")]


def test_a_default_of_a_reader_that_prunes_nothing(tmp_path: Path) -> None:
    old, new = ({**obj(a=string(**more), b=string()), "maxProperties": 1} for more in ({"default": "x"}, {}))
    assert _of_shared(tmp_path, old, new, old_keeps=True, new_keeps=True) == [("rollback", "spec", {"b": "x"})]


def test_a_default_that_is_one_member_too_many(tmp_path: Path) -> None:
    """Only an object with as many members as the limit allows is refused."""
    members = {name: string() for name in "abc"}
    old, new = ({**obj(**members, d=string(**more)), "maxProperties": 3} for more in ({"default": "x"}, {}))
    expected = [("rollback", "spec", {"a": "a", "b": "a", "c": "a"})]
    assert _of_shared(tmp_path, old, new, old_keeps=False, new_keeps=False) == expected
