"""Requests that follow the schemas of real CRDs, on real API servers, held against ``judge``.

Each CRD goes through the life of a cluster: objects are stored under OLD, NEW replaces it below them, with defaults
that etcd does not have, perhaps with another storage version; several managers write, and OLD comes back. Nothing is
chosen by what the program says. ``CRDCOMPAT_REFEREE_DIRECTED=9 make conformance`` writes 9 objects of each CRD: 21,000
requests to each server.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from differences import Bench, in_group, new_group
from helpers import Json
from real_crds import changed_crds, plain
from referee import Answer, collection
from schema_values import Values, empty_object, parts_of

from crdcompat.apiserver.admission import Verdict
from crdcompat.apiserver.ownership import Applier
from crdcompat.apiserver.server_versions import kubernetes_server
from crdcompat.apiserver.strategy import Resource
from crdcompat.features.judge.write_verdict import judge_write, resource_of

_OBJECTS = int(os.environ.get("CRDCOMPAT_REFEREE_DIRECTED", "3"))
_KINDS = {
    "update": "application/json",
    "mergePatch": "application/merge-patch+json",
    "apply": "application/apply-patch+yaml",
}
#: The share of verdicts that have to be equal; none may be wrong in a CRD's own rules.
_LEAST = 0.9995


@pytest.fixture(scope="module")
def pairs(openshift_api: Path, projects: Path) -> list[tuple[str, Json, Json]]:
    """(name, OLD, NEW) of the CRDs that change between two releases."""
    return [*changed_crds(openshift_api, projects)]


class _Life:
    """One CRD on one server: what was asked, and where the answers differ."""

    def __init__(self, bench: Bench, r: random.Random, wrong: float) -> None:
        self._bench, self._r, self._values = bench, r, Values(r, wrong)
        self.asked: Counter[str] = Counter()
        self.wrong: list[tuple[str, str, list[str]]] = []
        self._resources: dict[tuple[int, str], Resource] = {}

    def lead(self, name: str, old: Json, new: Json) -> None:
        """Install OLD, store objects, move to NEW and back, and write after each step."""
        group = new_group()
        older, newer = (plain(in_group(crd, group)) for crd in (old, new))
        if not self._bench.server.install(older).accepted:
            return
        for count in range(_OBJECTS):
            self._write("create", older, f"o{count}", name)
        if not self._bench.server.swap(newer).accepted:
            return
        for count in range(_OBJECTS):
            self._write("create", newer, f"n{count}", name)
        names = [f"{kind}{count}" for kind in "on" for count in range(_OBJECTS)]
        self._writes(newer, names, name)
        if self._bench.server.swap(older).accepted:
            self._writes(older, names, name)

    def _writes(self, crd: Json, names: list[str], about: str) -> None:
        for each in names:
            for op in self._r.sample(("update", "updateStatus", "mergePatch", "mergePatchStatus", "apply", "apply"), 4):
                self._write(op, crd, each, about)

    def _write(self, op: str, crd: Json, name: str, about: str) -> None:
        versions = [each for each in crd["spec"]["versions"] if each["served"]]
        if not versions:  # real CRDs have such releases, before they go
            return
        version = self._r.choice(versions)
        held = self._bench.server.stored(crd, name)
        if (held is None) != (op == "create"):
            return
        body = self._body(op, crd, version, name, held)
        manager, force = self._r.choice(("a", "b", "kubectl")), self._r.random() < 0.5
        verdict = self._verdict(op, crd, version["name"], body, held, Applier(manager, force))
        answer = self._ask(op, crd, version["name"], name, body, manager, force=force)
        if verdict.accepted is None:
            self.asked["unknown"] += 1
            return
        self.asked["asked"] += 1
        if verdict.accepted != answer.accepted or verdict.code != (200 if answer.accepted else answer.code):
            sort = "accepted wrongly" if verdict.accepted else "refused wrongly" if answer.accepted else "another code"
            self.asked[sort] += 1
            said = [f"ours: {verdict.code} {verdict.message[:600]}", f"theirs: {answer.code} {answer.message[:600]}"]
            request = json.dumps([op, version["name"], manager, force, body, held])
            self.wrong.append((f"{sort}: {about} {request}", op, said))
        elif answer.accepted:
            self.asked["accepted"] += 1
            if _content(verdict.object or {}) != _content(answer.body):
                self.asked["another object"] += 1
                said = [f"ours: {_content(verdict.object or {})}", f"theirs: {_content(answer.body)}"]
                self.wrong.append(
                    (f"another object: {about} {json.dumps([op, version['name'], body, held])}", op, said)
                )

    def _body(self, op: str, crd: Json, version: Json, name: str, held: Json | None) -> Json:
        parts = parts_of(version)
        empty = empty_object(crd, version, name)
        chosen = {"updateStatus": ["status"], "mergePatchStatus": ["status"]}.get(op) or [*parts]
        drawn = self._values.parts(version, chosen)
        if op == "create" or op.startswith("apply"):
            return {**empty, **drawn}
        if op.startswith("mergePatch"):
            return drawn
        kept = {key: value for key, value in (held or {}).items() if key in parts}
        changed = {
            key: self._values.change(kept[key], parts[key]) if isinstance(kept.get(key), dict) else drawn[key]
            for key in drawn
        }
        now = self._bench.server.read(crd, version["name"], name).body.get("metadata", {})
        return {**empty, **({"metadata": now} if now else {}), **kept, **(changed if self._r.random() < 0.8 else {})}

    def _verdict(self, op: str, crd: Json, version: str, body: Json, held: Json | None, applier: Applier) -> Verdict:
        key = id(crd), version
        if key not in self._resources:
            self._resources[key] = resource_of(crd, version, kubernetes_server(self._bench.minor))
        who = applier if op.startswith("apply") else None
        return judge_write(self._resources[key], op, body, held, namespace="default", applier=who)

    def _ask(self, op: str, crd: Json, version: str, name: str, body: Json, manager: str, *, force: bool) -> Answer:
        at, main = collection(crd, version), op.removesuffix("Status")
        query = f"?fieldManager={manager}" + (f"&force={str(force).lower()}" if main == "apply" else "")
        if op == "create":
            return self._bench.server.ask("POST", f"{at}{query}", body)
        path = f"{at}/{name}{'/status' * (op != main)}{query}"
        return self._bench.server.ask("PUT" if main == "update" else "PATCH", path, body, _KINDS[main])


def _content(obj: Json) -> str:
    shown = {key: value for key, value in obj.items() if key != "metadata"}
    return json.dumps(_whole(shown), sort_keys=True)


def _whole(value: Any) -> Any:
    """The value with whole floats as integers: one number in JSON."""
    if isinstance(value, dict):
        return {key: _whole(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _lives(bench: Bench, pairs: list[tuple[str, Json, Json]]) -> Iterator[_Life]:
    for index, (name, old, new) in enumerate(pairs):
        life = _Life(bench, random.Random(f"{name} {index}"), (0.0, 0.02, 0.1)[index % 3])
        life.lead(name, old, new)
        yield life


def test_requests_that_follow_real_schemas(
    bench: Bench, pairs: list[tuple[str, Json, Json]], record_property: Callable[[str, object], None]
) -> None:
    asked: Counter[str] = Counter()
    wrong: list[tuple[str, str, list[str]]] = []
    for life in _lives(bench, pairs):
        asked += life.asked
        wrong += life.wrong
    record_property("referee", f"{bench.minor}: requests after real schemas: {dict(asked)}")
    if place := os.environ.get("CRDCOMPAT_REFEREE_DIFFERENCES"):
        Path(f"{place}-{bench.minor}.json").write_text(json.dumps([dict(asked), wrong], indent=1))
    shown = "\n".join(f"{about[:1500]}\n    " + "\n    ".join(said) for about, _, said in wrong[:10])
    assert not asked["accepted wrongly"] + asked["refused wrongly"], shown
    assert asked["asked"] - asked["another code"] >= _LEAST * asked["asked"], shown
    assert asked["accepted"] > asked["asked"] / 10
