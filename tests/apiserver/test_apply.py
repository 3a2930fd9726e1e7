"""Server-side apply: typing of patches, and their merge with the stored object."""

from __future__ import annotations

from typing import Any

import pytest
from helpers import Json, array, crd, obj, root, string

import crdcompat
from crdcompat.apiserver.admission import Verdict

KEYED = array(
    obj(k=string(), p={"type": "integer", "default": 1}, v=string()),
    **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k", "p"]},
)
SPEC = obj(
    s=string(),
    n={**string(), "nullable": True},
    f={**string(), "format": "ipv4"},
    i={"x-kubernetes-int-or-string": True},
    b={"type": "boolean"},
    c={"type": "integer"},
    o=obj(a=string()),
    e={"type": "object"},
    l=array(string()),
    u=array(string(), **{"x-kubernetes-list-type": "set"}),
    m=KEYED,
)
CRD = crd(root(spec=SPEC))
API, KIND = f"{CRD['spec']['group']}/v1", CRD["spec"]["names"]["kind"]


def made(spec: Any) -> Json:
    return {"apiVersion": API, "kind": KIND, "metadata": {"name": "a", "namespace": "n"}, "spec": spec}


def applied(patch: Any, stored: Any, kubernetes: str = "1.36") -> Verdict:
    return crdcompat.judge(CRD, "apply", made(patch), made(stored), kubernetes=kubernetes)


@pytest.mark.parametrize(
    ("patch", "error"),
    [
        ({"x": 1}, ".spec.x: field not declared in schema"),
        ({"s": 5}, ".spec.s: expected string, got &value.valueUnstructured{Value:5}"),
        ({"b": "x"}, ".spec.b: expected boolean, got &{x}"),
        ({"c": "x"}, ".spec.c: expected numeric (int or float), got string"),
        ({"o": [1]}, ".spec.o: expected map, got &{[1]}"),
        ({"l": {}}, ".spec.l: expected list, got &{map[]}"),
        ({"l": [True]}, ".spec.l[0]: expected string, got &value.valueUnstructured{Value:true}"),
        ({"f": []}, ".spec.f: expected any scalar, got &{[]}"),
        ({"u": ["x", "x"]}, '.spec.u: duplicate entries for key [="x"]'),
        ({"u": [None]}, ".spec.u: element 0: associative list without keys has an element that's an explicit null"),
        ({"m": [{"k": "x", "v": 1}]}, '.spec.m[k="x",p=1].v: expected string, got &value.valueUnstructured{Value:1}'),
        ({"m": [None]}, ".spec.m: element 0: associative list with keys may not have a null element"),
        (
            {"s": 1, "b": 2},
            (
                "errors:\n  .spec.b: expected boolean, got &{2}\n"
                "  .spec.s: expected string, got &value.valueUnstructured{Value:1}"
            ),
        ),
    ],
)
def test_patches_of_a_wrong_type(patch: Json, error: str) -> None:
    verdict = applied(patch, {})
    assert (verdict.accepted, verdict.code) == (False, 500)
    assert verdict.message == f"failed to create typed patch object (n/a; {API}, Kind={KIND}): {error}"


@pytest.mark.parametrize(
    ("patch", "stored", "result"),
    [
        ({"s": "x"}, {"c": 1}, {"s": "x", "c": 1}),
        ({"o": None}, {"o": {"a": "x"}}, {"o": {"a": "x"}}),  # a null map changes nothing
        ({"m": None}, {"m": [{"k": "x", "p": 1}]}, {"m": [{"k": "x", "p": 1}]}),
        ({"n": None}, {"n": "x"}, {"n": None}),
        ({"e": {"x": 1}}, {}, {"e": {}}),  # any field is typed, and pruned when it is stored
        ({"l": ["b"]}, {"l": ["a"]}, {"l": ["b"]}),
        ({"u": ["c", "a"]}, {"u": ["a", "b"]}, {"u": ["c", "a", "b"]}),
        ({"m": [{"k": "x", "v": "2"}]}, {"m": [{"k": "x", "p": 1, "v": "1"}]}, {"m": [{"k": "x", "p": 1, "v": "2"}]}),
    ],
)
def test_merges(patch: Json, stored: Json, result: Json) -> None:
    verdict = applied(patch, stored)
    assert verdict.object is not None, verdict.message
    assert verdict.object["spec"] == result


def test_sets_of_older_servers_keep_the_stored_order() -> None:
    verdict = applied({"u": ["c", "a"]}, {"u": ["a", "b"]}, "1.27")
    assert verdict.object is not None
    assert verdict.object["spec"] == {"u": ["a", "b", "c"]}


@pytest.mark.parametrize(
    ("patch", "stored", "error"),
    [
        ({"s": None}, {"s": "x"}, 'spec.s: Invalid value: "null": spec.s in body must be of type string: "null"'),
        ({"o": None}, {}, 'spec.o: Invalid value: "null": spec.o in body must be of type object: "null"'),
        ({"f": True}, {}, 'spec.f: Invalid value: "": spec.f in body must be of type ipv4: ""'),
    ],
)
def test_what_typing_lets_pass_is_validated(patch: Json, stored: Json, error: str) -> None:
    """Nulls of other requests are dropped before."""
    assert [each.text() for each in applied(patch, stored).errors] == [error]


@pytest.mark.parametrize(
    ("of_type", "error"),
    [
        ({}, ""),
        ({"type": "integer"}, ".spec.a: expected numeric (int or float), got string"),
        ({"type": "string"}, ""),
    ],
)
def test_an_int_or_string_is_merged_by_its_type(of_type: Json, error: str) -> None:
    """Validation takes numbers and text of it; a stored text is no number for the merge."""
    either = crd(root(spec=obj(a={"x-kubernetes-int-or-string": True, **of_type})))
    body = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}}
    verdict = crdcompat.judge(either, "apply", body, {**body, "spec": {"a": "x"}})
    assert (verdict.code, verdict.message.endswith(error)) == (500 if error else 200, True)
