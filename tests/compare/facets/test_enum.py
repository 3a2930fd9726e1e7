"""Enums wherever they can stand: what is found, in which direction, how bad, and with which witness."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from helpers import Json, array, both, brief, crd, diff, obj, only, plain_errors, prove, root, select, string

from crdcompat import judge
from crdcompat.apiserver.field_errors import FieldError
from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.server_versions import NEWEST_SERVER
from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Reaction
from crdcompat.compare.facets.enum import FACET

OLD, NEW = ["A", "B"], ["A", "B", "C"]


def at(path: str, node: Json) -> Json:
    """A root schema with ``node`` at a path such as ``status.l[*].m.*``."""
    here = node
    for step in reversed(path.replace("[*]", ".[*]").split(".")):
        if step == "[*]":
            here = array(here)
        elif step == "*":
            here = {"type": "object", "additionalProperties": here}
        else:
            here = obj(**{step: here})
    if path.startswith("metadata."):
        here["properties"]["metadata"]["type"] = "object"
        return obj(apiVersion=string(), kind=string(), spec=obj(), **here["properties"])
    return root(**here["properties"])


def compare(tmp_path: Path, old: Json, new: Json, *args: str) -> Json:
    """The report on two root schemas, every witness of it proved."""
    report = diff(*both(tmp_path, old, new), *args)
    for finding in report["findings"]:
        if finding["witness"]["object"] is not None:
            prove(finding, crd(old), crd(new))
    return report


def enum(*members: Any, **more: Any) -> Json:
    return {"type": "string", "enum": list(members), **more}


PLACES = {
    "status.phase": ("status", "error"),
    "status.a.b.c": ("status", "error"),
    "status.list[*]": ("status", "error"),
    "status.list[*].name": ("status", "error"),
    "status.list[*][*]": ("status", "error"),
    "status.map.*": ("status", "error"),
    "status.map.*.name": ("status", "error"),
    "status.list[*].map.*": ("status", "error"),
    "spec.phase": ("spec", "warning"),
    "spec.list[*]": ("spec", "warning"),
    "spec.disks.*.driver": ("spec", "warning"),
    "spec.disks.*[*]": ("spec", "warning"),
    "metadata.name": ("metadata", "warning"),
    "packages[*].kind": ("other", "warning"),
    "range": ("other", "warning"),
}


@pytest.mark.parametrize("path", PLACES)
def test_value_added(tmp_path: Path, path: str) -> None:
    values = (["a", "b"], ["a", "b", "c"]) if path == "metadata.name" else (OLD, NEW)
    old, new = (at(path, enum(*members)) for members in values)
    report = compare(tmp_path, old, new)
    (finding,) = report["findings"]
    owner, severity = PLACES[path]
    assert brief(finding) == ("rollback", severity, "enum-value-added", "widgets.example.com", path)
    assert (finding["owner"], finding["effect"]) == (owner, "write-rejected")
    assert finding["added"] == values[1][2:]
    assert (finding["old"], finding["new"], finding["removed"]) == (*values, [])
    assert finding["windows"] == {"old_crd_new_writer": "write-rejected", "new_crd_old_writer": "none"}
    assert len(finding["witness"]["errors"]) == 1
    assert finding["contexts"] == ["default"]
    assert finding["change"] == "enum.value-added"


@pytest.mark.parametrize("path", PLACES)
def test_value_removed(tmp_path: Path, path: str) -> None:
    values = (["a", "b", "c"], ["a", "b"]) if path == "metadata.name" else (NEW, OLD)
    report = compare(tmp_path, *(at(path, enum(*members)) for members in values))
    (finding,) = report["findings"]
    assert brief(finding) == ("upgrade", PLACES[path][1], "enum-value-removed", "widgets.example.com", path)
    assert (finding["added"], finding["removed"]) == ([], values[0][2:])
    assert finding["witness"]["object"] is not None


@pytest.mark.parametrize("path", [path for path in PLACES if path != "metadata.name"])
def test_enum_introduced(tmp_path: Path, path: str) -> None:
    report = compare(tmp_path, at(path, string()), at(path, enum(*OLD)))
    (finding,) = report["findings"]
    assert brief(finding) == ("upgrade", "warning", "enum-introduced", "widgets.example.com", path)
    assert (finding["old"], finding["new"], finding["added"], finding["removed"]) == (None, OLD, [], [])
    assert finding["witness"]["object"] is not None


@pytest.mark.parametrize("path", [path for path in PLACES if path != "metadata.name"])
def test_enum_dropped(tmp_path: Path, path: str) -> None:
    report = compare(tmp_path, at(path, enum(*OLD)), at(path, string()))
    (finding,) = report["findings"]
    # Nothing names a value outside the old enum.
    assert brief(finding) == ("rollback", "warning", "enum-dropped", "widgets.example.com", path)
    assert (finding["old"], finding["new"], finding["added"], finding["removed"]) == (OLD, None, [], [])
    assert finding["witness"]["object"] is not None


def test_metadata_name_enum_introduced_and_dropped(tmp_path: Path) -> None:
    free, closed = at("metadata.name", string()), at("metadata.name", enum("a", "b"))
    assert brief(only(compare(tmp_path, free, closed)))[:3] == ("upgrade", "warning", "enum-introduced")
    assert brief(only(compare(tmp_path, closed, free)))[:3] == ("rollback", "warning", "enum-dropped")


def test_added_and_removed_at_once_are_two_findings(tmp_path: Path) -> None:
    report = compare(tmp_path, at("status.p", enum("A", "foo")), at("status.p", enum("A", "Foo")))
    assert [(brief(f)[:3], f["added"], f["removed"]) for f in report["findings"]] == [
        (("rollback", "error", "enum-value-added"), ["Foo"], []),
        (("upgrade", "error", "enum-value-removed"), [], ["foo"]),
    ]


@pytest.mark.parametrize(
    ("old", "new", "added"),
    [
        ({"type": "integer", "enum": [3]}, {"type": "integer", "enum": [3, 5]}, [5]),
        ({"type": "integer", "enum": [4, 6]}, {"type": "integer", "enum": [6, 4, 0]}, [0]),
        ({"type": "boolean", "enum": [True]}, {"type": "boolean", "enum": [True, False]}, [False]),
        ({"type": "number", "enum": [1.5]}, {"type": "number", "enum": [1.5, 2.5]}, [2.5]),
        (enum("Debug"), enum("Debug", ""), [""]),
        (enum("true"), enum("true", "false"), ["false"]),
        (
            {"x-kubernetes-int-or-string": True, "enum": ["80"]},
            {"x-kubernetes-int-or-string": True, "enum": ["80", 81]},
            [81],
        ),
        (
            {"type": "object", "properties": {"a": string()}, "enum": [{"a": "x"}]},
            {"type": "object", "properties": {"a": string()}, "enum": [{"a": "x"}, {"a": "z"}]},
            [{"a": "z"}],
        ),
        (array(string(), enum=[["a"]]), array(string(), enum=[["a"], ["b"]]), [["b"]]),
    ],
    ids=["integer", "zero", "boolean", "number", "empty", "quoted", "int-or-string", "object", "list"],
)
def test_members_of_every_type(tmp_path: Path, old: Json, new: Json, added: list[Any]) -> None:
    report = compare(tmp_path, at("status.v", old), at("status.v", new))
    (finding,) = report["findings"]
    assert brief(finding)[:3] == ("rollback", "error", "enum-value-added")
    assert finding["added"] == added
    assert [type(value) for value in finding["added"]] == [type(value) for value in added]
    assert finding["witness"]["object"]["status"]["v"] == added[0]


def test_null_as_a_member_changes_nothing(tmp_path: Path) -> None:
    """A null never matches an enum, not even one that lists it, and is dropped where it is not allowed."""
    for nullable in (False, True):
        old = at("status.v", {**enum("A"), "nullable": nullable})
        new = at("status.v", {**enum("A", None), "nullable": nullable})
        report = diff(*both(tmp_path / str(nullable), old, new))
        assert report["findings"] == []


@pytest.mark.parametrize("nullable", [False, True])
def test_a_nullable_field_still_has_its_enum_findings(tmp_path: Path, nullable: bool) -> None:
    report = compare(
        tmp_path, at("status.v", enum(*OLD, nullable=nullable)), at("status.v", enum(*NEW, nullable=nullable))
    )
    assert only(report)["added"] == ["C"]


def test_order_and_repetition_are_no_change(tmp_path: Path) -> None:
    report = compare(tmp_path, at("status.v", enum("A", "B")), at("status.v", enum("B", "A", "A")))
    assert report["findings"] == report["undecided"] == []


@pytest.mark.parametrize(("old", "new"), [(1, True), (True, 1), ("1", 1), (0, False)])
def test_values_that_python_takes_for_equal(tmp_path: Path, old: Any, new: Any) -> None:
    kept = {"x-kubernetes-preserve-unknown-fields": True}
    report = compare(
        tmp_path, at("status.v", {**kept, "enum": ["x", old]}), at("status.v", {**kept, "enum": ["x", new]})
    )
    added = only(report, direction="rollback")["added"]
    removed = only(report, direction="upgrade")["removed"]
    assert [(type(v), v) for v in added + removed] == [(type(new), new), (type(old), old)]


# -- junctors ---------------------------------------------

OPEN = {"type": "string"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"allOf": [{"enum": OLD}]}, {"allOf": [{"enum": NEW}]}),
        ({"anyOf": [{"enum": OLD}]}, {"anyOf": [{"enum": NEW}]}),
        ({"oneOf": [{"enum": OLD}]}, {"oneOf": [{"enum": NEW}]}),
        ({"anyOf": [{"enum": ["A"]}, {"enum": ["B"]}]}, {"anyOf": [{"enum": ["A"]}, {"enum": ["B", "C"]}]}),
        ({"oneOf": [{"enum": ["A"]}, {"enum": ["B"]}]}, {"oneOf": [{"enum": ["A", "C"]}, {"enum": ["B"]}]}),
        (
            {"enum": OLD, "allOf": [{"enum": NEW}]},
            {"enum": NEW, "allOf": [{"enum": NEW}]},
        ),
        (
            {"allOf": [{"enum": [*NEW, "D"]}, {"enum": OLD}]},
            {"allOf": [{"enum": [*NEW, "E"]}, {"enum": NEW}]},
        ),
        ({"allOf": [{"anyOf": [{"enum": OLD}]}]}, {"allOf": [{"anyOf": [{"enum": NEW}]}]}),
    ],
    ids=["allOf", "anyOf", "oneOf", "anyOf-two", "oneOf-two", "beside", "intersection", "nested"],
)
def test_enums_of_junctors(tmp_path: Path, old: Json, new: Json) -> None:
    a, b = at("status.v", {**OPEN, **old}), at("status.v", {**OPEN, **new})
    report = diff(*both(tmp_path, a, b))
    (finding,) = report["findings"]
    assert brief(finding) == ("rollback", "error", "enum-value-added", "widgets.example.com", "status.v")
    assert finding["added"] == ["C"]
    witness = finding["witness"]["object"]
    assert witness is not None, finding["witness"]["reason"]
    assert witness["status"] == {"v": "C"}
    assert judge(crd(b), "validate", witness).accepted is True
    assert judge(crd(a), "validate", witness).accepted is False
    assert not plain_errors(b, witness)
    assert plain_errors(a, witness)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # The same set, said in another way.
        ({"enum": OLD}, {"allOf": [{"enum": OLD}]}),
        ({"enum": OLD}, {"allOf": [{"enum": NEW}, {"enum": ["B", "A", "D"]}]}),
        ({"enum": OLD}, {"enum": [*OLD, "D"], "allOf": [{"enum": NEW}]}),
        ({"anyOf": [{"enum": ["A"]}, {"enum": ["B"]}]}, {"enum": OLD}),
        # One side widened, the other still closes it.
        ({"enum": OLD, "allOf": [{"enum": OLD}]}, {"enum": NEW, "allOf": [{"enum": OLD}]}),
    ],
)
def test_what_the_junctors_leave_the_same_is_no_enum_finding(tmp_path: Path, old: Json, new: Json) -> None:
    report = diff(*both(tmp_path, at("status.v", {**OPEN, **old}), at("status.v", {**OPEN, **new})))
    assert report["findings"] == []


def test_enum_of_a_member_in_a_branch(tmp_path: Path) -> None:
    """A union whose branches name the discriminator's values."""

    def union(*types: str) -> Json:
        members = {name.lower(): obj(x=string()) for name in ("A", "B", "C")}
        branches = [{"properties": {"type": {"enum": [name]}}, "required": [name.lower()]} for name in types[:2]]
        branches[-1]["properties"] = {"type": {"enum": list(types[1:])}}  # type: ignore[assignment]
        return at("spec.u", {**obj(type=string(), **members), "oneOf": branches})

    report = compare(tmp_path, union("A", "B"), union("A", "B", "C"))
    for finding in report["findings"]:
        assert finding["path"] == "spec.u.type"
        assert finding["added"] == ["C"]
    assert report["findings"] or report["undecided"]


