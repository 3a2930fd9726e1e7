"""A server that accepts the doubtful part of a CRD accepts the CRD; faults, costs and ignored parts are the CRD's."""

from __future__ import annotations

import copy
import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers import Json, crd

from crdcompat.apiserver.crd_validation import cost_budget, refusal
from crdcompat.apiserver.crd_validation.plain import doubtful
from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.supported.ignored import ignorable

_SERVERS = (Server(26), Server(30), Server(36))
_CASES = 600

_TEXT = {"type": "string"}
_ITEM = {"type": "object", "required": ["type"], "properties": {"type": _TEXT, "size": {"type": "integer"}}}
_BOUNDED = {"type": "string", "minLength": 1, "maxLength": 63, "pattern": "^[a-z]+$"}
_CONDITIONS = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
    "items": _ITEM,
}
_PLAIN = (
    _TEXT,
    _BOUNDED,
    _CONDITIONS,
    {"type": "string", "enum": ["A", "B"], "default": "A", "description": "One of two."},
    {"type": "string", "format": "date-time", "nullable": True},
    {"type": "integer", "format": "int32", "minimum": 1, "maximum": 9},
    {"type": "integer", "format": "int64", "default": 3},
    {"type": "number", "format": "double", "title": "A share"},
    {"type": "boolean", "default": False},
    {"type": "array", "items": _BOUNDED, "maxItems": 8, "x-kubernetes-list-type": "set"},
    {"type": "array", "items": {"type": "array", "items": _ITEM}, "minItems": 1, "x-kubernetes-list-type": "atomic"},
    {"type": "object", "additionalProperties": _TEXT, "maxProperties": 4},
    {"type": "object", "additionalProperties": True},
    {"type": "object", "properties": {"a": _TEXT, "b": _CONDITIONS}, "x-kubernetes-map-type": "atomic"},
    {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    {"x-kubernetes-preserve-unknown-fields": True, "nullable": True},
    {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}], "pattern": "^[0-9]+%?$"},
)


def _crd(**properties: Any) -> Json:
    return crd({"type": "object", "properties": properties})


def _left(crd: Json) -> Any:
    return doubtful(crd)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]


@pytest.mark.parametrize("schema", _PLAIN)
def test_plain_schemas_are_left_out(schema: Json) -> None:
    made = _crd(spec={"type": "object", "properties": {"a": schema}})
    assert _left(made) == {}
    assert not [server for server in map(Server, range(26, 37)) if refusal.faults(made, server)]


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "text"},
        {"type": "string", "default": 1},
        {"type": "string", "enum": ["A"], "default": "B"},
        {"type": "string", "pattern": "["},
        {"type": "string", "format": "no-such-format"},
        {"type": "string", "maxLength": "9"},
        {"type": "integer", "format": "int32", "default": 2**40},
        {"type": "array"},
        {"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "map"},
        {**_CONDITIONS, "x-kubernetes-list-map-keys": ["kind"]},
        {**_CONDITIONS, "x-kubernetes-list-map-keys": ["size"]},
        {**_CONDITIONS, "x-kubernetes-list-type": "set"},
        {"type": "array", "items": {"type": "string", "nullable": True}, "x-kubernetes-list-type": "set"},
        {"type": "object", "properties": {"a": _TEXT}, "additionalProperties": _TEXT},
        {"type": "object", "x-kubernetes-preserve-unknown-fields": False},
        {"x-kubernetes-int-or-string": True, "x-kubernetes-preserve-unknown-fields": True},
        {"type": "object", "x-kubernetes-embedded-resource": True},
        {"type": "string", "unknownKeyword": 1},
    ],
)
def test_other_schemas_stay(schema: Json) -> None:
    assert [*_left(_crd(a=schema, b=_TEXT))] == ["a"]


def test_members_that_a_rule_may_name_or_count_stay_below_it() -> None:
    size = {"type": "integer"}
    schema = {
        "type": "object",
        "required": ["needed"],
        "properties": {"named": _TEXT, "needed": _TEXT, "a-b": _TEXT, "other": _TEXT, "size": size},
        "x-kubernetes-validations": [{"rule": "self.named != 'x'", "fieldPath": ".size"}],
    }
    left = _left(_crd(a=schema))["a"]
    assert sorted(left["properties"]) == ["a-b", "named", "needed", "size"]


def _places(value: Any) -> Iterator[Any]:
    if isinstance(value, (dict, list)):
        yield value
        for each in value.values() if isinstance(value, dict) else value:
            yield from _places(each)


_ODD = (None, True, False, 0, -1, 3, 2**31, 2**63, 1.5, "", "A", "[", "map", "object", "array", [], ["A"], ["type"], {})
_ODDER: tuple[Any, ...] = (*_ODD, [{"rule": "self.a"}], [{"rule": "true"}], {"a": _TEXT}, _TEXT, [_TEXT], "x" * 70)
_KEYWORDS = (
    *("type", "default", "enum", "format", "pattern", "required", "properties", "items", "additionalProperties"),
    *("nullable", "minLength", "maxItems", "minimum", "maxProperties", "allOf", "anyOf", "not", "description", "title"),
    *("x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type", "x-kubernetes-validations"),
    *("x-kubernetes-embedded-resource", "x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields"),
    *("uniqueItems", "multipleOf", "example", "externalDocs", "$ref", "definitions", "dependencies", "odd"),
    *("selectableFields", "jsonPath"),
)


