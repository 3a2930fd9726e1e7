"""The stories of data/rollbacks.yaml: one violation after a rollback, and which writes each server still takes."""

from __future__ import annotations

from pathlib import Path

import yaml
from helpers import Json, both, crd, obj, root, simulate, string, version, write
from offline import DATA

_DATA: Json = yaml.safe_load(DATA.joinpath("rollbacks.yaml").read_text(encoding="utf-8"))
SERVERS: list[str] = _DATA["servers"]
STORIES: list[Json] = _DATA["stories"]
WRITES = ("status-update", "metadata-update", "finalizer-removal", "spec-update")


def _part(properties: Json) -> Json:
    """A part of the root: its properties, with what stands beside them, and a field that any write may change."""
    beside = {name: value for name, value in properties.items() if isinstance(value, list)}
    named = {name: value for name, value in properties.items() if name not in beside}
    return {**obj(note=string(), **named), **beside}


def definition(side: Json) -> Json:
    parts: Json = {"spec": _part(side.get("spec", {})), "status": _part(side.get("status", {}))}
    if "config" in side:
        parts["config"] = side["config"]
    schema = root(**parts)
    if "required" in side:
        schema["required"] = side["required"]
    if "rules" in side:
        schema["x-kubernetes-validations"] = side["rules"]
    return crd(versions=[version(schema)])


def stored_object(body: Json) -> Json:
    metadata = {"name": "a", "namespace": "default", "finalizers": ["example.com/held"]}
    parts = {part: {"note": "n", **body.get(part, {})} for part in ("spec", "status")}
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata, **parts}


def server_option(name: str) -> tuple[str, str]:
    kind, _, number = name.rpartition("-")
    return ("--openshift-version" if kind else "--kube-version", number)


def replayed(story: Json, server: str, at: Path) -> Json:
    old, new = both(at, definition(story["old"]), definition(story["new"]))
    recorded = write(at / "object.json", stored_object(story["object"]))
    (item,) = simulate(old, new, "--objects", recorded, *server_option(server))["objects"]
    return dict(item)


def writes_of(stored: Json) -> dict[str, tuple[str, Json]]:
    """Each kind of write: the operation, and the object of its request."""
    metadata = stored["metadata"]
    return {
        "status": ("updateStatus", {**stored, "status": {**stored["status"], "note": "m"}}),
        "label": ("update", {**stored, "metadata": {**metadata, "labels": {"a": "b"}}}),
        "finalizer": ("update", {**stored, "metadata": {**metadata, "finalizers": []}}),
        "spec": ("update", {**stored, "spec": {**stored["spec"], "note": "m"}}),
    }
