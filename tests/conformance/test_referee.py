"""crdcompat against the real thing: API servers of several Kubernetes minors, run here (``make referee`` builds them).

What the program claims, a server shows: each finding's witness is written under the writer's CRD and meets the
reader's; random writes and CRDs get the answer that ``judge`` gives. A difference is printed as the smallest request
that shows it; those that are known are in known.toml.
"""

from __future__ import annotations

import copy
import json
import os
import random
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import referee
import referee_build
import yaml
from differences import (
    Bench,
    compared,
    in_group,
    installation,
    known_differences,
    new_group,
    sort_of,
    two_sides,
    unexplained,
)
from helpers import Json, at, example_crd, places, write
from msgspec.structs import replace
from random_crds import random_change, random_schema, random_value, shrink, without_nulls

import crdcompat
from crdcompat.apiserver.crd_validation.refusal import update_refusal
from crdcompat.apiserver.versions import kubernetes_server
from crdcompat.crds.model import read_crd
from crdcompat.findings.rules import catalogue
from crdcompat.models.finding import Finding

#: Looked up before the tests get a cache of their own.
_BUILT = referee_build.built(referee_build.cache_home())
_DEMO = Path(__file__).resolve().parents[2] / "fixtures" / "demo"
#: Random schemas for each minor, and writes to each of them.
_SCHEMAS, _WRITES = int(os.environ.get("CRDCOMPAT_REFEREE_SCHEMAS", "100")), 8
#: A test stops to look for more after so many differences.
_MOST = 10


def _minors() -> list[Any]:
    if _BUILT:
        return [*_BUILT]
    reason = "no API server is built: `make referee` builds them"
    if shutil.which("go") is None:
        reason += ", with a `go` command, which is not there either"
    return [pytest.param("", marks=pytest.mark.skip(reason=reason), id="none")]


@pytest.fixture(scope="module", params=_minors())
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """A running API server of one minor."""
    with referee.running(_BUILT[request.param]) as server:
        yield Bench(server, request.param)


# -- witnesses ---------------------------------------------


def _pairs() -> Iterator[tuple[str, Json, Json]]:
    """(name, CRD of OLD, CRD of NEW): the built-in story and the examples of all rules."""
    crds = (yaml.safe_load(file.read_text()) for file in sorted(_DEMO.glob("release-*/*.yaml")))
    yield ("demo", *crds)
    for rule in catalogue().values():
        for example in rule.examples:
            name = f"{rule.id}: {example.title} ({example.direction})"
            yield name, example_crd(example, "old"), example_crd(example, "new")


def _findings(tmp_path: Path, minor: str, old: Json, new: Json) -> list[tuple[Finding, Json, Json]]:
    """(finding, writer's CRD, reader's CRD), where servers of this minor run beside both releases."""
    group = new_group()
    crds = [in_group(old, group), in_group(new, group)]
    files = [write(tmp_path / group / f"{side}.json", crd) for side, crd in zip(("old", "new"), crds, strict=True)]
    before, after = (replace(crdcompat.load(f"path:{file}"), runs=minor) for file in files)
    return [
        (finding, crds[finding.direction == "rollback"], crds[finding.direction != "rollback"])
        for finding in crdcompat.diff(before, after).findings
    ]


def test_witnesses(bench: Bench, tmp_path: Path) -> None:
    """What a finding claims of its witness: the writer's CRD takes it, the reader's does what the finding says."""
    wrong, shown = [], 0
    for name, old, new in _pairs():
        for finding, writer, reader in _findings(tmp_path, bench.minor, old, new):
            if finding.witness.object is None:
                continue
            shown += 1
            if lines := unexplained(bench.minor, _claimed(bench, finding, writer, reader)):
                wrong.append((name, finding.direction, finding.path, finding.witness.object, lines))
    assert shown > 80
    assert not wrong, _listed(wrong, shown)


def _claimed(bench: Bench, finding: Finding, writer: Json, reader: Json) -> list[str]:
    """What the servers do not show of a finding's claim. They validate the whole object, its status included."""
    writer, reader = (in_group(_without_status(crd), new_group()) for crd in (writer, reader))
    for crd in (writer, reader):
        if lines := installation(crd, answer := bench.server.install(crd), bench.minor):
            return lines
        if not answer.accepted:
            return []
    name = finding.version
    first = bench.server.write("create", writer, _named(finding.witness.object, writer, name), version=name)
    if not first.accepted:
        return [f"the writer refuses it: {first.message}"]
    held = bench.server.stored(writer, "witness")
    assert held is not None
    met = bench.server.write("create", reader, _named(held, reader, name), version=name)
    group = finding.crd.partition(".")[2]
    said = {f"{field}: {message}".replace(reader["spec"]["group"], group) for _, field, message in met.causes}
    claimed = set(finding.witness.errors)
    lines = [f"claimed: {line}" for line in sorted(claimed - said)] + [
        f"said: {line}" for line in sorted(said - claimed)
    ]
    if met.accepted != (finding.effect != "write-rejected"):
        lines.append(f"{finding.effect}: {met.code} {met.message}")
    if met.accepted:
        lines += [f"is not pruned: {path}" for path in finding.witness.pruned if _has(met.body, path)]
        lines += [f"is not defaulted: {path}" for path in finding.witness.defaulted if not _has(met.body, path)]
    return lines


