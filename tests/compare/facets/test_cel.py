"""CEL rules: found although another difference makes the server skip rules; shown alone where an object allows it."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Json, array, both, brief, crd, diff, obj, only, prove, root, select, string, write

RULES = "x-kubernetes-validations"


def ruled(schema: Json, *rules: str) -> Json:
    return {**schema, RULES: [{"rule": rule} for rule in rules]}


def compare(tmp_path: Path, old: Json, new: Json, *options: str) -> Json:
    report = diff(*both(tmp_path, old, new), *options)
    for finding in report["findings"]:
        if finding["witness"]["object"] is not None:
            prove(finding, crd(old), crd(new))
    return report


FAILS = ruled(string(), "self != 'Failed'")


def _needs(**members: Json) -> Json:
    return {**obj(**members), "required": sorted(members)}


#: What differs beside the rule, as spec of OLD and NEW: alone, each makes the server skip all rules.
_HIDING = {
    "required": (_needs(a=string(), b=string()), {**obj(a=string(), b=string()), "required": ["a"]}),
    "enum": (_needs(a=string("B")), _needs(a=string("A", "B"))),
    "default": (_needs(a=string("B")), _needs(a=string("A", "B", default="A"))),
    "length": (_needs(a=string(maxLength=3, minLength=1)), _needs(a=string(minLength=3))),
    "count": (_needs(a=array(string(), maxItems=1)), _needs(a=array(string(), minItems=1))),
    "members": (
        _needs(a={**obj(b=string()), "required": ["b"]}),
        _needs(a={**obj(b=string(), c=string()), "minProperties": 1}),
    ),
}


@pytest.mark.parametrize("hiding", _HIDING.values(), ids=_HIDING)
def test_a_rule_beside_another_difference(tmp_path: Path, hiding: tuple[Json, Json]) -> None:
    """The witness of the dropped rule satisfies the other difference on both sides."""
    spec_old, spec_new = hiding
    old = {**root(spec=spec_old, status=obj(phase=FAILS)), "required": ["spec"]}
    new = {**root(spec=spec_new, status=obj(phase=string())), "required": ["spec"]}
    finding = only(compare(tmp_path, old, new), direction="rollback", path="status.phase")
    assert brief(finding)[1:3] == ("warning", "cel-rule-removed")  # only the rule names the value
    assert finding["witness"]["errors"] == ["status.phase: Invalid value: \"string\": failed rule: self != 'Failed'"]


def test_a_rule_beside_another_difference_in_one_value(tmp_path: Path) -> None:
    """crossplane 1.20 -> 2.0: a rule arrives, and a default of OLD that NEW's enum lacks."""
    credential = _needs(source=string("None", "Secret"))
    rule = "self.source == 'Secret' && has(self.ref)"
    credential["properties"]["ref"] = string()
    steps = [array(obj(credentials=array(item))) for item in (credential, ruled(credential, rule))]
    old = root(spec=obj(mode=string("Resources", "Pipeline", default="Resources"), pipeline=steps[0]))
    new = root(spec=obj(mode=string("Pipeline", default="Pipeline"), pipeline={**steps[1], "minItems": 1}))
    finding = only(compare(tmp_path, old, new), path="spec.pipeline[*].credentials[*]")
    assert brief(finding)[:3] == ("upgrade", "warning", "cel-rule-added")
    assert finding["witness"]["object"]["spec"]["mode"] == "Pipeline"
    assert len(finding["witness"]["errors"]) == 1


def test_a_rule_that_no_object_reaches_is_not_without_effect(tmp_path: Path) -> None:
    """Each object of NEW lacks what OLD requires, so OLD's server never comes to the rule: may, with the reason."""
    old = {**root(spec=_needs(b=string()), status=obj(phase=FAILS)), "required": ["spec"]}
    new = {**root(spec=obj(a=string()), status=obj(phase=string())), "required": ["spec"]}
    finding = only(compare(tmp_path, old, new), direction="rollback", path="status.phase")
    assert brief(finding)[1:3] == ("warning", "cel-rule-removed")
    assert finding["witness"]["object"] is None
    assert finding["witness"]["reason"] == (
        "the server skips its rules for every object found, which it rejects for another reason: spec.b: Required value"
    )


