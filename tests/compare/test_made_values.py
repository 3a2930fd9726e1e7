"""Values that are made for rules: text that the rules parse, and parts that are valid by themselves."""

from __future__ import annotations

from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from helpers import Json, array, both, crd, diff, judge, obj, only, prove, remarks, root, select, string, version

from crdcompat.apiserver.field_errors import REQUIRED, FieldError
from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.server_versions import Server
from crdcompat.candidates.local import NodeJudge
from crdcompat.candidates.search import Answer, find
from crdcompat.compare.valid_values import ValidValues
from crdcompat.schema.structural import Node

_RULES = "x-kubernetes-validations"
_MASK = "[int(self.split('/')[1])].all(x, x <= 29 && x >= 0)"
_OCTETS = "self.split('/')[0].split('.').size() == 4"


def ruled(schema: Json, *rules: str) -> Json:
    return {**schema, _RULES: [{"rule": rule} for rule in rules]}


def shown(tmp_path: Path, old: Json, new: Json, rule: str) -> Any:
    """The value of spec.v in the proved witness of the only finding of ``rule`` in an upgrade."""
    sides = root(spec=obj(v=old)), root(spec=obj(v=new))
    finding = only(diff(*both(tmp_path, *sides)), direction="upgrade", rule=rule)
    prove(finding, *map(crd, sides))
    return finding["witness"]["object"]["spec"]["v"]


@pytest.mark.parametrize(
    ("before", "after", "value"),
    [
        # openshift/api 4.15 -> 4.16: arithmetic on the parts of an address becomes isCIDR(); it takes no 016.
        ([_MASK, _OCTETS], ["isCIDR(self) && cidr(self).prefixLength() <= 29"], "10.0.0.0/016"),
        (["isCIDR(self)"], ["isCIDR(self) && cidr(self).ip().family() == 6"], "10.0.0.0/16"),
        (["cidr(self).prefixLength() <= 22"], ["cidr(self).prefixLength() <= 21"], "10.0.0.0/22"),
        (["isIP(self)"], ["isIP(self) && ip(self).family() == 4"], "fd00::1"),
        (["isURL(self)"], ["isURL(self) && url(self).getScheme() == 'https'"], "http://example.com"),
        (["isQuantity(self)"], ["quantity(self).isGreaterThan(quantity('50m'))"], "0"),
        (["duration(self) >= duration('-10s')"], ["duration(self) > duration('0s')"], "-10s"),
        (["timestamp(self) == timestamp(self)"], ["timestamp(self).getFullYear() > 1999"], "1970-01-01T00:00:00Z"),
        (["self != 'zz'"], ["self == self.lowerAscii()"], "A"),
    ],
)
def test_text_that_rules_parse(tmp_path: Path, before: list[str], after: list[str], value: str) -> None:
    assert shown(tmp_path, ruled(string(), *before), ruled(string(), *after), "cel-rule-changed") == value


def test_a_scheme_in_capitals(tmp_path: Path) -> None:
    """openshift/api 4.21: a rule replaces a pattern; it reads the scheme as Go does, whatever its case."""
    rule = "isURL(self) && url(self).getScheme() == 'https'"
    old, new = ruled(string(), rule), string(pattern=r"^https:\/\/[^\s]")
    assert shown(tmp_path, old, new, "pattern-narrowed") == "HTTPS://example.com"


def test_a_text_that_begins_like_a_url(tmp_path: Path) -> None:
    """openshift/api 4.19, DataGather: a rule replaces a pattern, and refuses what only begins like a URL."""
    old, new = string(pattern="^https://"), ruled(string(), "isURL(self) && url(self).getScheme() == 'https'")
    assert shown(tmp_path, old, new, "cel-rule-added") == "https://example.com/%"


def test_base64_that_is_too_long(tmp_path: Path) -> None:
    """cluster-api 1.9 to 1.10 limits CA bundles; a string of one byte more than the limit is no base64."""
    old = string(format="byte")
    assert shown(tmp_path, old, {**old, "maxLength": 9}, "length-tightened") == "a" * 12


