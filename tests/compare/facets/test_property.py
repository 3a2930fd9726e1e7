"""Fields that only one release knows: one finding for the topmost, what is lost, what is set by default."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Json, array, both, brief, crd, diff, obj, only, prove, root, select, string


def compare(tmp_path: Path, old: Json, new: Json) -> Json:
    report = diff(*both(tmp_path, old, new))
    for finding in report["findings"]:
        if finding["witness"]["object"] is not None:
            prove(finding, crd(old), crd(new))
    return report


PLAIN = root(spec=obj(a=string()), status=obj(a=string()))


@pytest.mark.parametrize("owner", ["spec", "status"])
def test_a_new_field_is_lost_by_a_rollback(tmp_path: Path, owner: str) -> None:
    new = root(spec=obj(a=string()), status=obj(a=string()))
    new["properties"][owner]["properties"]["zone"] = string()
    finding = only(compare(tmp_path, PLAIN, new))
    assert brief(finding) == ("rollback", "info", "property-added", "widgets.example.com", f"{owner}.zone")
    assert (finding["effect"], finding["owner"], finding["added"]) == ("value-pruned", owner, ["zone"])
    assert finding["witness"]["pruned"] == [f"{owner}.zone"]
    assert finding["witness"]["errors"] == []


def test_a_removed_field_is_lost_by_an_upgrade(tmp_path: Path) -> None:
    old = root(spec=obj(a=string(), zone=string()), status=obj(a=string()))
    finding = only(compare(tmp_path, old, PLAIN))
    assert brief(finding) == ("upgrade", "warning", "property-removed", "widgets.example.com", "spec.zone")
    assert (finding["effect"], finding["removed"]) == ("value-pruned", ["zone"])


def test_one_finding_for_the_topmost_new_field(tmp_path: Path) -> None:
    tree = obj(list=array(obj(kind=string("A", "B"), deep=obj(x=string()))), size={"type": "integer", "minimum": 1})
    new = root(spec=obj(a=string(), tree=tree), status=obj(a=string()))
    finding = only(compare(tmp_path, PLAIN, new))
    assert (finding["path"], finding["added"]) == ("spec.tree", ["tree"])


def test_a_removed_field_with_an_enum_is_one_finding(tmp_path: Path) -> None:
    old = root(spec=obj(a=string(), mode={**obj(x=string("A")), "required": ["x"]}), status=obj(a=string()))
    finding = only(compare(tmp_path, old, PLAIN))
    assert (finding["rule"], finding["path"]) == ("property-removed", "spec.mode")


def test_a_new_field_with_a_default_appears_on_upgrade(tmp_path: Path) -> None:
    new = root(spec=obj(a=string(), zone=string(default="x")), status=obj(a=string()))
    report = compare(tmp_path, PLAIN, new)
    assert [(*brief(f), f["effect"]) for f in report["findings"]] == [
        ("rollback", "info", "property-added", "widgets.example.com", "spec.zone", "value-pruned"),
        ("upgrade", "info", "property-added", "widgets.example.com", "spec.zone", "value-defaulted"),
    ]
    assert only(report, direction="upgrade")["witness"]["defaulted"] == ["spec.zone"]


def test_a_removed_field_with_a_default_comes_back_on_rollback(tmp_path: Path) -> None:
    old = root(spec=obj(a=string(), zone=string(default="x")), status=obj(a=string()))
    report = compare(tmp_path, old, PLAIN)
    assert [(f["direction"], f["effect"]) for f in report["findings"]] == [
        ("rollback", "value-defaulted"),
        ("upgrade", "value-pruned"),
    ]


@pytest.mark.parametrize(
    ("path", "wrap"),
    [
        ("spec.l[*].new", lambda item: obj(l=array(item))),
        ("spec.m.*.new", lambda item: obj(m={"type": "object", "additionalProperties": item})),
        ("spec.a.b.new", lambda item: obj(a=obj(b=item))),
    ],
)
def test_below_lists_and_maps(tmp_path: Path, path: str, wrap: object) -> None:
    assert callable(wrap)
    old, new = root(spec=wrap(obj(x=string()))), root(spec=wrap(obj(x=string(), new=string())))
    assert only(compare(tmp_path, old, new))["path"] == path


def test_outside_spec_and_status(tmp_path: Path) -> None:
    finding = only(compare(tmp_path, root(packages=array(string())), root(packages=array(string()), more=string())))
    assert (finding["path"], finding["owner"]) == ("more", "other")


def test_a_new_status_is_lost(tmp_path: Path) -> None:
    finding = only(compare(tmp_path, root(spec=obj(a=string())), PLAIN))
    assert (finding["path"], finding["owner"], finding["severity"]) == ("status", "status", "info")


@pytest.mark.parametrize("keyword", ["here", "above"])
def test_what_keeps_unknown_fields_loses_none(tmp_path: Path, keyword: str) -> None:
    keep = {"x-kubernetes-preserve-unknown-fields": True}
    inner = {**obj(x=string()), **(keep if keyword == "here" else {})}
    outer = {**obj(o=inner), **(keep if keyword == "above" else {})}
    more = {**obj(x=string(), new=string()), **(keep if keyword == "here" else {})}
    wider = {**obj(o=more), **(keep if keyword == "above" else {})}
    report = compare(tmp_path, root(spec=outer), root(spec=wider))
    # Preserving reaches down only to what the schema does not describe: below `o` pruning goes on.
    expected = [] if keyword == "here" else ["spec.o.new"]
    assert [f["path"] for f in select(report, effect="value-pruned")] == expected


def test_items_of_a_list_that_keeps_unknown_fields_lose_none(tmp_path: Path) -> None:
    """The keyword beside ``items`` counts for the items; a member that stays declared is pruned inside."""
    item = obj(a=string(), zone=string(), deep=obj(x=string(), y=string()))
    old = root(spec=obj(list=array(array(item))))
    kept = {**array(array(obj(deep=obj(x=string())))), "x-kubernetes-preserve-unknown-fields": True}
    report = compare(tmp_path, old, root(spec=obj(list=kept)))
    upgrade = [(each["rule"], each["path"]) for each in report["findings"] if each["direction"] == "upgrade"]
    assert upgrade == [("property-removed", "spec.list[*][*].deep.y")]


def test_metadata_is_never_pruned(tmp_path: Path) -> None:
    names = obj(name=string(), generateName=string())
    bare = {"type": "object"}
    old, new = (
        root(
            spec=obj(
                metadata=obj(name=string(), **own),
                template={**obj(metadata=of_template), "x-kubernetes-embedded-resource": True},
            )
        )
        for own, of_template in (({"own": string()}, names), ({}, bare))
    )
    old["properties"]["metadata"] = names
    assert only(compare(tmp_path, old, new))["path"] == "spec.metadata.own"


def test_a_crd_that_prunes_nothing_loses_nothing(tmp_path: Path) -> None:
    old, new = (crd(schema) for schema in (PLAIN, root(spec=obj(a=string(), b=string()), status=obj(a=string()))))
    for definition in (old, new):
        definition["apiVersion"] = "apiextensions.k8s.io/v1beta1"
        definition["spec"]["preserveUnknownFields"] = True
    assert diff(*both(tmp_path, old, new))["findings"] == []


def test_preserved_in_new_typed_in_old(tmp_path: Path) -> None:
    """The old schema declares what the new one keeps as it comes: nothing is a new field."""
    keep = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    report = diff(*both(tmp_path, root(spec=obj(o=obj(x=string()))), root(spec=obj(o=keep))))
    assert not select(report, rule="property-added")
    assert report["undecided"] or report["findings"]


def test_the_trap_of_values_that_only_a_rule_describes(tmp_path: Path) -> None:
    """A new field whose rule none of the plainest texts satisfies is lost like any other."""
    rules = {"x-kubernetes-validations": [{"rule": "self.matches('^([0-9]+(\\\\.[0-9]+)?(ms|s|m))+$')"}]}
    new = root(spec=obj(a=string(), timeout=string(minLength=1, maxLength=16, **rules)), status=obj(a=string()))
    finding = only(diff(*both(tmp_path, PLAIN, new)))
    assert (finding["direction"], finding["path"], finding["effect"]) == ("rollback", "spec.timeout", "value-pruned")


def test_required_new_field(tmp_path: Path) -> None:
    """Lost on rollback. That OLD's objects lack it is a finding of its own."""
    new = root(spec={**obj(a=string(), zone=string()), "required": ["zone"]}, status=obj(a=string()))
    report = diff(*both(tmp_path, PLAIN, new))
    assert only(report, rule="property-added", direction="rollback")["effect"] == "value-pruned"
    reported = [(entry["keyword"], entry["path"]) for entry in report["undecided"]]
    assert reported == [("required", "spec")] or [f for f in report["findings"] if f["rule"].startswith("required")]


