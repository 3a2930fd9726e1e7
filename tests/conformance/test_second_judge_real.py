"""The second judge on recorded objects and verdicts."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path

import pytest
from helpers import Json, manifest
from second_judge import SERVER, Judges

from crdcompat.apiserver.strategy import Resource
from crdcompat.features.judge.write_verdict import resource_of


@pytest.fixture(scope="module")
def lines(shared: Path) -> list[Json]:
    path = shared / "data/conformance/verdicts.ndjson.gz"
    if not path.is_file():
        pytest.skip(f"no {path.name} in ../shared")
    with gzip.open(path) as text:
        return [json.loads(line) for line in text]


@cache
def _resource(clone: Path, release: str, file: str, version: str) -> Resource:
    return resource_of(manifest(clone, release, file), version, SERVER)


@cache
def _judges(clone: Path, release: str, file: str, version: str) -> Judges:
    schema = _resource(clone, release, file, version).version.schema
    assert schema is not None
    return Judges(dict(schema))


def test_recorded_objects(lines: list[Json], openshift_api: Path) -> None:
    """Each request and each result, decoded and judged by both."""
    wrong, judged, bad = [], 0, 0
    for line in lines:
        key = (openshift_api, line["release"], line["crd_file"], line["version"])
        resource, judges = _resource(*key), _judges(*key)
        for part in ("new", "old", "result"):
            if isinstance(line.get(part), dict):
                obj = resource.read(line[part]).object
                judged += 1
                bad += bool(judges.errors(obj))
                if said := judges.disagree(obj):
                    wrong.append((line["id"], part, said))
    assert judged > 5000
    assert bad > 1000
    assert not wrong, f"{len(wrong)} of {judged}; the first: {wrong[0]}"


#: Errors of a library that plain JSON Schema finds too.
_PLAIN_TYPES = {"FieldValueRequired", "FieldValueNotSupported", "FieldValueTooLong", "FieldValueTooMany"}


def test_recorded_verdicts(lines: list[Json], openshift_api: Path) -> None:
    """The second judge against the recordings: what was accepted holds, what the schema rejected does not."""
    wrong, good, bad = [], 0, 0
    for line in lines:
        if line["op"] not in ("create", "validate"):
            continue
        key = (openshift_api, line["release"], line["crd_file"], line["version"])
        resource, judges = _resource(*key), _judges(*key)
        obj = dict(resource.read(line["new"]).object)
        if line["op"] == "create" and resource.version.has_status:
            obj.pop("status", None)
        valid = judges.plain.is_valid(obj)
        if not line["errors"]:
            good += 1
            if not valid:
                wrong.append((line["id"], "accepted", next(judges.plain.iter_errors(obj)).message[:300]))
        elif any(error["type"] in _PLAIN_TYPES and _of_the_schema(error, resource) for error in line["errors"]):
            bad += 1
            if valid:
                wrong.append((line["id"], "rejected", line["errors"]))
    assert good > 500
    assert bad > 400
    assert not wrong, f"{len(wrong)}; the first: {wrong[0]}"


def _of_the_schema(error: Json, resource: Resource) -> bool:
    """Not one of an embedded resource's own rules: those require apiVersion and kind whatever the schema says."""
    return error["field"].rpartition(".")[2] not in ("apiVersion", "kind")
