"""CRDs in base64 and gzip, and objects of which a controller makes CRDs: judged, or named as not judged."""

from __future__ import annotations

import base64
import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from changes import widget
from checked import NEW, OLD, checked, errors, files
from helpers import Json

_GROWN = ("rollback", "enum-value-added", "status.p")


def _coded(data: bytes | str) -> str:
    return base64.b64encode(data.encode() if isinstance(data, str) else data).decode()


def _packed(crd: Json) -> bytes:
    return gzip.compress(yaml.safe_dump(crd).encode())


def _map(**more: Any) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, **more}


def _secret(data: Json, **more: Any) -> Json:
    return {"apiVersion": "v1", "kind": "Secret", "data": data, **more}


def _release(crd: Json) -> Json:
    """The Secret of a release of Helm: base64 of base64 of gzip."""
    packed = gzip.compress(json.dumps({"name": "w", "manifest": yaml.safe_dump(crd)}).encode())
    return _secret({"release": _coded(_coded(packed))}, type="helm.sh/release.v1")


def _of_flux(crd: Json) -> Json:
    return {"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "spec": {"commonMetadata": crd}}


_JUDGED: dict[str, Callable[[Json], Any]] = {
    "a string in flow style": lambda crd: _map(data={"w": f"--- {json.dumps(crd)}"}),
    "a string with a tag": lambda crd: _map(data={"w": f"!!map {json.dumps(crd)}"}),
    "a string with old line breaks": lambda crd: _map(data={"w": yaml.safe_dump(crd).replace("\n", "\r")}),
    "base64": lambda crd: _map(data={"w": _coded(json.dumps(crd))}),
    "base64 of gzip": lambda crd: _map(data={"w": _coded(_packed(crd))}),
    "binary data of gzip": lambda crd: _map(binaryData={"w": _coded(_packed(crd))}),
    "binary data in short lines": lambda crd: _map(
        binaryData={"w": "\n".join(_coded(_packed(crd))[at : at + 11] for at in range(0, 9999, 11)).strip()}
    ),
    "a Secret": lambda crd: _secret({"w": _coded(yaml.safe_dump(crd))}),
    "a Secret of gzip": lambda crd: _secret({"w": _coded(_packed(crd))}),
    "a Secret in a Template": lambda crd: {"kind": "Template", "objects": [_secret({"w": _coded(json.dumps(crd))})]},
    "a release of Helm": _release,
    "an object of Flux": _of_flux,
    "an object beside a list": lambda crd: {"apiVersion": "a/v1", "kind": "FooList", "items": [], "spec": {"w": crd}},
}


@pytest.mark.parametrize("case", _JUDGED)
def test_a_crd_that_is_judged(tmp_path: Path, case: str) -> None:
    before, after = ({"w.yaml": _JUDGED[case](crd)} for crd in (OLD, NEW))
    code, report = checked(tmp_path, before, after)
    assert (code, errors(report), files(report)) == (1, {_GROWN}, {"w.yaml": "judged"})


def _job(crd: Json) -> Json:
    script = f"echo {_coded(_packed(crd))} | base64 -d | gunzip | kubectl apply -f -"
    return {"apiVersion": "batch/v1", "kind": "Job", "spec": {"command": ["sh", "-c", script]}}


def _template(crd: Json, **parameters: str) -> Json:
    listed = [{"name": name, "value": value} for name, value in parameters.items()]
    return {"apiVersion": "template.openshift.io/v1", "kind": "Template", "parameters": listed, "objects": [crd]}


def _patched(of: str, crd: Json, **target: str) -> Json:
    phases = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]["p"]["enum"]
    patch = json.dumps([{"op": "replace", "path": "/spec/versions/0/x", "value": phases}])
    return {"apiVersion": "a.fluxcd.io/v1", "kind": of, "spec": {"patches": [{"target": target, "patch": patch}]}}


def _made(crd: Json, **more: Any) -> Json:
    """An XRD of Crossplane."""
    version = crd["spec"]["versions"][0]
    kind = {"apiVersion": "apiextensions.crossplane.io/v1", "kind": "CompositeResourceDefinition"}
    return {**kind, "metadata": more, "spec": {"versions": [{"name": "v1", "schema": version["schema"]}]}}


