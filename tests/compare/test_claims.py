"""A witness proves the claim of its own finding: the error of the change first, in a plausible object."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from helpers import Json, array, both, crd, diff, obj, only, prove, root, string


def compare(tmp_path: Path, old: Json, new: Json) -> Json:
    """The report on two schemas of spec.v, with every finding's witness proved."""
    sides = [root(spec=obj(v=side)) for side in (old, new)]
    report = diff(*both(tmp_path, *sides))
    for finding in report["findings"]:
        prove(finding, *map(crd, sides))
    return report


def needs(node: Json, *names: str) -> Json:
    return {**node, "required": list(names)}


def shown(report: Json, rule: str) -> tuple[Any, list[str]]:
    """The value of spec.v in the witness of the rule's only finding, and the errors."""
    witness = only(report, rule=rule)["witness"]
    return witness["object"]["spec"]["v"], witness["errors"]


def test_duplicates_are_shown_by_items_that_are_valid_otherwise(tmp_path: Path) -> None:
    """openshift/api 4.15 -> 4.16: lists get keys and their items required members at once."""
    item = obj(type=string(), since=string(format="date-time"), status=string("True", "False"))
    keyed = array(needs(item, "since", "status", "type"))
    keyed |= {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]}
    value, errors = shown(compare(tmp_path, array(item), keyed), "list-type-tightened")
    assert errors == ['spec.v[1]: Duplicate value: map[string]interface {}{"type":"a"}']
    assert [sorted(each) for each in value] == [["since", "status", "type"]] * 2


def test_several_changes_of_a_string_show_one_error_each(tmp_path: Path) -> None:
    report = compare(tmp_path, string(), string(minLength=2, maxLength=4, pattern="^[a-z]+$"))
    texts = {f["rule"]: f["witness"]["errors"] for f in report["findings"]}
    assert texts == {
        "length-tightened": ['spec.v: Invalid value: "a": spec.v in body should be at least 2 chars long'],
        "pattern-narrowed": ["spec.v: Invalid value: \"a1\": spec.v in body should match '^[a-z]+$'"],
    }


def test_what_only_its_length_rejects_is_no_matter_of_the_pattern(tmp_path: Path) -> None:
    """Any string that the new pattern rejects is too long as well, and the server checks the length first."""
    report = compare(tmp_path, string(), string(maxLength=3, pattern="(?s)^.{0,3}$"))
    assert [f["rule"] for f in report["findings"]] == ["length-tightened"]


def test_members_beside_the_change_satisfy_both_sides(tmp_path: Path) -> None:
    old = needs(obj(kind=string(), size={"type": "integer"}, a=string()), "kind")
    new = needs(obj(kind=string("B"), size={"type": "integer", "minimum": 3}, a=string("x")), "a", "size", "kind")
    report = compare(tmp_path, old, new)
    assert shown(report, "bounds-tightened") == (
        {"a": "x", "kind": "B", "size": 2},
        ["spec.v.size: Invalid value: 2: spec.v.size in body should be greater than or equal to 3"],
    )
    assert {(f["rule"], f["path"], len(f["witness"]["errors"])) for f in report["findings"]} == {
        ("bounds-tightened", "spec.v.size", 1),
        ("enum-introduced", "spec.v.a", 1),
        ("enum-introduced", "spec.v.kind", 1),
        ("required-added", "spec.v.a", 1),
        ("required-added", "spec.v.size", 1),
    }


def test_a_lost_value_is_shown_in_an_object_that_is_accepted(tmp_path: Path) -> None:
    old = {**obj(a=string(), b=string()), "minProperties": 1}
    new = {**obj(a=string(), b=string(), c=string()), "minProperties": 1}
    finding = only(compare(tmp_path, old, new), rule="property-added")
    assert (finding["effect"], finding["severity"], finding["witness"]["errors"]) == ("value-pruned", "info", [])
    assert finding["witness"]["object"]["spec"]["v"] == {"c": "a", "a": "a"}


def test_exactly_one_member(tmp_path: Path) -> None:
    """external-secrets: spec.provider holds exactly one of many members."""
    one = {"minProperties": 1, "maxProperties": 1}
    old = {**obj(a=obj(x=string()), b=obj(x=string())), **one}
    new = {**obj(a=obj(x=string()), b=obj(x=string(), y=string())), **one}
    assert shown(compare(tmp_path, old, new), "property-added") == ({"b": {"y": "a"}}, [])


def test_values_are_plausible(tmp_path: Path) -> None:
    condition = obj(
        type={"type": "string", "description": "type of condition in CamelCase"},
        status=string(),
        reason=string(),
        namespace=string(),
        image=string(),
        nodeCIDR=string(),
        mode={"type": "string", "description": 'mode is one of "Fast" or "Slow".'},
        port={"type": "integer"},
        lastSeen=string(format="date-time"),
    )
    names = sorted(condition["properties"])
    old, new = (array(needs({**condition, "properties": {**condition["properties"], **more}}, *names))
                for more in ({}, {"new": string()}))  # fmt: skip
    value, errors = shown(compare(tmp_path, old, new), "property-added")
    assert (value, errors) == (
        [
            {
                "type": "Ready",
                "status": "True",
                "reason": "AsExpected",
                "namespace": "default",
                "image": "example.com/image:v1",
                "nodeCIDR": "10.0.0.0/16",
                "mode": "Fast",
                "port": 443,
                "lastSeen": "2006-01-02T15:04:05Z",
                "new": "a",
            }
        ],
        [],
    )
