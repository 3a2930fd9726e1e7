"""crdcompat against the real thing: API servers of several Kubernetes minors, run here (``make referee`` builds them).

What the program claims, a server shows: each finding's witness is written under the writer's CRD and meets the
reader's; random writes and CRDs get the answer that ``judge`` gives. A difference is printed as the smallest request
that shows it; those that are known are in known.toml.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from differences import Bench, in_group, known_differences, listed, new_group, sort_of, unexplained
from helpers import Json, example_crd, write
from msgspec.structs import replace
from random_crds import another_schema, random_change, random_schema, random_value, shrink, without_nulls
from witnesses import Claim, Desk, Side, claims_of, rollbacks

import crdcompat
from crdcompat.findings.rules import catalogue

_DEMO = Path(__file__).resolve().parents[2] / "fixtures" / "demo"
#: Random schemas for each minor, and writes to each of them.
_SCHEMAS, _WRITES = int(os.environ.get("CRDCOMPAT_REFEREE_SCHEMAS", "100")), 8
#: A test stops to look for more after so many differences.
_MOST = 10


# -- witnesses ---------------------------------------------


def _pairs() -> Iterator[tuple[str, Json, Json]]:
    """(name, CRD of OLD, CRD of NEW): the built-in story and the examples of all rules."""
    crds = (yaml.safe_load(file.read_text()) for file in sorted(_DEMO.glob("release-*/*.yaml")))
    yield ("demo", *crds)
    for rule in catalogue().values():
        for example in rule.examples:
            name = f"{rule.id}: {example.title} ({example.direction})"
            yield name, example_crd(example, "old"), example_crd(example, "new")


def _claims(tmp_path: Path, bench: Bench, old: Json, new: Json) -> list[tuple[Claim, Side, Side]]:
    """(claim, writer, reader) of each finding, where servers of this minor run beside both releases."""
    group = new_group()
    for side, crd in (("old", old), ("new", new)):
        write(tmp_path / group / f"{side}.json", in_group(crd, group))
    sides = [
        replace(crdcompat.load(f"path:{tmp_path / group / side}.json"), runs=bench.minor) for side in ("old", "new")
    ]
    return [
        (claim, Side(writer, bench.server, bench.minor), Side(reader, bench.server, bench.minor))
        for claim, writer, reader in claims_of(*sides)
    ]


def test_witnesses(bench: Bench, tmp_path: Path) -> None:
    """What a finding claims of its witness: the writer's CRD takes it, the reader's does what the finding says."""
    wrong, shown, desk = [], 0, Desk()
    for name, old, new in _pairs():
        for claim, writer, reader in _claims(tmp_path, bench, old, new):
            if claim.witness.object is None:
                continue
            shown += 1
            if lines := unexplained(bench.minor, desk.refuted(claim, writer, reader)):
                wrong.append((name, claim.direction, claim.path, claim.witness.object, lines))
    assert shown > 80
    assert not wrong, listed(wrong, shown)


def test_rollbacks(bench: Bench, tmp_path: Path) -> None:
    """The witness is stored under the writer's CRD, the CRD goes back below it, and each kind of write is judged."""
    wrong, asked = [], 0
    for name, old, new in _pairs():
        for _, claim, operation, lines in rollbacks(_claims(tmp_path, bench, old, new)):
            asked += 1
            if lines := unexplained(bench.minor, lines):
                wrong.append((name, claim and (claim.direction, claim.path), operation, lines))
    assert asked > 300
    assert not wrong, listed(wrong, asked)


# -- random requests ---------------------------------------------


def _random_requests(seed: int) -> Iterator[Json]:
    """The requests to one random CRD; the same for the same seed."""
    r = random.Random(seed)
    spec, status = (random_schema(r, 2) for _ in range(2))
    schema = {"type": "object", "properties": {"spec": spec, "status": status}}
    request: Json = {"schema": schema, "status": r.random() < 0.8}
    for op in ("create", "create", "update", "updateStatus", "update", "mergePatch", "update", "apply")[:_WRITES]:
        made: Json = {**request, "op": op}
        wrong = r.choice((0.0, 0.1, 0.3))
        held = {name: random_value(r, node, wrong) for name, node in (("spec", spec), ("status", status))}
        if op == "create":
            yield {**made, "new": held}
        elif request["status"] or op != "updateStatus":
            new = {name: random_change(r, held[name], node) for name, node in (("spec", spec), ("status", status))}
            # What apply makes of nulls is a known difference, in many shapes.
            yield {**made, "old": held, "new": without_nulls(new) if op == "apply" else new}