def test_values_that_the_writer_itself_forbids(tmp_path: Path) -> None:
    rules = {"x-kubernetes-validations": [{"rule": "self != 'C'"}]}
    assert compare(tmp_path, at("spec.v", enum(*OLD)), at("spec.v", enum(*NEW, **rules)))["findings"] == []
    report = compare(tmp_path / "2", at("spec.v", enum(*OLD)), at("spec.v", enum(*NEW, "D", **rules)))
    assert only(report)["added"] == ["D"]
    # No value at all is left to NEW: nothing to roll back, but the bound is felt by what OLD stored.
    report = compare(tmp_path / "3", at("spec.v", enum(*OLD)), at("spec.v", enum(*NEW, maxLength=0)))
    assert only(report, direction="upgrade")["rule"] == "length-tightened"
    assert select(report, direction="rollback") == []
    closed = at("spec.v", {**enum(*NEW), "not": {"enum": ["C"]}})
    assert compare(tmp_path / "4", at("spec.v", enum(*OLD)), closed)["findings"] == []


def test_a_value_that_needs_its_companion(tmp_path: Path) -> None:
    rule = {"rule": "self.type == 'C' ? has(self.c) : !has(self.c)", "message": "c goes with C"}
    old, new = (
        at("spec.u", {**obj(type=enum(*members), c=obj(name=string())), "x-kubernetes-validations": [rule]})
        for members in (OLD, NEW)
    )
    finding = only(compare(tmp_path, old, new))
    assert finding["witness"]["object"]["spec"]["u"] == {"type": "C", "c": {}}


