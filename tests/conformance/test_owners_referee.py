"""Server-side apply by managers who own fields already: random histories of three managers on real API servers."""

from __future__ import annotations

import json
import random
from typing import Any

from differences import Bench, in_group, listed, new_group
from helpers import Json, crd, root
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


def test_histories_of_three_managers(bench: Bench) -> None:
    r = random.Random("owners")
    wrong: list[tuple[str, list[str]]] = []
    codes: set[int] = set()
    asked = 0
    for has_status in (True, False):
        definition = in_group(crd(root(spec=_HALF, status=_HALF)), new_group())
        definition["spec"]["versions"][0]["subresources"] = {"status": {}} if has_status else {}
        assert bench.server.install(definition).accepted
        at = collection(definition, "v1")
        for case in range(60):
            name = f"case-{case}"
            base = {"apiVersion": f"{definition['spec']['group']}/v1", "kind": "Widget"}
            for _ in range(r.randint(2, 6)):
                manager, force, url = r.choice("ABC"), r.random() < 0.6, f"{at}/{name}"
                labels = {"labels": {key: r.choice("12") for key in r.sample("abc", 2)}} if r.random() < 0.3 else {}
                halves = {half: _half(r) for half in ("spec", "status") if r.random() < 0.7}
                body = {**base, "metadata": {"name": name, "namespace": "default", **labels}, **halves}
                held = bench.server.stored(definition, name)
                if held is None or r.random() < 0.2:
                    sent = (body, _APPLY) if held is None else (halves, _MERGE)
                    bench.server.ask("PATCH", f"{url}?fieldManager={manager}", *sent)
                    continue
                op = "applyStatus" if has_status and r.random() < 0.3 else "apply"
                verdict = crdcompat.judge(
                    definition, op, body, held, kubernetes=bench.minor, manager=manager, force=force
                )
                query = f"?fieldManager={manager}&force={str(force).lower()}"
                answer = bench.server.ask("PATCH", f"{url}{'/status' * (op != 'apply')}{query}", body, _APPLY)
                asked, codes = asked + 1, codes | {answer.code}
                if not _alike(verdict, answer):
                    said = [f"ours: {verdict.code} {verdict.message}", f"theirs: {answer.code} {answer.message}"]
                    wrong.append((json.dumps([op, manager, force, held, body]), said))
    assert codes >= {200, 409, 422}
    assert not wrong, listed(wrong, asked)
