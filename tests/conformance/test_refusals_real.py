"""No CRD that a real server took is refused, and the words are the server's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers import RELEASES, Json

import crdcompat
from crdcompat.apiserver.crd_validation.refusal import refusal, update_refusal
from crdcompat.apiserver.server_versions import OPENSHIFT, Server
from crdcompat.crds.model import read_crd


@pytest.mark.parametrize("release", RELEASES)
def test_no_crd_of_openshift_is_refused(openshift_api: Path, release: str) -> None:
    found = crdcompat.load(f"origin/release-{release}", repo=str(openshift_api))
    major, minor = map(int, release.split("."))
    server = Server(OPENSHIFT[major, minor], (major, minor))
    documents = [document for document in found.documents if document.crd.versions]
    assert len(documents) > 70
    refused = {document.file: said for document in documents if (said := refusal(document.crd, server))}
    assert not refused


def _recorded(shared: Path) -> list[tuple[str, Json]]:
    folder = shared / "data/rollback-truth/crds"
    listed = shared / "data/live-api/crds.json"
    if not folder.is_dir() or not listed.is_file():
        pytest.skip("no recorded CRDs in ../shared")
    found = [(path.name, json.loads(path.read_text())) for path in sorted(folder.glob("*.json"))]
    items = json.loads(listed.read_text())["items"]
    kind = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    return found + [(item["metadata"]["name"], {**kind, **item}) for item in items]


def test_no_recorded_crd_is_refused(shared: Path) -> None:
    """Real servers took all of these."""
    recorded = _recorded(shared)
    assert len(recorded) > 80
    for name, definition in recorded:
        found = read_crd(definition)
        for minor in (26, 29, 30, 31, 33, 36):
            assert refusal(found, Server(minor)) == "", name


def test_no_recorded_rollback_is_refused(shared: Path) -> None:
    """The old CRD replaced the new one on every server (docs/semantics.md#changed-crds)."""
    recorded = dict(_recorded(shared))
    pairs = [name for name in recorded if name.endswith(".new.json")]
    assert len(pairs) > 30
    for name in pairs:
        new, old = read_crd(recorded[name]), read_crd(recorded[name.replace(".new.", ".old.")])
        stored = [entry.name for entry in new.versions if entry.storage]
        assert update_refusal(new, old, stored, Server(26)) == "", name
