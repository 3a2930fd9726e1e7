"""What real API servers answer with: the object as they store it, read back.

Each object is stored under a version that no longer is the storage version; the new one has a default that it lacks.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from differences import Bench, new_group
from helpers import Json, crd, obj, root, string, version
from referee import collection

from crdcompat.apiserver.ownership import Applier
from crdcompat.apiserver.server_versions import kubernetes_server
from crdcompat.features.judge.write_verdict import judge_write, resource_of

_SENT = {
    "updateStatus": ("PUT", "/status", "application/json"),
    "mergePatchStatus": ("PATCH", "/status", "application/merge-patch+json"),
    "update": ("PUT", "", "application/json"),
    "mergePatch": ("PATCH", "", "application/merge-patch+json"),
    "applyStatus": ("PATCH", "/status", "application/apply-patch+yaml"),
    "apply": ("PATCH", "", "application/apply-patch+yaml"),
}


def _crd(group: str, stored: str) -> Json:
    """``v2`` has a default that ``v1`` has not, in the spec and in the status."""
    more = {"v1": string(), "v2": string(default="set")}
    fields = {name: obj(a=string(), b=each) for name, each in more.items()}
    versions = [version(root(spec=each, status=each), name, storage=name == stored) for name, each in fields.items()]
    return crd(versions=versions, group=group)


@pytest.mark.parametrize("sent", ["v1", "v2"])
@pytest.mark.parametrize("op", _SENT)
def test_an_object_that_an_older_version_stored(bench: Bench, op: str, sent: str) -> None:
    group = new_group()
    older, newer = _crd(group, "v1"), _crd(group, "v2")
    first = {"apiVersion": f"{group}/v1", "kind": "Widget", "metadata": {"name": "o"}, "spec": {"a": "x"}}
    assert bench.server.install(older).accepted
    assert bench.server.ask("POST", collection(older, "v1"), first).accepted
    assert bench.server.swap(newer).accepted
    held = bench.server.stored(newer, "o")
    assert held is not None and held["apiVersion"] == f"{group}/v1"
    body: Json = {"status": {"a": "y"}} if "Status" in op else {"spec": {"a": "z"}}
    if not op.startswith("mergePatch"):
        body = {**first, "apiVersion": f"{group}/{sent}", **body}
    if op.startswith("update"):
        body = {**body, "metadata": bench.server.read(newer, sent, "o").body["metadata"]}
    method, end, kind = _SENT[op]
    query = "?fieldManager=me&force=true" if op.startswith("apply") else "?fieldManager=me"
    answer = bench.server.ask(method, f"{collection(newer, sent)}/o{end}{query}", body, kind)
    who = Applier("me", True) if op.startswith("apply") else None
    resource = resource_of(newer, sent, kubernetes_server(bench.minor))
    verdict = judge_write(resource, op, body, held, namespace="default", applier=who)
    assert (verdict.code, _content(verdict.object)) == (answer.code, _content(answer.body)), answer.message


def _content(obj: Any) -> str:
    return json.dumps({key: value for key, value in obj.items() if key != "metadata"}, sort_keys=True)
