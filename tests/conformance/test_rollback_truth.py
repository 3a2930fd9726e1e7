"""The program against answers of real API servers, recorded after a real rollback of the CRD."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from helpers import Json

from crdcompat.apiserver.admission import Verdict
from crdcompat.apiserver.server_versions import Server, kubernetes_server
from crdcompat.apiserver.strategy import Resource
from crdcompat.features.judge.write_verdict import judge_write, resource_of
from crdcompat.replay.replayed_writes import replay
from crdcompat.vocabulary.writes import RepairVerdict, WriteKind, WriteResult

#: Labels of the recordings -> words of ``judge``.
SERVERS = {"1.31-openshift-4.18": "openshift-4.18"}
KUBERNETES = ("1.26", "1.29", "1.30", "1.31", "1.31-openshift-4.18", "1.33")
_WRITES = {
    ("PUT", "application/json"),
    ("PATCH", "application/merge-patch+json"),
    ("POST", "application/json"),
}


@pytest.fixture(scope="module")
def records(shared: Path) -> list[Json]:
    path = shared / "data/rollback-truth/records.ndjson.gz"
    if not path.is_file():
        pytest.skip(f"no {path.name} in ../shared")
    with gzip.open(path) as lines:
        found = map(json.loads, lines)
        return [record for record in found if (record["method"], record.get("content_type")) in _WRITES]


@pytest.fixture(scope="module")
def crds(shared: Path) -> Path:
    return shared / "data/rollback-truth"


@cache
def _resource(path: Path, version: str, server: Server) -> Resource:
    return resource_of(json.loads(path.read_text()), version, server)


def merged(target: Any, patch: Any) -> Any:
    """A JSON merge patch applied (RFC 7386)."""
    if not isinstance(patch, dict):
        return patch
    found = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            found.pop(key, None)
        else:
            found[key] = merged(found.get(key), value)
    return found


def test_merge_patch() -> None:
    assert merged({"a": {"b": 1, "c": 2}}, {"a": {"b": None, "d": {"e": None}}}) == {"a": {"c": 2, "d": {}}}


def _endpoint(record: Json) -> str:
    """status, scale or "" for the object itself."""
    last = record["path"].partition("?")[0].rsplit("/", 1)[-1]
    return last if last in ("status", "scale") else ""


def _answer(record: Json, crds: Path) -> Verdict:
    server = kubernetes_server(SERVERS.get(record["kubernetes"], record["kubernetes"]))
    version = record["object"]["apiVersion"].rpartition("/")[2]
    resource = _resource(crds / record["old_crd"], version, server)
    stored, body = record["object"], record["request_body"]
    if record["method"] == "POST":
        return judge_write(resource, "create", body)
    # A patch meets the object as the server reads it: through the CRD that is there now.
    new = body if record["method"] == "PUT" else merged(resource.read(stored).object, body)
    return judge_write(resource, "updateStatus" if _endpoint(record) == "status" else "update", new, stored)


def _parts(message: str) -> tuple[str, Counter[str]]:
    """The head of a 422 message and its parts as a set: the server's order is random."""
    head, _, body = message.partition(" is invalid: ")
    return head, Counter(body.removeprefix("[").removesuffix("]").split(", "))


@pytest.mark.parametrize("kubernetes", KUBERNETES)
def test_writes_after_a_rollback(records: list[Json], crds: Path, kubernetes: str) -> None:
    wrong, judged = [], 0
    for record in records:
        if record["kubernetes"] != kubernetes or _endpoint(record) == "scale" or record["http_status"] == 404:
            continue
        judged += 1
        verdict = _answer(record, crds)
        assert not verdict.unknown
        created = 201 if record["method"] == "POST" else 200
        status = created if verdict.accepted else 422
        if status != record["http_status"] or _parts(verdict.message) != _parts(record["message"]):
            wrong.append(
                (record["case"], record["operation"], record["http_status"], record["message"], verdict.message)
            )
    assert judged > 550
    assert not wrong, f"{len(wrong)} of {judged}; the first: {wrong[0]}"


def test_what_is_stored_afterwards(records: list[Json], crds: Path) -> None:
    """An accepted write stores the object as the old CRD reads it: what that lacks is gone for good."""
    wrong, compared = [], 0
    for record in records:
        if "etcd_after" not in record or record["http_status"] not in (200, 201) or _endpoint(record) == "scale":
            continue
        compared += 1
        stored, reported = _answer(record, crds).object or {}, record["etcd_after"]
        for part in sorted((stored.keys() | reported.keys()) - {"metadata", "apiVersion", "kind"}):
            if stored.get(part) != reported.get(part):
                wrong.append((record["case"], record["operation"], part, reported.get(part), stored.get(part)))
    assert compared > 100
    assert not wrong, f"{len(wrong)} of {compared}; the first: {wrong[0]}"


#: Kind of write of a replay -> the recorded operation. The recorded create sends the manifest that a user wrote.
_REPLAYED = {
    WriteKind.STATUS_UPDATE: "status_put_condition",
    WriteKind.SPEC_UPDATE: "put_spec_unrelated",
    WriteKind.METADATA_UPDATE: "patch_label",
    WriteKind.FINALIZER_REMOVAL: "patch_remove_finalizer",
}
_REPAIRED = {RepairVerdict.MAIN: "put_fix", RepairVerdict.STATUS: "status_put_fix"}


def test_the_replay_of_the_recorded_objects(records: list[Json], crds: Path) -> None:
    """What simulate says of each kind of write, and of the write that repairs, is what the server answered."""
    cases: dict[tuple[str, str], dict[str, Json]] = {}
    for record in records:
        cases.setdefault((record["case"], record["kubernetes"]), {})[record["operation"]] = record
    wrong, compared = [], 0
    for (case, kubernetes), by_operation in cases.items():
        record = by_operation["put_unchanged"]
        server = kubernetes_server(SERVERS.get(kubernetes, kubernetes))
        version = record["object"]["apiVersion"].rpartition("/")[2]
        reported = replay(_resource(crds / record["old_crd"], version, server), record["object"], had_status=True)
        accepted = {name for name, each in by_operation.items() if each["http_status"] < 300}
        for kind, operation in _REPLAYED.items():
            compared += 1
            if (reported.writes[kind].verdict is not WriteResult.REJECTED) != (operation in accepted):
                wrong.append((case, kubernetes, kind, reported.writes[kind]))
        repairs = {verdict for verdict, operation in _REPAIRED.items() if operation in accepted}
        expected = {RepairVerdict.NOT_NEEDED, *(repairs or {RepairVerdict.DEADLOCK})}
        if reported.repair.verdict not in expected:
            wrong.append((case, kubernetes, "repair", reported.repair))
    assert compared > 900
    assert not wrong, f"{len(wrong)} of {compared}; the first: {wrong[0]}"


def test_status_endpoint_that_the_old_crd_lacks(records: list[Json]) -> None:
    """The recordings that are left out above: 404 comes from a missing endpoint only."""
    missing = [record for record in records if record["http_status"] == 404]
    assert {record["case"] for record in missing if _endpoint(record) == "status"} == {"status-subresource-only-in-new"}
    assert {_endpoint(record) for record in missing} == {"status", "scale"}