def test_a_value_that_two_fields_must_share(tmp_path: Path) -> None:
    rule = {"rule": "self.a == self.b"}
    old, new = (
        at("spec.u", {**obj(a=enum(*members), b=string(), z=string()), "required": ["a", "b"], **more})
        for members, more in ((OLD, {}), (NEW, {"x-kubernetes-validations": [rule]}))
    )
    finding = only(diff(*both(tmp_path, old, new)), rule="enum-value-added")
    prove(finding, crd(old), crd(new))
    assert finding["witness"]["object"]["spec"]["u"] == {"a": "C", "b": "C"}


def test_required_neighbours_are_in_the_witness_and_nothing_else(tmp_path: Path) -> None:
    def schema(members: list[str]) -> Json:
        status = obj(
            v=enum(*members),
            count={"type": "integer", "minimum": 7},
            l=array(string(minLength=2), minItems=2),
            z=string(),
        )
        made = at("status.v", enum(*members))
        made["properties"]["status"] = {**status, "required": ["count", "l"]}
        return made

    witness = only(compare(tmp_path, schema(OLD), schema(NEW)))["witness"]["object"]
    assert witness.keys() == {"apiVersion", "kind", "metadata", "status"}
    assert witness["status"].keys() == {"v", "count", "l"}


def test_several_values_are_one_finding_with_one_witness(tmp_path: Path) -> None:
    report = compare(tmp_path, at("status.v", enum("A")), at("status.v", enum("A", "Z", "C", "B")))
    finding = only(report)
    assert finding["added"] == ["Z", "C", "B"]
    assert finding["witness"]["object"]["status"]["v"] == "Z"
    assert all(f'"{value}"' in finding["message"] for value in "ZCB")


