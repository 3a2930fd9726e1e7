"""Lists of several items as examples: the list's own rules and those of its items accept them."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Json, array, both, crd, diff, obj, prove, root, string

_RULES = "x-kubernetes-validations"


def ruled(schema: Json, *rules: str) -> Json:
    return {**schema, _RULES: [{"rule": rule} for rule in rules]}


def required(schema: Json, *names: str) -> Json:
    return {**schema, "required": list(names)}


_IDENTIFIER = ruled(
    required(obj(type=string("uuid", "name"), uuid=string(maxLength=9), name=string(maxLength=9)), "type"),
    "self.type == 'uuid' ? has(self.uuid) : !has(self.uuid)",
    "self.type == 'name' ? has(self.name) : !has(self.name)",
)
_UNLIKE = "self.all(x, self.exists_one(y, x == y))"
_REQUIREMENT = required(
    obj(key=string(maxLength=9), operator=string("In", "Exists"), values=array(string(maxLength=9), maxItems=9)),
    *("key", "operator"),
)
_WITH_VALUES = "self.all(x, x.operator == 'In' ? has(x.values) && x.values.size() > 0 : true)"
_TERM = obj(tags=obj(a=string()), id=string(maxLength=9))
_ONE_OF_TWO = ("self.all(x, has(x.tags) || has(x.id))", "!self.exists(x, has(x.tags) && has(x.id))")
_KEYED = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]}

#: The items, their list type, the rules of the list, and the keywords and rules that only OLD has.
_CASES: dict[str, tuple[Json, Json, tuple[str, ...], Json, tuple[str, ...]]] = {
    "items with rules": (_IDENTIFIER, {}, (), {"maxItems": 1}, ()),
    "unlike items with rules (nutanix)": (_IDENTIFIER, {}, (_UNLIKE,), {"maxItems": 1}, ()),
    "a set of items with rules": (_IDENTIFIER, {"x-kubernetes-list-type": "set"}, (), {"maxItems": 2}, ()),
    "equal items with rules": (_IDENTIFIER, {}, (), {"maxItems": 8}, (_UNLIKE,)),
    "a rule of the list on each item (karpenter)": (_REQUIREMENT, {}, (_WITH_VALUES,), {"maxItems": 3}, ()),
    "a union by rules of the list": (_TERM, {}, _ONE_OF_TWO, {"maxItems": 2}, ()),
    "as many items as a rule counts": (
        *(_REQUIREMENT, {}, (_WITH_VALUES,), {"maxItems": 8}),
        ("self.filter(x, x.operator == 'In').size() <= 2",),
    ),
}


@pytest.mark.parametrize(("items", "kind", "rules", "limits", "dropped"), _CASES.values(), ids=_CASES)
def test_a_list_that_only_new_accepts(
    tmp_path: Path, items: Json, kind: Json, rules: tuple[str, ...], limits: Json, dropped: tuple[str, ...]
) -> None:
    old = root(spec=obj(l=ruled(array(items, **kind, **limits), *rules, *dropped)))
    new = root(spec=obj(l=ruled(array(items, **kind, maxItems=8), *rules)))
    (finding,) = diff(*both(tmp_path, old, new))["findings"]
    assert finding["path"] == "spec.l"
    prove(finding, crd(old), crd(new))
    rejected = [error for error in finding["witness"]["errors"] if not error.startswith("<nil>")]
    assert len(rejected) == 1, rejected  # nothing but the change


def test_plain_items_of_which_a_rule_refuses_a_late_one(tmp_path: Path) -> None:
    """The hosts of Gateway API's TLSRoute, which are no IP addresses."""
    host = string(pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", maxLength=253, minLength=1)
    old, new = (
        root(spec=obj(l=ruled(array(host, maxItems=most, minItems=1), "self.all(x, !isIP(x))"))) for most in (16, 64)
    )
    (finding,) = diff(*both(tmp_path, old, new))["findings"]
    prove(finding, crd(old), crd(new))
    assert len(finding["witness"]["object"]["spec"]["l"]) == 17


def test_a_key_that_asks_for_other_members(tmp_path: Path) -> None:
    old, new = (root(spec=obj(l=array(_IDENTIFIER, **_KEYED, maxItems=most))) for most in (1, 2))
    (finding,) = diff(*both(tmp_path, old, new))["findings"]
    prove(finding, crd(old), crd(new))
    assert [item.keys() for item in finding["witness"]["object"]["spec"]["l"]] == [{"type", "uuid"}, {"type", "name"}]


def test_a_negative_number_of_keyed_items(tmp_path: Path) -> None:
    old, new = (root(spec=obj(l=array(_IDENTIFIER, **_KEYED, **limits))) for limits in ({}, {"maxItems": -9}))
    (finding,) = diff(*both(tmp_path, old, new))["findings"]
    assert (finding["rule"], finding["direction"]) == ("item-count-tightened", "upgrade")
    assert finding["witness"]["object"]["spec"] == {"l": []}
