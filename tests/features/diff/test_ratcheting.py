"""Severity, sentence and ``writes`` of a rejection: what the reader's server tolerates (docs/semantics.md#eras)."""

from __future__ import annotations

from typing import Any

import pytest
from helpers import Json, array, checked, crd, crd_set, root, string
from helpers import obj as schema
from msgspec.structs import replace

import crdcompat
from crdcompat.crds.reader import CrdSet
from crdcompat.findings.recorded_evidence import with_evidence
from crdcompat.models.diff import DiffReport
from crdcompat.models.finding import Finding
from crdcompat.recordings.recorded_objects import Recorded
from crdcompat.render.data.diff import diff_data
from crdcompat.schema.structural import RULES

#: The OpenShift release that has the server of an era, the first row of docs/semantics.md#eras is A.
ERAS = {"A": "4.13", "B": "4.15", "C": "4.17", "E": "4.18"}
TOUCHING = ["status-update-touching"]
MAIN = ["spec-update", "metadata-update", "finalizer-removal", "apply"]
ALL_BUT_CREATE = ["status-update", *TOUCHING, *MAIN]
OF_STATUS = ["status-update", *TOUCHING]

VALUE = " if they change the value; updates that leave a stored value alone pass"
LIST = " if they change the list; updates that leave a stored list alone pass"


def sides(old: Json, new: Json, era: str) -> tuple[CrdSet, CrdSet]:
    both = (crd_set(name, crd(root(**parts))) for name, parts in (("old", old), ("new", new)))
    runs = f"openshift-{ERAS[era]}" if era else ""
    before, after = (replace(each, runs=runs) for each in both)
    return before, after


def report(old: Json, new: Json, era: str) -> DiffReport:
    made = crdcompat.diff(*sides(old, new, era), directions=["rollback"], locate=False)
    checked({**diff_data(made), "format": "1", "tool": {"name": "crdcompat", "version": "0"}})
    return made


def only(old: Json, new: Json, era: str) -> Finding:
    (finding,) = (each for each in report(old, new, era).findings if each.effect == "write-rejected")
    return finding


def reported(finding: Finding) -> tuple[str, list[str]]:
    return str(finding.severity), [str(kind) for kind in finding.writes or ()]


MORE = {"note": string(), "conditions": array(schema(type=string(), message=string()))}


def status(phase: Json) -> Json:
    return {"spec": schema(note=string()), "status": schema(phase=phase, **MORE)}


IN_SPEC = [{"spec": schema(phase=string(*values), **MORE)} for values in ("A", "AB")]
_STATUS = {
    "A": ("error", ALL_BUT_CREATE),
    "B": ("error", ALL_BUT_CREATE),
    "C": ("error", OF_STATUS),
    "E": ("warning", TOUCHING),
}


@pytest.mark.parametrize("era", ERAS)
def test_a_value_in_status(era: str) -> None:
    """From 1.33 on (OpenShift 4.18) the controller can write its status beside a value that it does not know."""
    finding = only(status(string("A")), status(string("A", "B")), era)
    assert reported(finding) == _STATUS[era]
    assert finding.message.endswith(VALUE) == (era == "E")


def test_an_object_that_lacks_a_field() -> None:
    """A missing field has no value to set: the object without it is what an update leaves or changes."""
    old, new = (status({**schema(a=string(), b=string()), **more}) for more in ({"required": ["a"]}, {}))
    finding = only(old, new, "E")
    assert finding.message.endswith(
        "old rejects writes of a Widget that lacks it if they change the object around it; updates that leave a stored"
        " object alone pass"
    )


_LACKING = {
    "A": ("every write", ""),
    "C": ("every update of the {part}", ""),
    "E": ("every update of the {part}", ""),
    "": ("writes", "; Kubernetes 1.29 and older reject all of them, later ones those that change the {part}"),
}


