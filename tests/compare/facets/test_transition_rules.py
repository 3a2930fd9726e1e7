"""Transition rules (oldSelf): what they refuse is an update, proved by what is stored and what replaces it."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Json, array, both, brief, crd, diff, obj, only, prove, root, string, version

RULES = "x-kubernetes-validations"


def ruled(schema: Json, *rules: str, **more: object) -> Json:
    return {**schema, RULES: [{"rule": rule, **more} for rule in rules]}


def compare(tmp_path: Path, old: Json, new: Json) -> list[Json]:
    """The findings, every witness of them proved."""
    findings: list[Json] = diff(*both(tmp_path, old, new))["findings"]
    for finding in findings:
        if finding["witness"]["object"] is not None:
            prove(finding, crd(old), crd(new))
    return findings


def briefs(findings: list[Json]) -> list[tuple[str, str, str, str]]:
    return [(each["direction"], each["severity"], each["rule"], each["path"]) for each in findings]


FIXED = "self == oldSelf"


@pytest.mark.parametrize(("part", "operation"), [("spec", "update"), ("status", "updateStatus")])
def test_added_and_removed(tmp_path: Path, part: str, operation: str) -> None:
    """Only the side with the rule refuses, and only what changes the value: users and controllers change it today."""
    free, fixed = root(**{part: obj(v=string())}), root(**{part: obj(v=ruled(string(), FIXED))})
    added, removed = (free, fixed, "upgrade", "error", "added"), (fixed, free, "rollback", "info", "removed")
    for old, new, direction, severity, rule in (added, removed):
        (finding,) = compare(tmp_path / direction, old, new)
        assert briefs([finding]) == [(direction, severity, f"cel-transition-rule-{rule}", f"{part}.v")]
        witness = finding["witness"]
        assert witness["operation"] == operation
        assert witness["errors"] == [f'{part}.v: Invalid value: "string": failed rule: {FIXED}']
        assert witness["stored"][part]["v"] != witness["object"][part]["v"]
        assert {**witness["stored"], part: 0} == {**witness["object"], part: 0}


def test_changed(tmp_path: Path) -> None:
    """Each side refuses what only the other accepts."""
    values = string("A", "B", "C")
    old = root(spec=obj(v=ruled(values, "oldSelf != 'C' || self == 'C'")))
    new = root(spec=obj(v=ruled(values, "oldSelf != 'A' || self == 'A'")))
    findings = compare(tmp_path, old, new)
    assert briefs(findings) == [
        ("rollback", "info", "cel-transition-rule-changed", "spec.v"),
        ("upgrade", "warning", "cel-transition-rule-changed", "spec.v"),
    ]
    assert [each["witness"]["stored"]["spec"]["v"] for each in findings] == ["C", "A"]


_SERVER = {**obj(server=string(minLength=1), port={"type": "integer"}), "required": ["server"]}
_UNLIKE = "self.all(x, self.exists_one(y, y.server == x.server))"
_LISTED = {
    "grows": ("size(self) != size(oldSelf) ? size(oldSelf) == 0 && size(self) < 2 : true", (1, 2)),
    "shrinks": ("size(self) >= size(oldSelf)", (2, 1)),
    "replaced": ("size(self) > size(oldSelf) || self.all(x, oldSelf.exists(y, y.server == x.server))", (1, 1)),
}


@pytest.mark.parametrize(("rule", "sizes"), _LISTED.values(), ids=_LISTED)
def test_a_rule_about_a_list_whose_items_another_rule_wants_unlike(
    tmp_path: Path, rule: str, sizes: tuple[int, int]
) -> None:
    """openshift/api 4.22 -> 4.23: vCenters could be added only once."""
    free, fixed = (
        root(spec=obj(v=ruled(array(_SERVER, minItems=1, maxItems=3), _UNLIKE, *more))) for more in ((), (rule,))
    )
    witness = only({"findings": compare(tmp_path, fixed, free)}, rule="cel-transition-rule-removed")["witness"]
    assert tuple(len(witness[side]["spec"]["v"]) for side in ("stored", "object")) == sizes


@pytest.mark.parametrize("items", [_SERVER, string(), {"type": "integer"}], ids=["objects", "strings", "numbers"])
def test_a_rule_about_the_size_of_a_member(tmp_path: Path, items: Json) -> None:
    once = "!has(oldSelf.v) && has(self.v) ? size(self.v) < 2 : true"
    unlike = _UNLIKE if items is _SERVER else "self.all(x, self.exists_one(y, y == x))"
    spec = obj(v=ruled(array(items, maxItems=3), unlike), w=string())
    findings = compare(tmp_path, root(spec=spec), root(spec=ruled(spec, once)))
    witness = only({"findings": findings}, rule="cel-transition-rule-added")["witness"]
    assert "v" not in witness["stored"]["spec"]
    assert len(witness["object"]["spec"]["v"]) == 2


def test_a_rule_that_became_stricter(tmp_path: Path) -> None:
    """What OLD refuses, NEW refuses as well: all updates of the listed values are tried."""
    values = string("A", "B", "C")
    old = root(spec=obj(v=ruled(values, "oldSelf != 'C' || self == 'C'")))
    new = root(spec=obj(v=ruled(values, "oldSelf == 'A' || self == oldSelf")))
    (finding,) = compare(tmp_path, old, new)
    assert briefs([finding]) == [("upgrade", "warning", "cel-transition-rule-changed", "spec.v")]
    assert finding["witness"]["stored"]["spec"]["v"] == "B"


_FLAVOR = obj(
    topology=string(maxLength=9),
    labels=obj(a=string(maxLength=9)),
    taints=array(string(maxLength=9), maxItems=8),
    port={"type": "integer"},
)
_WHOLE = "!has(oldSelf.topology) || self == oldSelf"
_WEAKER = {
    "a scalar": "!has(oldSelf.topology) || has(self.topology) && self.topology == oldSelf.topology",
    "an object": "!has(oldSelf.topology) || has(self.labels) == has(oldSelf.labels) && "
    "(!has(self.labels) || self.labels == oldSelf.labels)",
    "an optional": "!has(oldSelf.topology) || self.?port == oldSelf.?port",
    "what is stated of an equal value": "!has(oldSelf.topology) || self.?port.orValue(0) <= 5 || oldSelf.port > 5",
}


@pytest.mark.parametrize("rules", [*([rule] for rule in _WEAKER.values()), [*_WEAKER.values()]], ids=[*_WEAKER, "all"])
def test_weaker_rules_in_the_place_of_one_about_the_whole(tmp_path: Path, rules: list[str]) -> None:
    """Kueue 0.17, ResourceFlavor: what NEW refuses, OLD refuses as well; NEW lets ``taints`` change, OLD does not."""
    schemas = [root(spec=ruled(_FLAVOR, *each)) for each in ([_WHOLE], rules)]
    finding, *advice = compare(tmp_path, *schemas)
    assert briefs([finding]) == [("rollback", "info", "cel-transition-rule-changed", "spec")]
    assert {each["rule"] for each in advice} <= {"cel-cost-near-budget"}  # optionals that are compared cost much
    stored, written = (finding["witness"][side]["spec"] for side in ("stored", "object"))
    assert "topology" in stored
    assert stored != written


@pytest.mark.parametrize(
    "rule",
    [
        "!has(oldSelf.topology) || self.port == oldSelf.port",  # an error without a port
        "has(self.taints) == has(oldSelf.taints)",  # also without a topology
        "!has(oldSelf.topology) || self.topology == oldSelf.topology && has(self.port)",
    ],
)
def test_rules_that_one_about_the_whole_does_not_imply(tmp_path: Path, rule: str) -> None:
    findings = compare(tmp_path, *(root(spec=ruled(_FLAVOR, each)) for each in (_WHOLE, rule)))
    assert {each["direction"] for each in findings} == {"rollback", "upgrade"}


def test_a_rule_about_the_whole_fixes_each_member(tmp_path: Path) -> None:
    """In other words than ``self.a == oldSelf.a`` of each member: the same severity."""
    plain = {**obj(a=string()), "required": ["a"]}
    rules = ("self.a == oldSelf.a", FIXED)
    found = [compare(tmp_path / str(len(rule)), root(spec=plain), root(spec=ruled(plain, rule))) for rule in rules]
    assert [briefs(each) for each in found] == [[("upgrade", "error", "cel-transition-rule-added", "spec")]] * 2


_REFUSED = {
    "a member that stays": (obj(a=string()), "!has(oldSelf.a) || has(self.a)", {"a"}, set()),
    "a member that comes": (obj(a=string()), "has(oldSelf.a) || !has(self.a)", set(), {"a"}),
    "an object of required members": ({**obj(a=string()), "required": ["a"]}, FIXED, {"a"}, {"a"}),
}


@pytest.mark.parametrize(("schema", "rule", "before", "after"), _REFUSED.values(), ids=_REFUSED)
def test_rules_about_members(tmp_path: Path, schema: Json, rule: str, before: set[str], after: set[str]) -> None:
    (finding,) = compare(tmp_path, root(spec=obj(v=schema)), root(spec=obj(v=ruled(schema, rule))))
    witness = finding["witness"]
    assert (witness["stored"]["spec"]["v"].keys(), witness["object"]["spec"]["v"].keys()) == (before, after)


_FOUR = obj(a=string(), b=string(), c=string(), d=string())
_ITEMS = obj(items=array(obj(k=string(), v=string()), maxItems=5))
_FOUR_VALUES = " && ".join(
    f"has({side}.{name}) && {side}.{name} == '{name}'"
    for side, name in (("oldSelf", "a"), ("self", "b"), ("self", "c"), ("self", "d"))
)
_OLD_ITEM = "oldSelf.items.exists(x, has(x.k) && x.k == 'p' && has(x.v) && x.v == 'q')"
_OF_COUNTER_MODELS = {
    "four members": (_FOUR, f"!({_FOUR_VALUES})"),
    "an item that was there": (_ITEMS, f"!has(oldSelf.items) || has(self.items) || !{_OLD_ITEM}"),
}


@pytest.mark.parametrize(("schema", "rule"), _OF_COUNTER_MODELS.values(), ids=_OF_COUNTER_MODELS)
def test_what_only_a_counter_model_finds(tmp_path: Path, schema: Json, rule: str) -> None:
    """Too many members and values for all combinations of them."""
    findings = compare(tmp_path, root(spec=obj(v=schema)), root(spec=obj(v=ruled(schema, rule))))
    finding = only({"findings": findings}, rule="cel-transition-rule-added")
    assert finding["witness"]["errors"] == [f'spec.v: Invalid value: "object": failed rule: {rule}']


def test_a_rule_that_refuses_the_same_value_again(tmp_path: Path) -> None:
    """A counter that must grow: every write fails, even one that changes nothing."""
    count = {"type": "integer", "minimum": 0}
    new = ruled(count, "self > oldSelf")
    (finding,) = compare(tmp_path, root(spec=obj(v=count)), root(spec=obj(v=new)))
    assert finding["witness"]["stored"] == finding["witness"]["object"]


def test_a_rule_beside_another_difference(tmp_path: Path) -> None:
    """What is stored satisfies both sides, or the server does not come to the rule."""
    old = {**obj(a=string("A", "B")), "required": ["a"]}
    new = {**obj(a=string("B", "C"), b=string()), "required": ["a", "b"]}
    schemas = [root(spec=spec, status=obj(v=each)) for spec, each in ((old, string()), (new, ruled(string(), FIXED)))]
    finding = only({"findings": compare(tmp_path, *schemas)}, rule="cel-transition-rule-added")
    assert finding["witness"]["operation"] == "updateStatus"


_NEW_MEMBER = {
    "stays": "!has(oldSelf.a) || has(self.a)",
    "does not come": "has(oldSelf.a) == has(self.a) || true",
    "both or neither": "!has(oldSelf.a) && !has(self.a) || has(oldSelf.a) && has(self.a)",
    "needs another one": "has(oldSelf.a) ? has(self.a) : has(self.x)",
    "below": "!has(oldSelf.deep) || !has(oldSelf.deep.a) || has(self.deep) && has(self.deep.a)",
}


@pytest.mark.parametrize("rule", _NEW_MEMBER.values(), ids=_NEW_MEMBER)
def test_a_rule_about_a_new_member_refuses_nobody(tmp_path: Path, rule: str) -> None:
    """Objects of OLD lack the member before an update and after it."""
    deep = obj(x=string())
    old = obj(x=string(), deep=deep) | {"required": ["x"]}
    new = obj(x=string(), deep=obj(x=string(), a=string()), a=string()) | {"required": ["x"]}
    findings = compare(tmp_path, root(spec=obj(v=old)), root(spec=obj(v=ruled(new, rule))))
    assert {each["rule"] for each in findings} == {"property-added"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("self == oldSelf", "oldSelf == self"),
        ("!has(oldSelf.a) || has(self.a)", "has(self.a) || !has(oldSelf.a)"),
    ],
)
def test_the_same_rule_in_other_words(tmp_path: Path, one: str, other: str) -> None:
    schemas = [root(spec=obj(v=ruled(obj(a=string()), rule))) for rule in (one, other)]
    assert compare(tmp_path, *schemas) == []


def test_without_an_example_update_it_may(tmp_path: Path) -> None:
    """Two addresses of one family: a value that is not made, so the finding says "may"."""
    rule = "self == oldSelf || self.map(x, x.size()).sum() != 4999"
    free = string(maxLength=9000)
    values = {**obj(), "type": "array", "items": free, "maxItems": 3}
    (finding,) = compare(tmp_path, root(spec=obj(v=values)), root(spec=obj(v=ruled(values, rule))))
    assert brief(finding)[1:3] == ("warning", "cel-transition-rule-added")
    assert (finding["witness"]["object"], finding["witness"]["reason"]) == (
        None,
        "no update was found that breaks the rule",
    )
    assert finding["message"].endswith("may reject updates of a Widget that break it; no example update was found")
    assert not {"stored", "operation"} & finding["witness"].keys()


def test_it_is_not_asked_of_objects_of_another_version(tmp_path: Path) -> None:
    """A transition rule refuses no stored object, so it does not matter which version an object was stored as."""
    fixed, free = root(spec=obj(v=ruled(string(), FIXED))), root(spec=obj(v=string()))
    old = crd(versions=[version(fixed, "v1")])
    new = crd(versions=[version(fixed, "v1"), version(free, "v2", storage=False)])
    report = diff(*both(tmp_path, old, new))
    assert [each["rule"] for each in report["findings"] if "cel" in each["rule"]] == []


# -- optionalOldSelf ---------------------------------------------


def nodes(item: Json) -> Json:
    return array(item, **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]})


_NODE = {**obj(name=string(), revision={"type": "integer"}), "required": ["name"]}
_AT_FIRST = "!has(self.revision) || oldSelf.hasValue()"


@pytest.mark.parametrize("part", ["spec", "status"])
def test_a_rule_that_also_judges_new_items(tmp_path: Path, part: str) -> None:
    """openshift/api 4.17 -> 4.18, operators: a revision cannot be set when a node's status is created."""
    old = root(**{part: obj(nodes=nodes(_NODE))})
    new = root(**{part: obj(nodes=nodes(ruled(_NODE, _AT_FIRST, optionalOldSelf=True)))})
    (finding,) = compare(tmp_path, old, new)
    assert briefs([finding]) == [("upgrade", "warning", "cel-transition-rule-added", f"{part}.nodes[*]")]
    witness = finding["witness"]
    assert witness["errors"] == [f'{part}.nodes[0]: Invalid value: "object": failed rule: {_AT_FIRST}']
    assert "revision" in witness["object"][part]["nodes"][0]
    # The server does not store the status of a new object: a rule about it judges the first update.
    assert witness.get("operation") == ("updateStatus" if part == "status" else None)
    assert not (witness.get("stored") or {}).get(part, {}).get("nodes")


