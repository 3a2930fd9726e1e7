"""openshift/api's own API server suites, run as its test runner does, against the judge."""

from __future__ import annotations

import copy
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from crdcompat.apiserver.admission import Verdict
from crdcompat.apiserver.server_versions import OPENSHIFT, Server
from crdcompat.apiserver.strategy import Resource
from crdcompat.crds.context import FEATURE_SET
from crdcompat.crds.model import CrdDocument, read_crd
from crdcompat.crds.reader import CrdReader, CrdSet
from crdcompat.features.diff import diff_workflow
from crdcompat.yaml.documents import Document, read_documents

Object = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """One case of one suite against one CRD document."""

    suite: str
    name: str
    kind: str
    spec: Object = field(repr=False)
    document: CrdDocument = field(repr=False)
    server: Server

    @property
    def label(self) -> str:
        return f"{self.suite}: {self.name} [{self.document.file}]"


def cases(repository: Path, release: str) -> Iterator[Case | str]:
    """All cases of a release; a text where a suite has no CRD to run against."""
    crds = diff_workflow.load(f"origin/release-{release}", repo=str(repository), reader=CrdReader(ships=()))
    major, minor = map(int, release.split("."))
    server = Server(OPENSHIFT[major, minor], (major, minor))
    gates = _gates(repository, release)
    for path, suite in _suites(repository, release):
        documents = list(_documents(crds, path, suite, gates))
        if not documents:
            yield f"{path}: no CRD document for {suite.get('crd') or suite.get('crdName')}"
        for document in documents:
            for kind in ("onCreate", "onUpdate"):
                for spec in suite.get("tests", {}).get(kind) or ():
                    yield Case(path, spec["name"], kind, spec, document, server)