@pytest.mark.parametrize(
    ("old", "value"),
    [
        (ruled(string(), "isURL(self)"), "https://example.com" + "a" * 22),
        (string(format="uri"), "https://example.com" + "a" * 22),
    ],
    ids=["rule", "format"],
)
def test_a_text_of_a_form_that_is_too_long(tmp_path: Path, old: Json, value: str) -> None:
    """openshift/api of 2025 limits URLs."""
    assert shown(tmp_path, old, {**old, "maxLength": 40}, "length-tightened") == value


def test_a_pair_of_addresses_of_one_family(tmp_path: Path) -> None:
    old = array(ruled(string(), "isIP(self)"), maxItems=2, **{"x-kubernetes-list-type": "set"})
    new = ruled(old, "size(self) < 2 || ip(self[0]).family() != ip(self[1]).family()")
    assert shown(tmp_path, old, new, "cel-rule-added") == ["10.0.0.1", "10.0.0.2"]


def test_a_required_text_of_a_form_beside_the_change(tmp_path: Path) -> None:
    """openshift/api, PinnedImageSet: no object without an image, which two rules want to have a digest."""
    rules = ("self.split('@').size() == 2 && self.split('@')[1].matches('^sha256:[a-f0-9]{64}$')", "self.contains('/')")
    image = {**obj(name=ruled(string(maxLength=447), *rules)), "required": ["name"]}
    images = {**array(image, minItems=1, maxItems=5)}
    old, new = ({**obj(images=images, v=string(*values)), "required": ["images"]} for values in ("AB", "A"))
    (image_of_witness,) = shown(tmp_path, old, new, "enum-value-removed")["images"]
    assert image_of_witness["name"].partition("@")[2] == f"sha256:{'a' * 64}"


def test_more_items_that_a_rule_wants_distinct(tmp_path: Path) -> None:
    item = {**obj(server=string(maxLength=9), port={"type": "integer"}), "required": ["server"]}
    old = ruled(array(item, maxItems=3), "self.all(x, self.exists_one(y, y.server == x.server))")
    made = shown(tmp_path, old, {**old, "maxItems": 2}, "item-count-tightened")
    assert len({each["server"] for each in made}) == 3


_REFERENCE = ruled(
    obj(kind=string(default="Service"), port={"type": "integer"}), "self.kind == 'Service' ? has(self.port) : true"
)
_FILTER = ruled(
    {**obj(type=string("Copy", "Auth"), auth={**obj(to=_REFERENCE), "required": ["to"]}), "required": ["type"]},
    "!(self.type == 'Auth' && !has(self.auth))",
    "!(self.type != 'Auth' && has(self.auth))",
)


def test_an_added_member_is_valid_by_itself(tmp_path: Path, work: Counter[str]) -> None:
    """gateway-api 1.3 -> 1.4: a filter of type Auth needs auth, which needs a port for its default kind."""
    members = _FILTER["properties"]
    new = {**_FILTER, "properties": {**members, "type": string("Copy")}}
    value = shown(tmp_path, array(_FILTER), array(new), "enum-value-removed")
    assert value == [{"type": "Auth", "auth": {"to": {"port": 443}}}]
    assert work["objects judged"] < 30


def test_many_items_are_valid_by_themselves(tmp_path: Path, work: Counter[str]) -> None:
    """istio 1.23 -> 1.24: each of 17 references has to be of a kind that a rule lists."""
    item = ruled(
        obj(group=string(), kind=string()), "[self.group, self.kind] in [['core', 'Service'], ['', 'Gateway']]"
    )
    value = shown(tmp_path, array(item), array(item, maxItems=16), "item-count-tightened")
    assert value in ([{"group": "core", "kind": "Service"}] * 17, [{"group": "", "kind": "Gateway"}] * 17)
    assert work["objects judged"] < 120  # most of them to make it smaller


def test_a_part_without_a_valid_value_is_a_minimal_one() -> None:
    never = Node(ruled(obj(a=string()), "false"))
    assert ValidValues(Server(31))(never) == {}
    node = Node(ruled(obj(a=_REFERENCE), "has(self.a)"))
    assert NodeJudge(node, Server(31)).accepts(ValidValues(Server(31))(node))


