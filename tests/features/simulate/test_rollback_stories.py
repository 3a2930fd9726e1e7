"""data/rollbacks.yaml: which writes a rolled-back cluster still takes, server by server, and what repairs it."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Json, both, obj, simulate, string, write
from rollback_stories import SERVERS, STORIES, WRITES, definition, replayed, stored_object, writes_of

from crdcompat import judge


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("story", STORIES, ids=[story["name"] for story in STORIES])
def test_which_writes_are_taken(story: Json, server: str) -> None:
    number, stored = SERVERS.index(server), stored_object(story["object"])
    for name, (operation, new) in writes_of(stored).items():
        verdict = judge(definition(story["old"]), operation, new, stored, kubernetes=server)
        assert not verdict.unknown
        assert (name, verdict.accepted) == (name, story[name][number] == "o"), verdict.message


#: Kind of write -> the story's letters for it.
_LETTERS = dict(zip(WRITES, ("status", "label", "finalizer", "spec"), strict=True))


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("story", STORIES, ids=[story["name"] for story in STORIES])
def test_the_replay_gives_the_same_verdicts(story: Json, server: str, tmp_path: Path) -> None:
    number, item = SERVERS.index(server), replayed(story, server, tmp_path)
    reported = {name: item["writes"][name]["verdict"] for name in WRITES}
    assert reported == {
        name: "accepted" if story[letters][number] == "o" else "rejected" for name, letters in _LETTERS.items()
    }
    repair = item["repair"]["verdict"]
    if "repair" in story:
        assert repair == story["repair"]
    elif "deadlock" in story:
        assert (repair == "deadlock") is (story["deadlock"][number] == "X")


def test_rules_that_a_schema_error_hides_are_causes(tmp_path: Path) -> None:
    """The server does not evaluate them yet; it will once the enum is repaired. Indices are those of the object."""
    items = {"type": "array", "items": string("A", "C")}
    rules = {"x-kubernetes-validations": [{"rule": "self == 'red'"}]}
    colors = {"type": "array", "items": {"type": "string", "maxLength": 9, **rules}, "maxItems": 9}
    mixed = {
        "type": "array",
        "maxItems": 9,
        "items": {**obj(phase=string("A"), color={"type": "string", "maxLength": 9, **rules})},
    }
    story: Json = {
        "old": {"spec": {"colors": colors}, "status": {"list": items, "mixed": mixed}},
        "object": {
            "spec": {"colors": ["red", "blue"]},
            "status": {"list": ["A", "B"], "mixed": [{"phase": "B"}, {"phase": "A", "color": "blue"}]},
        },
    }
    story["new"] = {"spec": {"colors": _loose(colors)}, "status": {"list": _loose(items), "mixed": _loose(mixed)}}
    old, new = both(tmp_path, definition(story["old"]), definition(story["new"]))
    recorded = write(tmp_path / "object.json", stored_object(story["object"]))
    report = simulate(old, new, "--objects", recorded, "--kube-version", "1.31")
    reported = {(cause["path"], cause["type"]) for cause in report["summary"]["causes"]}
    assert reported == {
        ("spec.colors[*]", "FieldValueInvalid"),
        ("status.list[*]", "FieldValueNotSupported"),
        ("status.mixed[*].phase", "FieldValueNotSupported"),
        ("status.mixed[*].color", "FieldValueInvalid"),
    }


def _loose(node: Json) -> Json:
    """A schema without its enums and rules."""
    left = {name: value for name, value in node.items() if name not in ("enum", "x-kubernetes-validations")}
    if "items" in left:
        left["items"] = _loose(left["items"])
    if "properties" in left:
        left["properties"] = {name: _loose(child) for name, child in left["properties"].items()}
    return left


def test_an_accepted_write_loses_what_the_old_crd_lacks(tmp_path: Path) -> None:
    """Fact 7: any accepted write, on every server; a rejected one keeps the data."""
    story = {"new": {"spec": {"extra": string()}}, "old": {}, "object": {"spec": {"extra": "x"}}}
    for server in ("1.26", "1.33"):
        item = replayed(story, server, tmp_path)
        assert {item["writes"][write]["verdict"] for write in WRITES} == {"loses-data"}
        assert item["pruned"] == ["spec.extra"]
        assert item["repair"]["verdict"] == "not-needed"
