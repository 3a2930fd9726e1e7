"""Why servers refuse a CRD: the function, field or keyword, the servers that refuse it, and what they ignore."""

from __future__ import annotations

from typing import Any

import pytest
from helpers import Json, array, crd, obj, root, string, version

from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.supported.causes import Cause, causes
from crdcompat.apiserver.supported.crd_answer import answers_of
from crdcompat.apiserver.supported.ranges import ALL, servers_of
from crdcompat.crds.model import read_crd

RULES = "x-kubernetes-validations"


def _with_rule(rule: str, **more: Any) -> Json:
    fields = {"a": string(maxLength=60), "l": array(string(maxLength=9), maxItems=9), "n": {"type": "integer"}}
    return crd(root(spec={**obj(**fields), RULES: [{"rule": rule, **more}]}))


def _causes(definition: Json, servers: tuple[Server, ...] = ALL) -> list[Cause]:
    found = read_crd(definition)
    return list(causes(found, [answers_of(found, [server])[server] for server in servers]))


@pytest.mark.parametrize(
    ("rule", "what", "since"),
    [
        ("isCIDR(self.a)", "isCIDR", 31),
        ("quantity(self.a).isGreaterThan(quantity('1'))", "quantity", 29),
        ("self.?a.hasValue()", "?.", 29),
        ("sets.contains(self.l, ['a'])", "sets.contains", 30),
        ("'%s'.format([self.a]) == 'x'", "format", 30),
        ("!format.dns1123Label().validate(self.a).hasValue()", "format.dns1123Label", 32),
        ("self.l.all(i, v, i < 9)", "all(i, v, …)", 33),
        ("self.l.transformList(i, v, v).size() > 0", "transformList", 33),
        ("isSemver(self.a)", "isSemver", 34),
        ("self.l.sort()[0] == 'a'", "sort", 35),
        ("self.n < 1.5", "<", 29),
    ],
)
def test_the_function_and_the_first_server_that_has_it(rule: str, what: str, since: int) -> None:
    (cause,) = _causes(_with_rule(rule))
    assert (cause.kind, cause.what, cause.rule) == ("expression", what, rule)
    assert (cause.since, cause.until) == (Server(since), None)
    assert tuple(cause.refused) == tuple(server for server in ALL if server.minor < since)
    assert cause.at[-3:] == (RULES, 0, "rule")


def test_each_function_of_a_rule_is_a_cause() -> None:
    found = {cause.what: cause.since for cause in _causes(_with_rule("isIP(self.a) || isSemver(self.a)"))}
    assert found == {"isIP": Server(31), "isSemver": Server(34)}


@pytest.mark.parametrize(
    ("rule", "since"),
    [
        ("isCIDR(self.a)", Server(27, (4, 14))),
        ("!format.dns1123Label().validate(self.a).hasValue()", Server(31, (4, 18))),
    ],
)
def test_openshift_has_functions_earlier(rule: str, since: Server) -> None:
    (cause,) = _causes(_with_rule(rule), servers_of("openshift-4.13-4.18"))
    assert cause.since == since


def test_a_later_server_refuses_what_earlier_ones_ignore() -> None:
    (cause,) = _causes(_with_rule("self.a == 'x'", fieldPath=".nowhere"))
    assert (cause.kind, cause.what) == ("keyword", "fieldPath")
    assert (cause.since, cause.until) == (None, Server(27))


def test_a_rule_whose_optional_old_self_is_dropped() -> None:
    rule = "oldSelf.hasValue() ? oldSelf.value().a == self.a : true"
    found = {cause.what: tuple(cause.refused) for cause in _causes(_with_rule(rule, optionalOldSelf=True))}
    assert found == {"hasValue": ALL[:3], "optionalOldSelf": (Server(29),), "value": ALL[:3]}


def test_the_cost_of_a_rule() -> None:
    schema = root(spec=obj(l={**array(string()), RULES: [{"rule": "self.all(x, self.all(y, x == y))"}]}))
    found = _causes(crd(schema))
    assert {(cause.kind, cause.since, cause.until) for cause in found} == {("cost", None, None)}
    assert all(cause.accepting == () for cause in found)


def test_a_keyword_that_every_server_refuses() -> None:
    (cause,) = _causes(crd(root(spec=obj(l={"type": "array"}))))
    assert (cause.kind, cause.what, cause.accepting) == ("keyword", "items", ())


def test_the_old_api_version() -> None:
    definition = {**crd(root(spec=obj(a=string()))), "apiVersion": "apiextensions.k8s.io/v1beta1"}
    (cause,) = _causes(definition)
    assert (cause.what, cause.at, cause.accepting) == ("apiVersion", ("apiVersion",), ())


# -- what servers ignore ---------------------------------------------


def _ignored(definition: Json, server: Server) -> tuple[tuple[str, ...], tuple[str, ...]]:
    found = answers_of(read_crd(definition), [server])[server]
    assert found.faults == ()
    return found.ignored.warnings, found.ignored.dropped


@pytest.mark.parametrize(
    ("minor", "warnings", "dropped"),
    [
        (29, ('unknown field "spec.versions[0].selectableFields"',), ()),
        (30, (), ("spec.versions[0].selectableFields",)),
        (31, (), ()),
    ],
)
def test_a_field_of_newer_servers(minor: int, warnings: tuple[str, ...], dropped: tuple[str, ...]) -> None:
    schema = root(spec=obj(a=string()))
    definition = crd(versions=[version(schema, selectableFields=[{"jsonPath": ".spec.a"}])])
    assert _ignored(definition, Server(minor)) == (warnings, dropped)


def test_a_field_below_items_is_dropped_without_a_warning() -> None:
    item = {**string(), RULES: [{"rule": "self != ''", "reason": "FieldValueInvalid"}]}
    definition = crd(root(spec=obj(l={**array({**item, "maxLength": 9}), "maxItems": 9})))
    at = f"spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.l.items.{RULES}[0].reason"
    assert _ignored(definition, Server(27)) == ((), (at,))
    assert _ignored(definition, Server(28)) == ((), ())


def test_a_field_that_no_server_knows() -> None:
    definition = crd(root(spec=obj(a={**string(), "const": "x"}, items={**string(), "const": "x"})))
    at = "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties"
    expected = tuple(f'unknown field "{at}.{name}.const"' for name in ("a", "items"))
    assert _ignored(definition, Server(31)) == (expected, ())


@pytest.mark.parametrize("name", ["a", "properties", "definitions", "dependencies", "patternProperties"])
def test_a_field_that_no_server_knows_below_items(name: str) -> None:
    """Whatever the list is called: the server decodes its items apart, without a warning."""
    strange = {**string(), "const": "x"}
    inner = {"type": "object", "additionalProperties": strange}
    definition = crd(root(spec=obj(**{name: array(strange), "m": inner, "z": {**string(), "allOf": [{"const": "x"}]}})))
    at = "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties"
    assert _ignored(definition, Server(31)) == ((f'unknown field "{at}.z.allOf[0].const"',), ())


@pytest.mark.parametrize(("minor", "count"), [(33, 0), (34, 1), (35, 2)])
def test_formats_that_servers_do_not_know(minor: int, count: int) -> None:
    definition = crd(
        root(spec=obj(a=string(format="nonsense"), n={"type": "integer", "format": "int33"}, b=string(format="uri")))
    )
    texts = ('unrecognized format "nonsense"', 'unrecognized format "int33"')
    assert _ignored(definition, Server(minor)) == (texts[:count], ())
