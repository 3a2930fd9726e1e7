"""The table of docs/installers.md against real Helm and kubectl: which CRDs an upgrade and a rollback leave."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from helm_cluster import GROUP, HELMS, Cluster, Found, chart, definition
from helm_cluster import cluster as cluster
from helm_cluster import helm as helm
from helpers import write

OLD = {"Widget": "a", "Former": "a"}
NEW = {"Widget": "ab", "Added": "a"}


def _moved(cluster: Cluster, helm: Path, inside: str, *, keep: bool = False) -> tuple[Found, Found]:
    """The CRDs after an upgrade from OLD to NEW, and after the rollback."""
    old, new = (
        chart(cluster.folder / f"{version}", inside, version, crds, keep=keep) for version, crds in ((1, OLD), (2, NEW))
    )
    cluster.run(helm, "install", "a", old)
    assert cluster.found() == OLD
    cluster.store("Former")
    cluster.run(helm, "upgrade", "a", new)
    upgraded = cluster.found()
    if "Added" in upgraded:
        cluster.store("Added")
    cluster.run(helm, "rollback", "a", "1")
    return upgraded, cluster.found()


def test_helm_templates(cluster: Cluster, helm: Path) -> None:
    """Replaced both ways; what the release that is entered does not have is deleted with all its objects."""
    assert _moved(cluster, helm, "templates") == (NEW, OLD)
    assert not cluster.holds("Former") and not cluster.holds("Added")


def test_helm_templates_that_are_kept(cluster: Cluster, helm: Path) -> None:
    """Helm 3 refuses a rollback to what it kept: the release that it leaves does not have it."""
    everything = OLD | NEW
    if helm == HELMS["3"]:
        with pytest.raises(AssertionError, match=f'no CustomResourceDefinition with the name "formers.{GROUP}" found'):
            _moved(cluster, helm, "templates", keep=True)
        assert cluster.found() == everything
    else:
        assert _moved(cluster, helm, "templates", keep=True) == (everything, everything | OLD)
    assert cluster.holds("Former") and cluster.holds("Added")


def test_helm_crds(cluster: Cluster, helm: Path) -> None:
    """Not touched, not even created; what somebody applies stays when the release is rolled back."""
    assert _moved(cluster, helm, "crds") == (OLD, OLD)
    assert cluster.holds("Former")
    cluster.run(helm, "upgrade", "a", cluster.folder / "2")
    assert cluster.server.swap(definition("Widget", "ab")).accepted
    cluster.run(helm, "rollback", "a", "1")
    assert cluster.found() == OLD | {"Widget": "ab"}


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="there is no `kubectl` command")
@pytest.mark.parametrize("prune", [False, True])
def test_kubectl_apply(cluster: Cluster, prune: bool) -> None:
    """Applied both ways; only pruning deletes what is gone, with its objects."""
    sides = {name: cluster.folder / name for name in ("old", "new")}
    for name, crds in (("old", OLD), ("new", NEW)):
        for kind, values in crds.items():
            write(sides[name] / f"{kind.lower()}.yaml", definition(kind, values))
    allowed = "--prune-allowlist=apiextensions.k8s.io/v1/CustomResourceDefinition"
    pruning = ["--prune", "-l", "app=a", allowed] if prune else []

    def apply(name: str) -> Found:
        cluster.run("kubectl", "apply", "--validate=false", *pruning, "-f", sides[name])
        return cluster.found()

    assert apply("old") == OLD
    cluster.store("Former")
    assert apply("new") == (NEW if prune else OLD | NEW)
    cluster.store("Added")
    assert apply("old") == (OLD if prune else NEW | OLD)
    assert (cluster.holds("Former"), cluster.holds("Added")) == (not prune, not prune)