def test_versions_with_equal_schemas_share_proofs(tmp_path: Path, work: Counter[str]) -> None:
    """istio has three versions of each CRD: the example of one is judged once more for each of the others."""

    def judged(*names: str) -> int:
        sides = [
            crd(versions=[version(root(spec=obj(v=array(each))), name, storage=name == "v1") for name in names])
            for each in (_FILTER, {**_FILTER, "properties": {**_FILTER["properties"], "type": string("Copy")}})
        ]
        before = work["objects judged"]
        found = select(diff(*both(tmp_path, *sides)), rule="enum-value-removed")
        done = work["objects judged"] - before
        for finding in found:
            prove(finding, *sides)
        shown = [(finding["version"], finding["witness"]["object"]["apiVersion"]) for finding in found]
        assert shown == [(name, f"example.com/{name}") for name in names]
        return done

    one = judged("v1")
    assert judged("v1", "v2", "v3") <= one + 2 * 2


def test_moves_to_objects_that_were_judged_before_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most moves of a search lead back to such an object; without end, they lead nowhere else."""
    start: Json = {"spec": {}}
    error = FieldError(REQUIRED, ("spec", "a"), Keyword.REQUIRED, None, Server(31))
    again = count()
    monkeypatch.setattr("crdcompat.candidates.search.moves", lambda *_, **__: (start for _ in again))
    rejected = Answer(found=False, errors=(error,))
    assert find(start, rejected, ("spec",), Node({}), lambda _: rejected, limit=10) is None
    assert next(again) < 100


def test_a_default_that_breaks_its_own_schema(tmp_path: Path) -> None:
    """The server's answer names a member that the object of the search lacks: a default adds it."""
    ref = {**obj(name=string()), "default": {}, "minProperties": 1}
    report = diff(*both(tmp_path, *(crd(root(spec=obj(ref=ref, mode=mode))) for mode in (string(), string("a")))))
    found = {(each["rule"], each["path"], each["direction"]) for each in report["findings"]}
    assert found == {("enum-introduced", "spec.mode", "upgrade")}
    ((*_, said),) = remarks(report)
    assert said.endswith("properties[ref].default: Invalid value: 0:  in body should have at least 1 properties")


