"""CRDs that a server refuses: every rule that the program knows, by text and path, and no real CRD."""

from __future__ import annotations

import json
from typing import Any

import pytest
from helpers import Json, array, crd, obj, root, string, version

import crdcompat
import crdcompat.apiserver.crd_validation.plain
from crdcompat.apiserver.crd_validation.refusal import refusal, refusals, update_refusal
from crdcompat.apiserver.server_versions import Server
from crdcompat.crds.model import read_crd

SERVER = Server(31)
_SCHEMA = "spec.validation.openAPIV3Schema"
_SPEC = f"{_SCHEMA}.properties[spec]"
_EMBEDDED = {**obj(a=string()), "x-kubernetes-embedded-resource": True}
_RESOURCE = {"apiVersion": "v1", "kind": "A"}
_STRUCTURAL = "must be empty to be structural"


def _refused(definition: Json, server: Server = SERVER) -> str:
    """Everything that is said after the head of the aggregate; "" for a good CRD."""
    found = read_crd(definition)
    said = refusal(found, server)
    name = definition["metadata"]["name"]
    head = f'CustomResourceDefinition.apiextensions.k8s.io "{name}" is invalid: '
    assert not said or said.startswith(head)
    return said.removeprefix(head)


def test_a_good_crd() -> None:
    assert _refused(crd(root(spec=obj(a=string("x")), status=obj()))) == ""


#: What stands at spec.a -> what the server says of it.
_NODES: dict[str, tuple[Json, str]] = {
    "no type": ({}, f"{_SPEC}.properties[a].type: Required value: must not be empty for specified object fields"),
    "no type of items": (
        array({}),
        f"{_SPEC}.properties[a].items.type: Required value: must not be empty for specified array items",
    ),
    "no type of map values": (
        {"type": "object", "additionalProperties": {}},
        (
            f"{_SPEC}.properties[a].additionalProperties.type: Required value: "
            "must not be empty for specified object fields"
        ),
    ),
    "no items": ({"type": "array"}, f"{_SPEC}.properties[a].items: Required value: must be specified"),
    "uniqueItems": (
        array(string(), uniqueItems=True),
        (
            f"{_SPEC}.properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime "
            "complexity becomes quadratic"
        ),
    ),
    "properties and additionalProperties": (
        {**obj(b=string()), "additionalProperties": string()},
        (
            f"{_SPEC}.properties[a].additionalProperties: Forbidden: additionalProperties and properties are mutual "
            "exclusive"
        ),
    ),
    "bad pattern": (
        string(pattern="("),
        (
            f'{_SPEC}.properties[a].pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: '
            "error parsing regexp: missing closing ): `(`"
        ),
    ),
    "default of another type": (
        string(default=5),
        f'{_SPEC}.properties[a].default: Invalid value: "integer":  in body must be of type string: "integer"',
    ),
    "default outside the enum": (
        string("x", default="y"),
        f'{_SPEC}.properties[a].default: Unsupported value: "y": supported values: "x"',
    ),
    "default with an unknown field": (
        {**obj(b=string()), "default": {"c": 1}},
        (
            f'{_SPEC}.properties[a].default: Invalid value: map[string]interface {{}}{{"c":1}}: '
            "must not have unknown fields"
        ),
    ),
    "type in a branch": (
        string(anyOf=[{"type": "string"}]),
        f"{_SPEC}.properties[a].anyOf[0].type: Forbidden: {_STRUCTURAL}",
    ),
    "default in a branch": (
        string(allOf=[{"default": "x"}]),
        f"{_SPEC}.properties[a].allOf[0].default: Forbidden: must be undefined to be structural",
    ),
    "nullable in a branch": (
        string(oneOf=[{"nullable": True}]),
        f"{_SPEC}.properties[a].oneOf[0].nullable: Forbidden: must be false to be structural",
    ),
    "description below not": (
        {"type": "object", "properties": {"b": string()}, "not": {"properties": {"b": {"description": "x"}}}},
        f"{_SPEC}.properties[a].not.properties[b].description: Forbidden: {_STRUCTURAL}",
    ),
    "additionalProperties in a branch of a branch": (
        {**obj(b=string()), "anyOf": [{"not": {"additionalProperties": {}}}]},
        f"{_SPEC}.properties[a].anyOf[0].not.additionalProperties: Forbidden: must be undefined to be structural",
    ),
}


