"""ObjectMeta: what decoding leaves of it, and what the server says about it."""

from __future__ import annotations

from typing import Any

import pytest

from crdcompat.apiserver.metadata import (
    decode_object_meta,
    dns1035_label_errors,
    undecodable,
    validate_create,
    validate_embedded,
    validate_update,
)
from crdcompat.apiserver.server_versions import Server

OLD, NEW = Server(26), Server(36)
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
NAME_PART = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
OWNER = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}


def create(meta: dict[str, Any], *, namespaced: bool = True, server: Server = NEW) -> list[str]:
    found = validate_create({"name": "a"} | meta, namespaced=namespaced, server=server)
    return [error.text() for error in found]


def update(new: dict[str, Any], old: dict[str, Any], server: Server = NEW) -> list[str]:
    return [error.text() for error in validate_update(new, old, server)]


# --- decoding


def test_decoding_keeps_what_the_server_keeps() -> None:
    meta = {
        "name": "a",
        "namespace": "n",
        "labels": {"a": "b", "c": None},
        "finalizers": ["x/y"],
        "generation": 3,
        "creationTimestamp": "2020-01-01T01:00:00.5+01:00",
        "deletionGracePeriodSeconds": 0,
        "ownerReferences": [OWNER | {"controller": False}],
        "managedFields": [{"manager": "m", "operation": "Update", "fieldsV1": {}, "time": "2020-01-01T00:00:00Z"}],
    }
    decoded, pruned = decode_object_meta(meta)
    assert pruned == []
    assert decoded == meta | {"creationTimestamp": "2020-01-01T00:00:00Z", "labels": {"a": "b", "c": ""}}


def test_unknown_members_vanish() -> None:
    meta = {
        "name": "a",
        "foo": 1,
        "Labels": {},
        "ownerReferences": [OWNER | {"bar": 1}],
        "managedFields": [{"operation": "Apply"}, {"x": None}],
    }
    decoded, pruned = decode_object_meta(meta)
    assert decoded == {"name": "a", "ownerReferences": [OWNER], "managedFields": [{"operation": "Apply"}, {}]}
    assert pruned == [
        "metadata.foo",
        "metadata.Labels",
        "metadata.ownerReferences[0].bar",
        "metadata.managedFields[1].x",
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [("creationTimestamp", None), ("creationTimestamp", "0001-01-01T00:00:00Z"), ("labels", {}),
    ("labels", None),
     ("name", ""), ("generation", 0), ("finalizers", []), ("deletionTimestamp", None),
     ("ownerReferences", [])],
)  # fmt: skip
def test_empty_is_left_out(name: str, value: Any) -> None:
    assert decode_object_meta({name: value}) == ({}, [])
    assert undecodable({name: value}) == ""


_INTO = "json: cannot unmarshal {} into Go struct field {} of type {}"
_TIME = 'parsing time "{}" as "2006-01-02T15:04:05Z07:00": cannot parse "{}" as "{}"'


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("name", 1, _INTO.format("number", "ObjectMeta.name", "string")),
        ("uid", [], _INTO.format("array", "ObjectMeta.uid", "types.UID")),
        ("labels", [], _INTO.format("array", "ObjectMeta.labels", "map[string]string")),
        ("labels", {"a": 1}, _INTO.format("number", "ObjectMeta.labels", "string")),
        ("labels", {"a": {}}, _INTO.format("object", "ObjectMeta.labels", "string")),
        ("finalizers", "x", _INTO.format("string", "ObjectMeta.finalizers", "[]string")),
        ("finalizers", [1], _INTO.format("number", "ObjectMeta.finalizers", "string")),
        ("generation", "1", _INTO.format("string", "ObjectMeta.generation", "int64")),
        ("generation", 1.5, _INTO.format("number 1.5", "ObjectMeta.generation", "int64")),
        ("generation", True, _INTO.format("bool", "ObjectMeta.generation", "int64")),
        ("generation", 1e300, _INTO.format("number 1e+300", "ObjectMeta.generation", "int64")),
        ("creationTimestamp", "yesterday", _TIME.format("yesterday", "yesterday", "2006")),
        ("creationTimestamp", "", _TIME.format("", "", "2006")),
        ("creationTimestamp", 5, "json: cannot unmarshal number into Go value of type string"),
        ("creationTimestamp", "2020-01-01t00:00:00Z", _TIME.format("2020-01-01t00:00:00Z", "t00:00:00Z", "T")),
        ("creationTimestamp", "2020-01-01T00:00:00.5ZT", 'parsing time "2020-01-01T00:00:00.5ZT": extra text: "T"'),
        ("creationTimestamp", "2020-02-30T00:00:00Z", 'parsing time "2020-02-30T00:00:00Z": day out of range'),
        ("creationTimestamp", "2020-13-30T00:00:00Z", 'parsing time "2020-13-30T00:00:00Z": month out of range'),
        ("ownerReferences", [1], _INTO.format("number", "ObjectMeta.ownerReferences", "v1.OwnerReference")),
        ("ownerReferences", {}, _INTO.format("object", "ObjectMeta.ownerReferences", "[]v1.OwnerReference")),
        (
            "ownerReferences",
            [{"controller": "yes"}],
            _INTO.format("string", "OwnerReference.ownerReferences.controller", "bool"),
        ),
        (
            "managedFields",
            [{"manager": 1}],
            _INTO.format("number", "ManagedFieldsEntry.managedFields.manager", "string"),
        ),
        ("deletionGracePeriodSeconds", "3", _INTO.format("string", "ObjectMeta.deletionGracePeriodSeconds", "int64")),
    ],
)
def test_wrong_types(name: str, value: Any, error: str) -> None:
    assert decode_object_meta({name: value, "selfLink": "u"}) == ({"selfLink": "u"}, [])
    assert undecodable({name: value, "selfLink": "u"}) == error