def test_of_added_values_only_those_that_can_be_held_are_listed(tmp_path: Path) -> None:
    rules = {"x-kubernetes-validations": [{"rule": "!(self in ['C', 'E'])"}]}
    report = compare(tmp_path, at("spec.v", enum(*OLD)), at("spec.v", enum(*NEW, "D", "E", **rules)))
    assert only(report)["added"] == ["D"]


def test_giant_enum(tmp_path: Path) -> None:
    many = [f"V{number}" for number in range(3000)]
    report = diff(*both(tmp_path, at("status.v", enum("A")), at("status.v", enum("A", *many))))
    assert only(report)["added"] == many


def test_open_field_behind_a_rule_is_never_passed_over(tmp_path: Path) -> None:
    """An enum gives way to a rule: values outside it exist, though none of the plainest fits the rule."""
    rule = "self.startsWith('q') && self.endsWith('z') || self in ['A', 'B']"
    rules = {"x-kubernetes-validations": [{"rule": rule}]}
    report = diff(*both(tmp_path, at("status.v", enum(*OLD)), at("status.v", string(**rules))))
    finding = only(report, rule="enum-dropped")
    assert (finding["severity"], finding["witness"]["object"]) == ("warning", None)
    assert "may reject" in finding["message"]


@pytest.mark.parametrize(
    "search", ["self.matches('^q[0-9]{3}$')", 'self.matches("^q\\\\d{3}$")', "self.matches(r'^q\\d{3}$')"]
)
def test_the_pattern_of_a_rule_gives_the_value(tmp_path: Path, search: str) -> None:
    rules = {"x-kubernetes-validations": [{"rule": f"{search} && !self.matches('9') || self in ['A', 'B']"}]}
    report = diff(*both(tmp_path, at("status.v", enum(*OLD)), at("status.v", string(**rules))))
    finding = only(report, rule="enum-dropped")
    assert (finding["severity"], finding["witness"]["object"]["status"]) == ("warning", {"v": "q000"})