def _suites(repository: Path, release: str) -> Iterator[tuple[str, Object]]:
    ref = f"origin/release-{release}"
    listed = subprocess.run(
        ["git", "-C", str(repository), "ls-tree", "-r", "--name-only", ref], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    for path in listed:
        if not (path.endswith(".testsuite.yaml") or ("/tests/" in path and path.endswith(".yaml"))):
            continue
        data = subprocess.run(["git", "-C", str(repository), "show", f"{ref}:{path}"], capture_output=True, check=True)
        for document in read_documents(data.stdout, path):
            assert isinstance(document, Document), document
            if isinstance(document.data, dict) and "tests" in document.data:
                yield path, document.data


def _documents(crds: CrdSet, path: str, suite: Object, gates: dict[str, set[str]]) -> Iterator[CrdDocument]:
    """Up to 4.15 the file that ``crd`` names beside the suite; from 4.16 each variant that has the gate."""
    if "crd" in suite:
        wanted = str(PurePosixPath(path).parent / suite["crd"])
        yield from (document for document in crds.documents if document.file == wanted)
        return
    gate = suite.get("featureGate")
    for document in crds.documents:
        if document.crd.name != suite.get("crdName") or "payload-manifests" in document.file:
            continue
        if not document.file.startswith(str(PurePosixPath(path).parent.parent.parent)):
            continue
        sets = [name.strip() for name in document.crd.annotations.get(FEATURE_SET, "").split(",") if name.strip()]
        # A document without feature sets is the same in all of them: each must have what the suite asks for.
        if gate is None or (any if sets else all)(_has(gates, name, gate) for name in sets or gates):
            yield document


def _has(gates: dict[str, set[str]], feature_set: str, gate: str) -> bool:
    """Whether a feature set has a gate on, or off where the suite asks for ``-Gate``; CustomNoUpgrade has all on."""
    on = gate.lstrip("-") in gates[feature_set] if feature_set in gates else feature_set == "CustomNoUpgrade"
    return on is not gate.startswith("-")


def _gates(repository: Path, release: str) -> dict[str, set[str]]:
    """Feature set -> the gates that are on in it, on self-managed clusters."""
    ref = f"origin/release-{release}"
    found: dict[str, set[str]] = {}
    names = ("Default", "TechPreviewNoUpgrade", "DevPreviewNoUpgrade")
    for name in names:
        path = f"payload-manifests/featuregates/featureGate-SelfManagedHA-{name}.yaml"
        shown = subprocess.run(
            ["git", "-C", str(repository), "show", f"{ref}:{path}"], capture_output=True, check=False
        )
        for document in read_documents(shown.stdout, path) if shown.returncode == 0 else ():
            assert isinstance(document, Document)
            for entry in document.data["status"]["featureGates"]:
                found.setdefault(name, set()).update(gate["name"] for gate in entry.get("enabled") or ())
    return found


def run(case: Case) -> str:
    """What is wrong about a case; "" when the judge agrees with the suite."""
    initial = _object(case.spec["initial"])
    version = str(initial.get("apiVersion", "")).rpartition("/")[2]
    found = case.document.crd.version(version)
    if found is None:
        return f"the CRD has no version {version}"
    resource = Resource(case.document.crd, found, case.server)
    created, failure = _write(_at_first(case, resource), initial, None)
    if case.kind == "onCreate":
        return _compare(case, resource, created, failure, case.spec.get("expectedError"))
    if failure is not None:
        return f"the initial object is rejected: {_said(failure)}"
    assert created is not None
    updated, failure = _write(resource, _object(case.spec["updated"]), created, case.spec.get("expectedStatusError"))
    wanted = case.spec.get("expectedError") or case.spec.get("expectedStatusError")
    return _compare(case, resource, updated, failure, wanted)


def _at_first(case: Case, resource: Resource) -> Resource:
    """The CRD that meets the initial object: patched by ``initialCRDPatches``, put back before the update."""
    patches = case.spec.get("initialCRDPatches")
    if not patches:
        return resource
    crd = read_crd(json_patched(resource.crd.raw, patches))
    found = crd.version(resource.version.name)
    assert found is not None
    return Resource(crd, found, case.server)


def json_patched(data: Any, patches: Sequence[Object]) -> Any:
    """A copy of ``data`` with a JSON patch applied (RFC 6902: add, remove, replace, test)."""
    result = copy.deepcopy(data)
    for patch in patches:
        *way, last = [step.replace("~1", "/").replace("~0", "~") for step in patch["path"].split("/")[1:]]
        holder = result
        for step in way:
            holder = holder[int(step)] if isinstance(holder, list) else holder[step]
        at: Any = last
        if isinstance(holder, list):
            at = len(holder) if last == "-" else int(last)
        match patch["op"]:
            case "add" if isinstance(holder, list):
                holder.insert(at, copy.deepcopy(patch["value"]))
            case "add":
                holder[at] = copy.deepcopy(patch["value"])
            case "replace":
                assert at in range(len(holder)) if isinstance(holder, list) else at in holder, patch["path"]
                holder[at] = copy.deepcopy(patch["value"])
            case "remove":
                del holder[at]
            case "test":
                assert holder[at] == patch["value"], patch["path"]
            case op:
                raise AssertionError(f"unknown JSON patch operation {op!r}")
    return result


def _write(
    resource: Resource, obj: Object, stored: Object | None, status_error: str | None = None
) -> tuple[Object | None, Verdict | None]:
    """Create or update the object, then its status by a second write, as the runner does."""
    meta = dict(obj.get("metadata") or {})
    meta["name"] = stored["metadata"]["name"] if stored is not None else meta.get("name") or "test-x1y2z"
    if resource.crd.namespaced:
        meta["namespace"] = "default"
    body = {**obj, "metadata": meta}
    verdict = resource.create(body) if stored is None else resource.update(body, stored)
    if verdict.accepted is not True:
        return None, verdict
    done = verdict.object
    assert done is not None
    if "status" in obj and resource.version.has_status:
        verdict = resource.update_status({**done, "status": obj["status"]}, done)
        if verdict.accepted is not True:
            return None, verdict
        done = verdict.object
    elif status_error:
        return None, None
    return done, None


def _compare(case: Case, resource: Resource, done: Object | None, failure: Verdict | None, wanted: str | None) -> str:
    if wanted:
        if failure is None:
            return f"accepted, but the suite expects: {wanted}"
        return "" if wanted in _said(failure) else f"expected {wanted!r}, the judge says {_said(failure)!r}"
    if failure is not None:
        return f"rejected, but the suite accepts it: {_said(failure)}"
    assert done is not None
    expected = _object(case.spec["expected"])
    shown = {name: value for name, value in done.items() if name != "metadata"}
    hoped = {name: value for name, value in expected.items() if name != "metadata"}
    if shown != hoped:
        return f"stored object differs: {shown} instead of {hoped}"
    hoped_meta = {k: v for k, v in (expected.get("metadata") or {}).items() if k not in ("name", "namespace")}
    return "" if all(done["metadata"].get(k) == v for k, v in hoped_meta.items()) else "metadata differs"


def _said(verdict: Verdict) -> str:
    if verdict.accepted is None:
        return "unknown: " + "; ".join(f"{u.field}: {u.what}: {u.reason}" for u in verdict.unknown)
    return verdict.message


def _object(text: str) -> Object:
    (document,) = list(read_documents(text.encode(), "case"))
    assert isinstance(document, Document), document
    assert isinstance(document.data, dict)
    return document.data
