"""Distinct items, as list types and rules state it: openshift/api 4.16 states lists of addresses both ways."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from helpers import Json, array, both, crd, diff, obj, root, string

from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.strategy import Resource
from crdcompat.candidates.unique_items import keeps_rule, never_repeats
from crdcompat.crds.model import read_crd
from crdcompat.schema.structural import Node


def ruled(schema: Json, *rules: str) -> Json:
    return {**schema, "x-kubernetes-validations": [{"rule": rule} for rule in rules]}


_WHOLE = "self.all(x, self.exists_one(y, x == y))"
_FORMS = (
    _WHOLE,
    "self.all(x, self.exists_one(y, y == x))",
    "self.all(x, self.filter(y, x == y).size() == 1)",
    "self.all(a, size(self.filter(b, a == b)) <= 1)",
    "self.all(x, self.filter(y, x == y).size() < 2)",
    "!self.exists(x, !self.exists_one(y, x == y))",
    "!self.exists(x, self.filter(y, x == y).size() > 1)",
    "!self.exists(x, self.filter(y, x == y).size() != 1)",
    "size(self.filter(i, size(self.filter(j, j == i)) > 1)) == 0",
    "self.filter(i, !self.exists_one(j, j == i)).size() == 0",
    "self.distinct().size() == self.size()",
    "size(self) == size(self.distinct())",
    "self.map(x, x).distinct().size() == self.size()",
)
_OTHERS = (
    "self.all(x, self.filter(y, x == y).size() <= 2)",
    "self.all(x, self.exists(y, x == y))",
    "self.exists_one(x, self.exists_one(y, x == y))",
    "self.all(x, self.exists_one(y, x == x))",
    "self.all(x, self.exists_one(y, x == y || x == 'b'))",
    "self.all(x, self.exists_one(y, x != y))",
    "self.all(x, self.filter(y, x == y).size() == 2)",
    "size(self) < 2 || self.all(x, self.exists_one(y, x == y))",
    "!self.exists(x, self.exists_one(y, x == y))",
    "!self.exists(x, self.filter(y, x == y).size() > 2)",
    "!self.all(x, self.filter(y, x == y).size() > 1)",
    "size(self.filter(i, size(self.filter(j, j == i)) > 1)) == 1",
    "size(self.filter(i, size(self.filter(j, j == i)) == 1)) == 0",
    "self.map(i, self.filter(j, j == i).size() > 1).size() == 0",
    "self.size() == 0",
    "self.distinct().size() <= self.size()",
    "self.distinct().size() == self.distinct().size()",
    "self.map(x, x + 'b').distinct().size() == self.size()",
    "self.map(x, x).size() == self.size()",
)


def _rules_of(tmp_path: Path, old: Json, new: Json) -> list[str]:
    report = diff(*both(tmp_path, root(spec=obj(v=old)), root(spec=obj(v=new))))
    return sorted(finding["rule"] for finding in report["findings"])


def _set(items: Json, **keywords: Any) -> Json:
    return array(items, **{"x-kubernetes-list-type": "set"}, **keywords)


def _map(items: Json, *keys: str, **keywords: Any) -> Json:
    return array(items, **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)}, **keywords)


@pytest.mark.parametrize("rule", _FORMS)
def test_a_rule_replaces_a_set(tmp_path: Path, rule: str) -> None:
    items = string(maxLength=9)
    old, new = _set(items, maxItems=9), ruled(array(items, maxItems=9), rule)
    assert _rules_of(tmp_path, old, new) == []


@pytest.mark.parametrize("rule", _OTHERS)
def test_other_rules_do_not(rule: str) -> None:
    old, new = Node(_set(string())), Node(ruled(array(string()), rule))
    assert not keeps_rule(rule, old, new)
    assert not never_repeats(new, old)


def test_at_most_one_item_is_no_duplicate(tmp_path: Path) -> None:
    """openshift/api 4.18: the list of subnets has a keyed type in OLD and none in NEW, where it has one item."""
    item = {**obj(type=string("a", "b"), uuid=string()), "required": ["type"]}
    old, new = _map(item, "type", maxItems=1), array(item, maxItems=1)
    assert _rules_of(tmp_path, old, new) == []
    wider = {**new, "maxItems": 2}
    assert _rules_of(tmp_path, old, wider) == ["item-count-loosened", "list-type-loosened"]


_ROUTE = {**obj(name=string(maxLength=9), port={"type": "integer"}), "required": ["port"]}
#: Rules about a list ``{0}`` that no list of one item breaks.
_OF_ONE = (
    "{0}.all(a, !has(a.name) || {0}.exists_one(b, has(b.name) && a.name == b.name))",
    "{0}.all(a, !has(a.name) || {0}.filter(b, has(b.name) && a.name == b.name).size() == 1)",
    "!{0}.exists(a, has(a.name) && !{0}.exists_one(b, has(b.name) && a.name == b.name))",
    "{0}.all(a, {0}.exists_one(b, a == b))",
    "{0}.all(a, {0}.all(b, a.port == b.port))",
    "{0}.filter(a, has(a.name)).size() <= 1",
)


@pytest.mark.parametrize("rule", _OF_ONE)
@pytest.mark.parametrize("above", [False, True], ids=["of the list", "of its parent"])
def test_a_rule_that_no_list_of_one_item_breaks(tmp_path: Path, rule: str, above: bool) -> None:
    """gateway-api, tlsroutes v1alpha3: names are unique, in a list of at most one rule."""
    for most, found in ((1, []), (2, ["cel-rule-added"])):
        routes = array(_ROUTE, maxItems=most)
        text = f"!has(self.l) || {rule.format('self.l')}" if above else rule.format("self")
        old, new = (obj(l=routes), ruled(obj(l=routes), text)) if above else (routes, ruled(routes, text))
        assert _rules_of(tmp_path / str(most), old, new) == found
    one, some = (array(_ROUTE, maxItems=most) for most in (1, 2))
    text = rule.format("self")
    assert _rules_of(tmp_path / "writer", one, ruled(some, text)) == ["item-count-loosened"]


@pytest.mark.parametrize("rule", ["self.all(a, has(a.name))", "self.exists(a, true)", "self.all(a, a.name == a.name)"])
def test_a_rule_that_a_list_of_one_item_breaks(tmp_path: Path, rule: str) -> None:
    routes = array(_ROUTE, maxItems=1)
    assert _rules_of(tmp_path, routes, ruled(routes, rule)) == ["cel-rule-added"]


# -- against the judge ---------------------------------------------

_SCALARS: list[Any] = ["60s", "1m", "b"]
_OBJECTS: list[Any] = [{"k": "60s"}, {"k": "1m"}, {"k": "60s", "n": 1}, {"k": "60s", "n": 2}, {"n": 1}, {}]
_MEMBERS = obj(k=string(), n={"type": "integer"})
_NODES: list[tuple[list[Any], Json]] = [
    *((_SCALARS, items) for items in (string(), string(format="duration"), string(format="byte"))),
    *(
        (_OBJECTS, items)
        for items in (
            _MEMBERS,
            {**_MEMBERS, "required": ["k"]},
            {**_MEMBERS, "required": ["k", "n"]},
            {**obj(k=string(default="60s"), n={"type": "integer"}), "required": ["n"]},
            {**obj(k=string(format="duration"), n={"type": "integer"}), "required": ["k", "n"]},
            {**obj(k=string()), "required": ["k"]},
        )
    ),
]
_KEYED = ("x.k == y.k", "x.n == y.n", "x.k == y.k && x.n == y.n", "x == y", "has(x.k) && x.k == y.k")


def _lists(items: Json, *, scalars: bool) -> list[Json]:
    """All ways in which a list of these items may state that they are distinct."""
    rules = ["x == y"] if scalars else _KEYED
    found = [array(items), _set(items), array(items, maxItems=1)]
    found += [ruled(array(items), f"self.all(x, self.exists_one(y, {rule}))") for rule in rules]
    return found if scalars else [*found, _map(items, "k"), _map(items, "k", "n")]


def _cases() -> list[tuple[list[Any], Node, Node]]:
    found = []
    for (values, old), (others, new) in product(_NODES, repeat=2):
        if values is others:
            pairs = product(*(_lists(items, scalars=values is _SCALARS) for items in (old, new)))
            found += [(values, Node(writer), Node(reader)) for writer, reader in pairs]
    return found


def test_what_is_proved_is_so_for_all_small_lists() -> None:
    """No list of up to two items that the writer accepts is a duplicate for the reader, or breaks its rule."""
    proved, wrong = 0, []
    for values, writer, reader in _cases():
        rule = next((str(rule["rule"]) for rule in reader.rules), "")
        if not rule and reader.list_type == "atomic":
            continue
        if keeps_rule(rule, writer, reader) if rule else never_repeats(writer, reader):
            proved += 1
            lists = [list(items) for size in range(3) for items in product(values, repeat=size)]
            refused = [items for items in lists if _accepts(writer, items) and _is_repeated(reader, items)]
            wrong += [(writer.raw, reader.raw, items) for items in refused]
    assert not wrong, wrong[0]
    assert proved > 300


def _is_repeated(node: Node, items: list[Any]) -> bool:
    """Whether a list is refused, and each of its items alone is not."""
    return not _accepts(node, items) and all(_accepts(node, [item]) for item in items)


_RESOURCES: dict[str, Resource] = {}
_ANSWERS: dict[tuple[str, str], bool] = {}


def _accepts(node: Node, items: list[Any]) -> bool:
    schema = json.dumps(node.raw)
    key = schema, json.dumps(items)
    if key not in _ANSWERS:
        if schema not in _RESOURCES:
            made = read_crd(crd(root(spec=obj(v=node.raw))))
            _RESOURCES[schema] = Resource(made, made.versions[0], Server(33))
        new = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"v": items}}
        _ANSWERS[key] = not _RESOURCES[schema].create(new).errors
    return _ANSWERS[key]
