"""What a server checks and completes in a request before the kinds of write."""

from __future__ import annotations

from typing import Any

import pytest
from helpers import Json, crd, obj, root, string

import crdcompat
from crdcompat.apiserver.admission import Verdict

EMBEDDED = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
CRD = crd(root(spec=obj(a=string(), e=EMBEDDED), status=obj(a=string())))
API = f"{CRD['spec']['group']}/v1"
KIND = CRD["spec"]["names"]["kind"]
CANNOT = f'{KIND} in version "v1" cannot be handled as a {KIND}: '


def made(spec: Json | None = None, **meta: Any) -> Json:
    found = {"apiVersion": API, "kind": KIND, "metadata": {"name": "a", **meta}}
    return {**found, "spec": spec} if spec is not None else found


def judge(op: str, new: Json, old: Json | None = None, kubernetes: str = "1.36", crd: Json = CRD) -> Verdict:
    return crdcompat.judge(crd, op, new, old, kubernetes=kubernetes)


def scoped(scope: str) -> Json:
    return {**CRD, "spec": {**CRD["spec"], "scope": scope}}


def test_metadata_of_a_wrong_type() -> None:
    """400, without causes; other errors are not looked for."""
    for op, old in (("create", None), ("update", made())):
        verdict = judge(op, made({"a": 1}, labels=[]), old)
        assert (verdict.accepted, verdict.code, verdict.errors) == (False, 400, ())
        into = "Go struct field ObjectMeta.labels of type map[string]string"
        assert verdict.message == f"{CANNOT}json: cannot unmarshal array into {into}"


@pytest.mark.parametrize(
    ("embedded", "error"),
    [
        ({"kind": 5}, "spec.e.kind: Invalid value: 5: must be a string"),
        ({"apiVersion": None}, "spec.e.apiVersion: Invalid value: null: must be a string"),
        (
            {"metadata": 5},
            "spec.e.metadata: Invalid value: 5: json: cannot unmarshal number into Go value of type v1.ObjectMeta",
        ),
    ],
)
def test_embedded_resources_of_a_wrong_type(embedded: Json, error: str) -> None:
    verdict = judge("create", made({"e": {"apiVersion": "v1", "kind": "A", **embedded}}))
    assert (verdict.code, verdict.message) == (400, CANNOT + error)


def test_null_metadata_of_an_embedded_resource() -> None:
    verdict = judge("create", made({"e": {"apiVersion": "v1", "kind": "A", "metadata": None}}))
    assert verdict.object is not None
    assert verdict.object["spec"]["e"]["metadata"] == {}


def test_names_that_differ_from_the_url() -> None:
    old = made(namespace="n")
    refused = {
        new: judge("update", made(**{"namespace": "n", key: value}), old)
        for new, key, value in (("b", "name", "b"), ("empty", "name", ""), ("m", "namespace", "m"))
    }
    assert {verdict.code for verdict in refused.values()} == {400}
    assert {new: verdict.message for new, verdict in refused.items()} == {
        "b": "the name of the object (b) does not match the name on the URL (a)",
        "empty": "the name of the object (a based on URL) was undeterminable: name must be provided",
        "m": "the namespace of the provided object does not match the namespace sent on the request",
    }
    assert judge("update", made(), old).accepted


@pytest.mark.parametrize(
    ("version", "code", "message"),
    [
        ("7", 200, ""),
        ("x", 500, 'strconv.ParseUint: parsing "x": invalid syntax'),
        ("9" * 20, 500, f'strconv.ParseUint: parsing "{"9" * 20}": value out of range'),
        ("", 422, "widgets.example.com"),
        (None, 422, "widgets.example.com"),
    ],
)
def test_the_resource_version_of_an_update(version: str | None, code: int, message: str) -> None:
    new = made(**({} if version is None else {"resourceVersion": version}))
    for op in ("update", "updateStatus"):
        verdict = judge(op, new, made(resourceVersion="7"))
        assert verdict.code == code
        if code != 422:
            assert verdict.message == message
            continue
        subject = f'{CRD["spec"]["names"]["plural"]}.{CRD["spec"]["group"]} "a" is invalid: '
        detail = "metadata.resourceVersion: Invalid value: {}: must be specified for an update"
        assert verdict.message == subject + detail.format(0)
        assert judge(op, new, made(resourceVersion="7"), "1.33").message == subject + detail.format("0x0")
    # Where the stored object has none, nobody asked about it.
    assert judge("update", made(), made()).accepted


def test_what_a_create_wipes() -> None:
    system = {
        "deletionTimestamp": "2020-01-01T00:00:00Z",
        "deletionGracePeriodSeconds": 5,
        "uid": "u",
        "selfLink": "/a",
    }
    verdict = judge("create", made(namespace="n", **system))
    assert verdict.object is not None
    assert verdict.object["metadata"] == {"name": "a", "namespace": "n", "generation": 1}


def test_namespaces() -> None:
    stored = {
        scope: (judge("create", made(namespace="n"), crd=scoped(scope)).object or {})["metadata"].get("namespace")
        for scope in ("Namespaced", "Cluster")
    }
    assert stored == {"Namespaced": "n", "Cluster": None}
    unnamed = judge("create", made(), crd=scoped("Namespaced")).object or {}
    assert unnamed["metadata"]["namespace"] == "default"


