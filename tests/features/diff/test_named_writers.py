"""Who writes the rejected value decides the severity: the schema, a Go type, a sample, or nobody."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers import Json, array, crd, diff, obj, only, root, string, write

_RULES = "x-kubernetes-validations"
GO = """\
// +groupName=example.com
package v1

type Phase string

const (
	Ready   Phase = "Ready"
	Leaving       = Phase("leaving-now")
)

type Widget struct {
	Status WidgetStatus `json:"status,omitempty"`
}

type WidgetStatus struct {
	Phase  Phase       `json:"phase"`
	Note   string      `json:"note,omitempty"`
	Text   string      `json:"text"`
	Names  []string    `json:"names,omitempty"`
	Checks []Condition `json:"checks,omitempty"`
}

type Condition struct {
	Type   string  `json:"type"`
	Reason *string `json:"reason"`
	Since  Time    `json:"since,omitempty"`
}
"""
_LONG = string(maxLength=20)
_LETTERS = string(pattern="^[A-Za-z]*$")


def _sides(tmp_path: Path, old: Json, new: Json, **files: Any) -> tuple[Path, Path]:
    for side, status in (("old", old), ("new", new)):
        write(tmp_path / side / "widget.yaml", crd(root(status=status)))
        for name, content in files.items():
            path = tmp_path / side / {"go": "v1/types_widget.go", "sample": "config/samples/widget.yaml"}[name]
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, str):
                path.write_text(content)
            else:
                write(path, content)
    return tmp_path / "old", tmp_path / "new"


def _found(tmp_path: Path, old: Json, new: Json, direction: str, **files: Any) -> tuple[str, str, Json]:
    finding = only(diff(*_sides(tmp_path, old, new, **files), "--direction", direction))
    return finding["severity"], finding["because"][-1], finding


@pytest.mark.parametrize(
    ("old", "new", "severity", "named"),
    [
        pytest.param(string("A"), string("A", "B"), "error", "named by the enum", id="a member of an enum"),
        pytest.param(string(maxLength=3), _LONG, "warning", "nothing names the value", id="a length"),
        pytest.param(
            string(pattern="^(A|B)$"),
            string(pattern="^(A|B|C)$"),
            "error",
            "named by the pattern",
            id="a list as pattern",
        ),
        pytest.param(_LETTERS, string(), "warning", "nothing names the value", id="a pattern"),
        pytest.param(string(), {"type": "integer"}, "error", "named by the type", id="another type"),
        pytest.param(
            {"type": "integer"}, {"x-kubernetes-int-or-string": True}, "error", "named by the type", id="one type more"
        ),
        pytest.param(
            {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            {"x-kubernetes-preserve-unknown-fields": True},
            "warning",
            "nothing names the value",
            id="any type",
        ),
        pytest.param(
            {"type": "integer", "minimum": 0}, {"type": "integer"}, "warning", "nothing names the value", id="a number"
        ),
    ],
)
def test_a_value_of_status_after_a_rollback(tmp_path: Path, old: Json, new: Json, severity: str, named: str) -> None:
    found = _found(tmp_path, obj(p=old), obj(p=new), "rollback")
    assert found[:2] == (severity, named)
    says = "only the search found this value" in found[2]["message"]
    assert says == (severity == "warning")


def test_a_default_of_the_writer(tmp_path: Path) -> None:
    old, new = obj(p=_LETTERS), obj(p={**string(), "default": "a-b"})
    report = diff(*_sides(tmp_path, old, new), "--select", "pattern-widened", "--direction", "rollback")
    found = only(report)
    assert (found["severity"], "the writer's default" in found["because"]) == ("error", True)


def test_a_constant_of_the_go_type_is_the_witness(tmp_path: Path) -> None:
    """The constant that OLD's pattern refuses takes the place of the value that the search found."""
    severity, named, found = _found(tmp_path, obj(phase=_LETTERS), obj(phase=string()), "rollback", go=GO)
    assert (severity, named) == ("error", "a constant of the Go type")
    assert found["witness"]["object"]["status"] == {"phase": "leaving-now"}


