"""requirement: what it writes of a CRD, that it is a source again, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from helpers import crd, diff, obj, root, run, string, write

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
