"""Server-side apply by a manager who owns fields: what Kubernetes 1.28 and 1.36 make of it (test_owners_referee.py)."""

from __future__ import annotations

from typing import Any

import pytest
from helpers import Json, crd, obj, root, version

import crdcompat
from crdcompat.apiserver.admission import Verdict

_TEXT: Json = {"type": "string", "maxLength": 3}
_KEYED = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
    "items": obj(k=_TEXT, v=_TEXT, t={"type": "array", "items": {"type": "string"}}),
}
_CRD = crd(
    root(
        spec=obj(
            a=_TEXT,
            b=_TEXT,
            o=obj(x=_TEXT, y=_TEXT),
            w={**obj(x=_TEXT, y=_TEXT), "x-kubernetes-map-type": "atomic"},
            s={"type": "array", "items": _TEXT},
            l=_KEYED,
            m={"type": "object", "additionalProperties": _TEXT},
        )
    )
)
_META: Json = {"name": "w", "namespace": "default"}


def _entry(manager: str, spec: Json, operation: str = "Apply", **more: str) -> Json:
    entry = {"manager": manager, "operation": operation, "apiVersion": "example.com/v1", "fieldsType": "FieldsV1"}
    return {**entry, **more, "fieldsV1": {"f:spec": spec}}


def _applied(
    spec: Json, held: Json, *entries: Json, manager: str = "A", force: bool = False, kubernetes: str = "1.36"
) -> Verdict:
    whole = {"apiVersion": "example.com/v1", "kind": "Widget"}
    old = {**whole, "metadata": {**_META, "managedFields": list(entries)}, "spec": held}
    new = {**whole, "metadata": _META, "spec": spec}
    return crdcompat.judge(_CRD, "apply", new, old, kubernetes=kubernetes, manager=manager, force=force)


@pytest.mark.parametrize(
    ("spec", "held", "owned", "after"),
    [
        # A field that the manager owned and no longer sends goes: also one that the schema rejects.
        ({"b": "1"}, {"a": "too long", "b": "1"}, {"f:a": {}, "f:b": {}}, {"b": "1"}),
        # What somebody else owns, or nobody, stays.
        ({}, {"a": "1", "b": "1"}, {"f:a": {}}, {"b": "1"}),
        ({"o": {"x": "1"}}, {"o": {"x": "1", "y": "2"}}, {"f:o": {"f:x": {}, "f:y": {}}}, {"o": {"x": "1"}}),
        (
            {"l": [{"k": "b"}]},
            {"l": [{"k": "a", "v": "1"}, {"k": "b"}]},
            {"f:l": {key: {".": {}, "f:k": {}} for key in ('k:{"k":"a"}', 'k:{"k":"b"}')}},
            {"l": [{"k": "b"}]},
        ),
    ],
)
def test_what_is_no_longer_sent_goes(spec: Json, held: Json, owned: Json, after: Json) -> None:
    verdict = _applied(spec, held, _entry("A", owned))
    assert verdict.accepted
    assert verdict.object is not None
    assert verdict.object.get("spec") == after


def test_what_the_manager_updated_is_not_what_it_applied() -> None:
    """The server keeps an entry for each operation of a manager: an apply gives up nothing of an update."""
    verdict = _applied({"b": "1"}, {"a": "1", "b": "1"}, _entry("A", {"f:a": {}, "f:b": {}}, "Update"))
    assert verdict.object is not None
    assert verdict.object.get("spec") == {"a": "1", "b": "1"}


def test_an_object_that_loses_all_members_becomes_null() -> None:
    """The server validates the merged object as it is."""
    verdict = _applied({"b": "1"}, {"b": "1", "o": {"x": "1"}}, _entry("A", {"f:b": {}, "f:o": {".": {}, "f:x": {}}}))
    assert verdict.accepted
    kept = _applied({"o": {}, "b": "1"}, {"b": "1", "o": {"x": "1"}}, _entry("A", {"f:b": {}, "f:o": {"f:x": {}}}))
    assert [error.text() for error in kept.errors] == [
        'spec.o: Invalid value: "null": spec.o in body must be of type object: "null"'
    ]


def test_two_owners() -> None:
    entries = (_entry("A", {"f:a": {}}), _entry("B", {"f:a": {}}))
    verdict = _applied({}, {"a": "1"}, *entries)
    assert verdict.object is not None
    assert verdict.object["spec"] == {"a": "1"}


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ((_entry("B", {"f:a": {}}),), 'conflict: conflict with "B": .spec.a'),
        ((_entry("B", {"f:a": {}}, "Update"),), 'conflict: conflict with "B" using example.com/v1: .spec.a'),
        (
            (_entry("A", {"f:a": {}}, "Apply", subresource="status"),),
            'conflict: conflict with "A" with subresource "status": .spec.a',
        ),
        ((), 'conflict: conflict with "before-first-apply" using example.com/v1: .spec.a'),
        ((_entry("B", {"f:b": {}}),), ""),
    ],
)
def test_conflicts(entries: tuple[Json, ...], message: str) -> None:
    verdict = _applied({"a": "2"}, {"a": "1", "b": "1"}, *entries)
    assert (verdict.code, verdict.message) == ((409, f"Apply failed with 1 {message}") if message else (200, ""))
    assert _applied({"a": "2"}, {"a": "1", "b": "1"}, *entries, force=True).accepted