def test_closed_field_behind_a_rule_is_never_passed_over(tmp_path: Path) -> None:
    rules = {"x-kubernetes-validations": [{"rule": "self.matches('^q[0-9]{3}$')"}]}
    report = diff(*both(tmp_path, at("spec.v", string(**rules)), at("spec.v", enum("q001", **rules))))
    assert only(report, rule="enum-introduced")["direction"] == "upgrade"


def test_enum_for_a_rule_that_says_the_same(tmp_path: Path) -> None:
    """What can hold no other value has nothing to lose by an enum."""
    rules = {"x-kubernetes-validations": [{"rule": "self in ['A', 'B']"}]}
    report = diff(*both(tmp_path, at("spec.v", string(**rules)), at("spec.v", enum(*OLD, **rules))))
    assert not [f for f in report["findings"] if f["witness"]["object"] is not None]


# -- what is not an enum ---------------------------------------------


@pytest.mark.parametrize(
    ("keyword", "old", "new"),
    [
        ("maxLength", {"type": "string", "maxLength": 5}, {"type": "string", "maxLength": 6}),
        ("pattern", {"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "^b"}),
        ("format", {"type": "string", "format": "uri"}, {"type": "string"}),
        ("nullable", {"type": "string", "nullable": True}, {"type": "string"}),
        ("default", {"type": "string", "default": "a"}, {"type": "string", "default": "b"}),
        ("maximum", {"type": "integer"}, {"type": "integer", "maximum": 3}),
        ("x-kubernetes-validations", {"type": "string"}, string(**{"x-kubernetes-validations": [{"rule": "true"}]})),
        ("x-kubernetes-list-type", array(string()), array(string(), **{"x-kubernetes-list-type": "set"})),
    ],
)  # fmt: skip
def test_every_other_keyword_is_reported(tmp_path: Path, keyword: str, old: Json, new: Json) -> None:
    """Undecided with keyword and path, or a finding of a rule of its own: never silence."""
    report = diff(*both(tmp_path, at("spec.v", old), at("spec.v", new)))
    undecided = [(entry["keyword"], entry["path"]) for entry in report["undecided"]]
    judged = [f for f in report["findings"] if f["path"] == "spec.v" and not f["rule"].startswith("enum-")]
    assert undecided == [(keyword, "spec.v")] or judged or report["summary"]["without_effect"]
    assert report["summary"]["crds"]["changed"] == 1


def test_an_unknown_keyword_is_undecided(tmp_path: Path) -> None:
    old, new = at("spec.v", string(**{"x-kubernetes-new": 1})), at("spec.v", string(**{"x-kubernetes-new": 2}))
    report = diff(*both(tmp_path, old, new))
    (entry,) = report["undecided"]
    assert (entry["crd"], entry["version"], entry["path"], entry["keyword"], entry["old"], entry["new"]) == (
        "widgets.example.com", "v1", "spec.v", "x-kubernetes-new", 1, 2,
    )  # fmt: skip
    assert [(place["side"], place["line"] is not None) for place in entry["locations"]] == [
        ("old", True),
        ("new", True),
    ]


def test_what_no_server_reads_is_text(tmp_path: Path) -> None:
    """Kube-OVN's CRDs had ``min`` and ``max``, which servers drop."""
    old, new = at("spec.v", {"type": "integer", "max": 200, "format": "int32"}), at("spec.v", {"type": "integer"})
    report = diff(*both(tmp_path, old, new))
    assert report["undecided"] == []
    assert [each["rule"] for each in report["findings"]] == ["format-changed"]
    assert report["summary"]["text_only_changes"] == 1


@pytest.mark.parametrize("keyword", ["description", "title", "example", "externalDocs"])
def test_texts_are_counted(tmp_path: Path, keyword: str) -> None:
    old = at("spec.v", string())
    new = copy.deepcopy(old)
    new["properties"]["spec"]["properties"]["v"][keyword] = {"url": "x"} if keyword == "externalDocs" else "x"
    report = diff(*both(tmp_path, old, new))
    assert report["findings"] == report["undecided"] == []
    assert report["summary"]["text_only_changes"] == 1


def test_enum_changes_beside_other_changes_are_all_there(tmp_path: Path) -> None:
    old = root(spec=obj(a=enum("A"), b=string(maxLength=3)), status=obj(p=enum("A"), q=string()))
    new = root(spec=obj(a=enum("A", "B"), b=string(maxLength=4)), status=obj(p=enum("A", "B"), q=enum("x")))
    report = compare(tmp_path, old, new)
    assert [(*brief(f)[:3], f["path"]) for f in select(report) if f["rule"].startswith("enum-")] == [
        ("rollback", "error", "enum-value-added", "status.p"),
        ("rollback", "warning", "enum-value-added", "spec.a"),
        ("upgrade", "warning", "enum-introduced", "status.q"),
    ]


@pytest.mark.parametrize(
    ("keyword", "value", "at", "explained"),
    [
        (Keyword.ENUM, "C", True, True),
        (Keyword.ENUM, "D", True, False),
        (Keyword.ENUM, "C", False, False),
        (Keyword.PATTERN, "D", True, True),
        (Keyword.PATTERN, "D", False, False),
    ],
)
def test_an_added_value_explains_that_it_is_unsupported_and_no_other_value_is(
    keyword: Keyword, value: str, at: bool, explained: bool
) -> None:
    """A recorded object that OLD rejects at the path for another reason than its enum is explained as well."""
    error = FieldError("FieldValueInvalid", ("status", "v"), keyword, value, NEWEST_SERVER)
    change = Change("enum.value-added", ("status", "v"), OLD, NEW, added=("C",))
    assert FACET.explains(change, Reaction(at=at, below=True, error=error)) is explained


@pytest.mark.parametrize(
    ("kept", "other"),
    [
        ({"kind": enum("Widget")}, {"kind": string()}),
        ({"apiVersion": enum("example.com/v1")}, {"apiVersion": string(pattern="^example.com/v1$")}),
        ({"kind": string(maxLength=6)}, {"kind": string(maxLength=9)}),
    ],
)
def test_no_object_chooses_its_type(tmp_path: Path, kept: Json, other: Json) -> None:
    """All objects of a version have its apiVersion and the kind of the CRD: what allows both refuses none."""
    sides = [obj(**each, metadata=obj(), spec=obj()) for each in (kept, other)]
    for old, new in (sides, sides[::-1]):
        assert diff(*both(tmp_path, old, new))["findings"] == []


def test_a_type_that_the_enum_lacks(tmp_path: Path) -> None:
    old, new = (
        obj(kind=enum(*kinds), metadata=obj(), spec=obj()) for kinds in (["Gadget"], ["Gadget", "Widget", "Other"])
    )
    finding = only(compare(tmp_path, old, new))  # no object has the other value, which NEW adds as well
    assert (finding["direction"], finding["path"], finding["added"]) == ("rollback", "kind", ["Widget"])
    assert finding["witness"]["errors"] == ['kind: Unsupported value: "Widget": supported values: "Gadget"']