def test_an_update_of_what_the_reader_would_not_create(tmp_path: Path) -> None:
    """openshift/api 4.18 -> 4.19, etcds: a new item has no revision, and a revision only grows.

    The stored item with a revision is the writer's.
    """
    grows = {**_NODE, "properties": {**_NODE["properties"], "revision": ruled({"type": "integer"}, "self >= oldSelf")}}
    old = root(status=obj(nodes=nodes(_NODE)))
    new = root(status=obj(nodes=nodes(ruled(grows, _AT_FIRST, optionalOldSelf=True))))
    item, revision = compare(tmp_path, old, new)
    assert (item["path"], revision["path"]) == ("status.nodes[*]", "status.nodes[*].revision")
    witness = revision["witness"]
    assert witness["errors"] == ['status.nodes[0].revision: Invalid value: "integer": failed rule: self >= oldSelf']
    before, after = (witness[side]["status"]["nodes"][0]["revision"] for side in ("stored", "object"))
    assert before > after


def test_a_rule_that_judges_new_objects_too_is_another_rule(tmp_path: Path) -> None:
    guarded = "!has(self.revision) || has(oldSelf.revision)"
    old = root(spec=obj(v=ruled(_NODE, guarded)))
    new = root(spec=obj(v=ruled(_NODE, "!has(self.revision) || oldSelf.hasValue()", optionalOldSelf=True)))
    findings = compare(tmp_path, old, new)
    assert briefs(findings) == [
        ("rollback", "info", "cel-transition-rule-changed", "spec.v"),
        ("upgrade", "warning", "cel-transition-rule-changed", "spec.v"),
    ]
    (update, creation) = (each["witness"] for each in findings)
    assert (update["operation"], creation.get("operation")) == ("update", None)


