"""judge of a CRD: a file without an object, and the requests createCRD and updateCRD."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from helpers import Json, array, crd, obj, root, run, string, write

_GOOD, _LISTED = crd(root(spec=obj(a=string()))), crd(root(spec=obj(a={"type": "array"})))
_SPEC = "spec.validation.openAPIV3Schema.properties[spec].properties[a]"
_SAID = f"{_SPEC}.items: Required value: must be specified"
_HEAD = 'CustomResourceDefinition.apiextensions.k8s.io "widgets.example.com" is invalid: '


def test_a_new_crd(tmp_path: Path) -> None:
    write(tmp_path / "good.yaml", _GOOD)
    write(tmp_path / "bad.yaml", _LISTED)
    good = run("judge", "good.yaml", "--kube-version", "1.31", cwd=tmp_path)
    assert (good.code, good.out) == (0, "ACCEPTED by Kubernetes 1.31\n  create of the CRD widgets.example.com\n")
    bad = run("judge", "bad.yaml", "--kube-version", "1.31", cwd=tmp_path)
    first, what, *answer = bad.out.splitlines()
    assert (bad.code, first, what) == (
        1,
        "REJECTED by Kubernetes 1.31: 1 error",
        "  create of the CRD widgets.example.com",
    )
    assert "".join(answer).endswith(_SAID)
    reported = json.loads(run("judge", "bad.yaml", "--format", "json", cwd=tmp_path).out)
    assert (reported["accepted"], reported["code"], reported["aggregate"]) == (False, 422, _HEAD + _SAID)
    assert [error["field"] for error in reported["errors"]] == [f"{_SPEC}.items"]


def test_an_update_tolerates_what_the_installed_crd_has(tmp_path: Path) -> None:
    """A map key that may be absent is refused in a new CRD, and kept in an update."""
    keyed = array(obj(k=string()), **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]})
    write(tmp_path / "old.yaml", crd(root(spec=obj(a=keyed))))
    write(tmp_path / "new.yaml", crd(root(spec=obj(a=keyed, b=string()))))
    assert run("judge", "new.yaml", cwd=tmp_path).code == 1
    assert run("judge", "new.yaml", "--old", "old.yaml", cwd=tmp_path).code == 0


def test_a_broken_manifest_is_answered_as_the_server_answers(tmp_path: Path) -> None:
    broken = crd(root())
    broken["spec"]["versions"] = {}
    write(tmp_path / "crd.yaml", broken)
    ran = run("judge", "crd.yaml", cwd=tmp_path)
    said = "cannot unmarshal object into Go struct field CustomResourceDefinitionSpec.spec.versions of type []v1."
    assert ran.code == 1
    assert said in ran.out


def _requests(cwd: Path, *lines: Any) -> tuple[int, list[Json]]:
    ran = run("judge", "--requests", "-", cwd=cwd, stdin="\n".join(map(json.dumps, lines)).encode())
    return ran.code, [json.loads(line) for line in ran.out.splitlines()]


def test_requests(tmp_path: Path) -> None:
    dropped = {**_GOOD, "status": {"storedVersions": ["v1", "v0"]}}
    code, reported = _requests(
        tmp_path,
        {"id": 1, "op": "createCRD", "kube": "1.31", "new": _GOOD},
        {"id": 2, "op": "createCRD", "kube": "openshift-4.13", "new": _LISTED},
        {"id": 3, "op": "updateCRD", "kube": "1.31", "old": dropped, "new": _GOOD},
    )
    assert code == 0
    assert [(line["id"], line["accepted"], line["code"]) for line in reported] == [
        (1, True, 200),
        (2, False, 422),
        (3, False, 422),
    ]
    assert [error["field"] for error in reported[2]["errors"]] == ["status.storedVersions[1]"]
    assert set(reported[0]) >= {"id", "errors", "aggregate", "result", "pruned_paths", "defaulted_paths", "unknown"}


@pytest.mark.parametrize(
    "line",
    [
        {"id": 1, "op": "createCRD"},
        {"id": 1, "op": "createCRD", "new": []},
        {"id": 1, "op": "createCRD", "kube": 1.31, "new": _GOOD},
        {"id": 1, "op": "updateCRD", "new": _GOOD},
    ],
    ids=str,
)
def test_a_bad_request(tmp_path: Path, line: Json) -> None:
    code, reported = _requests(tmp_path, line)
    assert (code, reported[0]["accepted"], reported[0]["unknown"][0]["what"]) == (2, None, "request")