@pytest.mark.parametrize(
    ("rule", "severity", "named"),
    [
        ("!has(self.p) || self.p != 'B'", "error", "named by the enum"),
        ("!has(self.h) || !has(self.h.p) || self.h.p != 'B'", "error", "named by the enum"),
        ("!has(self.phase) || self.phase != 'leaving-now'", "error", "a constant of the Go type"),
        ("!has(self.phase) || self.phase != 'C'", "warning", "nothing names the value"),
        ("!has(self.p) || self.p != 'B' || has(self.phase)", "warning", "nothing names the value"),
        ("!has(self.p) || !has(self.h) || !has(self.h.p) || self.p != self.h.p", "warning", "nothing names the value"),
        ("!has(self.l) || self.l.all(x, x != 'B')", "warning", "nothing names the value"),
    ],
)
def test_a_rule_on_the_object_that_reads_one_member(tmp_path: Path, rule: str, severity: str, named: str) -> None:
    """It says of the member what a rule on the member says; no schema names a combination of values."""
    closed = string("A", "B")
    old = obj(p=closed, h=obj(p=closed), phase=string(maxLength=20), l=array(closed, maxItems=2))
    found = _found(tmp_path, {**old, _RULES: [{"rule": rule}]}, old, "rollback", go=GO)
    assert found[:2] == (severity, named)


def test_what_go_writes_for_a_field_that_is_not_set(tmp_path: Path) -> None:
    """Without omitempty it is the empty string; with it, and in lists, nothing is written."""
    values = string(), string(minLength=1)
    old, new = (obj(text=each, note=each, names=array(each)) for each in values)
    found = {
        each["path"]: (each["severity"], each["witness"]["object"]["status"])
        for each in diff(*_sides(tmp_path, old, new, go=GO), "--direction", "upgrade")["findings"]
    }
    assert found == {
        "status.text": ("error", {"text": ""}),
        "status.note": ("warning", {"note": ""}),
        "status.names[*]": ("warning", {"names": [""]}),
    }


@pytest.mark.parametrize(
    ("name", "severity", "named"),
    [
        ("since", "error", "the Go type may leave the field out"),
        ("reason", "error", "the Go type may leave the field out"),
        ("type", "warning", "the Go type always writes the field"),
        ("other", "warning", "nothing names the value"),
    ],
)
def test_a_field_of_status_becomes_required(tmp_path: Path, name: str, severity: str, named: str) -> None:
    item = obj(**{name: string()})
    old, new = (obj(checks=array(each)) for each in (item, {**item, "required": [name]}))
    assert _found(tmp_path, old, new, "upgrade", go=GO)[:2] == (severity, named)


def test_the_key_of_a_list_becomes_required(tmp_path: Path) -> None:
    item = obj(type=string())
    keyed = array(
        {**item, "required": ["type"]}, **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]}
    )
    report = diff(*_sides(tmp_path, obj(conditions=array(item)), obj(conditions=keyed)), "--direction", "upgrade")
    assert {(each["rule"], each["severity"]) for each in report["findings"]} == {
        ("required-added", "info"),
        ("list-type-tightened", "info"),
    }


def test_a_field_is_no_longer_required(tmp_path: Path) -> None:
    """NEW made the field optional on purpose, so somebody leaves it out."""
    old, new = ({**obj(p=string()), "required": required} for required in (["p"], []))
    del new["required"]
    holder = [obj(a=each) for each in (old, new)]
    found = _found(tmp_path, holder[0], holder[1], "rollback")
    assert found[:2] == ("error", "the writer's schema made the field optional")


def test_a_sample_holds_the_value(tmp_path: Path) -> None:
    sample = {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "s"},
        "status": {"p": "a-b", "q": 1},
    }
    old, new = (obj(p=each, q={"type": "integer"}) for each in (_LETTERS, string()))
    severity, named, found = _found(tmp_path, old, new, "rollback", sample=sample)
    assert (severity, named) == ("error", "in a test or sample of the sources")
    assert found["witness"]["object"]["status"] == {"p": "a-b"}


