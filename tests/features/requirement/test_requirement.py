"""requirement: what it writes of a CRD, that it is a source again, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from helpers import crd, diff, obj, root, run, string, version, write

NAME = "widgets.example.com"
OLD, NEW = (crd(root(status=obj(p=string(*values)))) for values in ("A", "AB"))


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A release; its CRD comes from a cluster, with what a server adds."""
    meta = {**OLD["metadata"], "uid": "u", "managedFields": [], "labels": {"a": "b"}}
    write(tmp_path / "old/crd.yaml", {**OLD, "metadata": meta, "status": {"storedVersions": ["v1"]}})
    write(tmp_path / "new/crd.yaml", NEW)
    return tmp_path / "old"


@pytest.mark.parametrize(("options", "action"), [((), "Deny"), (("--action", "Warn"), "Warn")])
def test_what_it_states(old: Path, options: tuple[str, ...], action: str) -> None:
    made = yaml.safe_load(run("requirement", old, "--crd", NAME, *options).out)
    spec = made["spec"]
    stated = yaml.safe_load(spec["compatibilitySchema"]["customResourceDefinition"].pop("data"))
    assert stated == {**OLD, "metadata": {**OLD["metadata"], "labels": {"a": "b"}}}
    assert spec == {
        "compatibilitySchema": {
            "customResourceDefinition": {"type": "YAML"},
            "requiredVersions": {"defaultSelection": "AllServed"},
        },
        "customResourceDefinitionSchemaValidation": {"action": action},
        "objectSchemaValidation": {"action": action},
    }


def test_it_is_a_source(old: Path, tmp_path: Path) -> None:
    """Its schema is OLD: the findings are those of the release itself."""
    (tmp_path / "stated.yaml").write_text(run("requirement", old, "--crd", NAME).out, encoding="utf-8")
    found = [
        {each["id"] for each in diff(side, tmp_path / "new")["findings"]} for side in (old, tmp_path / "stated.yaml")
    ]
    assert found[0] == found[1] != set()


def test_what_cannot_be_stated(old: Path, tmp_path: Path) -> None:
    write(tmp_path / "long/crd.yaml", crd(root(spec=obj(**{f"a{at}": string("x" * 9_000) for at in range(180)}))))
    early = {**OLD, "apiVersion": "apiextensions.k8s.io/v1beta1"}
    write(tmp_path / "early/crd.yaml", early)
    for folder, options, message in (
        ("old", ("--crd", "widget.example.com"), f"has no CRD widget.example.com; did you mean {NAME}"),
        ("old", ("--crd", NAME, "--context", "Other"), "Other"),
        ("long", ("--crd", NAME), "a CompatibilityRequirement takes 1,572,864"),
        ("early", ("--crd", NAME), "a CompatibilityRequirement takes apiextensions.k8s.io/v1"),
    ):
        ran = run("requirement", tmp_path / folder, *options)
        assert (ran.code, ran.out) == (2, "") and message in ran.err, ran.err


def _stated(tmp_path: Path) -> str:
    """The requirement of the older of two releases."""
    number = {"type": "integer", "x-kubernetes-validations": [{"rule": "self >= oldSelf"}]}
    before = {name: string("A") for name in "abc"}
    sides = (
        obj(**before, n=number),
        obj(**{name: string("A", "B") for name in before}, n={"type": "integer"}),
    )
    made = [version(root(spec=side, status=obj(p=side["properties"]["a"]))) for side in sides]
    early = [{**each, "name": "v1beta1", "storage": False} for each in made]
    for side, versions in zip(("old", "new"), zip(made, early, strict=True), strict=True):
        write(tmp_path / side / "w.yaml", crd(versions=versions))
    return run("requirement", tmp_path / "old", "--crd", NAME).out


def _gated(tmp_path: Path, **changed: object) -> list[str]:
    """What diff says of a requirement as OLD, in which ``changed`` differs."""
    stated = yaml.safe_load(_stated(tmp_path))
    stated["spec"] |= changed
    write(tmp_path / "gate.yaml", stated)
    report = diff(tmp_path / "gate.yaml", tmp_path / "new")
    head = f"CompatibilityRequirement {NAME} (gate.yaml) "
    return [note.removeprefix(head) for note in report["old"]["notes"] if note.startswith(head)]


_IN_SPEC = "spec.a (v1), spec.b (v1), spec.c (v1)"
_RATCHETS = "because it ratchets; the API server of gate.yaml refuses them"
_BLIND = "no objectSchemaValidation: the gate sees no objects"
_STATUS = "misses status.p (v1), status.p (v1beta1): writes of /status do not come to the gate"


def test_what_the_gate_refuses_and_what_it_misses(tmp_path: Path) -> None:
    assert _gated(tmp_path) == [
        f"refuses objects of new with {_IN_SPEC} and 5 more",
        _STATUS,
        f"lets updates pass that change nothing at {_IN_SPEC} and 3 more, {_RATCHETS}",
    ]


def test_a_gate_for_one_version_without_a_field_that_warns(tmp_path: Path) -> None:
    stated = yaml.safe_load(_stated(tmp_path))["spec"]["compatibilitySchema"]
    versions, excluded = (
        {"defaultSelection": "StorageOnly"},
        [{"path": "spec.a"}, {"path": "spec.b", "versions": ["v2"]}],
    )
    changed = {**stated, "requiredVersions": versions, "excludedFields": excluded}
    assert _gated(tmp_path, compatibilitySchema=changed, objectSchemaValidation={"action": "Warn"}) == [
        "only warns of objects of new with spec.b (v1), spec.c (v1), spec.n (v1)",
        _STATUS,
        "misses spec.a (v1): the field is excluded",
        "misses spec.a (v1beta1), spec.b (v1beta1), spec.c (v1beta1) and 1 more: v1beta1 is no required version",
        f"lets updates pass that change nothing at spec.b (v1), spec.c (v1), {_RATCHETS}",
    ]


def test_a_gate_that_validates_nothing(tmp_path: Path) -> None:
    validations = dict.fromkeys(("objectSchemaValidation", "customResourceDefinitionSchemaValidation"))
    assert _gated(tmp_path, **validations) == [
        f"misses status.p (v1), status.p (v1beta1), spec.a (v1) and 7 more: {_BLIND}",
        "lets each update of the CRD pass: no customResourceDefinitionSchemaValidation",
    ]


def test_values_of_a_wrong_type_say_nothing(tmp_path: Path) -> None:
    """The server would refuse such a requirement. It is no crash, and states its CRD all the same."""
    stated = yaml.safe_load(_stated(tmp_path))["spec"]["compatibilitySchema"]
    odd = {**stated, "requiredVersions": ["v1"], "excludedFields": ["spec.a", {"versions": "v1"}]}
    found = _gated(tmp_path, compatibilitySchema=odd, objectSchemaValidation="Deny")
    assert any(_BLIND in note for note in found)
    assert _gated(tmp_path, compatibilitySchema=odd)