def test_a_witness_breaks_a_changed_rule_alone(tmp_path: Path) -> None:
    """The rule that stays and the keyword that changes are both satisfied."""
    member = obj(a=string(), b=string(), c=string())
    stays, goes = "has(self.a) || has(self.b)", "!has(self.a) || has(self.c)"
    old = root(status=obj(v={**ruled(member, stays, goes), "maxProperties": 2}))
    new = root(status=obj(v={**ruled(member, stays), "maxProperties": 3}))
    finding = only(compare(tmp_path, old, new), rule="cel-rule-removed")
    assert finding["witness"]["object"]["status"]["v"].keys() == {"a"}
    assert finding["witness"]["errors"] == [f'status.v: Invalid value: "object": failed rule: {goes}']


def test_a_required_member_is_not_the_error_of_a_rule(tmp_path: Path) -> None:
    """istio 1.22 -> 1.23: a member becomes required, and a rule about it arrives."""
    old = root(spec=obj(ref=obj(group=string(), kind=string())))
    new = root(spec=obj(ref={**ruled(_needs(group=string(), kind=string()), "self.kind == 'Service'")}))
    report = compare(tmp_path, old, new)
    finding = only(report, rule="cel-rule-added")
    assert finding["witness"]["errors"] == ["spec.ref: Invalid value: \"object\": failed rule: self.kind == 'Service'"]
    assert len(select(report, rule="required-added")) == 2


_ALWAYS = {
    "guarded": "!(has(self.auth) && self.kind != 'Auth')",
    "conditional": "has(self.auth) ? self.kind.size() > 9 : true",
    "below": "!has(self.deep) || !has(self.deep.auth) || self.deep.auth != 'On'",
    "optional": "self.?auth.mode.orValue('') == 'On' ? self.kind.size() > 9 : true",
    "optional above": "self.?deep.auth.orValue('') == 'On' ? self.kind.size() > 9 : true",
    "has no value": "!self.?deep.auth.hasValue() || self.kind.size() > 9",
}


@pytest.mark.parametrize("rule", _ALWAYS.values(), ids=_ALWAYS)
def test_a_rule_about_a_new_member_rejects_no_object_without_it(tmp_path: Path, rule: str) -> None:
    old = root(spec=obj(v=obj(kind=string(minLength=1), deep=obj(a=string()))))
    new = root(
        spec=obj(
            v=ruled(obj(kind=string(minLength=1), deep=obj(a=string(), auth=string()), auth=obj(mode=string())), rule)
        )
    )
    assert [brief(finding)[2:] for finding in compare(tmp_path, old, new)["findings"]] == [
        ("property-added", "widgets.example.com", "spec.v.auth"),
        ("property-added", "widgets.example.com", "spec.v.deep.auth"),
    ]


@pytest.mark.parametrize(
    ("guard", "rules"),
    [("oldSelf.?a.?b.?c.?d.?type.orValue('') != 'Set'", []), ("!has(oldSelf.a.b.c)", ["cel-transition-rule-added"])],
    ids=["optional", "an error without the members above"],
)
def test_a_transition_rule_about_members_below_a_new_one(tmp_path: Path, guard: str, rules: list[str]) -> None:
    """openshift/api of 2026: no object of OLD has the old value that the rule restricts."""
    rule = f"{guard} || self.?a.?b.?c.?d.?type.orValue('') == 'Set'"
    inner = obj(c=obj(d=obj(type=string("Set", "Unset"))))
    old, new = obj(v=obj(a=obj(x=string()), k=string())), obj(v=obj(a=obj(b=inner, x=string()), k=string()))
    new["properties"]["v"] = ruled(new["properties"]["v"], rule)
    report = compare(tmp_path, root(spec=old), root(spec=new))
    assert {finding["rule"] for finding in report["findings"]} == {"property-added", *rules}


def test_a_rule_about_a_new_member_with_a_default(tmp_path: Path) -> None:
    """crossplane 1.20 -> 2.0: a rule holds for the default, which the server sets in every object of OLD."""
    old = obj(v=obj(kind=string()))
    new = obj(v=ruled(obj(kind=string(), scope=string(default="All")), "self.scope == 'All' || !has(self.kind)"))
    report = compare(tmp_path, root(spec=old), root(spec=new))
    assert {finding["rule"] for finding in report["findings"]} == {"property-added"}