_NEEDS_B = ["!(has(self.b) && self.kind != 'B')", "!(!has(self.b) && self.kind == 'B')"]
#: Rules about items: the items of a list, what else the list has, the rule that arrives, and the list that breaks it.
_OF_ITEMS: dict[str, tuple[Json, Json, str, list[Json]]] = {
    "two of a kind": (
        ruled({**obj(kind=string("A", "B"), b=obj(c=string())), "required": ["kind"]}, *_NEEDS_B),
        {"x-kubernetes-list-type": "atomic"},
        "self.filter(x, x.kind == 'B').size() <= 1",
        [{"kind": "B", "b": {}}, {"kind": "B", "b": {}}],
    ),
    "a kind without its member": (
        {**obj(name=string(), kind=string(maxLength=9), b=obj(c=string())), "required": ["name", "kind"]},
        {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
        "self.all(x, x.kind == 'TLS' ? has(x.b) && has(x.b.c) : true)",
        [{"name": "example", "kind": "TLS"}],
    ),
    "two entries of one kind": (
        {**obj(name=string(), kind=string(maxLength=9)), "required": ["name", "kind"]},
        {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
        "!self.exists(x, x.kind == 'Main') || self.exists_one(x, x.kind == 'Main')",
        [{"name": "example", "kind": "Main"}, {"name": "a", "kind": "Main"}],
    ),
    "two members": (
        {**obj(a=string(), b=string()), "minProperties": 1},
        {},
        "self.all(x, !(has(x.a) && has(x.b)) || x.a != 'K')",
        [{"a": "K", "b": "a"}],
    ),
}


@pytest.mark.parametrize(("item", "more", "rule", "value"), _OF_ITEMS.values(), ids=_OF_ITEMS)
def test_a_rule_about_items(tmp_path: Path, item: Json, more: Json, rule: str, value: list[Json]) -> None:
    old = array(item, maxItems=16, **more)
    assert shown(tmp_path, old, ruled(old, rule), "cel-rule-added") == value


def test_a_rule_about_items_beside_one_against_each_of_them(tmp_path: Path) -> None:
    """openshift/api 4.18, operators: at most one revision, and none in an item that is new."""
    item = {**obj(name=string(), revision={"type": "integer"}), "required": ["name"]}
    more = {"maxItems": 16, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
    of_item = {"rule": "!has(self.revision) || oldSelf.hasValue()", "optionalOldSelf": True}
    of_list = "size(self.filter(x, x.?revision.orValue(0) != 0)) <= 1"
    old = root(spec=obj(v=array(item, **more)))
    new = root(spec=obj(v=ruled(array({**item, _RULES: [of_item]}, **more), of_list)))
    witness = only(diff(*both(tmp_path, old, new)), rule="cel-rule-added")["witness"]
    assert judge(crd(old), "create", witness["object"]).accepted
    assert witness["errors"] == [
        f'spec.v: Invalid value: "array": failed rule: {of_list}',
        *(f'spec.v[{index}]: Invalid value: "object": failed rule: {of_item["rule"]}' for index in (0, 1)),
    ]
    assert {*witness["errors"]} == {error.text() for error in judge(crd(new), "create", witness["object"]).errors}


def test_a_rule_about_items_is_kept_beside_another_change(tmp_path: Path) -> None:
    """karpenter 1.11: an operator arrives, and a rule of the list says what values an item with it has."""
    rules = [
        "self.all(x, x.operator == 'In' ? x.values.size() != 0 : true)",
        "self.all(x, x.operator == 'Gt' || x.operator == 'Gte' ? x.values.size() == 1 && int(x.values[0]) >= 0 : true)",
    ]

    def requirements(*operators: str) -> Json:
        item = {**obj(operator=string(*operators), values=array(string(), maxItems=9)), "required": ["operator"]}
        return root(spec=obj(v=ruled(array(item, maxItems=9), *rules)))

    sides = requirements("In", "Gt"), requirements("In", "Gt", "Gte")
    finding = only(diff(*both(tmp_path, *sides)), direction="rollback")
    prove(finding, *map(crd, sides))
    assert finding["witness"]["object"]["spec"]["v"] == [{"operator": "Gte", "values": ["1"]}]


def test_a_longer_list_of_items_that_a_rule_takes(tmp_path: Path) -> None:
    """gateway-api 1.6: more hostnames fit, and a rule of the list rejects addresses."""
    host = string(pattern="^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", maxLength=253)

    def hosts(most: int) -> Json:
        return root(spec=obj(v=ruled(array(host, maxItems=most), "self.all(h, !h.matches('^[0-9.]+$') && !isIP(h))")))

    finding = only(diff(*both(tmp_path, hosts(4), hosts(9))), direction="rollback")
    prove(finding, crd(hosts(4)), crd(hosts(9)))
    assert len(finding["witness"]["object"]["spec"]["v"]) == 5


def test_a_list_with_one_item_more_than_10_000(tmp_path: Path) -> None:
    """cluster-api 1.13 limits lists to 10,000 items."""
    sides = root(spec=obj(v=array(string()))), root(spec=obj(v=array(string(), maxItems=10_000)))
    finding = only(diff(*both(tmp_path, *sides)), direction="upgrade", rule="item-count-tightened")
    witness = finding["witness"]["object"]
    assert len(witness["spec"]["v"]) == 10_001  # that none can be left out is not tried for each
    accepted = [judge(crd(side), "validate", witness, version="v1").accepted for side in sides]
    assert accepted == [True, False]


def test_an_item_for_a_rule_that_counts_items(tmp_path: Path) -> None:
    """envoy gateway 1.5: a sink names its type, and one of that type names the services behind it, with their ports."""
    ref = {**obj(name=string(), kind=string(default="Service"), port={"type": "integer"}), "required": ["name"]}
    refs = array(ruled(ref, "self.kind == 'Service' ? has(self.port) : true"), maxItems=16)
    sides = []
    for values in (("A",), ("A", "B")):
        als = ruled(obj(refs=refs, level=string(*values)), "has(self.refs) && self.refs.size() > 0")
        rule = "self.type == 'ALS' ? has(self.als) : !has(self.als)"
        sides.append(root(spec=obj(v=array(ruled(obj(type=string("ALS", "File"), als=als), rule)))))
    finding = only(diff(*both(tmp_path, *sides)), direction="rollback", rule="enum-value-added")
    prove(finding, *map(crd, sides))
    (sink,) = finding["witness"]["object"]["spec"]["v"]
    assert (sink["type"], sink["als"]["level"], len(sink["als"]["refs"])) == ("ALS", "B", 1)


_HOW = ruled(
    obj(type=string("Balancer", "Port", "Route"), port={"type": "integer"}),
    "self.type == 'Port' ? has(self.port) : !has(self.port)",
)
_SERVICE = {**obj(service=string("API", "Auth", "Tunnel", "Start", "Other"), how=_HOW), "required": ["service", "how"]}


def exists(service: str, how: str) -> str:
    return f"self.services.exists(s, s.service == '{service}' && s.how.type == {how})"


@pytest.mark.parametrize(
    ("rules", "services"),
    [
        (
            [exists("Auth", "'Route'"), exists("Tunnel", "'Route'"), exists("Start", "'Port'")],
            {("Auth", "Route"), ("Tunnel", "Route"), ("Start", "Port")},
        ),
        # The same as one rule, in another way, under a condition that holds.
        (
            [f"self.kind == 'Azure' ? {exists('Auth', 'self.how')} && {exists('Tunnel', 'self.how')} : true"],
            {("Auth", "Route"), ("Tunnel", "Route")},
        ),
        # Items of one kind are counted, or listed.
        (
            ["self.services.filter(s, s.how.type in ['Route', 'Port']).size() >= 1", exists("Tunnel", "'Balancer'")],
            {("API", "Route"), ("Tunnel", "Balancer")},
        ),
        (
            ["self.services.exists_one(s, s.service == 'Other' || s.service == 'Start')", exists("Auth", "'Port'")],
            {("Other", "Balancer"), ("Auth", "Port")},
        ),
    ],
)
def test_a_list_in_which_several_items_have_to_exist(
    tmp_path: Path, rules: list[str], services: set[tuple[str, str]]
) -> None:
    """hypershift 4.21 -> 4.22: on Azure three services need a route, and there are at least four and at most six."""
    rules = ["size(self.services) >= 4", *rules]
    kept = {"services": array(_SERVICE, maxItems=6), "kind": string("Azure"), "how": string("Route")}
    old, new = (
        root(spec={**ruled(obj(**kept, **more), *rules), "required": ["services", "kind", "how"]})
        for more in ({}, {"x": string()})
    )
    finding = only(diff(*both(tmp_path, old, new)), direction="rollback", rule="property-added")
    prove(finding, crd(old), crd(new))
    found = finding["witness"]["object"]["spec"]["services"]
    assert {(item["service"], item["how"]["type"]) for item in found} >= services


def test_a_text_whose_parts_have_patterns(tmp_path: Path) -> None:
    """hypershift: the id of a subnet has eleven parts, of which three have patterns and other ends."""
    rules = (
        "size(self.split('/')) == 5 && self.matches('^/groups/.*/nets/.*$')",
        "self.split('/')[2].matches('[a-z0-9-]{1,90}')",
        "self.split('/')[4].matches('[a-zA-Z0-9][a-z_]{1,9}') && !self.split('/')[4].endsWith('_')",
    )
    old, new = (
        root(spec={**obj(v=ruled(string(maxLength=99), *rules), **more), "required": ["v"]})
        for more in ({}, {"x": string()})
    )
    finding = only(diff(*both(tmp_path, old, new)), direction="rollback", rule="property-added")
    prove(finding, crd(old), crd(new))