@pytest.mark.parametrize(
    "node",
    [
        string(oneOf=[{"nullable": False, "description": "", "title": "", "default": None}]),
        {**obj(b=string()), "anyOf": [{"additionalProperties": False}]},
        {**_EMBEDDED, "default": {**_RESOURCE, "metadata": {"foo": "x"}}},
    ],
)
def test_what_looks_wrong_and_is_not(node: Json) -> None:
    assert _refused(crd(root(spec=obj(a=node)))) == ""


def test_false_in_a_branch_on_an_older_server() -> None:
    definition = crd(root(spec=obj(a={**obj(b=string()), "anyOf": [{"additionalProperties": False}]})))
    said = f"{_SPEC}.properties[a].anyOf[0].additionalProperties: Forbidden: must be undefined to be structural"
    assert (_refused(definition, Server(30)), _refused(definition, Server(31))) == (said, "")


@pytest.mark.parametrize("case", _NODES)
def test_rules_of_a_schema(case: str) -> None:
    node, said = _NODES[case]
    assert _refused(crd(root(spec=obj(a=node)))) == said


_HANDLED = 'CustomResourceDefinition in version "v1" cannot be handled as a CustomResourceDefinition: '
_FIELD = "into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.properties."
#: What stands at spec.a and does not decode -> what the server says of it; the path is Go's, without keys and indices.
_MISFITS: dict[str, tuple[Any, str]] = {
    "text for a number": ({"type": "integer", "maximum": "ten"}, f"string {_FIELD}maximum of type float64"),
    "a fraction for a length": (string(maxLength=1.5), f"number 1.5 {_FIELD}maxLength of type int64"),
    "a number for a pattern": (string(pattern=5), f"number {_FIELD}pattern of type string"),
    "text for a bool": (string(nullable="yes"), f"string {_FIELD}nullable of type bool"),
    "a list of types": ({"type": ["string"]}, f"array {_FIELD}type of type string"),
    "text for a list": ({**obj(), "required": "b"}, f"string {_FIELD}required of type []string"),
    "a bool in a list": ({**obj(), "required": ["b", True]}, f"bool {_FIELD}required of type string"),
    "an enum of one": (string(enum="x"), f"string {_FIELD}enum of type []v1.JSON"),
    "text for a schema": (obj(b="string"), f"string {_FIELD}properties of type v1.JSONSchemaProps"),
    "a schema for branches": (string(anyOf={}), f"object {_FIELD}anyOf of type []v1.JSONSchemaProps"),
    "within items, where the path ends": (array(string(minLength="1")), f"string {_FIELD}items of type int64"),
    "within a branch": (string(allOf=[{"minLength": []}]), f"array {_FIELD}allOf.minLength of type int64"),
}


@pytest.mark.parametrize("case", _MISFITS)
def test_what_does_not_decode_is_the_whole_answer(case: str) -> None:
    node, said = _MISFITS[case]
    found = read_crd(crd(root(spec=obj(a=node, b={}))))
    assert refusal(found, SERVER) == f"{_HANDLED}json: cannot unmarshal {said}"


def test_neither_a_bool_nor_a_schema() -> None:
    found = read_crd(crd(root(spec=obj(a={"type": "object", "additionalProperties": "yes"}))))
    assert refusal(found, SERVER) == f"{_HANDLED}boolean or JSON schema expected"


def test_the_first_refusal_in_order_is_reported() -> None:
    """Maps are sent with their keys in order."""
    found = read_crd(crd(root(spec=obj(b=string(maxLength="1"), a={"type": "number", "minimum": {}}))))
    assert refusal(found, SERVER).endswith("minimum of type float64")