def _random_rollbacks(seed: int) -> Iterator[Json]:
    """A write to an object that another random CRD let in; the same for the same seed."""
    r = random.Random(f"rollback {seed}")
    spec, status = (random_schema(r, 2) for _ in range(2))
    schema = {"type": "object", "properties": {"spec": spec, "status": status}}
    held = {name: random_value(r, node) for name, node in (("spec", spec), ("status", status))}
    request: Json = {"schema": schema, "then": another_schema(r, schema), "status": r.random() < 0.8, "old": held}
    op = r.choice(("update", "updateStatus", "mergePatch", "mergePatchStatus"))
    if request["status"] or "Status" not in op:
        part, node = ("status", status) if "Status" in op else ("spec", spec)
        yield {**request, "op": op, "new": {part: random_change(r, held[part], node)}}


@pytest.mark.parametrize("requests", [_random_requests, _random_rollbacks])
def test_random_writes(bench: Bench, requests: Callable[[int], Iterator[Json]]) -> None:
    """Writes to objects that any schema let in, and to those that were valid until the CRD was swapped."""
    found: list[tuple[Json, list[str]]] = []
    asked, unknown = bench.asked, bench.unknown
    for seed in range(_SCHEMAS):
        for request in requests(seed):
            if unexplained(bench.minor, lines := bench.differences(request)):
                small = shrink(request, partial(_shows, bench, sort_of(lines)))
                found.append((small, bench.differences(small) or lines))
                break
        if len(found) == _MOST:
            break
    asked, unknown = bench.asked - asked, bench.unknown - unknown
    assert unknown < asked / 10
    assert found or asked > _SCHEMAS / 3
    assert not found, listed([(json.dumps(request), lines) for request, lines in found], asked)


def test_apply_of_two_errors(bench: Bench) -> None:
    """The server names a value of a wrong type only where it comes to it before the undeclared field: at random."""
    request = {"node": {"type": "object", "properties": {"b": {"type": "boolean"}}}, "op": "apply"}
    values = ({"b": [], "zz": 1}, {"b": [], "a": 1}, {"b": [], "zz": 1, "a": 1})
    asked = [{**request, "old": {}, "new": {"spec": {"a": value}}} for value in values * 10]
    assert [bench.differences(one) for one in asked] == [[]] * len(asked)


# -- CRDs ---------------------------------------------

