"""What a source of CRDs leaves out, and the reason it gives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers import crd, diff, only, run, write
from variants import tree, variant


def test_what_is_left_out_is_counted_with_its_reason(tmp_path: Path) -> None:
    wide = variant("A", "B", "Q")
    for side, members in (("old", "A"), ("new", "AB")):
        folder = tree(tmp_path / side, config__w=variant(*members))
        tree(
            folder,
            vendor__x__w=wide,
            a__testdata__w=wide,
            a__tests__w=wide,
            **{"a__zz_generated.featuregated-crd-manifests__w__G": wide, "a__manual-override-crd-manifests__w": wide},
        )
        write(
            folder / "charts/templates/crd.yaml",
            "{{- if .Values.crds }}\nkind: {{ CustomResourceDefinition }}\n{{- end }}\n",
        )
        write(folder / "patch.yaml", {**crd(), "spec": {"conversion": {"strategy": "None"}}})
        write(folder / "cm.yaml", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}})
        write(folder / "empty.yaml", "")
        write(folder / "notes.txt", "kind: CustomResourceDefinition")
    report = diff(tmp_path / "old", tmp_path / "new")
    assert only(report)["added"] == ["B"]
    reasons = {entry["file"]: entry["reason"] for entry in report["summary"]["skipped"] if entry["side"] == "new"}
    assert reasons == {
        "vendor/x/w.yaml": "vendored",
        "a/testdata/w.yaml": "test data",
        "a/tests/w.yaml": "test suite",
        "a/zz_generated.featuregated-crd-manifests/w/G.yaml": "fragment of a feature gate",
        "a/manual-override-crd-manifests/w.yaml": "fragment: manual override",
        "charts/templates/crd.yaml": "template that is not YAML",
        "patch.yaml": "fragment of a CRD: no names or versions",
        "cm.yaml": "no CRD",
        "empty.yaml": "empty",
    }
    assert "18 files skipped" in run("diff", tmp_path / "old", tmp_path / "new").out


def test_left_out_folders_do_not_count_in_the_source_s_own_path(tmp_path: Path) -> None:
    old = tree(tmp_path / "testdata" / "vendor" / "old", w=variant("A"))
    new = tree(tmp_path / "testdata" / "vendor" / "new", w=variant("A", "B"))
    assert only(diff(old, new))["added"] == ["B"]


@pytest.mark.parametrize("end", ["in", "j2"])
def test_what_a_build_makes_manifests_of_is_read(tmp_path: Path, end: str) -> None:
    """Emissary's ``emissary-crds.yaml.in`` is the manifest, but for one name; OVN-Kubernetes has ``….yaml.j2``."""
    gadget = crd(kind="Gadget")
    for side, members in (("old", "A"), ("new", "AB")):
        write(tmp_path / side / f"crds.yaml.{end}", json.dumps(variant(*members)))
        spec = {**gadget["spec"], "versions": "@VERSIONS@"}
        write(tmp_path / side / f"values/w.yml.{end}", json.dumps({**gadget, "spec": spec}))
        write(tmp_path / side / f"v.yaml.{end}", "kind: CustomResourceDefinition\nspec: {versions: @VERSIONS@}\n")
        write(tmp_path / side / f"image.yaml.{end}", "image: @IMAGE@\n")
    report = diff(tmp_path / "old", tmp_path / "new")
    assert only(report)["added"] == ["B"]
    assert report["summary"]["problems"] == []
    assert {each["file"]: each["reason"] for each in report["summary"]["skipped"]} == {
        f"values/w.yml.{end}": "template that is not YAML",
        f"v.yaml.{end}": "template that is not YAML",
        f"image.yaml.{end}": "no CRD",
    }
