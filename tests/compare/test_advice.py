"""Advice on new status fields: what is expensive to change later, once for each new field, and never more than info."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from changes import repository
from helpers import Json, both, commit, crd, diff, obj, root, run, string, version, write

CONDITION = obj(type=string(), status=string("True", "False"), lastTransitionTime=string())
CONDITIONS = {"type": "array", "items": {**CONDITION, "required": ["type", "status", "lastTransitionTime"]}}
KEYED = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}


def _items(*required: str, **members: Any) -> Json:
    return {"type": "array", "items": {**obj(**members), "required": list(required)}}


def _advice(tmp_path: Path, old: Json, new: Json, *args: str) -> list[tuple[str, str, list[str]]]:
    """(rule, path, places) of the findings without an effect."""
    sides = [write(tmp_path / f"{name}.json", json.dumps(crd(each))) for name, each in (("old", old), ("new", new))]
    found = [f for f in diff(*sides, *args)["findings"] if f["effect"] == "none"]
    assert {(f["severity"], f["direction"], f["owner"]) for f in found} <= {("info", "rollback", "status")}
    return sorted((f["rule"], f["path"], f["new"]) for f in found)


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        ({"phase": string("A")}, [("status-enum-born-closed", "status.phase", ["status.phase"])]),
        ({"phase": string()}, []),
        ({"conditions": CONDITIONS}, []),
        ({"names": {"type": "array", "items": string()}}, []),
        ({"nodes": {**_items("name", name=string()), **KEYED}}, []),
        ({"nodes": {**_items(name=string()), "x-kubernetes-list-type": "atomic"}}, []),
        (
            {"nodes": _items("name", name=string(), phase=string("A"))},
            [
                ("status-enum-born-closed", "status.nodes[*].phase", ["status.nodes[*].phase"]),
                ("status-list-born-without-keys", "status.nodes", ["status.nodes"]),
                ("status-required-born", "status.nodes[*].name", ["status.nodes[*].name"]),
            ],
        ),
        (
            {"last": obj(a=string("A"), more={"type": "object", "additionalProperties": string("B")})},
            [("status-enum-born-closed", "status.last.a", ["status.last.a", "status.last.more.*"])],
        ),
    ],
)
def test_new_fields(tmp_path: Path, new: Json, expected: list[tuple[str, str, list[str]]]) -> None:
    assert _advice(tmp_path, root(status=obj(a=string())), root(status=obj(a=string(), **new))) == expected


def test_a_long_list_of_fields_ends_after_a_whole_one(tmp_path: Path) -> None:
    """openshift/api: a new status with several enums; the sentence broke off inside of a path."""
    names = [f"theNameOfFieldNumber{number}" for number in range(1, 7)]
    new = root(status=obj(a=string(), more=obj(**{name: string("A") for name in names})))
    (finding,) = diff(*both(tmp_path, root(status=obj(a=string())), new), "--select", "status-enum-born-closed")[
        "findings"
    ]
    shown = ", ".join(f"status.more.{name}" for name in names[1:4])
    assert f"(with {shown} and 2 more)" in finding["message"]


def test_advice_says_nothing_of_who_writes_a_value(tmp_path: Path) -> None:
    """Of the effect of the change, "only the search found this value" holds; advice has no value."""
    old, new = root(status=obj(a=string())), root(status={**obj(a=string()), "required": ["a"]})
    (found,) = diff(*both(tmp_path, old, new), "--select", "status-required-born")["findings"]
    assert ("only the search" in found["message"], found["because"]) == (False, ["status"])


def test_fields_elsewhere_and_old_fields_need_no_advice(tmp_path: Path) -> None:
    old, new = root(spec=obj(), status=obj(p=string())), root(spec=obj(p=string("A")), status=obj(p=string("A")))
    assert _advice(tmp_path, old, new) == []


def test_a_field_that_becomes_required(tmp_path: Path) -> None:
    def made(*required: str) -> Json:
        held = obj(a=string())
        nodes = {**_items(*required, name=string()), **KEYED}
        conditions = {**CONDITIONS, "items": {**CONDITION, "required": ["type"] if required else []}}
        return root(status={**obj(a=held, nodes=nodes, conditions=conditions), "required": ["a"] if required else []})

    assert _advice(tmp_path, made(), made("name")) == [("status-required-born", "status.a", ["status.a"])]
    assert _advice(tmp_path, made(), made("name"), "--direction", "upgrade") == []


def _between(tmp_path: Path, old: Json, new: Json) -> list[str]:
    """The messages of the advice between two CRDs of releases whose servers are known."""
    sides = [write(tmp_path / f"{name}/w.json", crd_) for name, crd_ in (("release-4.18", old), ("release-4.19", new))]
    report = run("diff", *(str(side.parent.relative_to(tmp_path)) for side in sides), "--format", "json", cwd=tmp_path)
    return [f["message"] for f in report.report["findings"] if f["effect"] == "none"]


def test_the_advice_is_about_a_later_rollback_to_new_and_names_no_other_server(tmp_path: Path) -> None:
    """The upgrade that newly requires the field spares stored objects. The advice does not name OLD's server."""
    old = obj(a=obj(b=string()))
    new = {**old, "required": ["a"]}
    assert _between(tmp_path, crd(root(status=old)), crd(root(status=new))) == [
        (
            "status.a is newly required: if a later release leaves it out, a rollback from that release to release-4.19"
            " ends with refused status updates of a Widget"
        )
    ]
    more = {**obj(a=obj(b=string()), nodes=_items(phase=string("A"))), "required": ["a"]}
    assert _between(tmp_path, crd(root(status=new)), crd(root(status=more))) == [
        (
            "status.nodes is a new list of objects without keys: if a later release"
            " writes an item that release-4.19 refuses, a rollback from that release to release-4.19 ends with refused"
            " changes of the whole list; if keys are added later, stored duplicates are refused"
        ),
        (
            "status.nodes[*].phase is new with a closed set of values: if a later release"
            " adds a value and writes it, a rollback from that release"
            " to release-4.19 ends with refused status updates of a Widget"
        ),
    ]