def _spoilt(crd: Json, rng: random.Random) -> Json:
    """The CRD with one to three odd values in its schemas."""
    made = copy.deepcopy(crd)
    for _ in range(rng.randint(1, 3)):
        places = [*_places(made["spec"]["versions"])]
        place = rng.choice(places)
        key = rng.choice(_KEYWORDS) if isinstance(place, dict) else None
        value = copy.deepcopy(rng.choice(_ODDER))
        if key is not None:
            place[key] = value
        elif place:
            place[rng.randrange(len(place))] = value
    return made


def _differs(crd: Json, server: Server) -> str:
    rest = doubtful(crd)
    found, of_rest = (refusal._faults(each, server) for each in (crd, rest))
    if found and not of_rest:
        return f"only the whole CRD has a fault: {found[0].text}"
    if refusal.faults(crd, server) != found:
        return f"other faults are given than {found}"
    if not found and ignorable(crd).by(server) != ignorable(rest).by(server):
        return "other parts are ignored"
    costs = [[*cost_budget._usages(each, server, 0.0, bounds=True)] for each in (crd, rest)] if not found else [0, 0]
    return "" if costs[0] == costs[1] else f"other costs: {costs}"


def test_a_member_at_the_beginning_of_a_line_of_a_rule_stays() -> None:
    members = {"named": _TEXT, "other": _TEXT}
    rules = [{"rule": "self.\nnamed == 'a'"}]
    schema = {"type": "object", "properties": members, "x-kubernetes-validations": rules}
    made = crd({"type": "object", "properties": {"spec": schema}})
    root = doubtful(made)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert list(root["properties"]["spec"]["properties"]) == ["named"]


@pytest.mark.parametrize("path", [".spec.named", ".spec.other.named"])
def test_members_on_the_paths_of_selectable_fields_stay(path: str) -> None:
    members = {
        "named": _TEXT,
        "other": {"type": "object", "properties": {"named": _TEXT, "size": _TEXT}},
        "size": _TEXT,
    }
    made = _crd(spec={"type": "object", "properties": members}, status=_TEXT)
    made["spec"]["versions"][0]["selectableFields"] = [{"jsonPath": path}]
    below = {"other": {"type": "object", "properties": {"named": _TEXT}}} if "other" in path else {}
    assert _left(made) == {"spec": {"type": "object", "properties": {"named": _TEXT, **below}}}
    assert refusal.faults(made, Server(36)) == []


def test_the_doubtful_part_alone_shows_the_total_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """tidb-operator: CRDs of 300 KB whose rules cost too much before Kubernetes 1.30."""
    rule = {"rule": "self.all(a, self.all(b, a.size() < 2 && b.size() < 2))"}
    lists = {name: {"type": "array", "items": _TEXT, "x-kubernetes-validations": [rule]} for name in "ab"}
    made = _crd(spec={"type": "object", "properties": {**lists, "other": _TEXT}})
    whole = refusal._faults(made, Server(29))
    assert [fault.at[-1] for fault in whole] == [*["rule"] * 4, "openAPIV3Schema"]
    asked: list[Any] = []
    kept = refusal._kept
    monkeypatch.setattr(refusal, "_kept", lambda crd, server: asked.append(crd.value) or kept(crd, server))
    assert refusal.faults(made, Server(29)) == whole
    assert asked == [doubtful(made)]


def test_versions_that_differ_in_plain_schemas_alone_have_faults_of_their_own() -> None:
    node = {"type": "object", "properties": {"a": _TEXT}, "x-kubernetes-validations": [{"rule": "self.b == 1"}]}
    made = _crd(spec=node)
    (version,) = made["spec"]["versions"]
    other = copy.deepcopy({**version, "name": "v2", "storage": False})
    other["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["c"] = _TEXT
    made["spec"]["versions"].append(other)
    assert [fault.at[:3] for fault in refusal.faults(made, Server(30))] == [
        ("spec", "versions", 0),
        ("spec", "versions", 1),
    ]


def test_a_fault_of_a_spoilt_crd_is_one_of_its_doubtful_part() -> None:
    base = _crd(
        spec={"type": "object", "properties": {f"f{number}": schema for number, schema in enumerate(_PLAIN)}},
        status={
            "type": "object",
            "properties": {"a": _ITEM, "b": {"type": "object", "properties": {"f3": _PLAIN[3], "c": _CONDITIONS}}},
            "x-kubernetes-validations": [{"rule": "!has(self.a) || self.a.type != 'A'"}],
        },
    )
    paths = (".spec.f0", ".status.a.type")
    base["spec"]["versions"][0]["selectableFields"] = [{"jsonPath": path} for path in paths]
    rng = random.Random(1)
    wrong, refused = [], 0
    for number in range(_CASES):
        crd = _spoilt(base, rng)
        for server in _SERVERS:
            refused += bool(refusal._faults(crd, server))
            if said := _differs(crd, server):
                wrong.append((number, str(server), said))
    assert wrong == []
    assert _CASES < refused < 3 * _CASES


def test_a_fault_of_a_recorded_crd_is_one_of_its_doubtful_part(shared: Path) -> None:
    file = shared / "data/api-server/crd-install-crds.ndjson.gz"
    if not file.is_file():
        pytest.skip("no CRDs that servers answered in ../shared")
    crds = [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines() if line][::4]
    wrong = [
        (each["id"], str(server), said)
        for each in crds
        for server in _SERVERS
        if (said := _differs(each["crd"], server))
    ]
    assert wrong == []
