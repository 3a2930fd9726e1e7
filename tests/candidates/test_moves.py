"""The moves of a search: each differs from the rejected object at one place, and not at the place to keep."""

from __future__ import annotations

from typing import Any

import pytest
from helpers import Json, array, crd, obj, root, string

from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.server_versions import DEFAULT_SERVER
from crdcompat.apiserver.strategy import Resource
from crdcompat.candidates.moves import moves
from crdcompat.candidates.sample import sample
from crdcompat.crds.model import read_crd
from crdcompat.schema.structural import RULES

_FLAG: Json = {"type": "boolean"}
KEPT = ("spec", "phase")


def _specs(spec: Json, rule: str, held: Json, *, inside: bool = False) -> list[Any]:
    """The ``spec`` of each move from an object with ``held`` that the rule rejects."""
    made = read_crd(crd(root(spec={**spec, RULES: [{"rule": rule}]})))
    resource = Resource(made, made.versions[0], DEFAULT_SERVER)
    rejected = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": held}
    errors = resource.create(rejected, keep_status=True).errors
    assert [error.keyword for error in errors] == [Keyword.RULE]
    found = moves(rejected, errors, KEPT, resource.node, sample, inside=inside)
    return [move["spec"] for move in found]


@pytest.mark.parametrize("flag", [False, True])
def test_a_boolean_takes_both_values(flag: bool) -> None:
    found = _specs(
        obj(phase=string("A"), flag=_FLAG), f"self.flag == !{str(flag).lower()}", {"phase": "A", "flag": flag}
    )
    assert {"phase": "A", "flag": not flag} in found
    assert all(each["phase"] == "A" for each in found)


def test_a_member_takes_the_values_that_the_rule_names_and_none() -> None:
    spec = obj(phase=string("A"), mode=string("a", "b"), count={"type": "integer"})
    held = {"phase": "A", "mode": "a"}
    found = _specs(spec, "!has(self.mode) || self.mode == 'b' || (has(self.count) && self.count == 7)", held)
    for expected in ({"phase": "A", "mode": "b"}, {"phase": "A"}, {**held, "count": 7}):
        assert expected in found, expected
    assert {**held, "mode": "c"} not in found
    assert {**held, "count": "b"} not in found


def test_a_member_takes_the_values_of_its_enum() -> None:
    """openshift/api, DataGather: the rule names one value, the other needs nothing beside it."""
    spec = {**obj(phase=string("A"), mode=string("a", "b", "c")), "required": ["mode"]}
    found = _specs(spec, "self.mode != 'a'", {"phase": "A", "mode": "a"})
    assert [each["mode"] for each in found[:5]] == ["a", "a", "a", "b", "c"]


def test_a_required_member_stays() -> None:
    spec = {**obj(phase=string("A"), mode=string("a", "b")), "required": ["mode"]}
    found = _specs(spec, "self.mode == 'b'", {"phase": "A", "mode": "a"})
    assert {"phase": "A", "mode": "b"} in found
    assert {"phase": "A"} not in found


def test_a_list_gets_the_item_that_a_rule_asks_for() -> None:
    spec = obj(phase=string("A"), tags=array(obj(name=string("b"))))
    found = _specs(spec, "has(self.tags) && self.tags.exists(x, !has(x.name))", {"phase": "A", "tags": []})
    assert {"phase": "A", "tags": [{}]} in found


@pytest.mark.parametrize("rule", ["size(self.tags) >= 3", "self.tags.size() > 2"])
@pytest.mark.parametrize("held", [0, 1])
def test_a_list_gets_as_many_items_as_a_rule_asks_for(rule: str, held: int) -> None:
    spec = obj(phase=string("A"), tags=array({**obj(name=string("a", "b")), "required": ["name"]}))
    found = _specs(spec, rule, {"phase": "A", "tags": [{"name": "b"}] * held})
    longer = [{"name": "b"}] * held + [{"name": "a"}] * (3 - held)
    assert {"phase": "A", "tags": longer} in found


def test_items_that_a_list_gets_have_keys_of_their_own() -> None:
    keyed = array(obj(name=string("a", "b", "c")), **{"x-kubernetes-list-type": "map"})
    keyed |= {"x-kubernetes-list-map-keys": ["name"]}
    keyed["items"] |= {"required": ["name"]}
    found = _specs(obj(phase=string("A"), tags=keyed), "size(self.tags) >= 2", {"phase": "A", "tags": []})
    assert {"phase": "A", "tags": [{"name": "a"}, {"name": "b"}]} in found