def test_a_manager_of_a_version_that_is_gone() -> None:
    """The server refuses each apply, by any manager, until somebody removes the entry of that version."""
    verdict = _applied({"a": "2"}, {"a": "1"}, _entry("B", {"f:a": {}}, apiVersion="example.com/v0"), force=True)
    assert verdict.code == 500
    assert verdict.message == "request to convert CR to an invalid group/version: example.com/v0"


def test_a_manager_of_a_version_that_is_no_longer_served() -> None:
    """It owns its fields as before."""
    schema = root(spec=obj(a=_TEXT))
    two = crd(versions=[version(schema), version(schema, name="v1beta1", served=False, storage=False)])
    whole = {"apiVersion": "example.com/v1", "kind": "Widget"}
    entry = _entry("B", {"f:a": {}}, "Update", apiVersion="example.com/v1beta1")
    old = {**whole, "metadata": {**_META, "managedFields": [entry]}, "spec": {"a": "1"}}
    verdict = crdcompat.judge(
        two,
        "apply",
        {**whole, "metadata": _META, "spec": {"a": "2"}},
        old,
        version="v1",
        kubernetes="1.28",
        manager="A",
    )
    said = 'Apply failed with 1 conflict: conflict with "B" using example.com/v1beta1: .spec.a'
    assert (verdict.code, verdict.message) == (409, said)


def test_conflicts_of_several_managers() -> None:
    verdict = _applied(
        {"a": "2", "b": "2"}, {"a": "1", "b": "1"}, _entry("C", {"f:b": {}}), _entry("B", {"f:a": {}, "f:b": {}})
    )
    said = 'conflicts with "B":\n- .spec.a\n- .spec.b\nconflicts with "C":\n- .spec.b'
    assert verdict.message == f"Apply failed with 3 conflicts: {said}"


def test_conflicts_of_one_manager_at_two_endpoints() -> None:
    entries = (_entry("B", {"f:a": {}}), _entry("B", {"f:b": {}}, subresource="status"))
    verdict = _applied({"a": "2", "b": "2"}, {"a": "1", "b": "1"}, *entries)
    said = 'conflicts with "B" with subresource "status":\n- .spec.b\nconflicts with "B":\n- .spec.a'
    assert verdict.message == f"Apply failed with 2 conflicts: {said}"


@pytest.mark.parametrize(
    ("held", "owned", "sent", "conflict"),
    [
        # A part of what is atomic now counts as the whole.
        ({"w": {"x": "1"}}, {"f:w": {"f:x": {}}}, {"w": {"y": "1"}}, ".spec.w"),
        ({"w": {"x": "1"}}, {"f:w": {".": {}}}, {"w": {"y": "1"}}, ".spec.w"),
        ({"s": ["a", "b"]}, {"f:s": {'v:"a"': {}}}, {"s": ["a"]}, ".spec.s"),
        (
            {"l": [{"k": "a", "t": ["u"]}]},
            {"f:l": {'k:{"k":"a"}': {".": {}, "f:t": {'v:"u"': {}}}}},
            {"l": [{"k": "a", "t": ["v"]}]},
            '.spec.l[k="a"].t',
        ),
        # What was atomic and no longer is, is owned as a whole: its new members are nobody's.
        ({"o": {"x": "1"}}, {"f:o": {}}, {"o": {"x": "2"}}, ""),
        ({"gone": {"x": "1"}, "a": "1"}, {"f:gone": {"f:x": {}}, "f:a": {}}, {"a": "1"}, ""),
    ],
)
def test_entries_of_before_the_schema_changed_what_is_atomic(
    held: Json, owned: Json, sent: Json, conflict: str
) -> None:
    verdict = _applied(sent, held, _entry("B", owned))
    assert verdict.message == (f'Apply failed with 1 conflict: conflict with "B": {conflict}' if conflict else "")


def test_the_same_value_is_no_conflict() -> None:
    assert _applied({"a": "1"}, {"a": "1"}, _entry("B", {"f:a": {}})).accepted


@pytest.mark.parametrize(
    "fields", [None, [], {"f:spec": {"f:a": None}}, {"x:y": {}}, {"f:spec": {"k:{": {}, "v:": {}}}]
)
def test_entries_that_are_no_sets_of_fields(fields: Any) -> None:
    entry = {**_entry("A", {}), "fieldsV1": fields}
    assert _applied({"b": "1"}, {"a": "1"}, entry, force=True).accepted
