"""Which installer puts a manifest into a cluster, by its tree."""

from __future__ import annotations

import pytest

from crdcompat.crds.installers import installers_in
from crdcompat.vocabulary.installers import Installer

_PATHS = (
    "charts/a/Chart.yaml",
    "charts/a/charts/b/Chart.yaml",
    "bundle/metadata/annotations.yaml",
    "config/crd/kustomization.yaml",
)


@pytest.mark.parametrize(
    ("file", "installer"),
    [
        ("charts/a/templates/w.yaml", Installer.HELM_TEMPLATES),
        ("charts/a/templates/crds/w.yaml", Installer.HELM_TEMPLATES),
        ("charts/a/crds/w.yaml", Installer.HELM_CRDS),
        ("charts/a/crds/templates/w.yaml", Installer.HELM_CRDS),
        ("charts/a/charts/b/crds/w.yaml", Installer.HELM_CRDS),
        ("charts/a/files/w.yaml", Installer.APPLY),
        ("charts/templates/w.yaml", Installer.APPLY),
        ("crds/w.yaml", Installer.APPLY),
        ("bundle/manifests/w.yaml", Installer.OLM_V0),
        ("other/manifests/w.yaml", Installer.APPLY),
        ("manifests/0000_10_widgets.crd.yaml", Installer.CVO),
        ("config/crd/bases/w.yaml", Installer.APPLY),
        ("w.yaml", Installer.APPLY),
    ],
)
def test_the_tree_tells(file: str, installer: Installer) -> None:
    assert installers_in(_PATHS, None).of(file) is installer


@pytest.mark.parametrize(
    ("inside", "installer"),
    [
        ("charts/b/crds/w.yaml", Installer.HELM_CRDS),
        ("charts/b/templates/crds/w.yaml", Installer.HELM_TEMPLATES),
        ("charts/b/charts/c/crds/w.yaml", Installer.HELM_CRDS),
        ("charts/b/files/w.yaml", Installer.APPLY),
        ("charts/w.yaml", Installer.APPLY),
    ],
)
def test_a_packed_chart(inside: str, installer: Installer) -> None:
    assert installers_in(_PATHS, None).of("charts/a/charts/b-1.0.0.tgz", inside) is installer


def test_a_chart_at_the_top() -> None:
    found = installers_in(["Chart.yaml"], None)
    assert [found.of(file) for file in ("templates/w.yaml", "crds/w.yaml", "w.yaml")] == [
        Installer.HELM_TEMPLATES,
        Installer.HELM_CRDS,
        Installer.APPLY,
    ]


@pytest.mark.parametrize("named", Installer)
def test_the_user_knows_better(named: Installer) -> None:
    found = installers_in(_PATHS, named)
    assert {found.of(file) for file in ("charts/a/crds/w.yaml", "w.yaml")} == {named}
    assert found.has_chart == (named is Installer.HELM_TEMPLATES)
