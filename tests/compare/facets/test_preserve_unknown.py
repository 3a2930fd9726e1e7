"""Nodes that keep undeclared fields on one side alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Json, array, both, diff, obj, root, string

_KEEPS: Json = {"x-kubernetes-preserve-unknown-fields": True}


@pytest.mark.parametrize(
    ("old", "new", "rollback"),
    [
        (obj(x=string()), {**obj(x=string()), **_KEEPS}, ["preserve-unknown-added"]),
        # One change: a field of any type that keeps what is in it.
        (array(obj(x=string())), _KEEPS, ["type-changed"]),
        (obj(x=string()), _KEEPS, ["type-changed"]),
    ],
)
def test_one_change_is_one_finding(tmp_path: Path, old: Json, new: Json, rollback: list[str]) -> None:
    report = diff(*both(tmp_path, root(spec=obj(a=old)), root(spec=obj(a=new))))
    found = [each for each in report["findings"] if each["direction"] == "rollback"]
    assert [(each["rule"], each["path"]) for each in found] == [(rule, "spec.a") for rule in rollback]


@pytest.mark.parametrize(("name", "value"), [("event", obj(a=string())), ("submit", string())])
def test_the_example_has_what_the_reader_alone_declares_and_requires(tmp_path: Path, name: str, value: Json) -> None:
    """Argo Workflows: spec kept any members, then declared some, and required one of them."""
    declared = {**obj(**{name: value, "x": string()}), "required": [name]}
    report = diff(*both(tmp_path, root(spec=obj(a={"type": "object", **_KEEPS})), root(spec=obj(a=declared))))
    found = {(each["rule"], each["path"]): each for each in report["findings"] if each["direction"] == "upgrade"}
    unknown = found.pop(("preserve-unknown-removed", "spec.a"))
    assert (unknown["effect"], unknown["witness"]["errors"]) == ("value-pruned", [])
    assert {key: len(each["witness"]["errors"]) for key, each in found.items()} == {
        ("free-field-declared", f"spec.a.{name}"): 1,
        ("free-field-declared", "spec.a.x"): 1,
        ("required-added", f"spec.a.{name}"): 1,
    }


def test_a_resource_that_kept_any_field(tmp_path: Path) -> None:
    """Tekton's operator: the CRDs had one line, and were generated later. A server always knew what metadata holds."""
    report = diff(*both(tmp_path, {"type": "object", **_KEEPS}, root(spec=obj(a=string()))))
    found = {(each["rule"], each["path"]): each["witness"] for each in report["findings"]}
    assert {key: witness["pruned"] for key, witness in found.items()} == {
        ("free-field-declared", "spec"): [],
        ("preserve-unknown-removed", ""): ["crdcompatUnknown"],
    }
    assert found["free-field-declared", "spec"]["object"]["spec"] == "a"
    restricted = obj(metadata=obj(name={**string(), "maxLength": 5}), spec=obj(a=string()))
    report = diff(*both(tmp_path, {"type": "object", **_KEEPS}, restricted))
    assert ("length-tightened", "metadata.name") in {(each["rule"], each["path"]) for each in report["findings"]}