_SOMETIMES = {
    "required": (obj(auth=string()), "has(self.auth)"),
    "default": (obj(auth=string(default="x")), "!has(self.auth) || self.kind.size() > 9"),
    "default above": (
        obj(auth={**obj(mode=string(), x=string()), "default": {"x": "y"}}),
        "!has(self.auth) || has(self.auth.mode)",
    ),
    "error": (obj(auth=string()), "self.auth == 'x'"),
    "error above": (obj(), "!has(self.deep.auth) || self.deep.auth != 'On'"),
    "error above an optional": (obj(), "!self.deep.?auth.hasValue()"),
    "error below a new one": (obj(auth=obj(mode=string())), "!has(self.auth.mode)"),
    "error far below a new one": (obj(auth=obj(a=obj(b=obj(c=string())))), "self.auth.a.b.?c.orValue('') == ''"),
    "escaped": (obj(auth=string()), "!has(self.__namespace__) || self.kind.size() > 9"),
}


@pytest.mark.parametrize(("more", "rule"), _SOMETIMES.values(), ids=_SOMETIMES)
def test_a_rule_about_a_new_member_that_rejects_objects(tmp_path: Path, more: Json, rule: str) -> None:
    shared = obj(kind=string(minLength=1), namespace=string(), deep=obj(a=string()))
    members = {**shared["properties"], "deep": obj(a=string(), auth=string()), **more["properties"]}
    new = ruled(obj(**members), rule)
    report = compare(tmp_path, root(spec=obj(v=shared)), root(spec=obj(v=new)))
    finding = only(report, rule="cel-rule-added")
    assert finding["witness"]["object"] is not None


_EMBEDDED = {**obj(x=string()), "x-kubernetes-embedded-resource": True}
_OF_RESOURCES = {
    "kind": "!has(self.kind) || self.kind != 'Widget'",
    "apiVersion": "!has(self.apiVersion) || self.apiVersion == 'other/v1'",
    "name": "!has(self.metadata.name) || self.metadata.name == 'other'",
}


@pytest.mark.parametrize("rule", _OF_RESOURCES.values(), ids=_OF_RESOURCES)
def test_a_rule_about_what_no_schema_of_a_resource_declares(tmp_path: Path, rule: str) -> None:
    """Each object has an apiVersion, a kind and a name, whether the schema names them or not."""
    report = compare(tmp_path, obj(spec=obj(a=string())), ruled(obj(spec=obj(a=string())), rule))
    assert _facts(report) == {("cel-rule-added", "upgrade", "", True)}


@pytest.mark.parametrize("rule", _OF_RESOURCES.values(), ids=_OF_RESOURCES)
def test_a_rule_about_what_no_schema_of_an_embedded_resource_declares(tmp_path: Path, rule: str) -> None:
    old = root(spec=obj(v=_EMBEDDED))
    report = compare(tmp_path / "own", old, root(spec=obj(v=ruled(_EMBEDDED, rule))))
    assert _facts(report) == {("cel-rule-added", "upgrade", "spec.v", True)}
    above = ruled(obj(v=_EMBEDDED), f"!has(self.v) || {rule.replace('self.', 'self.v.')}")
    found = _facts(compare(tmp_path / "above", old, root(spec=above)))
    assert {each[:3] for each in found} == {("cel-rule-added", "upgrade", "spec")}


def test_a_rule_that_every_resource_satisfies(tmp_path: Path) -> None:
    old = obj(spec=obj(a=string()))
    assert _facts(compare(tmp_path, old, ruled(old, "has(self.kind) && has(self.apiVersion)"))) == set()


_KEEPS = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_FREE = {"preserved": _KEEPS, "map": {"type": "object", "additionalProperties": string()}}


@pytest.mark.parametrize("free", _FREE.values(), ids=_FREE)
def test_a_rule_about_a_member_that_the_writer_keeps_undeclared(tmp_path: Path, free: Json) -> None:
    declared = obj(mode=string()) | ({} if "additionalProperties" in free else _KEEPS)
    new = ruled(declared, "!has(self.mode) || self.mode != 'x'")
    facts = _facts(diff(*both(tmp_path, root(spec=obj(v=free)), root(spec=obj(v=new)))))
    assert [each[:3] for each in facts if each[0].startswith("cel")] == [("cel-rule-added", "upgrade", "spec.v")]


def _facts(report: Json) -> set[tuple[str, str, str, bool]]:
    """Rule, direction and path of all findings, and whether an example object proves them."""
    return {
        (each["rule"], each["direction"], each["path"], each["witness"]["object"] is not None)
        for each in report["findings"]
    }