def _has(obj: Json, path: str) -> bool:
    steps = [int(step) if step.isdigit() else step for step in path.replace("[", ".").replace("]", "").split(".")]
    try:
        at(obj, steps)
    except (LookupError, TypeError):
        return any(True for _ in places(obj, path))
    return True


def _without_status(crd: Json) -> Json:
    """The CRD without status subresources: then a create request keeps the status and validates it."""
    made = copy.deepcopy(crd)
    for version in made["spec"]["versions"]:
        version.get("subresources", {}).pop("status", None)
    return made


def _named(obj: Any, crd: Json, version: str) -> Json:
    """The object as a create request of that CRD sends it."""
    meta = {key: value for key, value in obj.get("metadata", {}).items() if key in ("labels", "annotations")}
    named: Json = {**obj, "apiVersion": f"{crd['spec']['group']}/{version}", "kind": crd["spec"]["names"]["kind"]}
    return {**named, "metadata": {**meta, "name": "witness", "namespace": referee.NAMESPACE}}


def test_rollbacks(bench: Bench, tmp_path: Path) -> None:
    """The witness is stored under the writer's CRD, the CRD goes back below it, and each kind of write is judged."""
    wrong, asked = [], 0
    for name, old, new in _pairs():
        for finding, writer, reader in _findings(tmp_path, bench.minor, old, new):
            if finding.witness.object is None and finding.effect != "crd-rejected":
                continue
            group = new_group()
            for operation, lines in _rolled_back(bench, finding, in_group(writer, group), in_group(reader, group)):
                asked += 1
                if lines := unexplained(bench.minor, lines):
                    wrong.append((name, finding.direction, finding.path, operation, lines))
    assert asked > 300
    assert not wrong, _listed(wrong, asked)


def _rolled_back(bench: Bench, finding: Finding, writer: Json, reader: Json) -> Iterator[tuple[str, list[str]]]:
    """(write, what the answers do not have in common), for the writes after the CRD was swapped."""
    server = bench.server
    if not server.install(writer).accepted:
        return
    witness = finding.witness.object
    if witness is not None:
        obj = _named(witness, writer, finding.version)
        server.write("create", writer, obj, version=finding.version)
        if "status" in witness:
            server.write("updateStatus", writer, obj, version=finding.version)
    swapped = server.swap(reader)
    versions = [version["name"] for version in writer["spec"]["versions"] if version["storage"]]
    told = update_refusal(read_crd(writer), read_crd(reader), versions, kubernetes_server(bench.minor))
    yield "swap", two_sides(filter(None, [told]), filter(None, [swapped.message]))
    entry = next((each for each in reader["spec"]["versions"] if each["name"] == finding.version), None)
    if witness is None or not swapped.accepted or entry is None or not entry["served"]:
        return
    label = {"metadata": {"labels": {"a": "b"}}}
    touched = (
        copy.deepcopy(label) | {"status": {**witness.get("status", {}), "zzz": 1}} if "status" in witness else label
    )
    for operation, patch in (
        ("updateStatus", {}),
        ("mergePatchStatus", touched),
        ("mergePatch", label),
        ("update", {}),
        ("create", {}),
    ):
        if "Status" in operation and "status" not in (entry.get("subresources") or {}):
            continue
        stored = server.stored(reader, "witness")
        if stored is None:
            return
        if operation == "create":
            stored, new = None, _named(witness, reader, finding.version)
            server.discard(reader, "witness")
        else:
            new = {**stored, "apiVersion": f"{reader['spec']['group']}/{finding.version}"}
            if "Patch" in operation:
                new = patch
        answer = server.write(operation, reader, new, name="witness", version=finding.version)
        verdict = crdcompat.judge(reader, operation, new, stored, version=finding.version, kubernetes=bench.minor)
        held = server.stored(reader, "witness") if answer.accepted else None
        yield operation, compared(operation, verdict, answer, held)


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


def test_random_writes(bench: Bench) -> None:
    found: list[tuple[Json, list[str]]] = []
    for seed in range(_SCHEMAS):
        for request in _random_requests(seed):
            if unexplained(bench.minor, bench.differences(request)):
                small = shrink(request, partial(_shows, bench, sort_of(bench.differences(request))))
                found.append((small, bench.differences(small)))
                break
        if len(found) == _MOST:
            break
    assert bench.unknown < bench.asked / 10
    assert found or bench.asked > _SCHEMAS * _WRITES / 2
    assert not found, _listed([(json.dumps(request), lines) for request, lines in found], bench.asked)


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
    assert not wrong, _listed(wrong, len(_NODES))


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
    assert not wrong, _listed(wrong, len(_SPECS))


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


def _listed(wrong: list[Any], of: int) -> str:
    """The differences, one below the other."""
    lines = [f"{len(wrong)} of {of}:"]
    for entry in wrong[:40]:
        *about, differing = entry
        lines += [" | ".join(map(str, about)), *(f"    {line}" for line in differing)]
    return "\n".join(lines)