def test_no_number() -> None:
    assert decode_object_meta({"generation": float("nan")}) == ({}, [])


def test_the_error_of_several_wrong_types() -> None:
    """The first by name; but Go stops at a malformed time."""
    assert undecodable({"name": 1, "finalizers": 2}) == _INTO.format("number", "ObjectMeta.finalizers", "[]string")
    assert undecodable({"deletionTimestamp": "x", "finalizers": 2, "annotations": 1}) == _TIME.format("x", "x", "2006")


def test_whole_floats_are_integers() -> None:
    assert decode_object_meta({"generation": 2.0}) == ({"generation": 2}, [])


@pytest.mark.parametrize("raw", [None, [], "x", 3])
def test_no_object(raw: Any) -> None:
    assert decode_object_meta(raw) == ({}, [])
    kind = {list: "array", str: "string", int: "number"}.get(type(raw))
    assert undecodable(raw) == (f"json: cannot unmarshal {kind} into Go value of type v1.ObjectMeta" if kind else "")


def test_times_beyond_python() -> None:
    assert decode_object_meta({"deletionTimestamp": "0000-01-01T00:00:00Z"})[0] == {
        "deletionTimestamp": "0000-01-01T00:00:00Z"
    }


# --- create


def test_valid() -> None:
    meta = {
        "labels": {"a": "", "example.com/A_b.c": "v-1", "x" * 63: "y" * 63},
        "annotations": {"Example.COM/Key": "anything\n", "a": ""},
        "finalizers": ["foregroundDeletion", "example.com/f", "plain"],
        "ownerReferences": [OWNER | {"controller": True}, OWNER],
        "managedFields": [{"operation": "Update", "manager": "a b é"}],
        "namespace": "default",
    }
    assert create(meta) == []


def test_name() -> None:
    text = f'metadata.name: Invalid value: "Bad_Name": {SUBDOMAIN}'
    assert create({"name": "Bad_Name"}) == [text]
    assert create({"name": ""}) == ["metadata.name: Required value: name or generateName is required"]
    assert create({"name": "a" * 254}) == [
        f'metadata.name: Invalid value: "{"a" * 254}": must be no more than 253 characters'
    ]
    for bad in ("a..b", ".a", "a.", "-", "a\n", "é"):
        assert len(create({"name": bad})) == 1
    assert "a DNS-1123 subdomain must" in create({"name": "A"}, server=Server(19))[0]


@pytest.mark.parametrize(
    ("prefix", "wrong"),
    [("a-", ""), ("a", ""), ("a.", "generateName"), ("A-", "name"), ("A", "generateName name"),
     ("-", "generateName name"), ("aé-", "generateName name"), ("a" * 253, "")],
)  # fmt: skip
def test_generate_name(prefix: str, wrong: str) -> None:
    found = create({"name": "", "generateName": prefix})
    assert [text.split(":")[0] for text in found] == [f"metadata.{name}" for name in wrong.split()]


def test_generated_name_is_shown() -> None:
    assert create({"name": "", "generateName": "A-"})[0].startswith('metadata.name: Invalid value: "A-xxxxx": a low')