def test_a_root_rule_compares_the_resource_version_of_the_stored_object() -> None:
    """A server reads the version from etcd's revision, so both objects of ``self == oldSelf`` have it, or neither."""
    rule = {"rule": "self == oldSelf", "message": "immutable"}
    immutable = crd({**root(spec=obj(a=string())), "x-kubernetes-validations": [rule]})
    for known in ({}, {"resourceVersion": "7"}):
        stored = made({"a": "1"}, namespace="n", **known)
        answers = [
            judge("update", made({"a": value}, namespace="n", resourceVersion="7"), stored, crd=immutable)
            for value in ("1", "2")
        ]
        assert [answer.accepted for answer in answers] == [True, False]


def test_deletion_of_an_update() -> None:
    new = made(deletionTimestamp="2020-01-01T00:00:00Z")
    assert [error.text() for error in judge("update", new, made()).errors] == [
        'metadata.deletionTimestamp: Invalid value: "2020-01-01T00:00:00Z": field is immutable'
    ]
    assert [error.text() for error in judge("update", new, made(), "1.33").errors] == [
        "metadata.deletionTimestamp: Invalid value: 2020-01-01 00:00:00 +0000 UTC: field is immutable"
    ]


OWNER = {"apiVersion": "v1", "kind": "A", "name": "x", "uid": "u1"}


def test_equal_owner_references() -> None:
    verdict = judge("create", made(ownerReferences=[OWNER, OWNER, {**OWNER, "uid": "u2"}, OWNER]))
    assert verdict.object is not None
    assert verdict.object["metadata"]["ownerReferences"] == [OWNER, {**OWNER, "uid": "u2"}]
    assert len(verdict.warnings) == 1
    assert verdict.warnings[0].endswith("duplicate UID(s) observed: u1, u1")
    assert judge("create", made(ownerReferences=[OWNER])).warnings == ()


def test_finalizers_without_a_domain() -> None:
    names = ["foo", "a.b", "a.b/c", "orphan"]
    prefer = 'metadata.finalizers: "{}": prefer a domain-qualified finalizer name{} to avoid accidental conflicts'
    shown = [text.partition(" with other")[0] for text in judge("create", made(finalizers=names)).warnings]
    assert shown == [prefer.format("a.b", " including a path (/)"), prefer.format("foo", "")]
    assert judge("create", made(finalizers=names), kubernetes="1.28").warnings == ()
    assert judge("update", made(finalizers=["foo"]), made(finalizers=["foo"])).warnings == ()


def test_deprecated_versions() -> None:
    (version,) = CRD["spec"]["versions"]
    for more, text in (({}, f"{API} {KIND} is deprecated"), ({"deprecationWarning": "use v2"}, "use v2")):
        deprecated = {**CRD, "spec": {**CRD["spec"], "versions": [{**version, "deprecated": True, **more}]}}
        assert judge("create", made(), crd=deprecated).warnings == (text,)
        assert judge("mergePatch", {}, made(), crd=deprecated).warnings == (text,)
        refused = judge("create", made({"a": 1}), crd=deprecated)
        assert (refused.code, refused.warnings) == (422, (text,))


@pytest.mark.parametrize(("minor", "field"), [("1.27", "status.a"), ("1.28", "a"), ("1.31", "status.a")])
def test_paths_below_a_status_that_is_a_map_begin_with_a_dot(minor: str, field: str) -> None:
    """The server joins the path of the status, which is empty, and the key."""
    mapped = crd(root(status={"type": "object", "additionalProperties": {"type": "integer"}}))
    stored = {**made(resourceVersion="7"), "status": {}}
    verdict = judge("updateStatus", {**stored, "status": {"a": "x"}}, stored, minor, mapped)
    place = "status.a" if minor == "1.27" else ".a"
    assert [error.text() for error in verdict.errors] == [
        f'{field}: Invalid value: "string": {place} in body must be of type integer: "string"'
    ]


def test_a_status_of_another_type_has_no_path_in_its_sentence() -> None:
    mapped = crd(root(status={"type": "object", "additionalProperties": {"type": "integer"}}))
    stored = {**made(resourceVersion="7"), "status": {}}
    verdict = judge("updateStatus", {**stored, "status": 1.5}, stored, crd=mapped)
    assert [error.detail for error in verdict.errors] == [' in body must be of type object: "number"']


def test_the_answer_has_the_defaults_of_the_storage_version() -> None:
    """An object that another version stored lacks them; a write of its status alone stores nothing else, either."""
    v1, v2 = (
        crd(root(spec=obj(a=string(), b=more), status=obj(a=string()))) for more in (string(), string(default="b"))
    )
    new = {**v2["spec"]["versions"][0], "name": "v2"}
    both = {**v1, "spec": {**v1["spec"], "versions": [{**v1["spec"]["versions"][0], "storage": False}, new]}}
    stored = made({"a": "x"})
    patched = crdcompat.judge(both, "mergePatchStatus", {"status": {"a": "y"}}, stored, version="v2")
    assert patched.object is not None
    assert (patched.object["spec"], patched.object["status"]) == ({"a": "x", "b": "b"}, {"a": "y"})


def test_a_dropped_status_has_the_default_of_the_storage_version() -> None:
    """k0smotron: its two versions have other defaults; a new object is stored without a status in the other one."""
    v1, v2 = (crd(root(status={**obj(a=string()), "default": {"a": name}})) for name in ("first", "second"))
    new = {**v2["spec"]["versions"][0], "name": "v2"}
    both = {**v1, "spec": {**v1["spec"], "versions": [{**v1["spec"]["versions"][0], "storage": False}, new]}}
    for version in ("v1", "v2"):
        sent = {**made(), "apiVersion": f"example.com/{version}", "status": {"a": "sent"}}
        created = crdcompat.judge(both, "create", sent, version=version)
        assert created.object is not None
        assert created.object["status"] == {"a": "second"}
