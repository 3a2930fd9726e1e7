"""Server-side apply by managers who own fields already: random histories of three managers on real API servers."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest
from differences import Bench, in_group, listed, new_group
from helpers import Json, crd, root, version
from referee import Answer, collection

import crdcompat
from crdcompat.apiserver.admission import Verdict

_APPLY, _MERGE = "application/apply-patch+yaml", "application/merge-patch+json"
_TEXT: Json = {"type": "string"}
_ITEM: Json = {"type": "object", "required": ["k"], "properties": {"k": _TEXT, "v": _TEXT, "n": {"type": "integer"}}}
_HALF: Json = {
    "type": "object",
    "properties": {
        "text": _TEXT,
        "count": {"type": "integer"},
        "default": {"type": "string", "default": "d"},
        "object": {
            "type": "object",
            "required": ["x"],
            "properties": {"x": _TEXT, "y": _TEXT, "deep": {"type": "object", "properties": {"z": _TEXT}}},
        },
        "keyed": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
            "items": _ITEM,
        },
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": _TEXT},
        "list": {"type": "array", "items": _TEXT},
        "map": {"type": "object", "additionalProperties": _TEXT},
        "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"x": _TEXT, "y": _TEXT}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}


def _half(r: random.Random) -> Json:
    """Some of the members, with values that repeat often."""

    def some(*names: str) -> list[str]:
        return r.sample(names, r.randint(0, len(names)))

    made: Json = {
        "text": r.choice("uv"),
        "count": r.choice((1, 2)),
        "default": r.choice("de"),
        "object": {name: r.choice("12") for name in some("x", "y")} | ({"deep": {}} if r.random() < 0.2 else {}),
        "keyed": [{"k": key, **{name: r.choice("12") for name in some("v")}} for key in some("a", "b", "c")],
        "set": some("a", "b", "c"),
        "list": some("a", "b"),
        "map": {key: r.choice("12") for key in some("a", "b", "c")},
        "whole": {name: r.choice("12") for name in some("x", "y")},
        "free": r.choice(({}, {"u": 1}, {"u": {"w": "1", "l": [1]}}, {"u": [1, 2]})),
    }
    return {name: value for name, value in made.items() if r.random() < 0.4}


def _alike(verdict: Verdict, answer: Answer) -> bool:
    if not answer.accepted:
        same = verdict.code == answer.code and not verdict.accepted
        # The server names the places of one manager in any order.
        return same and (
            answer.code != 409 or sorted(verdict.message.split("\n")) == sorted(answer.message.split("\n"))
        )
    return bool(verdict.accepted) and _content(verdict.object or {}) == _content(answer.body)


def _content(obj: Json) -> tuple[Json, Any]:
    return {key: value for key, value in obj.items() if key != "metadata"}, obj["metadata"].get("labels") or {}


class _Histories:
    """Random applies and patches of three managers on some objects of a CRD, and where the answers differ."""

    def __init__(self, bench: Bench, r: random.Random) -> None:
        self._bench, self._r = bench, r
        self.wrong: list[tuple[str, list[str]]] = []
        self.codes: set[int] = set()
        self.asked = 0

    def write(self, definition: Json, objects: int) -> None:
        for case in range(objects):
            for _ in range(self._r.randint(2, 6)):
                self._once(definition, f"case-{case}")

    def _once(self, definition: Json, name: str) -> None:
        r, server = self._r, self._bench.server
        base = {"apiVersion": f"{definition['spec']['group']}/v1", "kind": "Widget"}
        manager, force, url = r.choice("ABC"), r.random() < 0.6, f"{collection(definition, 'v1')}/{name}"
        labels = {"labels": {key: r.choice("12") for key in r.sample("abc", 2)}} if r.random() < 0.3 else {}
        halves = {half: _half(r) for half in ("spec", "status") if r.random() < 0.7}
        body = {**base, "metadata": {"name": name, "namespace": "default", **labels}, **halves}
        held = server.stored(definition, name)
        if held is None or r.random() < 0.2:
            sent = (body, _APPLY) if held is None else (halves, _MERGE)
            server.ask("PATCH", f"{url}?fieldManager={manager}", *sent)
            return
        has_status = "status" in definition["spec"]["versions"][0]["subresources"]
        op = "applyStatus" if has_status and r.random() < 0.3 else "apply"
        verdict = crdcompat.judge(
            definition, op, body, held, kubernetes=self._bench.minor, manager=manager, force=force
        )
        query = f"?fieldManager={manager}&force={str(force).lower()}"
        answer = server.ask("PATCH", f"{url}{'/status' * (op != 'apply')}{query}", body, _APPLY)
        self.asked, self.codes = self.asked + 1, self.codes | {answer.code}
        if not _alike(verdict, answer):
            said = [f"ours: {verdict.code} {verdict.message}", f"theirs: {answer.code} {answer.message}"]
            self.wrong.append((json.dumps([op, manager, force, held, body]), said))


def _definition(half: Json, group: str, *, has_status: bool) -> Json:
    definition = in_group(crd(root(spec=half, status=half)), group)
    definition["spec"]["versions"][0]["subresources"] = {"status": {}} if has_status else {}
    return definition


@pytest.mark.parametrize("has_status", [True, False])
def test_histories_of_three_managers(bench: Bench, has_status: bool) -> None:
    definition = _definition(_HALF, new_group(), has_status=has_status)
    assert bench.server.install(definition).accepted
    done = _Histories(bench, random.Random(f"owners {has_status}"))
    done.write(definition, 60)
    assert done.codes >= {200, 409, 422}
    assert not done.wrong, listed(done.wrong, done.asked)


#: What is merged, and what replaced as a whole, the other way round.
_TURNED: Json = {
    "object": {"x-kubernetes-map-type": "atomic"},
    "keyed": {"x-kubernetes-list-type": "atomic", "x-kubernetes-list-map-keys": None},
    "set": {"x-kubernetes-list-type": "atomic"},
    "list": {"x-kubernetes-list-type": "set"},
    "map": {"x-kubernetes-map-type": "atomic"},
    "whole": {"x-kubernetes-map-type": None},
}


def _turned(half: Json) -> Json:
    made = copy.deepcopy(half)
    for name, changes in _TURNED.items():
        found = {**made["properties"][name], **changes}
        made["properties"][name] = {key: value for key, value in found.items() if value is not None}
    return made


@pytest.mark.parametrize("first", ["as it is", "turned"])
def test_histories_in_which_the_schema_changes_what_is_atomic(bench: Bench, first: str) -> None:
    """Entries of managedFields were written under the schema before."""
    halves = (_HALF, _turned(_HALF)) if first == "as it is" else (_turned(_HALF), _HALF)
    group = new_group()
    before, after = (_definition(half, group, has_status=True) for half in halves)
    assert bench.server.install(before).accepted
    done = _Histories(bench, random.Random(f"turned {first}"))
    done.write(before, 60)
    assert bench.server.swap(after).accepted
    done.write(after, 60)
    assert done.codes >= {200, 409}
    assert not done.wrong, listed(done.wrong, done.asked)


def test_a_manager_of_a_version_that_is_no_longer_served(bench: Bench) -> None:
    schema, group = root(spec={"type": "object", "properties": {"a": _TEXT}}), new_group()
    both, one = (
        in_group(crd(versions=[version(schema), version(schema, "v1beta1", storage=False, served=served)]), group)
        for served in (True, False)
    )
    assert bench.server.install(both).accepted
    bodies = {
        each: {"apiVersion": f"{group}/{each}", "kind": "Widget", "metadata": {"name": "x"}, "spec": {"a": each}}
        for each in ("v1", "v1beta1")
    }
    assert bench.server.ask("POST", f"{collection(both, 'v1beta1')}?fieldManager=B", bodies["v1beta1"]).accepted
    assert bench.server.swap(one).accepted
    held = bench.server.stored(one, "x")
    verdict = crdcompat.judge(one, "apply", bodies["v1"], held, version="v1", kubernetes=bench.minor, manager="A")
    answer = bench.server.ask("PATCH", f"{collection(one, 'v1')}/x?fieldManager=A", bodies["v1"], _APPLY)
    assert answer.code == 409
    assert (verdict.code, verdict.message) == (answer.code, answer.message)