_UNJUDGED: dict[str, Callable[[Json], Any]] = {
    "base64 in a script": _job,
    "gzip in gzip": lambda crd: _map(binaryData={"w": _coded(gzip.compress(_coded(_packed(crd)).encode()))}),
    "a schema of Crossplane": _made,
    "a patch of Flux": lambda crd: _patched("Kustomization", crd, kind="CustomResourceDefinition"),
    "a patch by a pattern": lambda crd: _patched("HelmRelease", crd, kind="Custom.*|Foo"),
    "a patch by a name": lambda crd: _patched("Kustomization", crd, name="widgets.example.com"),
    "a parameter as a value": lambda crd: _template(widget("A", "${P}"), P="A" if crd is OLD else "B"),
    "a parameter as the kind": lambda crd: _template({**crd, "kind": "${K}"}, K="CustomResourceDefinition"),
}


@pytest.mark.parametrize("case", _UNJUDGED)
def test_a_crd_that_only_its_controller_knows(tmp_path: Path, case: str) -> None:
    before, after = ({"w.yaml": _UNJUDGED[case](crd)} for crd in (OLD, NEW))
    code, report = checked(tmp_path, before, after)
    assert (code, report["verdict"], files(report)) == (2, "unknown", {"w.yaml": "not-judged"})


@pytest.mark.parametrize(
    ("others", "code"),
    [
        ({"crds/w.yaml": OLD}, 0),
        ({"crds/w.yaml": OLD, "config/kustomization.yaml": {"resources": ["../test/e2e/x.yaml"]}}, 2),
        ({"test/w.yaml": OLD}, 2),
        ({}, 2),
    ],
    ids=["nobody installs it", "a kustomization lists it", "in a tree of tests", "in a tree without CRDs"],
)
def test_a_schema_of_a_controller_for_tests_alone(tmp_path: Path, others: Json, code: int) -> None:
    """Crossplane's end-to-end tests have XRDs, in nearly each change of its API."""
    before, after = ({**others, "test/e2e/x.yaml": _made(crd)} for crd in (OLD, NEW))
    found, report = checked(tmp_path, before, after)
    assert (found, files(report)) == (code, {"test/e2e/x.yaml": "not-judged"})
    (file,) = report["files"]
    assert ("not shipped" in file["reason"]) == (code == 0)


_NOISE = random.Random(1).randbytes(6000)
_QUIET: dict[str, tuple[Any, Any]] = {
    "a picture": (_map(binaryData={"a": _coded(_NOISE)}), _map(binaryData={"a": _coded(_NOISE[::-1])})),
    "a text in base64": (_map(data={"a": _coded("a: b\n" * 99)}), _map(data={"a": _coded("a: c\n" * 99)})),
    "an archive without CRDs": (
        _secret({"a": _coded(gzip.compress(_NOISE))}), _secret({"a": _coded(gzip.compress(b"kind: A\n" * 99))}),
    ),
    "a schema that stays": (_made(OLD, name="a"), _made(OLD, name="b")),
    "a patch of a Deployment": (_patched("A", OLD, kind="Deployment"), _patched("A", NEW, kind="Deployment")),
    "a schema of schemas": (
        {"properties": {"openAPIV3Schema": {"type": "object"}}}, {"properties": {"openAPIV3Schema": {"type": "array"}}},
    ),
    "a patch that stays": (
        _patched("Kustomization", OLD, kind="CustomResourceDefinition"),
        _patched("HelmRelease", OLD, kind="CustomResourceDefinition"),
    ),
    "a parameter that stays": (_template(widget("A", "${P}"), P="A"), _template(widget("A", "${P}"), P="A", Q="B")),
    "a parameter of the conversion": (
        _template({**OLD, "spec": {**OLD["spec"], "conversion": {"a": "${P}"}}}, P="A"),
        _template({**OLD, "spec": {**OLD["spec"], "conversion": {"a": "${P}"}}}, P="B"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", _QUIET)
def test_what_changes_no_crd(tmp_path: Path, case: str) -> None:
    before, after = ({"a.yaml": each} for each in _QUIET[case])
    code, report = checked(tmp_path, before, after)
    assert (code, report["verdict"], errors(report)) == (0, "clean", set())
