"""A real API server, with real Helm and kubectl, and the charts that the tests install there.

``make referee`` builds the API servers and Helm; kubectl is the one in PATH. A test imports ``cluster`` and ``helm``.
"""

from __future__ import annotations

import os
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

GROUP = "example.com"
LABEL = {"app": "a"}
#: Looked up when the module is imported, before the tests get a cache of their own.
HELMS = {major: helm_build.binary(major, referee_build.cache_home()) for major in helm_build.VERSIONS}
#: What a cluster has: the CRDs of the test by kind, each with the values that its enum takes.
Found = dict[str, str]


def definition(kind: str, values: str, *, keep: bool = False) -> Json:
    made = crd(root(status=obj(p=string(*values))), kind=kind)
    annotations = {"annotations": {"helm.sh/resource-policy": "keep"}} if keep else {}
    made["metadata"] = {**made["metadata"], "labels": LABEL, **annotations}
    return made


class Cluster:
    """A real API server, with the commands that put CRDs into it."""

    def __init__(self, bench: Bench, url: str, folder: Path) -> None:
        self.server = bench.server
        self.folder = folder
        homes = {f"HELM_{name}_HOME": str(folder / "helm") for name in ("CACHE", "CONFIG", "DATA")}
        self._env = {**os.environ, **homes, "KUBECONFIG": str(kubeconfig(folder / "kubeconfig.yaml", url))}

    def run(self, *words: str | Path) -> None:
        ran = self.ran(*words)
        assert ran.returncode == 0, ran.stderr

    def ran(self, *words: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
        """How a command ended."""
        command, whole = [*map(str, words)], {**self._env, **env}
        return subprocess.run(command, env=whole, capture_output=True, text=True, timeout=300, check=False)

    def found(self) -> Found:
        """The CRDs, once those that are being deleted are gone."""
        until = time.monotonic() + 60
        while any("deletionTimestamp" in each["metadata"] for each in self._crds()) and time.monotonic() < until:
            time.sleep(0.05)
        return {each["spec"]["names"]["kind"]: "".join(_enum(each)) for each in self._crds()}

    def _crds(self) -> list[Json]:
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        items: list[Json] = self.server.ask("GET", path, {}).body["items"]
        return [each for each in items if each["spec"]["group"] == GROUP]

    def store(self, kind: str) -> None:
        """An object of a kind, as soon as its new CRD is served."""
        made = {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": "one", "namespace": "default"}}
        until = time.monotonic() + 60
        while not (answer := self.server.write("create", definition(kind, "a"), made)).accepted:
            assert time.monotonic() < until, answer.message
            time.sleep(0.05)

    def holds(self, kind: str) -> bool:
        """Whether etcd still has that object."""
        return self.server.stored(definition(kind, "a"), "one") is not None

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


@pytest.fixture(params=HELMS)
def helm(request: pytest.FixtureRequest) -> Path:
    made: Path = HELMS[request.param]
    if not made.is_file():
        pytest.skip(f"Helm {request.param} is not built: `make referee` builds it")
    return made


def chart(folder: Path, inside: str, version: int, crds: Found, *, keep: bool = False) -> Path:
    write(folder / "Chart.yaml", f"apiVersion: v2\nname: a\nversion: {version}.0.0\n")
    for kind, values in crds.items():
        write(folder / inside / f"{kind.lower()}.yaml", definition(kind, values, keep=keep))
    return folder