def test_namespace() -> None:
    assert create({}) == []
    assert create({"namespace": "n"}, namespaced=False) == []  # the server clears it
    assert create({"namespace": "a.b"})[0].startswith(
        'metadata.namespace: Invalid value: "a.b": a lowercase RFC 1123 label must consist of'
    )
    assert create({"namespace": "a" * 64}) == [
        f'metadata.namespace: Invalid value: "{"a" * 64}": must be no more than 63 characters'
    ]


def test_labels() -> None:
    assert create({"labels": {"-a": "v"}}) == [f'metadata.labels: Invalid value: "-a": {NAME_PART}']
    assert create({"labels": {"/a": "v"}}) == ['metadata.labels: Invalid value: "/a": prefix part must be non-empty']
    assert create({"labels": {"A/a": "v"}}) == [f'metadata.labels: Invalid value: "A/a": prefix part {SUBDOMAIN}']
    assert create({"labels": {"a/": "v"}}) == [
        'metadata.labels: Invalid value: "a/": name part must be non-empty',
        f'metadata.labels: Invalid value: "a/": {NAME_PART}',
    ]
    qualified = NAME_PART.removeprefix("name part ")
    assert create({"labels": {"a/b/c": "v"}}, server=OLD) == [
        (
            f'metadata.labels: Invalid value: "a/b/c": a qualified name {qualified} '
            "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        )
    ]
    long = "x" * 64
    for server, unit in ((OLD, "characters"), (NEW, "bytes")):
        assert create({"labels": {"a": long}}, server=server) == [
            f'metadata.labels: Invalid value: "{long}": must be no more than 63 {unit}'
        ]
        assert create({"labels": {long: ""}}, server=server) == [
            f'metadata.labels: Invalid value: "{long}": name part must be no more than 63 {unit}'
        ]
    assert create({"labels": {"a": "b c"}}) == [
        (
            'metadata.labels: Invalid value: "b c": a valid label must be an empty string or consist of '
            "alphanumeric "
            "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
            "'MyValue',  or "
            "'my_value',  or '12345', regex used for validation is "
            "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
        )
    ]


def test_annotations() -> None:
    assert create({"annotations": {"a b": ""}}) == [f'metadata.annotations: Invalid value: "a b": {NAME_PART}']
    full = {"a": "x" * (262144 - 1)}
    assert create({"annotations": full}) == []
    over = {"a": "é" * 131072}
    assert create({"annotations": over}) == ["metadata.annotations: Too long: may not be more than 262144 bytes"]
    assert create({"annotations": over}, server=OLD) == [
        "metadata.annotations: Too long: must have at most 262144 bytes"
    ]


def test_owner_references() -> None:
    assert create({"ownerReferences": [dict.fromkeys(OWNER, "")]}) == [
        'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
        'metadata.ownerReferences.kind: Invalid value: "": must not be empty',
        'metadata.ownerReferences.name: Invalid value: "": must not be empty',
        'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
    ]
    assert len(create({"ownerReferences": [OWNER | {"apiVersion": "a/b/c"}]})) == 1
    assert len(create({"ownerReferences": [OWNER | {"apiVersion": "a/"}]})) == 1
    assert create({"ownerReferences": [OWNER | {"kind": "Event"}]})[0].endswith(
        "/v1, Kind=Event is disallowed from being an owner"
    )
    both = [OWNER | {"controller": True}, OWNER | {"controller": True, "name": "q"}]
    assert create({"ownerReferences": both})[0].endswith(
        'Only one reference can have Controller set to true. Found "true" in references for Pod/p and Pod/q'
    )


def test_finalizers() -> None:
    assert create({"finalizers": ["a b"]}) == [f'metadata.finalizers: Invalid value: "a b": {NAME_PART}']
    assert create({"finalizers": ["orphan", "foregroundDeletion"]}) == [
        (
            'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: '
            "finalizer orphan and foregroundDeletion cannot be both set"
        )
    ]


def test_generation_and_managed_fields() -> None:
    assert create({"generation": -1}) == ["metadata.generation: Invalid value: -1: must be greater than or equal to 0"]
    entry = {"operation": "Apply", "fieldsType": "FieldsV1", "apiVersion": "v1"}
    odd = {**entry, "manager": "é\t", "subresource": "s" * 257}
    assert create({"managedFields": [entry, odd, {**entry, "manager": "m" * 129}]}) == [
        'metadata.managedFields[1].manager: Invalid value: "é\\t": invalid character U+0009 (at position 2)',
        "metadata.managedFields[1].subresource: Too long: may not be more than 256 bytes",
        "metadata.managedFields[2].manager: Too long: may not be more than 128 bytes",
    ]
    # The server does not keep entries that do not decode.
    for wrong in ({"operation": "Edit"}, {"fieldsType": "X"}, {"apiVersion": ""}):
        assert create({"managedFields": [odd, {**entry, **wrong}]}) == []


# --- update


def test_update_of_nothing() -> None:
    old = {"name": "Bad_Name", "namespace": "n", "uid": "u", "creationTimestamp": "2020-01-01T00:00:00Z"}
    assert update(old, old) == []
    assert update({"creationTimestamp": "2021-01-01T00:00:00Z"}, old) == []
    assert update({"namespace": "n", "uid": "u"}, {"name": "a"}) == []


def test_immutable_members() -> None:
    old = {"name": "a", "namespace": "n", "uid": "u"}
    new = {"name": "b", "namespace": "m", "uid": "v", "deletionGracePeriodSeconds": 3}
    assert update(new, old) == [
        'metadata.name: Invalid value: "b": field is immutable',
        'metadata.namespace: Invalid value: "m": field is immutable',
        'metadata.uid: Invalid value: "v": field is immutable',
        "metadata.deletionGracePeriodSeconds: Invalid value: 3: field is immutable",
    ]
    deleted = {"deletionTimestamp": "2020-01-01T00:00:00Z"}
    assert update(deleted, {}) == [
        'metadata.deletionTimestamp: Invalid value: "2020-01-01T00:00:00Z": field is immutable'
    ]
    assert update({"deletionTimestamp": "2021-01-01T00:00:00Z"}, deleted) == []


def test_no_new_finalizers_while_deleting() -> None:
    old = {"deletionTimestamp": "2020-01-01T00:00:00Z", "finalizers": ["a/b"]}
    assert update({"finalizers": ["a/b"]}, old) == []
    assert update({}, old) == []
    assert update({"finalizers": ["z/y", "a/b", "c/d"]}, old) == [
        (
            "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, "
            'found new finalizers []string{"c/d", "z/y"}'
        )
    ]
    assert update({"finalizers": ["a/b", "c/d"]}, {"finalizers": ["a/b"]}) == []


def test_update_checks_the_rest_again() -> None:
    same = {"labels": {"a b": ""}, "annotations": {"-": ""}, "ownerReferences": [{}], "managedFields": [{}]}
    same |= {"finalizers": ["not good", "orphan", "foregroundDeletion"]}
    paths = [text.split(":")[0] for text in update(same, same)]
    assert paths == [
        "metadata.labels",
        "metadata.annotations",
        *(f"metadata.ownerReferences.{name}" for name in ("apiVersion", "kind", "name", "uid")),
        "metadata.finalizers",
        "metadata.finalizers",
    ]


# --- embedded


def test_embedded() -> None:
    def texts(meta: Any) -> list[str]:
        return [error.text() for error in validate_embedded(meta, (((None, "spec"), "e"), "metadata"), NEW)]

    assert texts({}) == []
    assert texts(None) == []
    assert texts({"name": "Any_Name", "namespace": "n", "labels": 5, "unknown": 1}) == []
    assert texts({"name": "a/b%"}) == [
        "spec.e.metadata.name: Invalid value: \"a/b%\": may not contain '/'",
        "spec.e.metadata.name: Invalid value: \"a/b%\": may not contain '%'",
    ]
    assert texts({"name": ".."}) == ["spec.e.metadata.name: Invalid value: \"..\": may not be '..'"]
    assert texts({"generateName": "a/"}) == ["spec.e.metadata.generateName: Invalid value: \"a/\": may not contain '/'"]
    assert texts({"namespace": "A"})[0].startswith(
        'spec.e.metadata.namespace: Invalid value: "A": a lowercase RFC 1123'
    )
    assert texts({"labels": {"-": ""}})[0].startswith('spec.e.metadata.labels: Invalid value: "-": name part')


def test_dns1035_label() -> None:
    assert dns1035_label_errors("pod") == []
    text = (
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
        "alphabetic "
        "character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used "
        "for validation "
        "is '[a-z]([-a-z0-9]*[a-z0-9])?')"
    )
    for bad in ("", "1a", "a-", "a b", "A"):
        assert dns1035_label_errors(bad) == [text]
    assert dns1035_label_errors("a" * 64) == ["must be no more than 63 characters"]
