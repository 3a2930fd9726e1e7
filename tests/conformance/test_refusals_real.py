"""No CRD that a real server took is refused, and the words are the server's."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from helpers import RELEASES, Json

import crdcompat
import crdcompat.apiserver.crd_validation.structural
from crdcompat.apiserver.crd_validation.refusal import refusal, refusals, update_refusal
from crdcompat.apiserver.versions import OPENSHIFT, Server, kubernetes_server
from crdcompat.crds.model import NotACrdError, read_crd


@pytest.mark.parametrize("release", RELEASES)
def test_no_crd_of_openshift_is_refused(openshift_api: Path, release: str) -> None:
    found = crdcompat.load(f"origin/release-{release}", repo=str(openshift_api))
    major, minor = map(int, release.split("."))
    server = Server(OPENSHIFT[major, minor], (major, minor))
    documents = [document for document in found.documents if document.crd.versions]
    assert len(documents) > 70
    refused = {
        (document.file, entry.name): said
        for document in documents
        for entry in document.crd.versions
        if (said := refusal(document.crd, entry, server))
    }
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
        for entry in found.versions:
            for minor in (26, 29, 30, 31, 33, 36):
                assert refusal(found, entry, Server(minor)) == "", name


def test_no_recorded_rollback_is_refused(shared: Path) -> None:
    """The old CRD replaced the new one on every server (rollback-truth, fact 12)."""
    recorded = dict(_recorded(shared))
    pairs = [name for name in recorded if name.endswith(".new.json")]
    assert len(pairs) > 30
    for name in pairs:
        new, old = read_crd(recorded[name]), read_crd(recorded[name.replace(".new.", ".old.")])
        stored = [entry.name for entry in new.versions if entry.storage]
        assert update_refusal(new, old, stored, Server(26)) == "", name


def _lines(file: Path) -> list[Json]:
    return [json.loads(line) for line in gzip.decompress(file.read_bytes()).decode().split("\n") if line]


#: Faults whose message shows a whole schema as Go prints it, or that another fault hides; and what 1.36 decodes to.
_OTHER_WORDS = 0.13


def test_posted_crds(shared: Path) -> None:
    """12,933 answers of nine servers. What a server took as a new CRD is not refused here."""
    folder = shared / "data/api-server"
    if not (folder / "crd-install.ndjson.gz").is_file():
        pytest.skip("no answers about CRDs in ../shared")
    posted, answers = (_lines(folder / f"{name}.ndjson.gz") for name in ("crd-install-crds", "crd-install"))
    crds = {each["id"]: each["crd"] for each in posted}
    wrong, said, meant = [], 0, 0
    for answer in answers:
        try:
            found = read_crd(crds[answer["crd"]])
        except NotACrdError:
            assert answer["code"] >= 400
            continue
        faults = refusals(found, kubernetes_server(answer["kube"]))
        if faults and answer["code"] < 400 and answer["op"] == "create":
            wrong.append((answer["id"], answer["kube"], answer["fault"]))
        elif faults and answer["code"] >= 400:
            said += len(faults)
            meant += sum(sentence in answer["message"] for _, sentence in faults)
    assert wrong == []
    assert said > 1_000
    assert meant >= (1 - _OTHER_WORDS) * said