@pytest.mark.parametrize("era", _LACKING)
@pytest.mark.parametrize("part", ["spec", "status"])
def test_a_part_that_lacks_a_field(part: str, era: str) -> None:
    """KubeRay: spec needs no entrypoint. No update of spec passes, those of labels do since 1.30."""
    both = {"spec": schema(note=string()), "status": schema(**MORE)}
    old, new = ({**both, part: {**schema(a=string(), b=string()), **more}} for more in ({"required": ["a"]}, {}))
    finding = only(old, new, era)
    kinds = ["spec-update", "create"] if part == "spec" else OF_STATUS
    assert (kinds == reported(finding)[1]) == (era != "A")
    what, since = (text.format(part=part) for text in _LACKING[era])
    said = finding.message.partition("; nothing in the sources shows")[0]
    assert said.endswith(f"old rejects {what} of a Widget that lacks it{since}")


def test_a_status_that_a_server_rejects_as_a_whole() -> None:
    """Up to 1.32 (OpenShift 4.17) nothing in status is spared, but labels and finalizers may change."""
    finding = only(status(string("A")), status(string("A", "B")), "C")
    assert finding.message.endswith("old rejects every update of the status of a Widget that holds it")


_DEFAULT = {
    "A": ("error", [*ALL_BUT_CREATE, "create"]),
    "B": ("error", [*MAIN, "create"]),
    "C": ("warning", ["create"]),
    "E": ("warning", ["create"]),
}


@pytest.mark.parametrize("era", ERAS)
def test_a_default_in_spec(era: str) -> None:
    """Each object has the value; from 1.30 on it is in nobody's way while it stays."""
    old = {"spec": schema(mode=string("A", default="A"), note=string()), "status": schema(**MORE)}
    new = {"spec": schema(mode=string("A", "B", default="B"), note=string()), "status": schema(**MORE)}
    (finding,) = (each for each in report(old, new, era).findings if each.rule == "enum-value-added")
    assert reported(finding) == _DEFAULT[era]
    assert (VALUE in finding.message) == (era in "CE")


_IN_LISTS: dict[str, tuple[Json, str, str]] = {
    "atomic": ({}, "error", LIST),
    "set": ({"x-kubernetes-list-type": "set"}, "error", LIST),
}


@pytest.mark.parametrize(("more", "severity", "sentence"), _IN_LISTS.values(), ids=_IN_LISTS)
def test_a_list_that_counts_as_one_value(more: Json, severity: str, sentence: str) -> None:
    """The controller that changes the list is stuck on every server."""
    old, new = (status(array(string(*values), **more)) for values in (("A",), ("A", "B")))
    finding = only(old, new, "E")
    assert reported(finding) == (severity, TOUCHING)
    assert finding.message.endswith(sentence)


def test_an_item_with_a_key() -> None:
    more = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
    items = (schema(name=string(), v=string(*values)) for values in (("A",), ("A", "B")))
    old, new = (status(array({**item, "required": ["name"]}, **more)) for item in items)
    finding = only(old, new, "E")
    assert reported(finding) == ("warning", TOUCHING)
    assert finding.message.endswith(VALUE)


_WHOLE: dict[str, tuple[dict[str, Any], str]] = {
    "required": ({"required": ["phase"]}, "error"),
    # Nothing says that a controller writes a note without a phase.
    "a rule": ({"x-kubernetes-validations": [{"rule": "!has(self.note) || has(self.phase)"}]}, "warning"),
}


@pytest.mark.parametrize(("old", "severity"), _WHOLE.values(), ids=_WHOLE)
def test_a_status_that_breaks_a_constraint_as_a_whole(old: dict[str, Any], severity: str) -> None:
    """Each change of such a status is rejected on every server."""
    members = {"phase": string(), **MORE}
    schemas = ({"status": {**schema(**members), **more}} for more in (old, {}))
    finding = only(*schemas, "E")
    assert reported(finding) == (severity, OF_STATUS)
    assert "alone pass" not in finding.message


def test_an_unknown_version() -> None:
    """Nothing is said of ratcheting, and only what every server rejects is listed."""
    finding = only(status(string("A")), status(string("A", "B")), "")
    assert reported(finding) == ("error", TOUCHING)
    assert "alone pass" not in finding.message