_STR = {"type": "string"}
#: What is at spec.a of a CRD that is to be installed: the first are good, most others are not.
_NODES: tuple[Json, ...] = (
    {"type": "string", "enum": ["A", "B"]},
    {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
    {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
    {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True},
    {"type": "string", "default": "A", "x-kubernetes-validations": [{"rule": "self != 'B'"}]},
    {"type": "object", "properties": {"b": _STR}, "required": ["b"], "nullable": True},
    {"type": "integer", "minimum": 1, "maximum": 0},
    {"type": "string", "format": "no-such-format"},
    {},
    {"type": "text"},
    {"type": "array"},
    {"type": "array", "items": {}},
    {"type": "array", "items": _STR, "uniqueItems": True},
    {"type": "object", "additionalProperties": {}},
    {"type": "object", "additionalProperties": True},
    {"type": "object", "additionalProperties": False},
    {"type": "object", "properties": {"b": _STR}, "additionalProperties": _STR},
    {"type": "string", "pattern": "("},
    {"type": "string", "default": 5},
    {"type": "string", "enum": ["A"], "default": "B"},
    {"type": "object", "properties": {"b": _STR}, "default": {"c": 1}},
    {"type": "string", "nullable": False, "default": None},
    {"type": "string", "anyOf": [{"type": "string"}]},
    {"type": "string", "allOf": [{"default": "A"}]},
    {"type": "string", "oneOf": [{"nullable": True}]},
    {"type": "object", "properties": {"b": _STR}, "not": {"properties": {"b": {"description": "B"}}}},
    {"type": "object", "anyOf": [{"properties": {"b": {"minLength": 1}}}]},
    {"type": "string", "$ref": "#/b"},
    {"type": "string", "x-kubernetes-list-type": "set"},
    {"type": "array", "items": _STR, "x-kubernetes-list-type": "heap"},
    {"type": "array", "items": _STR, "x-kubernetes-list-type": "map"},
    {"type": "array", "items": _STR, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["b"]},
    {"type": "array", "items": {"type": "object", "properties": {"b": _STR}}, "x-kubernetes-list-map-keys": ["b"]},
    {
        "type": "array",
        "items": {"type": "object", "properties": {"b": _STR}},
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["b"],
    },
    {
        "type": "array",
        "items": {"type": "object", "properties": {"b": _STR}, "required": ["b"]},
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["b", "b", "c"],
    },
    {"type": "array", "items": {"type": "object", "properties": {"b": _STR}}, "x-kubernetes-list-type": "set"},
    {"type": "array", "items": {"type": "string", "nullable": True}, "x-kubernetes-list-type": "set"},
    {"type": "object", "x-kubernetes-map-type": "set"},
    {"type": "string", "x-kubernetes-map-type": "atomic"},
    {"type": "string", "x-kubernetes-int-or-string": True},
    {"type": "string", "x-kubernetes-preserve-unknown-fields": True},
    {"type": "object", "x-kubernetes-preserve-unknown-fields": False},
    {"type": "object", "x-kubernetes-embedded-resource": True},
    {"type": "string", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True},
    {"type": "string", "x-kubernetes-validations": [{"rule": ""}]},
    {"type": "string", "x-kubernetes-validations": [{"rule": "self +"}]},
    {"type": "string", "x-kubernetes-validations": [{"rule": "self"}]},
    {"type": "string", "x-kubernetes-validations": [{"rule": "self.b == 1"}]},
    {"type": "string", "x-kubernetes-validations": [{"rule": "true", "message": " "}]},
    {"type": "string", "x-kubernetes-validations": [{"rule": "true", "message": "a\nb"}]},
    {"type": "string", "x-kubernetes-validations": [{"rule": "true", "reason": "Because"}]},
    {"type": "string", "x-kubernetes-validations": [{"rule": "true", "messageExpression": "1"}]},
    {"type": "string", "x-kubernetes-validations": [{"rule": "true", "fieldPath": ".b"}]},
    {"type": "string", "x-kubernetes-validations": [{"rule": "true", "optionalOldSelf": True}]},
    {"type": "string", "x-kubernetes-validations": [{"rule": "oldSelf.hasValue()", "optionalOldSelf": True}]},
    {"type": "array", "items": {"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}},
    {"type": "array", "items": {"type": "string", "x-kubernetes-validations": [{"rule": "self.matches('^(a|b)+$')"}]}},
    {"type": "integer", "maximum": "ten"},
    {"type": "string", "maxLength": 1.5},
    {"type": "string", "nullable": "yes"},
    {"type": ["string"]},
    {"type": "object", "required": "b"},
    {"type": "string", "enum": "A"},
    {"type": "string", "enum": []},
    {"type": "string", "enum": ["A", "A"]},
    {"type": "object", "required": ["b", "b"]},
    {"type": "string", "maxLength": -1},
    {"type": "number", "multipleOf": 0},
    {"type": "null"},
    {"type": "string", "unknownKeyword": 1},
)


def test_installations(bench: Bench) -> None:
    """The server takes the CRDs that the program takes, and says the same of those it refuses."""
    wrong = []
    for node in _NODES:
        if lines := unexplained(bench.minor, bench.differences({"node": node})):
            wrong.append((json.dumps(node), lines))
    assert not wrong, listed(wrong, len(_NODES))


#: A part of a CRD's spec, and what is put there: another CRD, of which the server says something or nothing.
_SPECS: tuple[tuple[tuple[str | int, ...], Any], ...] = (
    (("scope",), "Cluster"),
    (("scope",), "Galaxy"),
    (("scope",), ""),
    (("names", "kind"), "widget"),
    (("names", "plural"), "gadgets"),
    (("names", "listKind"), "Widget"),
    (("group",), "example"),
    (("versions",), []),
    (("versions", 0, "name"), "V1"),
    (("versions", 0, "storage"), False),
    (("versions", 0, "served"), False),
    (("versions", 0, "schema"), None),
    (("versions", 0, "schema", "openAPIV3Schema"), {"type": "string"}),
    (("versions", 0, "schema", "openAPIV3Schema"), {"type": "object", "additionalProperties": {"type": "string"}}),
    (("versions", 0, "schema", "openAPIV3Schema"), {"type": "object", "anyOf": [{"required": ["spec"]}]}),
    (("versions", 0, "schema", "openAPIV3Schema"), {"type": "object", "nullable": True}),
    (("versions", 0, "subresources", "scale"), {"specReplicasPath": "a", "statusReplicasPath": ".status.b"}),
    (("versions", 0, "selectableFields"), [{"jsonPath": ".spec.b"}]),
    (("versions", 0, "additionalPrinterColumns"), [{"name": "A", "type": "text", "jsonPath": ".a"}]),
    (("preserveUnknownFields",), True),
    (("conversion",), {"strategy": "Webhook"}),
)


def test_installations_of_other_parts(bench: Bench) -> None:
    wrong = []
    for place, value in _SPECS:
        request = {"schema": {"type": "object"}, "put": [[place, value]]}
        if lines := unexplained(bench.minor, bench.differences(request)):
            wrong.append((place, value, lines))
    assert not wrong, listed(wrong, len(_SPECS))


# -- known differences ---------------------------------------------


def test_known_differences_are_still_there(bench: Bench) -> None:
    """Whoever mends one takes it off the list."""
    for known in known_differences():
        for request in known.requests if known.concerns(bench.minor) else ():
            lines = bench.differences(request)
            assert lines, f"the answers no longer differ: {known.reason}: {request}"
            assert not known.unexplained(lines, lines), f"{known.reason}: {request}: {lines}"


def _shows(bench: Bench, sort: set[str], request: Json) -> bool:
    lines = bench.differences(request)
    return sort_of(lines) == sort and bool(unexplained(bench.minor, lines))
