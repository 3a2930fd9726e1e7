"""Schemas that would need huge examples, or have values that no number or pattern of ours can be."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Json, array, both, brief, crd, diff, obj, remarks, root, schema_of, string

from crdcompat.candidates.sample import sample
from crdcompat.schema.structural import ABSENT, MAX_SIZE, Node

BUILT = f"no example object was built: it would have {MAX_SIZE:,} members or more"


def _lists(count: int, depth: int) -> Json:
    schema: Json = string()
    for _ in range(depth):
        schema = array(schema, minItems=count)
    return schema


def _members(depth: int, **minimum: object) -> Json:
    schema: Json = string()
    for _ in range(depth):
        schema = obj(a=schema, b=schema) | minimum
    return schema


def _maps(count: int, depth: int) -> Json:
    schema: Json = string()
    for _ in range(depth):
        schema = {"type": "object", "minProperties": count, "additionalProperties": schema}
    return schema


LARGE = {
    "lists": _lists(1_900, 2),
    "lists of lists": _lists(1_900, 3),
    "deep lists": _lists(2, 20),
    "maps": _maps(1_900, 2),
    "deep maps": _maps(2, 20),
    "required members": _members(15, required=["a", "b"]),
}


@pytest.mark.parametrize("name", LARGE)
def test_no_huge_example_is_built(tmp_path: Path, name: str) -> None:
    assert sample(Node(LARGE[name])) is ABSENT

    def made(*phases: str) -> Json:
        spec = obj(l=LARGE[name]) | {"required": ["l"]}
        return crd(root(spec=spec, status=obj(p=string(*phases))) | {"required": ["spec"]})

    report = diff(*both(tmp_path, made("A"), made("A", "B")))
    (finding,) = report["findings"]
    assert brief(finding) == ("rollback", "warning", "enum-value-added", "widgets.example.com", "status.p")
    assert finding["witness"]["reason"] == BUILT


def test_examples_up_to_the_limit_are_built(tmp_path: Path) -> None:
    assert len(sample(Node(_lists(100, 2)))) == 100
    old, new = (crd(root(spec=obj(l=_lists(count, 2)))) for count in (100, 101))
    rejected = [each for each in diff(*both(tmp_path, old, new))["findings"] if each["effect"] == "write-rejected"]
    assert {(each["direction"], each["path"]) for each in rejected} == {("upgrade", "spec.l"), ("upgrade", "spec.l[*]")}
    assert all(each["witness"]["object"] for each in rejected)


def test_a_minimum_that_grows_beyond_the_limit(tmp_path: Path) -> None:
    report = diff(*both(tmp_path, *(crd(root(spec=obj(l=_lists(count, 2)))) for count in (1_900, 1_901))))
    found = report["findings"]
    assert {(each["path"], each["severity"]) for each in found} == {("spec.l", "warning"), ("spec.l[*]", "warning")}
    assert all(each["witness"]["object"] is None and each["witness"]["reason"] for each in found)


@pytest.mark.parametrize("keyword", ["maxItems", "maxProperties"])
def test_limits_of_thousands_have_an_example(tmp_path: Path, keyword: str) -> None:
    value = array(string()) if keyword == "maxItems" else {"type": "object", "additionalProperties": string()}
    report = diff(*both(tmp_path, *(crd(root(spec=obj(l=value | more))) for more in ({}, {keyword: 4_096}))))
    (finding,) = report["findings"]
    assert (finding["direction"], finding["severity"], finding["path"]) == ("upgrade", "warning", "spec.l")
    assert len(finding["witness"]["object"]["spec"]["l"]) == 4_097


def test_a_minimum_that_no_text_reaches(tmp_path: Path) -> None:
    old, new = (crd(root(spec=obj(a={"type": "string", "minLength": least}))) for least in (10**18, 10**18 - 1))
    (finding,) = diff(*both(tmp_path, old, new))["findings"]
    assert brief(finding) == ("rollback", "warning", "length-loosened", "widgets.example.com", "spec.a")
    assert finding["witness"]["object"] is None


@pytest.mark.parametrize("kind", ["number", "integer"])
def test_a_factor_at_the_end_of_the_numbers(tmp_path: Path, kind: str) -> None:
    old, new = (crd(root(spec=obj(a={"type": kind, "multipleOf": factor}))) for factor in (1e308, 3.0))
    found = {(each["direction"], each["rule"]) for each in diff(*both(tmp_path, old, new))["findings"]}
    assert ("rollback", "multiple-of-changed") in found


def test_an_enum_beside_a_pattern_that_no_server_reads(tmp_path: Path) -> None:
    """Go's expressions have no look-ahead: a server refuses such a CRD, but it may be installed from v1beta1 times."""
    old, new = (crd(root(status=obj(p=string(*members, pattern="^(?!x).*$")))) for members in ("A", ["A", "B"]))
    report = diff(*both(tmp_path, old, new))
    assert [each["rule"] for each in report["findings"]] == ["enum-value-added"]
    ((*_, side, said),) = remarks(report)
    assert (side, "status].properties[p].pattern: Invalid value" in said) == ("new", True)


def test_a_root_whose_type_fields_are_no_strings(tmp_path: Path) -> None:
    """A server refuses this CRD, and its enum is compared all the same."""
    old, new = (crd(root(status=obj(p=string(*members)))) for members in ("A", ["A", "B"]))
    for side in (old, new):
        odd = {"apiVersion": {}, "metadata": {"anyOf": [{"required": ["name"]}]}}
        schema_of(side, "v1")["properties"].update(odd)
    report = diff(*both(tmp_path, old, new))
    assert [each["rule"] for each in report["findings"]] == ["enum-value-added"]
    assert {side for *_, side, _ in remarks(report)} == {"new"}