def test_renamed_field_is_lost_both_ways(tmp_path: Path) -> None:
    old, new = root(spec=obj(oldName=string())), root(spec=obj(newName=string()))
    report = compare(tmp_path, old, new)
    assert [(f["direction"], f["path"]) for f in report["findings"]] == [
        ("rollback", "spec.newName"),
        ("upgrade", "spec.oldName"),
    ]


def test_a_member_of_a_union_branch_declares_no_field(tmp_path: Path) -> None:
    branch = {"oneOf": [{"properties": {"a": {"minLength": 1}}}]}
    wider = {"oneOf": [{"properties": {"a": {"minLength": 1}, "b": {"minLength": 1}}}]}
    spec = obj(a=string(), b=string())
    report = diff(*both(tmp_path, root(spec={**spec, **branch}), root(spec={**spec, **wider})))
    (finding,) = report["findings"]
    assert (finding["rule"], finding["direction"], finding["path"]) == ("junctor-changed", "upgrade", "spec")
    assert finding["witness"]["object"]["spec"] == {"b": ""}


def test_a_bound_at_the_edge_of_int64(tmp_path: Path) -> None:
    """What is just outside is a float64 to the server: no number that a report could not show."""
    edge = -(2**63)
    old, new = (crd(root(spec=obj(), status=obj(a={"type": "integer", **more}))) for more in ({"minimum": edge}, {}))
    (finding,) = diff(*both(tmp_path, old, new))["findings"]
    assert (finding["rule"], finding["direction"]) == ("bounds-loosened", "rollback")


def test_what_every_resource_has_is_never_lost(tmp_path: Path) -> None:
    """A server keeps apiVersion, kind and metadata of a resource, and of an embedded one, without a schema."""
    kept = {"apiVersion": string(), "kind": string(), "metadata": obj()}
    embedded = {**obj(a=string()), "x-kubernetes-embedded-resource": True}
    plain = obj(spec=obj(template=embedded, plain=obj(a=string())))
    declared = obj(
        **kept,
        spec=obj(
            template={**embedded, "properties": {**embedded["properties"], **kept}},
            plain=obj(a=string(), kind=string()),
        ),
    )
    for old, new, way in ((plain, declared, "rollback"), (declared, plain, "upgrade")):
        finding = only(compare(tmp_path, old, new))
        assert (finding["direction"], finding["path"]) == (way, "spec.plain.kind")
