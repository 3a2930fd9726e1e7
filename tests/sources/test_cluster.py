"""A live cluster, played by a local server with the answers that a real API server gave."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml
from certificates import authority
from fake_cluster import CRDS, FakeCluster, kubeconfig, serving
from helpers import Json, run, write
from packed_sources import NEW, OLD
from recorded import from_cluster

from crdcompat.apiserver.server_versions import running_server
from crdcompat.errors import UsageError

pytest.importorskip("kubernetes")

_LIST: Json = {"kind": "CustomResourceDefinitionList", "metadata": {}, "items": [yaml.safe_load(NEW)]}


def test_without_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "kubernetes.client", None)
    with pytest.raises(UsageError, match=r"pip install 'crdcompat\[cluster\]'"):
        from_cluster()


@pytest.mark.parametrize(
    ("version", "server"),
    [
        (None, "1.31"),
        ({"gitVersion": "v1.30.2"}, "1.30"),
        ({"major": "1"}, None),
        ({"gitVersion": 1}, None),
    ],
    ids=["whole", "without a build date", "no version", "a number"],
)
def test_a_cluster_is_a_release_on_its_own_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: Json | None, server: str | None
) -> None:
    (tmp_path / "w.yaml").write_bytes(OLD)
    instead = {CRDS: _LIST}
    if version is not None:
        instead["/version/"] = version
    with serving(FakeCluster()) as cluster:
        cluster.instead = lambda _, path, __: (200, instead[path]) if path in instead else None
        url = f"http://127.0.0.1:{cluster.server_port}"
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig(tmp_path / "config", url)))
        found = run("diff", tmp_path / "w.yaml", "cluster:kind-kind", "--format", "json")
    assert [each["added"] for each in found.report["findings"]] == [["Failed"]], found.err
    # Nothing says that a rollback changes the server: the file is judged on that of the cluster, too.
    assert (found.report["old"]["kubernetes"], found.report["new"]["kubernetes"]) == (server, server)
    assert set(cluster.asked) == {f"GET {CRDS}", "GET /version/"}


@pytest.mark.parametrize(
    ("of_kubeconfig", "of_machine", "is_trusted"),
    [("own", None, True), (None, "own", True), (None, None, False), ("other", "own", False)],
)
def test_an_authority_without_extensions(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    of_kubeconfig: str | None,
    of_machine: str | None,
    is_trusted: bool,
) -> None:
    """Python 3.13 asks for extensions of RFC 5280, which authorities of clusters lack; kubectl does not."""
    (tmp_path / "w.yaml").write_bytes(OLD)
    files: dict[str | None, str] = {None: os.devnull}
    for name in ("other", "own"):
        (tmp_path / name).mkdir()
        certificate, context = authority(tmp_path / name, is_plain=True)
        files[name] = str(certificate)
    with serving(FakeCluster(), context) as cluster:
        cluster.instead = lambda _, path, __: (200, _LIST) if path == CRDS else None
        config = kubeconfig(tmp_path / "config", f"https://127.0.0.1:{cluster.server_port}")
        if of_kubeconfig:
            made = yaml.safe_load(config.read_bytes())
            made["clusters"][0]["cluster"]["certificate-authority"] = files[of_kubeconfig]
            write(config, made)
        monkeypatch.setenv("KUBECONFIG", str(config))
        monkeypatch.setenv("SSL_CERT_FILE", files[of_machine])
        found = run("diff", tmp_path / "w.yaml", "cluster:kind-kind", "--format", "json")
    assert (found.code, len(cluster.asked)) == ((1, 2) if is_trusted else (2, 0)), found.err
    assert is_trusted or "CERTIFICATE_VERIFY_FAILED" in found.err


@pytest.mark.parametrize(
    ("version", "is_openshift", "expected"),
    [("v1.31.4", True, "OpenShift 4.18 (Kubernetes 1.31)"), ("v1.31.4-eks-1", False, "Kubernetes 1.31")],
)
def test_the_server_of_a_cluster(version: str, is_openshift: bool, expected: str) -> None:
    assert str(running_server(version, is_openshift=is_openshift)) == expected
