"""CRDs of a cluster list the versions that objects were stored in; a manifest does not know them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from api_server import ApiServer, kubeconfig, serving
from changes import check, repository
from helpers import Json, brief, commit, crd, diff, obj, run, string, version, write

OBJ = obj(spec=obj(mode=string("a")))


def _installed(*versions: Json, stored: tuple[str, ...]) -> Json:
    made = crd(versions=versions)
    return {**made, "metadata": {**made["metadata"], "resourceVersion": "7"}, "status": {"storedVersions": [*stored]}}


def _found(tmp_path: Path, old: Json, new: Json) -> list[tuple[str, ...]]:
    report = diff(write(tmp_path / "old.json", old), write(tmp_path / "new.json", new))
    return [(*brief(finding)[:3], finding["effect"], finding["version"]) for finding in report["findings"]]


ONE = crd(versions=[version(OBJ, name="v1")])


@pytest.mark.parametrize(
    ("stored", "finding"),
    [
        (("v1", "v2"), ("rollback", "error", "version-storage-moved", "crd-rejected", "v2")),
        (("v1",), ("rollback", "warning", "version-added", "request-failed", "v2")),
    ],
)
def test_a_version_that_old_lacks(tmp_path: Path, stored: tuple[str, ...], finding: tuple[str, ...]) -> None:
    """It is no storage version now. The server refuses OLD's CRD if objects were once stored in it."""
    two = _installed(version(OBJ, name="v1"), version(OBJ, name="v2", storage=False), stored=stored)
    assert _found(tmp_path, ONE, two) == [finding]


def test_the_words_of_the_server(tmp_path: Path) -> None:
    two = _installed(version(OBJ, name="v1"), version(OBJ, name="v2", storage=False), stored=("v1", "v2"))
    report = diff(write(tmp_path / "old.json", ONE), write(tmp_path / "new.json", two))
    (message,) = report["findings"][0]["witness"]["errors"]
    assert message == (
        'CustomResourceDefinition.apiextensions.k8s.io "widgets.example.com" is invalid: status.storedVersions[1]: '
        'Invalid value: "v2": must appear in spec.versions'
    )


@pytest.mark.parametrize("served", [True, False])
@pytest.mark.parametrize("is_named", [True, False])
def test_a_version_that_goes(tmp_path: Path, served: bool, is_named: bool) -> None:
    """The server refuses a CRD without a version that status.storedVersions names. A manifest has no such status."""
    versions = version(OBJ, name="v1", storage=False, served=served), version(OBJ, name="v2")
    installed = _installed(*versions, stored=("v1", "v2") if is_named else ("v2",))
    next_one = crd(versions=[version(OBJ, name="v2")])
    refused = [("upgrade", "error", "version-removed", "crd-rejected", "v1")]
    not_found = [("upgrade", "warning", "version-removed", "request-failed", "v1")] if served else []
    assert _found(tmp_path, installed, next_one) == (refused if is_named else not_found)


@pytest.mark.parametrize(
    ("name", "stored", "once_stored"),
    [
        ("v1alpha1", "v1", True),
        ("v1beta1", "v1beta2", True),
        ("v1", "v2", True),
        ("v2alpha1", "v1", False),
        ("v1beta2", "v1beta1", False),
        ("preview", "v1", False),
    ],
)
def test_a_served_version_goes_from_a_manifest(tmp_path: Path, name: str, stored: str, once_stored: bool) -> None:
    """Objects were stored in a version before a later one came: clusters that began with it refuse the CRD."""
    old = crd(versions=[version(OBJ, name=name, storage=False), version(OBJ, name=stored)])
    severity, effect = ("error", "crd-rejected") if once_stored else ("warning", "request-failed")
    assert _found(tmp_path, old, crd(versions=[version(OBJ, name=stored)])) == [
        ("upgrade", severity, "version-removed", effect, name)
    ]


def test_the_status_of_a_manifest_says_nothing(tmp_path: Path) -> None:
    """Generators wrote one, and people commit it."""
    versions = version(OBJ, name="v1", storage=False, served=False), version(OBJ, name="v2")
    manifest = {**crd(versions=versions), "status": {"storedVersions": ["v2"]}}
    assert _found(tmp_path, manifest, crd(versions=[version(OBJ, name="v2")])) == [
        ("upgrade", "error", "version-removed", "crd-rejected", "v1")
    ]


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A cluster with two versions, of which it has stored both."""
    pytest.importorskip("kubernetes")
    two = crd(versions=[version(OBJ, name="v1", storage=False, served=False), version(OBJ, name="v2")])
    with serving(ApiServer()) as server:
        server.install({**two, "status": {"storedVersions": ["v1", "v2"]}})
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig(tmp_path / "kubeconfig.yaml", server.server_port)))
        yield


@pytest.mark.usefixtures("cluster")
def test_diff_asks_a_cluster(tmp_path: Path) -> None:
    write(tmp_path / "old.json", ONE)
    found = run("diff", "old.json", "cluster:prod", "--format", "json", cwd=tmp_path).report["findings"]
    assert [(each["rule"], each["severity"], each["version"]) for each in found] == [
        ("version-storage-moved", "error", "v2"),
        ("version-served-changed", "warning", "v1"),
    ]


@pytest.mark.usefixtures("cluster")
def test_check_asks_a_cluster(tmp_path: Path) -> None:
    """The change adds v2, which the cluster has stored, to a CRD that lacked it; v1 goes."""
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": crd(versions=[version(OBJ, name="v1", storage=False), version(OBJ, name="v2")])})
    commit(repo, {"w.yaml": crd(versions=[version(OBJ, name="v2")])})
    (section,) = check(repo, "--base", "HEAD~1", "--target", "cluster:prod", "--targets-only", code=1)["sections"]
    assert [(each["rule"], each["severity"]) for each in section["findings"]] == [("version-removed", "error")]