@pytest.mark.parametrize(("server", "rejected"), [("1.29", True), ("1.31", False)])
def test_a_rule_about_a_new_member_that_the_server_cannot_compile(tmp_path: Path, server: str, rejected: bool) -> None:
    """A server before 1.31 does not know isIP(): it refuses OLD's CRD, and every object, also without the member."""
    old = ruled(obj(a=string(), b=string(maxLength=9)), "!has(self.b) || isIP(self.b)")
    config = write(tmp_path / "config.yaml", {"kubernetes": [server]})
    sides = both(tmp_path, root(spec=old), root(spec=obj(a=string())))
    found = {(each["rule"], each["direction"]) for each in diff(*sides, "--config", config)["findings"]}
    of_rollback = {("cel-rule-removed", "rollback"), ("crd-refused-by", "rollback")} if rejected else set()
    assert found == {("property-removed", "upgrade")} | of_rollback


def test_a_rule_about_a_new_member_of_an_enum_rejects_no_object_without_it(tmp_path: Path) -> None:
    """gateway-api 1.3 -> 1.4: a union gains a member."""
    old = _needs(kind=string("A"))
    new = {**obj(kind=string("A", "B"), b=string()), "required": ["kind"]}
    new = ruled(new, "!(has(self.b) && self.kind != 'B')", "!(!has(self.b) && self.kind == 'B')")
    report = compare(tmp_path, root(spec=obj(v=old)), root(spec=obj(v=new)))
    assert {finding["rule"] for finding in report["findings"]} == {"enum-value-added", "property-added"}


_NAMED = {
    "equal": "self.metadata.name == 'x' ? has(self.spec.mode) : true",
    "not equal": "self.metadata.name != 'x' || has(self.spec.mode)",
    "listed": "!(self.metadata.name in ['w', 'x']) || has(self.spec.mode)",
    "begins": "!self.metadata.name.startsWith('x-') || has(self.spec.mode)",
    "every other": "self.metadata.name == 'x' || has(self.spec.mode)",
    "one only": "self.metadata.name == 'x'",
}


@pytest.mark.parametrize("rule", _NAMED.values(), ids=_NAMED)
@pytest.mark.parametrize("direction", ["rollback", "upgrade"])
def test_a_rule_about_one_name(tmp_path: Path, rule: str, direction: str) -> None:
    plain = {**root(spec=obj(mode=string())), "required": ["spec"]}
    sides = (ruled(plain, rule), plain) if direction == "rollback" else (plain, ruled(plain, rule))
    finding = only(compare(tmp_path, *sides))
    assert brief(finding)[:3] == (direction, "warning", f"cel-rule-{'removed' if direction == 'rollback' else 'added'}")
    assert finding["witness"]["errors"] == [f'<nil>: Invalid value: "object": failed rule: {rule}']


def test_a_name_that_the_schema_allows(tmp_path: Path) -> None:
    """A singleton by its schema: the rule about another name holds for every object."""
    named = root(spec=obj(mode=string()))
    named["properties"]["metadata"]["properties"] = {"name": string(pattern="^cluster$")}
    rule = "self.metadata.name == 'x' ? has(self.spec.mode) : true"
    assert compare(tmp_path, named, ruled(named, rule))["findings"] == []
    finding = only(compare(tmp_path, named, ruled(named, "self.metadata.name == 'cluster' ? has(self.spec) : true")))
    assert finding["witness"]["object"]["metadata"]["name"] == "cluster"


@pytest.mark.parametrize(
    "place",
    [
        pytest.param(obj(country=string(), city=string()), id="a member"),
        pytest.param(array(obj(country=string(), city=string()), minItems=1), id="the items of a member"),
    ],
)
def test_a_new_alternative_with_rules_of_its_own(tmp_path: Path, place: Json) -> None:
    """envoyproxy/gateway: a principal may have locations instead of networks; each needs a country or a city.

    OLD's server prunes the new alternative, and then none is left.
    """
    rules = ["has(self.networks) || has(self.token)", "has(self.networks) || has(self.token) || has(self.places)"]
    known = {"networks": array(string(), minItems=1), "token": obj(a=string())}
    part = place.get("items", place)
    part[RULES] = [{"rule": "has(self.country) || has(self.city)"}]
    sides = [
        root(spec=obj(v=ruled(obj(**known, **more), rule)))
        for more, rule in zip(({}, {"places": place}), rules, strict=True)
    ]
    finding = only(compare(tmp_path, *sides), rule="cel-rule-changed")
    assert finding["witness"]["errors"] == [f'spec.v: Invalid value: "object": failed rule: {rules[0]}']
    assert finding["witness"]["object"]["spec"]["v"].keys() == {"places"}
