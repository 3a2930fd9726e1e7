"""Values and objects that satisfy all rules of a node at once, where a search by edits finds none."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
from helpers import Json, array, both, brief, crd, diff, obj, only, prove, root, string, version, write

from crdcompat.apiserver.field_errors import INVALID, FieldError
from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.server_versions import Server
from crdcompat.compare.equivalence.satisfying import mended, satisfying
from crdcompat.compare.valid_values import ValidValues
from crdcompat.schema.structural import Node

_RULES = "x-kubernetes-validations"


def ruled(schema: Json, *rules: str) -> Json:
    return {**schema, _RULES: [{"rule": rule} for rule in rules]}


def proved(tmp_path: Path, old: Json, new: Json, **wanted: str) -> Any:
    """The spec of the proved witness of the one finding with these facts."""
    sides = root(spec=old), root(spec=new)
    finding = only(diff(*both(tmp_path, *sides), "--direction", "both"), **wanted)
    prove(finding, *map(crd, sides))
    return finding["witness"]["object"]["spec"]


@pytest.mark.parametrize("least", [0, 1, 24, 25, 40])
def test_bytes_whose_text_two_rules_read(least: int) -> None:
    """openshift/api 4.19, ImagePolicy: certificates in base64, with a least length of the base64."""
    rules = (
        "string(self).startsWith('-- BEGIN')",
        "string(self).endsWith('-- END\\n') || string(self).endsWith('-- END')",
        "string(self).findAll('-- BEGIN').size() == string(self).findAll('-- END').size()",
    )
    node = Node(ruled(string(format="byte", minLength=least), *rules))
    made = ValidValues(Server(31))
    value = made(node)
    text = b64decode(value, validate=True).decode()
    assert (text[:8], text[-6:], len(value)) == ("-- BEGIN", "-- END", max(20, -(-least // 4) * 4))
    assert made.accepts(node, value)


def test_an_object_without_a_member_that_its_default_kind_needs(tmp_path: Path) -> None:
    """kong 2.0: no name only with the other source, which needs a member and forbids nine."""
    id_of = {**obj(id=string(pattern="^[0-9a-f]{4}$")), "required": ["id"]}
    new = ruled(
        obj(
            **{name: string() for name in "abcdefgh"},
            labels={"type": "object", "additionalProperties": string()},
            mirror=id_of,
            name=string(),
            source=string("Origin", "Mirror", default="Origin"),
        ),
        "has(self.labels) ? self.labels.all(k, !k.startsWith('a') && !k.startsWith('b') && !k.startsWith('c')) : true",
        "self.source == 'Mirror' ? !has(self.name) && !has(self.labels) && !has(self.a) : true",
        "self.source == 'Mirror' ? has(self.mirror) : true",
        "self.source == 'Origin' ? !has(self.mirror) : true",
        "self.source == 'Origin' ? has(self.name) : true",
    )
    members = {name: member for name, member in new["properties"].items() if name not in ("mirror", "source")}
    spec = proved(tmp_path, {**obj(**members), "required": ["name"]}, new, rule="required-removed")
    assert spec == {"source": "Mirror", "mirror": {"id": "8080"}}


def test_the_other_value_of_an_enum_that_a_rule_does_not_name(tmp_path: Path) -> None:
    """openshift/api 4.19, IngressController: members that are forbidden when the scope is Internal."""
    members = obj(scope=string("Internal", "External"), aws=obj(kind=string()))
    new = obj(scope=string("Internal", "External"), aws=obj(kind=string(), pools=array(string())))
    rule = "self.scope != 'Internal' || !has(self.aws) || !has(self.aws.pools)"
    old, new = ({**ruled(each, text), "required": ["scope"]} for each, text in ((members, "true"), (new, rule)))
    spec = proved(tmp_path, old, new, rule="property-added", path="spec.aws.pools")
    assert spec == {"scope": "External", "aws": {"pools": []}}


def test_a_name_of_a_format_beside_the_change(tmp_path: Path) -> None:
    """openshift/api 4.19, CloudPrivateIPConfig: its name is an address."""
    name = {"type": "string", "anyOf": [{"format": "ipv4"}, {"pattern": "^fd00[.]"}]}
    lists = [array({**obj(type=string()), "required": ["type"]}, **more) for more in ({}, _KEYED)]
    old, new = ({**root(spec=obj(l=each)), "required": ["spec"]} for each in lists)
    for side in (old, new):
        side["properties"]["metadata"] = obj(name=name)
    finding = only(diff(*both(tmp_path, old, new)), rule="list-type-tightened")
    prove(finding, crd(old), crd(new))
    assert finding["witness"]["object"]["metadata"]["name"] == "10.0.0.1"


_KEYED = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]}


@pytest.mark.parametrize(
    "key",
    [
        string(pattern="^[a-z]+[0-9]*$"),
        ruled(string(maxLength=40), "self.contains('/')", "self.split('/', 2)[0].matches('^[a-z]+$')"),
    ],
    ids=["a pattern", "rules on parts"],
)
def test_more_keys_than_a_list_may_have(tmp_path: Path, key: Json) -> None:
    """openshift/api 4.19 and 4.20: conditions get a limit of 100, claim mappings one of 32."""
    old = array({**obj(type=key), "required": ["type"]}, **_KEYED)
    spec = proved(tmp_path, obj(l=old), obj(l={**old, "maxItems": 32}), rule="item-count-tightened")
    assert len({item["type"] for item in spec["l"]}) == 33


def test_items_that_keep_one_member_and_change_the_other(tmp_path: Path) -> None:
    """mongodb-kubernetes 1.10: the name of the item with an index must not change."""
    old = array(obj(index={"type": "integer"}, name=string()), maxItems=9)
    rule = (
        "self.all(c, oldSelf.all(o, (has(o.index) ? o.index : 0) != (has(c.index) ? c.index : 0)"
        " || (has(o.name) ? o.name : '') == '' || (has(o.name) ? o.name : '') == (has(c.name) ? c.name : '')))"
    )
    sides = root(spec=obj(l=old)), root(spec=obj(l=ruled(old, rule)))
    finding = only(diff(*both(tmp_path, *sides)), rule="cel-transition-rule-added")
    stored, changed = (finding["witness"][side]["spec"]["l"] for side in ("stored", "object"))
    assert (len(stored), len(changed), stored == changed) == (1, 1, False)


def test_a_transition_from_a_value_that_the_writer_never_stored(tmp_path: Path) -> None:
    """openshift/api 4.22, FeatureGate: a rule on the value that the same release adds to the enum."""
    old, new = string("A", "B", ""), ruled(string("A", "B", "C", ""), "oldSelf == 'C' ? self != '' : true")
    report = diff(*both(tmp_path, root(spec=obj(v=old)), root(spec=obj(v=new))), "--direction", "both")
    assert [brief(each) for each in report["findings"]] == [
        ("rollback", "warning", "enum-value-added", "widgets.example.com", "spec.v")
    ]


def test_an_address_that_is_no_name(tmp_path: Path) -> None:
    """openshift/api 4.15, CloudPrivateIPConfig: the name of a resource has no colon, so none was an IPv6 address."""
    formats = [{"format": "ipv4"}, {"format": "ipv6"}], [{"format": "ipv4"}, {"pattern": r"^fd00(\.[0-9a-f]{4}){7}$"}]
    old, new = (root(spec=obj()) for _ in formats)
    for side, branches in zip((old, new), formats, strict=True):
        side["properties"]["metadata"] = obj(name={"type": "string", "anyOf": branches})
    report = diff(*both(tmp_path, old, new), "--direction", "both")
    assert [brief(each)[:3] for each in report["findings"]] == [("rollback", "warning", "junctor-changed")]


@pytest.mark.parametrize(
    ("limit", "found"),
    [
        ({"minLength": 1}, []),
        ({"maxLength": 253}, []),
        ({"pattern": "^[-a-z0-9.]+$"}, []),
        ({"minLength": 2}, ["length-tightened"]),
        ({"maxLength": 252}, ["length-tightened"]),
        ({"pattern": "^[a-z]"}, ["pattern-narrowed"]),
    ],
)
def test_a_limit_that_every_name_fits(tmp_path: Path, limit: Json, found: list[str]) -> None:
    old, new = (root(spec=obj()) for _ in range(2))
    new["properties"]["metadata"] = obj(name=string(**limit))
    report = diff(*both(tmp_path, old, new), "--direction", "both")
    assert [each["rule"] for each in report["findings"]] == found
    for finding in report["findings"]:
        prove(finding, crd(old), crd(new))


def test_a_resource_is_an_object_whatever_its_schema_says(tmp_path: Path) -> None:
    """hive 1.1: schemas of v1beta1 CRDs often have no type at the root, those of v1 CRDs must have one."""
    schema = root(spec=obj(v=string("A", "B")))
    old = crd(versions=[version({key: value for key, value in schema.items() if key != "type"})])
    new = crd(versions=[version(root(spec=obj(v=string("A"))))])
    write(tmp_path / "old/crd.yaml", {**old, "apiVersion": "apiextensions.k8s.io/v1beta1"})
    write(tmp_path / "new/crd.yaml", new)
    report = diff(tmp_path / "old", tmp_path / "new", "--direction", "upgrade")
    assert ("upgrade", "warning", "enum-value-removed", "widgets.example.com", "spec.v") in map(
        brief, report["findings"]
    )
    assert "type-changed" not in {each["rule"] for each in report["findings"]}


@pytest.mark.parametrize(
    ("node", "value"),
    [
        # what the schema states of a member that a rule names
        (
            ruled(
                {**obj(kind=string("A", "B"), b=string("x")), "required": ["kind"]},
                "self.kind != 'A'",
                "self.kind == 'B' ? has(self.b) : true",
            ),
            {"kind": "B", "b": "x"},
        ),
        # a rule reads the text of bytes; the base64 of a number is no text of one
        (ruled(obj(a=string(format="byte"), b={"type": "integer"}), "string(self.a) == 'ok'"), {"a": "b2s="}),
        (ruled(obj(a={"type": "integer"}), "string(self.a) == '7' && self.a >= 7 && self.a < 8"), {"a": 7}),
    ],
    ids=["members", "bytes", "numbers"],
)
def test_the_first_value_satisfies_all_rules(node: Json, value: Any) -> None:
    assert next(satisfying(Node(node), ValidValues(Server(31)))) == value


def mended_spec(spec: Json, value: Json, *keep: str) -> Any:
    """The spec of the first object that `mended` makes from one whose spec breaks a rule; at ``keep`` it stays."""
    error = FieldError(INVALID, ("spec",), Keyword.RULE, spec, Server(31), base=1)
    made = mended(_object(spec=value), [error], ("spec", *keep), Node(root(spec=spec)), ValidValues(Server(31)))
    return next(made, {}).get("spec")


def _object(**parts: Any) -> Json:
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "example"}, **parts}


_TWO = obj(a=string(), b=string("x", "y"), c=obj(d=string(), e=string()))


@pytest.mark.parametrize(
    ("rules", "before", "keep", "after"),
    [
        (["has(self.a) || has(self.b)"], {}, ("a",), {"b": "x"}),
        (["!has(self.a) || self.b == 'y'"], {"a": "v"}, ("a",), {"a": "v", "b": "y"}),
        (["self.a == 'v' ? self.b == 'y' : self.b == 'x'"], {"a": "v"}, ("a",), {"a": "v", "b": "y"}),
        (["has(self.c.d) ? self.b == 'x' : self.b == 'y'"], {"c": {}}, ("c",), {"b": "y", "c": {}}),
        (["self.c.d == 'v' ? self.b == 'y' : self.b == 'x'"], {"c": {"d": "v"}}, ("c",), {"b": "y", "c": {"d": "v"}}),
        (
            # b has one of two values, and each is of another kind of object
            [
                *("self.b == 'x' ? has(self.a) : true", "self.b == 'y' ? has(self.c.d) : true"),
                *("!has(self.c.e) || self.c.e != 'z'", "!has(self.a) || self.a != 'z' || self.c.e == 'v'"),
                "size(self.b) > 0 || self.c.e == 'u'",
            ],
            {},
            ("a",),
            {"b": "y", "c": {"d": "a", "e": "u"}},
        ),
        (["self.c.e == 'v' ? self.b == 'y' : true"], {"c": {"e": "v"}}, ("c", "e"), {"b": "y", "c": {"e": "v"}}),
    ],
)
def test_a_mended_object_keeps_its_value(rules: list[str], before: Json, keep: tuple[str, ...], after: Json) -> None:
    assert mended_spec(ruled(_TWO, *rules), before, *keep) == after


def test_a_mended_resource_keeps_what_no_rule_asks_for() -> None:
    schema = Node(ruled(root(spec=obj(a=string())), "self.metadata.name == 'cluster' && has(self.spec)"))
    error = FieldError(INVALID, (), Keyword.RULE, {}, Server(31))
    whole = {**_object(spec={}), "metadata": {"name": "example", "namespace": "default"}}
    made = next(mended(whole, [error], ("spec", "a"), schema, ValidValues(Server(31))))
    assert made == {**whole, "metadata": {"name": "cluster", "namespace": "default"}}


@pytest.mark.parametrize("keep", [(), ("spec",), ("spec", "c")])
def test_a_rule_on_what_stays_mends_nothing(keep: tuple[str, ...]) -> None:
    spec = obj(c=ruled(obj(a=string()), "has(self.a)"))
    error = FieldError(INVALID, ("spec", "c"), Keyword.RULE, {}, Server(31), base=2)
    whole = _object(spec={"c": {}})
    assert [*mended(whole, [error], keep, Node(root(spec=spec)), ValidValues(Server(31)))] == []
