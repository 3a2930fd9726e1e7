"""Reports name the files that may define CRDs without a manifest, and count them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers import Json, crd, diff, obj, run, string, write

from crdcompat.crds.reader import CrdReader
from crdcompat.sources.files import PathTree

_VALUE = "package crds\n\nvar made = &extv1.CustomResourceDefinition{\n\tTypeMeta: metav1.TypeMeta{},\n}\n"
_YAML = (
    "package crds\n\nvar made = `apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {}\n`\n"
)
_DECODED = "package crds\n\nvar found = &extv1.CustomResourceDefinition{}\n"
_TYPES = "package v1\n\n// +kubebuilder:object:root=true\ntype Widget struct{}\n"
_PATCH = {**crd(), "spec": {"conversion": {"strategy": "None"}}}
#: kubebuilder's patch for cert-manager.
_INJECTS = {
    **{key: _PATCH[key] for key in ("apiVersion", "kind")},
    "metadata": {"name": "widgets.example.com", "annotations": {"cert-manager.io/inject-ca-from": "a/b"}},
}
_KUSTOMIZATION: Json = {
    "kind": "Kustomization",
    "patches": [{"path": "p.yaml", "target": {"kind": "CustomResourceDefinition"}}],
}
_OF_OTHERS: Json = {
    "kind": "Kustomization",
    "patches": [{"path": "p.yaml"}, {"patch": "- op: remove\n  path: /spec/x\n", "target": {"kind": "Secret"}}],
}
_ONE = {"widget.yaml": crd(obj(status=obj(phase=string("A"))))}
_PATCHED = "and the result is not seen: kustomize build shows it"
_MADE = "CRDs in Go, and these are not seen: write them as YAML and compare the result"
_GENERATED = "types to generate CRDs from, and no manifest is there: run the generator first"


@pytest.mark.parametrize(
    ("files", "notes"),
    [
        (_ONE, ()),
        ({**_ONE, "e2e/p.yaml": _PATCH}, ()),
        ({**_ONE, "a/injects.yaml": _INJECTS, "a/kustomization.yaml": {"patches": [{"path": "injects.yaml"}]}}, ()),
        ({**_ONE, "a/p.yaml": _PATCH}, (f"a/p.yaml patches CRDs, {_PATCHED}",)),
        (
            {**_ONE, "a/p.yaml": _PATCH, "b/p.yaml": _PATCH, "k/kustomization.yaml": _KUSTOMIZATION},
            (f"a/p.yaml and 2 more files patch CRDs, {_PATCHED}",),
        ),
        ({**_ONE, "crd/patches/p.yaml": _PATCH, "crd/kustomization.yaml": {"resources": ["../widget.yaml"]}}, ()),
        (
            {**_ONE, "crd/patches/p.yaml": _PATCH, "crd/kustomization.yaml": {"patches": [{"path": "patches/p.yaml"}]}},
            (f"crd/patches/p.yaml patches CRDs, {_PATCHED}",),
        ),
        (
            {**_ONE, "a/kustomization.yml": {"patches": _KUSTOMIZATION["patches"]}, "b.yaml": {"patches": []}},
            (f"a/kustomization.yml patches CRDs, {_PATCHED}",),
        ),
        ({**_ONE, "kustomization.yaml": {"kind": "Kustomization", "resources": ["widget.yaml"]}}, ()),
        ({**_ONE, "kustomization.yaml": _OF_OTHERS, "p.yaml": {"kind": "Deployment"}}, ()),
        ({**_ONE, "pkg/crds.go": _VALUE, "pkg/crds_test.go": _VALUE}, (f"pkg/crds.go makes {_MADE}",)),
        ({**_ONE, "pkg/crds_generated.go": _YAML}, (f"pkg/crds_generated.go makes {_MADE}",)),
        ({**_ONE, "pkg/yaml_factory.go": _YAML, "pkg/yaml/a.go": _YAML}, (f"pkg/yaml_factory.go makes {_MADE}",)),
        ({**_ONE, "pkg/test/crds.go": _YAML}, ()),
        ({**_ONE, "pkg/CustomResources/a.go": _VALUE}, (f"pkg/CustomResources/a.go makes {_MADE}",)),
        ({**_ONE, "pkg/crds.go": _DECODED, "vendor/a/crds.go": _VALUE, "pkg/types.go": _TYPES}, ()),
        (
            {"pkg/made.go": _VALUE, "pkg/crds.go": _VALUE, "api/v1/types.go": _TYPES},
            (f"pkg/crds.go and 1 more file make {_MADE}", f"api/v1/types.go has {_GENERATED}"),
        ),
    ],
)
def test_notes(tmp_path: Path, files: dict[str, Any], notes: tuple[str, ...]) -> None:
    for name, content in files.items():
        write(tmp_path / name, content)
    assert CrdReader().read(PathTree("tree", str(tmp_path))).notes == notes


def test_a_file_that_is_not_included_is_not_mentioned(tmp_path: Path) -> None:
    for name, content in {**_ONE, "pkg/crds.go": _VALUE, "a/p.yaml": _PATCH}.items():
        write(tmp_path / name, content)
    read = CrdReader().read(PathTree("tree", str(tmp_path)), wanted=lambda path: "/" not in path)
    assert read.notes == ()


def test_reports_have_the_notes(tmp_path: Path) -> None:
    for side in ("old", "new"):
        for name, content in {**_ONE, "pkg/crds.go": _VALUE}.items():
            write(tmp_path / side / name, content)
    sides = tmp_path / "old", tmp_path / "new"
    assert diff(*sides)["old"]["notes"] == [f"pkg/crds.go makes {_MADE}"]
    assert f"note: pkg/crds.go makes {_MADE}" in run("diff", *sides).out
