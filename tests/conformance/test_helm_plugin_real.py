"""``helm crdcompat upgrade-check`` with real Helm, kubectl and API servers, and what the upgrade then does."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from helm_cluster import GROUP, Cluster, chart
from helm_cluster import cluster as cluster
from helm_cluster import helm as helm
from offline import PROJECT
from pipelines import programs

pytestmark = pytest.mark.skipif(shutil.which("kubectl") is None, reason="there is no `kubectl` command")
OLD = {"Widget": "a", "Former": "a"}
NEW = {"Widget": "ab", "Added": "a"}


class Plugin:
    """The plugin, installed for a Helm whose release ``a`` has the chart of OLD."""

    def __init__(self, cluster: Cluster, helm: Path, inside: str) -> None:
        self._cluster, self._helm = cluster, helm
        self._path = f"{programs(cluster.folder / 'bin')}{os.pathsep}{os.environ['PATH']}"
        self.new = chart(cluster.folder / "2", inside, 2, NEW)
        cluster.run(helm, "install", "a", chart(cluster.folder / "1", inside, 1, OLD))
        cluster.run(helm, "plugin", "install", PROJECT / "contrib/helm")

    def check(self, *words: str | Path) -> tuple[int, str]:
        """The exit code of Helm, and what was printed."""
        ran = self._run("upgrade-check", *words)
        return ran.returncode, ran.stdout + ran.stderr

    def _run(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        return self._cluster.ran(self._helm, "crdcompat", *words, PATH=self._path)


def _findings(text: str) -> set[tuple[str, str]]:
    """Rule and plural of each finding of ``--format concise``."""
    lines = (line for line in text.splitlines() if f".{GROUP}" in line and "[" in line)
    return {(line.partition("[")[2].partition("]")[0], line.partition(f".{GROUP}")[0].split()[-1]) for line in lines}


def test_crds_that_helm_replaces(cluster: Cluster, helm: Path) -> None:
    plugin = Plugin(cluster, helm, "templates")
    code, told = plugin.check("a", plugin.new, "--", "--format", "concise")
    assert (code, _findings(told)) == (
        1,
        {("enum-value-added", "widgets"), ("crd-deleted", "formers"), ("crd-deleted", "addeds")},
    )
    cluster.run(helm, "upgrade", "a", plugin.new)
    assert plugin.check("a", plugin.new)[0] == 0
    assert cluster.found() == NEW


def test_crds_that_helm_leaves(cluster: Cluster, helm: Path) -> None:
    """Those of the cluster count: nobody else knows what was applied by hand."""
    plugin = Plugin(cluster, helm, "crds")
    code, told = plugin.check("a", plugin.new, "--", "--format", "concise", "--direction", "upgrade")
    assert (code, _findings(told)) == (1, {("enum-value-added", "widgets"), ("crd-added", "addeds")})
    cluster.run("kubectl", "apply", "--validate=false", "-f", plugin.new / "crds")
    assert plugin.check("a", plugin.new)[0] == 0


def test_what_is_no_verdict(cluster: Cluster, helm: Path) -> None:
    plugin = Plugin(cluster, helm, "templates")
    for words, message in {
        ("a",): "Usage: helm crdcompat upgrade-check RELEASE CHART",
        ("no-such-release", plugin.new): "not found",
        ("a", cluster.folder / "no-such-chart"): "no-such-chart",
        ("a", plugin.new, "--no-such-option"): "--no-such-option",
    }.items():
        code, told = plugin.check(*words)
        assert code == 2 and message in told, told