@pytest.mark.parametrize(
    ("case", "named"),
    [
        ({"initial": "a-b"}, "in a test or sample of the sources"),
        ({"initial": "a-b", "updated": "c"}, "in a test or sample of the sources"),
        ({"initial": "a-b", "updated": "c", "expectedStatusError": "no"}, "in a test or sample of the sources"),
        ({"initial": "a-b", "expectedError": "no"}, "nothing names the value"),
        ({"initial": "c", "updated": "a-b", "expectedStatusError": "no"}, "nothing names the value"),
    ],
)
def test_nobody_writes_what_a_suite_expects_to_be_refused(tmp_path: Path, case: dict[str, str], named: str) -> None:
    texts = {"a-b": '{apiVersion: example.com/v1, kind: Widget, status: {p: "a-b"}}'}
    texts["c"] = texts["a-b"].replace("a-b", "c")
    suite = {"tests": {"onCreate": [{key: texts.get(text, text) for key, text in case.items()}]}}
    for side, schema in (("old", string()), ("new", _LETTERS)):
        write(tmp_path / side / "widget.yaml", crd(root(status=obj(p=schema))))
    write(tmp_path / "new/tests/widgets.example.com/stable.yaml", suite)
    finding = only(diff(tmp_path / "old", tmp_path / "new", "--direction", "upgrade"))
    assert finding["because"][-1] == named


def test_neither_side_accepts_a_value_of_the_other(tmp_path: Path) -> None:
    """Whoever uses the field is rejected, in spec, too."""
    for side, schema in (("old", string(pattern="^[a-z]+$")), ("new", string("CIS", "COS"))):
        write(tmp_path / side / "widget.yaml", crd(root(spec=obj(name=schema))))
    report = diff(tmp_path / "old", tmp_path / "new")
    assert {(each["direction"], each["severity"]) for each in report["findings"]} == {
        ("rollback", "error"),
        ("upgrade", "error"),
    }
    assert all("neither side accepts a value of the other" in each["because"] for each in report["findings"])


def test_a_field_that_took_no_value_is_no_loss(tmp_path: Path) -> None:
    """Gatekeeper 3.22: the enum of ``operations`` was that of the list, where no string fits; 3.23 mends it."""
    write(tmp_path / "old/widget.yaml", crd(root(spec=obj(name={**array(string()), "enum": ["CREATE", "DELETE"]}))))
    write(tmp_path / "new/widget.yaml", crd(root(spec=obj(name=array(string("CREATE", "DELETE"))))))
    finding = only(diff(tmp_path / "old", tmp_path / "new"))
    assert (finding["rule"], finding["direction"], finding["severity"]) == ("enum-dropped", "rollback", "warning")
    assert finding["because"] == ["spec"]


@pytest.mark.parametrize(
    ("rule", "severity"),
    [
        ("self == oldSelf", "error"),
        ("oldSelf == self", "error"),
        ("self.mode == oldSelf.mode", "error"),
        ("!has(oldSelf.mode) || has(self.mode) && self.mode == oldSelf.mode", "error"),
        ("oldSelf.mode != 'A' || self.mode == 'A'", "warning"),
        ("size(self.mode) >= size(oldSelf.mode)", "warning"),
    ],
)
def test_a_field_is_made_immutable(tmp_path: Path, rule: str, severity: str) -> None:
    """An error only where every change is refused; on the way back it is an info."""
    mode = obj(mode=string("A", "B", "C"), size={"type": "integer"})
    plain, ruled = mode, {**mode, _RULES: [{"rule": rule}]}
    if "self.mode" not in rule:
        plain, ruled = ({**string("A", "B", "C"), **more} for more in ({}, {_RULES: [{"rule": rule}]}))
    for side, schema in (("old", plain), ("new", ruled)):
        write(tmp_path / side / "widget.yaml", crd(root(spec=obj(a=schema))))
    forth, back = diff(tmp_path / "old", tmp_path / "new"), diff(tmp_path / "new", tmp_path / "old")
    assert [(each["rule"], each["direction"], each["severity"]) for each in forth["findings"]] == [
        ("cel-transition-rule-added", "upgrade", severity)
    ]
    assert [(each["rule"], each["direction"], each["severity"]) for each in back["findings"]] == [
        ("cel-transition-rule-removed", "rollback", "info")
    ]
