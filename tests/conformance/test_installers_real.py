"""The table of docs/installers.md against real Helm and kubectl: which CRDs an upgrade and a rollback leave.

``make referee`` builds the API servers and Helm; kubectl is the one in PATH.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import helm_build
import pytest
import referee_build
from differences import Bench
from fake_cluster import kubeconfig
from helpers import Json, crd, obj, root, string, write
from secrets_front import with_secrets

_GROUP = "example.com"
_LABEL = {"app": "a"}
#: Looked up when the module is imported, before the tests get a cache of their own.
_HELMS = {major: helm_build.binary(major, referee_build.cache_home()) for major in helm_build.VERSIONS}
#: What a cluster has: the CRDs of the test by kind, each with the values that its enum takes.
Found = dict[str, str]

OLD = {"Widget": "a", "Former": "a"}
NEW = {"Widget": "ab", "Added": "a"}


def _crd(kind: str, values: str, *, keep: bool = False) -> Json:
    made = crd(root(status=obj(p=string(*values))), kind=kind)
    annotations = {"annotations": {"helm.sh/resource-policy": "keep"}} if keep else {}
    made["metadata"] = {**made["metadata"], "labels": _LABEL, **annotations}
    return made


class Cluster:
    """A real API server, with the commands that put CRDs into it."""

    def __init__(self, bench: Bench, url: str, folder: Path) -> None:
        self.server = bench.server
        self.folder = folder
        homes = {f"HELM_{name}_HOME": str(folder / "helm") for name in ("CACHE", "CONFIG", "DATA")}
        self._env = {**os.environ, **homes, "KUBECONFIG": str(kubeconfig(folder / "kubeconfig.yaml", url))}

    def run(self, *words: str | Path) -> None:
        ran = subprocess.run(
            [*map(str, words)], env=self._env, capture_output=True, text=True, timeout=300, check=False
        )
        assert ran.returncode == 0, ran.stderr

    def found(self) -> Found:
        """The CRDs, once those that are being deleted are gone."""
        until = time.monotonic() + 60
        while any("deletionTimestamp" in each["metadata"] for each in self._crds()) and time.monotonic() < until:
            time.sleep(0.05)
        return {each["spec"]["names"]["kind"]: "".join(_enum(each)) for each in self._crds()}

    def _crds(self) -> list[Json]:
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        items: list[Json] = self.server.ask("GET", path, {}).body["items"]
        return [each for each in items if each["spec"]["group"] == _GROUP]

    def store(self, kind: str) -> None:
        """An object of a kind, as soon as its new CRD is served."""
        made = {"apiVersion": f"{_GROUP}/v1", "kind": kind, "metadata": {"name": "one", "namespace": "default"}}
        until = time.monotonic() + 60
        while not (answer := self.server.write("create", _crd(kind, "a"), made)).accepted:
            assert time.monotonic() < until, answer.message
            time.sleep(0.05)

    def holds(self, kind: str) -> bool:
        """Whether etcd still has that object."""
        return self.server.stored(_crd(kind, "a"), "one") is not None

    def clear(self) -> None:
        for each in self._crds():
            self.server.ask(
                "DELETE", f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{each['metadata']['name']}", {}
            )
        assert self.found() == {}


def _enum(made: Json) -> list[str]:
    schema = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    found: list[str] = schema["properties"]["status"]["properties"]["p"]["enum"]
    return found


@pytest.fixture
def cluster(bench: Bench, tmp_path: Path) -> Iterator[Cluster]:
    with with_secrets(bench.server.url, bench.server.token) as url:
        made = Cluster(bench, url, tmp_path)
        yield made
        made.clear()


@pytest.fixture(params=_HELMS)
def helm(request: pytest.FixtureRequest) -> Path:
    made: Path = _HELMS[request.param]
    if not made.is_file():
        pytest.skip(f"Helm {request.param} is not built: `make referee` builds it")
    return made


def _chart(folder: Path, inside: str, version: int, crds: Found, *, keep: bool = False) -> Path:
    write(folder / "Chart.yaml", f"apiVersion: v2\nname: a\nversion: {version}.0.0\n")
    for kind, values in crds.items():
        write(folder / inside / f"{kind.lower()}.yaml", _crd(kind, values, keep=keep))
    return folder


def _moved(cluster: Cluster, helm: Path, inside: str, *, keep: bool = False) -> tuple[Found, Found]:
    """The CRDs after an upgrade from OLD to NEW, and after the rollback."""
    old, new = (
        _chart(cluster.folder / f"{version}", inside, version, crds, keep=keep)
        for version, crds in ((1, OLD), (2, NEW))
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
    if helm == _HELMS["3"]:
        with pytest.raises(AssertionError, match=f'no CustomResourceDefinition with the name "formers.{_GROUP}" found'):
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
    assert cluster.server.swap(_crd("Widget", "ab")).accepted
    cluster.run(helm, "rollback", "a", "1")
    assert cluster.found() == OLD | {"Widget": "ab"}


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="there is no `kubectl` command")
@pytest.mark.parametrize("prune", [False, True])
def test_kubectl_apply(cluster: Cluster, prune: bool) -> None:
    """Applied both ways; only pruning deletes what is gone, with its objects."""
    sides = {name: cluster.folder / name for name in ("old", "new")}
    for name, crds in (("old", OLD), ("new", NEW)):
        for kind, values in crds.items():
            write(sides[name] / f"{kind.lower()}.yaml", _crd(kind, values))
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
