"""data/rollbacks.yaml: what a rolled-back cluster still takes, server by server, and what repairs it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers import Json, both, crd, obj, root, simulate, string, version, write
from offline import DATA

from crdcompat import judge

_DATA: Json = yaml.safe_load(DATA.joinpath("rollbacks.yaml").read_text(encoding="utf-8"))
SERVERS: list[str] = _DATA["servers"]
STORIES: list[Json] = _DATA["stories"]
WRITES = ("status-update", "metadata-update", "finalizer-removal", "spec-update")


def _part(properties: Json) -> Json:
    """A part of the root: its properties, with what stands beside them, and a field that any write may change."""
    beside = {name: value for name, value in properties.items() if isinstance(value, list)}
    named = {name: value for name, value in properties.items() if name not in beside}
    return {**obj(note=string(), **named), **beside}


def _definition(side: Json) -> Json:
    parts: Json = {"spec": _part(side.get("spec", {})), "status": _part(side.get("status", {}))}
    if "config" in side:
        parts["config"] = side["config"]
    schema = root(**parts)
    if "required" in side:
        schema["required"] = side["required"]
    if "rules" in side:
        schema["x-kubernetes-validations"] = side["rules"]
    return crd(versions=[version(schema)])


def _object(body: Json) -> Json:
    metadata = {"name": "a", "namespace": "default", "finalizers": ["example.com/held"]}
    parts = {part: {"note": "n", **body.get(part, {})} for part in ("spec", "status")}
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata, **parts}


def _server(name: str) -> tuple[str, str]:
    kind, _, number = name.rpartition("-")
    return ("--openshift-version" if kind else "--kube-version", number)


def _replayed(story: Json, server: str, at: Path) -> Json:
    old, new = both(at, _definition(story["old"]), _definition(story["new"]))
    recorded = write(at / "object.json", _object(story["object"]))
    (item,) = simulate(old, new, "--objects", recorded, *_server(server))["objects"]
    return dict(item)


def _writes(stored: Json) -> dict[str, tuple[str, Json]]:
    """Each kind of write: the operation, and the object of its request."""
    metadata = stored["metadata"]
    return {
        "status": ("updateStatus", {**stored, "status": {**stored["status"], "note": "m"}}),
        "label": ("update", {**stored, "metadata": {**metadata, "labels": {"a": "b"}}}),
        "finalizer": ("update", {**stored, "metadata": {**metadata, "finalizers": []}}),
        "spec": ("update", {**stored, "spec": {**stored["spec"], "note": "m"}}),
    }


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("story", STORIES, ids=[story["name"] for story in STORIES])
def test_which_writes_are_taken(story: Json, server: str) -> None:
    number, stored, definition = SERVERS.index(server), _object(story["object"]), _definition(story["old"])
    for name, (operation, new) in _writes(stored).items():
        verdict = judge(definition, operation, new, stored, kubernetes=server)
        assert not verdict.unknown
        assert (name, verdict.accepted) == (name, story[name][number] == "o"), verdict.message


def _repairs() -> Iterator[Any]:
    for story in STORIES:
        for number, server in enumerate(SERVERS):
            known = story.get("not-yet", "").ljust(len(SERVERS), "-")[number] == "X"
            reason = "an enum error hides the broken rule from what is to be repaired"
            marks = [pytest.mark.xfail(strict=True, reason=reason)] if known else []
            if {"repair", "deadlock"} & story.keys():
                yield pytest.param(story, server, id=f"{story['name']}, {server}", marks=marks)


@pytest.mark.parametrize(("story", "server"), [*_repairs()])
def test_what_repairs_it(story: Json, server: str, tmp_path: Path) -> None:
    found = _replayed(story, server, tmp_path)["repair"]["verdict"]
    if "repair" in story:
        assert found == story["repair"]
    else:
        assert (found == "deadlock") is (story["deadlock"][SERVERS.index(server)] == "X")


def test_an_accepted_write_loses_what_the_old_crd_lacks(tmp_path: Path) -> None:
    """Fact 7: any accepted write, on every server; a rejected one keeps the data."""
    story = {"new": {"spec": {"extra": string()}}, "old": {}, "object": {"spec": {"extra": "x"}}}
    for server in ("1.26", "1.33"):
        item = _replayed(story, server, tmp_path)
        assert {item["writes"][write]["verdict"] for write in WRITES} == {"loses-data"}
        assert item["pruned"] == ["spec.extra"]
        assert item["repair"]["verdict"] == "not-needed"