@pytest.mark.parametrize(
    ("rule", "most", "found"),
    [
        ("!has(oldSelf.v) && has(self.v) ? size(self.v) < 2 : true", 1, []),
        ("!has(oldSelf.v) && has(self.v) ? size(self.v) < 2 : true", 2, ["spec.w"]),
        ("!has(self.v) || size(self.v) < 2 || self.v == oldSelf.v", 1, []),
        ("!has(oldSelf.v) || size(oldSelf.v) < 2", 1, []),
        ("!has(oldSelf.v) || size(oldSelf.v) < 2", 2, ["spec.w"]),
    ],
    ids=["limited anyway", "not limited", "by other words", "of the stored value", "of a stored value without limit"],
)
def test_a_rule_that_the_limits_of_the_values_imply(tmp_path: Path, rule: str, most: int, found: list[str]) -> None:
    """openshift/api 4.18: a rule about two vCenters, where the schema allows one: of the stored value, too."""
    old = obj(v=array(string(maxLength=5), maxItems=most))
    findings = compare(tmp_path, root(spec=obj(w=old)), root(spec=obj(w=ruled(old, rule))))
    assert [finding["path"] for finding in findings] == found


def test_a_rule_on_the_presence_of_a_required_member(tmp_path: Path) -> None:
    """Grafana operator 5.22: the rule comes where the member is no longer required; all older objects have it."""
    both_or_none = "has(oldSelf.v) && has(self.v) || !has(oldSelf.v) && !has(self.v)"
    old = {**obj(v=string(), w=string()), "required": ["v"]}
    findings = compare(tmp_path, root(spec=old), root(spec=ruled(obj(v=string(), w=string()), both_or_none)))
    assert briefs(findings) == [("rollback", "warning", "required-removed", "spec.v")]


@pytest.mark.parametrize(
    ("rule", "size"),
    [
        ("!has(oldSelf.v) && has(self.v) ? size(self.v) < 2 : true", 2),
        ("!has(oldSelf.v) && has(self.v) ? size(self.v) <= 2 : true", 3),
    ],
)
def test_a_list_whose_rule_wants_distinct_items(tmp_path: Path, rule: str, size: int) -> None:
    """openshift/api 4.23: the list of vCenters, which the server may name by address or by name."""
    host = {**string(maxLength=9), "anyOf": [{"format": "ipv4"}, {"format": "hostname"}]}
    item = {**obj(server=host, port={"type": "integer"}), "required": ["server"]}
    free = obj(v=ruled(array(item, maxItems=5), "self.all(x, self.exists_one(y, y.server == x.server))"))
    (finding,) = compare(tmp_path, root(spec=obj(w=ruled(free, rule))), root(spec=obj(w=free)))
    assert finding["direction"] == "rollback"
    assert "v" not in finding["witness"]["stored"]["spec"]["w"]
    assert len(finding["witness"]["object"]["spec"]["w"]["v"]) == size