_GOOD_NODES: tuple[Json, ...] = (
    {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
    {"x-kubernetes-int-or-string": True, "allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}]},
    {"x-kubernetes-preserve-unknown-fields": True},
    {"type": "object", "additionalProperties": True},
    {"type": "object", "properties": {"b": string()}, "anyOf": [{"required": ["b"]}, {"not": {"required": ["b"]}}]},
    string(default="x", enum=["x"]),
    {**obj(b=string(default="y")), "default": {}},
    {"type": "string", "nullable": True, "default": None},
    string(maxLength=10.0, minLength=None, enum=None, required=None),
    string(pattern=r"^[\p{L}\p{S}]{0,1000}$"),  # its program is large
)


@pytest.mark.parametrize("node", _GOOD_NODES, ids=json.dumps)
def test_what_is_allowed(node: Json) -> None:
    assert _refused(crd(root(spec=obj(a=node)))) == ""


_ROOT = "fields are allowed at the root of the schema if the status subresource is enabled"


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf", "not", "enum", "nullable"])
def test_keywords_at_the_root(keyword: str) -> None:
    """Forbidden beside a status subresource alone."""
    value: Any = {"not": {"required": ["x"]}, "enum": [{}], "nullable": True}.get(keyword, [{"required": ["spec"]}])
    schema = {**root(spec=obj()), keyword: value}
    said = _refused(crd(schema))
    assert f"{_SCHEMA}: Invalid value: apiextensions.JSONSchemaProps{{…}}: only [Description Type " in said
    assert _ROOT in said
    assert _ROOT not in _refused(crd(versions=[version(schema, subresources={})]))


def test_the_root_is_an_object_of_known_fields() -> None:
    assert f'{_SCHEMA}.type: Invalid value: "string": must be object at the root' in _refused(crd({"type": "string"}))
    assert _refused(crd({"properties": {}})) == f"{_SCHEMA}.type: Required value: must not be empty at the root"
    said = _refused(crd({"type": "object", "additionalProperties": string()}))
    assert said.endswith(f", {_SCHEMA}.additionalProperties: Forbidden: must not be used at the root]")


def test_a_schema_is_required() -> None:
    said = _refused(crd(versions=[version(None)]))
    assert said == "spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required"


def test_versions() -> None:
    schema = root(spec=obj())
    head = "spec.versions: Invalid value: []apiextensions.CustomResourceDefinitionVersion{apiextensions."
    exactly = "}}: must have exactly one version marked as storage version"
    none = _refused(crd(versions=[version(schema, storage=False)]))
    assert none.startswith(f"[{head}")
    assert f"{exactly}, status.storedVersions: Invalid value: []string(nil): must have at least one stored" in none
    two = _refused(crd(versions=[version(schema), version(schema, "v2")]))
    assert two.startswith(f"[{head}")
    assert exactly in two
    twice = _refused(crd(versions=[version(schema), version(schema, storage=False)]))
    assert twice.startswith(head)
    assert twice.endswith("}}: must contain unique version names")


def test_names_and_scope() -> None:
    named = crd(root())
    named["metadata"]["name"] = "gadgets.example.com"
    said = 'metadata.name: Invalid value: "gadgets.example.com": must be spec.names.plural+"."+spec.group'
    assert _refused(named) == said
    assert _refused(crd(root(), scope="")) == "spec.scope: Required value"
    assert _refused(crd(root(), scope="Global")) == (
        'spec.scope: Unsupported value: "Global": supported values: "Cluster", "Namespaced"'
    )


def test_several_at_once() -> None:
    """One aggregate in brackets; of many errors the first twenty."""
    said = _refused(crd(root(spec=obj(a={}, b={"type": "array"}))))
    assert said.startswith("[")
    assert f"{_SPEC}.properties[a].type: Required value" in said
    assert f"{_SPEC}.properties[b].items: Required value" in said
    many = _refused(crd(root(spec=obj(**{f"f{number}": {} for number in range(100)}))))
    assert many.count("Required value") == 20


def test_v1beta1_need_not_be_structural() -> None:
    old = crd(root(spec=obj(a={})))
    old["apiVersion"] = "apiextensions.k8s.io/v1beta1"
    assert _refused(old) == ""


# -- all that is wrong with a CRD, and where ------------------------------------------------------------------


_AT = ("spec", "versions", 0, "schema", "openAPIV3Schema", "properties", "spec", "properties")
#: The path where the versions have different schemas.
_OF_VERSION = "spec.versions[{}].schema.openAPIV3Schema.properties[spec]"
_TYPELESS = "Required value: must not be empty for specified object fields"


def test_rules_of_a_schema_that_is_not_structural_are_not_compiled() -> None:
    rule = {"x-kubernetes-validations": [{"rule": "self.nothing == 'x'"}]}
    typeless, typed = (crd(root(spec=obj(a={**obj(b=member), **rule}))) for member in ({}, string()))
    assert [each.at for each in refusals(read_crd(typeless), SERVER)] == [(*_AT, "a", "properties", "b", "type")]
    rules = (*_AT, "a", "x-kubernetes-validations", 0, "rule")
    assert [each.at for each in refusals(read_crd(typed), SERVER)] == [rules]
    assert _refused(typed) == "", "rules are compiled only where all faults are asked for"


def test_every_version_and_place() -> None:
    two = read_crd(crd(versions=[version(root(spec=obj(a={}))), version(root(spec=obj(b={})), "v2", storage=False)]))
    assert [(each.at, each.text) for each in refusals(two, SERVER)] == [
        ((*_AT, "a", "type"), f"{_OF_VERSION.format(0)}.properties[a].type: {_TYPELESS}"),
        ((*_AT[:2], 1, *_AT[3:], "b", "type"), f"{_OF_VERSION.format(1)}.properties[b].type: {_TYPELESS}"),
    ]
    undecoded = read_crd(crd(root(spec=obj(a={}, b=string(maxLength="1"), c=string(minLength="1")))))
    assert [each.at for each in refusals(undecoded, SERVER)] == [(*_AT, "b", "maxLength"), (*_AT, "c", "minLength")]


@pytest.mark.parametrize("case", [*_NODES, *_MISFITS])
@pytest.mark.parametrize("depth", ["property", "item", "value"])
def test_beside_a_good_crd_only_what_differs_is_looked_at(case: str, depth: str) -> None:
    """Nothing is lost by it: whatever the good CRD has in the place, what is bad is found."""
    bad = {**_NODES, **_MISFITS}[case][0]
    held = {"property": obj, "item": lambda a: array(obj(a=a)), "value": lambda a: {**obj(), "additionalProperties": a}}
    if depth == "value" and case.startswith("default"):
        pytest.skip("the server does not look at defaults below additionalProperties")
    goods = [string(), obj(b=string()), array(string()), {"type": "object", "additionalProperties": string()}]
    found = read_crd(crd(root(spec=obj(at=held[depth](a=bad), more=string()))))
    alone = refusals(found, SERVER)
    assert alone
    for good in goods:
        other = read_crd(crd(root(spec=obj(at=held[depth](a=good), more=string()))))
        assert refusals(other, SERVER) == []
        assert refusals(found, SERVER, other) == alone


def test_a_crd_like_a_good_one_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    monkeypatch.setattr(
        crdcompat.apiserver.crd_validation.plain, "syntax_error", lambda text: looked.append(text) or ""
    )
    one, same = (read_crd(crd(root(spec=obj(a=string(pattern="a"))))) for _ in "ab")
    assert refusals(one, SERVER) == []
    assert refusals(same, SERVER, one) == []
    assert looked == ["a"]


# -- replacing one CRD by another -----------------------------------------------------------------------------


def _replaced(current: Json, target: Json, stored: list[str], server: Server = SERVER) -> str:
    said = update_refusal(read_crd(current), read_crd(target), stored, server)
    return said.partition(" is invalid: ")[2]


def test_a_new_crd_keeps_no_unknown_fields() -> None:
    keeping, defaulting = crd(root()), crd(root(spec=obj(a=string(default="x"))))
    for definition in (keeping, defaulting):
        definition["spec"]["preserveUnknownFields"] = True
    cannot = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
    assert _refused(keeping) == f"spec.preserveUnknownFields: Invalid value: true: {cannot}"
    assert [
        each.text.removeprefix("spec.preserveUnknownFields: Invalid value: true: ")
        for each in refusals(read_crd(defaulting), SERVER)
    ] == ["must be false in order to use defaults in the schema", cannot]


def test_on_an_assumed_server_only_what_the_newest_refuses_counts() -> None:
    """A function of Kubernetes 1.31: an older server refuses the rule, and nothing says that there is one."""
    rules = {"x-kubernetes-validations": [{"rule": "format.dns1123Label().validate(self).hasValue()"}]}
    rule, type_ = read_crd(crd(root(spec=obj(a=string(maxLength=9, **rules))))), read_crd(crd(root(spec=obj(a={}))))
    old = Server(28)
    assert [len(refusals(rule, old, assumed=assumed)) for assumed in (False, True)] == [1, 0]
    assert [len(refusals(type_, old, assumed=assumed)) for assumed in (False, True)] == [1, 1]


def test_what_cannot_change() -> None:
    base = crd(root(spec=obj()))
    assert _replaced(base, base, ["v1"]) == ""
    scope = _replaced(base, crd(root(), scope="Cluster"), ["v1"])
    assert scope == 'spec.scope: Invalid value: "Cluster": field is immutable'
    other = crd(root())
    other["spec"]["names"]["kind"] = "Other"
    assert _replaced(base, other, ["v1"]) == 'spec.names.kind: Invalid value: "Other": field is immutable'
    keeping = crd(root())
    keeping["spec"]["preserveUnknownFields"] = True
    assert _replaced(base, keeping, ["v1"]) == (
        "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set "
        "x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
    )
    # From true to false is the way it goes.
    assert _replaced(keeping, base, ["v1"]) == ""
    assert _replaced(keeping, keeping, ["v1"]) == ""


@pytest.mark.parametrize("minor", [26, 32])
def test_a_stored_version_stays_up_to_1_32(minor: int) -> None:
    two = crd(versions=[version(root(), storage=False), version(root(), "v2")])
    said = _replaced(two, crd(root()), ["v1", "v2"], Server(minor))
    assert said == 'status.storedVersions[1]: Invalid value: "v2": must appear in spec.versions'
    assert _replaced(two, crd(root()), ["v1"], Server(minor)) == ""


def test_a_stored_version_stays_since_1_33() -> None:
    two = crd(versions=[version(root(), storage=False), version(root(), "v2")])
    assert _replaced(two, crd(root()), ["v1", "v2"], Server(33)) == (
        'status.storedVersions[1]: Invalid value: "v2": missing from spec.versions; v2 was previously a storage '
        "version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v2 "
        "and removes v2 from status.storedVersions"
    )


def test_an_older_stricter_schema_is_never_refused() -> None:
    """The server does not look at stored objects (docs/semantics.md#changed-crds)."""
    loose, strict = crd(root(spec=obj(a=string()))), crd(root(spec={**obj(a=string("x")), "required": ["a"]}))
    assert _replaced(loose, strict, ["v1"]) == ""


# -- real CRDs ---------------------------------------------------------------------------------------------------


def test_a_fault_of_a_rule_stands_where_its_version_has_it() -> None:
    """Equal schemas are one schema of the CRD; versions that differ elsewhere have each its own."""
    ruled = {**obj(x=string()), "x-kubernetes-validations": [{"rule": "self.nothing == 1"}]}
    places = []
    for length in (5, 9):
        schemas = [root(spec=obj(a=ruled, b={"type": "string", "maxLength": size})) for size in (5, length)]
        pair = [version(schemas[0]), version(schemas[1], "v2", storage=False)]
        fault, *_ = refusals(read_crd(crd(versions=pair)), SERVER)
        places.append(fault.text.partition(".x-kubernetes-validations")[0])
    below = "properties[spec].properties[a]"
    assert places == [f"{_SCHEMA}.{below}", f"spec.versions[0].schema.openAPIV3Schema.{below}"]