def test_a_version_that_old_alone_has_shows_no_new_field(tmp_path: Path) -> None:
    """v1 requires the field in both releases; only objects of v1alpha1, which NEW lacks, may be without it."""
    alpha, stable = root(status=obj(a=string())), root(status={**obj(a=string()), "required": ["a"]})
    kept = version(stable, "v1", storage=True)
    old = crd(versions=[version(alpha, "v1alpha1", storage=False), kept])
    assert _between(tmp_path, old, crd(versions=[kept])) == []


def test_it_can_be_switched_off_and_never_fails(tmp_path: Path) -> None:
    old, new = root(status=obj(a=string())), root(status=obj(a=string(), phase=string("A")))
    assert len(_advice(tmp_path, old, new)) == 1
    assert _advice(tmp_path, old, new, "--ignore", "status-enum-born-closed") == []
    config = write(tmp_path / ".crdcompat.yaml", "status_advice: false\n")
    assert _advice(tmp_path, old, new, "--config", str(config)) == []
    repo = repository(tmp_path)
    commit(repo, {"w.json": crd(old)})
    commit(repo, {"w.json": crd(new)})
    ran = run("check", "--base", "HEAD~1", cwd=repo)
    assert ran.code == 0
    assert "2 info: 1 property-added, 1 status-enum-born-closed (-v lists them)" in ran.out
    assert "born-closed" not in run("check", "--base", "HEAD~1", "--config", str(config), cwd=repo).out


def test_the_line_is_that_of_the_enum(tmp_path: Path) -> None:
    old, new = root(status=obj(a=string())), root(status=obj(a=string(), phase=string("A")))
    sides = [write(tmp_path / f"{n}.json", json.dumps(crd(s), indent=1)) for n, s in (("old", old), ("new", new))]
    (found,) = (f for f in diff(*sides)["findings"] if f["effect"] == "none")
    (place,) = (place for place in found["locations"] if place["side"] == "new")
    assert '"enum"' in sides[1].read_text().splitlines()[place["line"] - 1]