@pytest.mark.parametrize(("era", "severity"), [("B", "error"), ("C", "warning")])
def test_recorded_objects_that_can_be_updated_are_no_error(era: str, severity: str) -> None:
    old, new = ({"spec": schema(mode=string(*values), note=string())} for values in (("A",), ("A", "B")))
    both = sides(old, new, era)
    widget = {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "a", "namespace": "default", "uid": "1"},
        "spec": {"mode": "B"},
    }
    found = with_evidence(crdcompat.diff(*both, locate=False), *both, [[Recorded(widget, "dump.json")]])
    (finding,) = (each for each in found.findings if each.direction == "rollback")
    assert (finding.severity, finding.evidence.recorded_objects) == (severity, 1)


_NOTED = {"note": "n"}
_RECORDED: dict[str, tuple[Json, Json, Json, str, str, str]] = {
    "a value in spec that updates may keep": (
        {"spec": schema(mode=string("A"), note=string())},
        {"spec": schema(mode=string("A", "B"), note=string())},
        {"spec": {"mode": "B"}}, "C", "enum-value-added", "warning",
    ),
    "a value in status that no update may set": (
        status(string("A")), status(string("A", "B")),
        {"status": {"phase": "B", **_NOTED}}, "E", "enum-value-added", "error",
    ),
    "a value in a list": (
        status(array(string("A"))), status(array(string("A", "B"))),
        {"status": {"phase": ["B"], **_NOTED}}, "E", "enum-value-added", "error",
    ),
    "items that every server tolerates": (
        status(array(string(), **{"x-kubernetes-list-type": "set"})), status(array(string())),
        {"status": {"phase": ["a", "a"], **_NOTED}}, "C", "list-type-loosened", "warning",
    ),
    "an unknown server, which may tolerate nothing": (
        {"spec": schema(mode=string("A"), note=string())},
        {"spec": schema(mode=string("A", "B"), note=string())},
        {"spec": {"mode": "B"}}, "", "enum-value-added", "error",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "parts", "era", "rule", "severity"), _RECORDED.values(), ids=_RECORDED)
def test_recorded_objects_are_an_error_if_a_write_that_simulate_counts_is_rejected(
    old: Json, new: Json, parts: Json, era: str, rule: str, severity: str
) -> None:
    both = sides(old, new, era)
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a", "namespace": "b"}, **parts}
    item = Recorded(widget, "dump.json")
    found = with_evidence(crdcompat.diff(*both, directions=["rollback"], locate=False), *both, [[item]])
    met = [(each.rule, str(each.severity)) for each in found.findings if each.evidence.recorded_objects]
    assert met == [(rule, severity)]
    if era:
        replayed = crdcompat.simulate(*both, [item])
        assert (replayed.verdict == "blocked") is (severity == "error")


def test_duplicates_are_no_matter_of_ratcheting() -> None:
    """Every server tolerates stored ones, and the rule says so itself."""
    old, new = (status(array(string(), **more)) for more in ({"x-kubernetes-list-type": "set"}, {}))
    finding = only(old, new, "E")
    assert reported(finding) == ("warning", [])
    assert "alone pass" not in finding.message


def test_a_rule_about_updates_has_no_kinds_of_write() -> None:
    """Its witness is a single write. Replaying its result as a stored object would say that no write fails."""
    old = string(**{RULES: [{"rule": "self == oldSelf"}]})
    finding = only(status(old), status(string()), "E")
    assert (finding.rule, finding.witness.stored is not None) == ("cel-transition-rule-removed", True)
    assert (finding.writes, finding.spared) == (None, None)


@pytest.mark.parametrize(
    ("old", "new", "writes", "spared"),
    [
        pytest.param(IN_SPEC[0], IN_SPEC[1], ["create"], "the value", id="spec"),
        pytest.param(status(string("A")), status(string("A", "B")), [*OF_STATUS, "create"], "the status", id="status"),
    ],
)
def test_a_lost_endpoint_is_no_matter_of_values_elsewhere(old: Json, new: Json, writes: list[str], spared: str) -> None:
    """KServe 0.19 has a CRD without /status: of values in spec, "those that change the status" was said."""
    before, after = crd(root(**old)), crd(root(**new))
    del before["spec"]["versions"][0]["subresources"]
    made = crdcompat.diff(crd_set("old", before), crd_set("new", after), directions=["rollback"], locate=False)
    (finding,) = (each for each in made.findings if each.rule == "enum-value-added")
    assert ([str(each) for each in finding.writes or ()], spared in finding.message) == (writes, True)
