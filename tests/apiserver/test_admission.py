"""What a stored object changes in the answer to an update, and which branch of a junctor explains a refusal."""

from __future__ import annotations

from typing import Any

import pytest
from helpers import Json, array, crd, obj, root, string

import crdcompat
from crdcompat.schema.structural import RULES


def _message(definition: Json, new: Json, old: Json | None = None, minor: str = "1.31") -> str:
    """The part of the message behind the name; "" if the write is accepted."""
    made = [
        {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": spec}
        for spec in (new, old)
        if spec is not None
    ]
    operation, stored = ("create", None) if old is None else ("update", made[1])
    said = crdcompat.judge(definition, operation, made[0], stored, kubernetes=minor).message
    return said.removeprefix('Widget.example.com "a" is invalid: ')


@pytest.mark.parametrize(
    ("old", "is_refused"),
    [(None, True), ({"l": ["a"]}, True), ({}, True), ({"l": ["a", "a"]}, False), ({"l": ["b", "b"]}, False)],
)
@pytest.mark.parametrize("minor", ["1.26", "1.31", "1.36"])
def test_duplicates_are_ignored_if_the_stored_object_has_any(old: Json | None, is_refused: bool, minor: str) -> None:
    definition = crd(root(spec=obj(l=array(string(), **{"x-kubernetes-list-type": "set"}))))
    expected = 'spec.l[1]: Duplicate value: "a"' if is_refused else ""
    assert _message(definition, {"l": ["a", "a"]}, old, minor) == expected


@pytest.mark.parametrize(
    ("keyword", "said"),
    [
        ({"maxLength": 2}, "Too long: may not be longer than 2"),
        ({RULES: [{"rule": "size(self) < 3", "message": "short"}]}, 'Invalid value: "string": short'),
    ],
    ids=["a limit", "a rule"],
)
@pytest.mark.parametrize("member", ["apiVersion", "kind"])
def test_what_names_the_type_is_never_ratcheted(member: str, keyword: Json, said: str) -> None:
    schema = root(spec=obj(b=string()))
    schema["properties"][member] = string(**keyword)
    for minor in ("1.29", "1.31"):
        assert _message(crd(schema), {"b": "x"}, {"b": "y"}, minor) == f"{member}: {said}"


_LONG, _OTHER = {"maxLength": 1}, {"pattern": "^z"}
_OF_LONG = "Too long: may not be longer than 1"
_OF_OTHER = "Invalid value: \"abc\": spec.n in body should match '^z'"


@pytest.mark.parametrize(
    ("branches", "said"),
    [
        ([_LONG, _OTHER], _OF_LONG),
        ([_OTHER, _LONG], _OF_OTHER),
    ],
)
@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_the_first_of_equally_good_branches_explains(keyword: str, branches: list[Any], said: str) -> None:
    message = _message(crd(root(spec=obj(n={**string(), keyword: branches}))), {"n": "abc"})
    assert message.endswith(f"spec.n: {said}]")


def test_a_status_write_looks_at_no_embedded_resource() -> None:
    """A stored one may be wrong since the CRD changed; a write of the main resource is refused for it."""
    embedded = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
    definition = crd(root(spec=obj(e=embedded), status=obj(b=string())))
    whole = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}}
    stored = {**whole, "spec": {"e": {"apiVersion": "v1"}}}
    new = {**stored, "status": {"b": "x"}}
    found = [crdcompat.judge(definition, op, new, stored, kubernetes="1.31") for op in ("updateStatus", "update")]
    assert [(each.accepted, len(each.errors)) for each in found] == [(True, 0), (False, 1)]


def _judged(operation: str, new: Json, old: Json, minor: str) -> bool | None:
    """The answer to an update of spec.a and status.a, which are too long since the CRD changed."""
    definition = crd(root(spec=obj(a=string(maxLength=1), b=string()), status=obj(a=string(maxLength=1), b=string())))
    made = (
        {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, **part} for part in (new, old)
    )
    return crdcompat.judge(definition, operation, *made, kubernetes=minor).accepted


@pytest.mark.parametrize(
    ("part", "operation", "since"), [("spec", "update", 30), ("status", "updateStatus", 33)], ids=["spec", "status"]
)
def test_when_servers_began_to_ratchet(part: str, operation: str, since: int) -> None:
    old, new = ({part: {"a": "xx", "b": b}} for b in ("1", "2"))
    for minor in range(28, 37):
        assert _judged(operation, new, old, f"1.{minor}") is (minor >= since), minor
    assert _judged(operation, {part: {"a": "yy"}}, old, "1.36") is False


@pytest.mark.parametrize("minor", range(28, 37))
def test_an_enum_that_keeps_servers_from_rules(minor: int) -> None:
    """From 1.29 on, a value out of the enum is an error beside which no rule is evaluated."""
    rule = {RULES: [{"rule": "self.b == 'x'", "message": "b is x"}]}
    said = _message(
        crd(root(spec={**obj(a=string("A"), b=string()), **rule})), {"a": "B", "b": "y"}, None, f"1.{minor}"
    )
    assert ("some validation rules were not checked" in said, "b is x" in said) == (minor >= 29, minor < 29)


def test_a_failed_rule_decides_beside_one_that_is_not_evaluated() -> None:
    rules = [{"rule": "{'a': 1}.transformMap(k, v, v + 1) == {'a': 2}"}, {"rule": "self.n != 'x'", "message": "no"}]
    definition = crd(root(spec={**obj(n=string()), RULES: rules}))
    made = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}}
    answers = [crdcompat.judge(definition, "create", {**made, "spec": {"n": n}}, kubernetes="1.36") for n in "xy"]
    assert [answer.accepted for answer in answers] == [False, None]
