"""Replays without notes skip work on valid objects; their verdicts are those of replays with notes."""

from __future__ import annotations

import random
from typing import Any

import pytest
from helpers import Json, array, crd, obj, root, string, widget

from crdcompat.apiserver.server_versions import kubernetes_server
from crdcompat.apiserver.strategy import Resource
from crdcompat.features.judge.write_verdict import resource_of
from crdcompat.replay.already import without_already
from crdcompat.replay.edits import Edit
from crdcompat.replay.replayed_writes import Replay, replay
from crdcompat.vocabulary.writes import WriteKind, WriteResult

_RULES = "x-kubernetes-validations"
_COUNT = {"type": "integer"}
_SET = array(string(), **{"x-kubernetes-list-type": "set"})


def _rule(text: str) -> Json:
    return {_RULES: [{"rule": text}]}


def _crd(*values: str, spec: str = "", whole: str = "") -> Json:
    part = obj(mode=string(*values), count=_COUNT, seen=_SET)
    schema = root(spec={**part, **(_rule(spec) if spec else {})}, status=part)
    return crd({**schema, **(_rule(whole) if whole else {})})


_OLDS = {
    "plain": _crd("a", "b"),
    "a rule": _crd("a", "b", spec="!has(self.count) || self.count < 2"),
    "a rule on the whole": _crd("a", "b", whole="!has(self.status) || has(self.spec)"),
    "a rule that wants a status": _crd("a", "b", whole="has(self.status) || !has(self.spec)"),
    "a rule on another part": _crd("a", "b", whole="!has(self.spec) || !has(self.spec.count) || self.spec.count < 2"),
    "a transition": _crd("a", "b", spec="!has(self.count) || !has(oldSelf.count) || self.count >= oldSelf.count"),
    "a transition that nothing passes": _crd("a", "b", spec="!has(oldSelf.count) || self.count > oldSelf.count"),
}
_NEW = _crd("a", "b", "c")


def _part(r: random.Random) -> Json:
    drawn: dict[str, Any] = {"mode": r.choice("abc"), "count": r.choice((0, 1, 2)), "seen": r.choices("xyz", k=2)}
    return {key: drawn[key] for key in drawn if r.random() < 0.6}


def _verdicts(found: Replay) -> Any:
    writes = {kind: (answer.verdict, answer.errors, answer.already) for kind, answer in found.writes.items()}
    return writes, found.causes, found.already, found.pruned, found.repair


@pytest.mark.parametrize("name", _OLDS)
@pytest.mark.parametrize("kube", ["1.26", "1.29", "1.31", "1.34"])
def test_the_verdicts_are_the_same(name: str, kube: str) -> None:
    r = random.Random(f"{name} {kube}")
    old, new = (_resource(each, kube) for each in (_OLDS[name], _NEW))
    for _ in range(60):
        stored = widget({key: _part(r) for key in ("spec", "status") if r.random() < 0.9})
        found = [replay(old, stored, had_status=True, notes=notes) for notes in (True, False)]
        assert _verdicts(found[0]) == _verdicts(found[1]), stored
        both = [without_already(old, new, stored, each, notes=at == 0) for at, each in enumerate(found)]
        assert _verdicts(both[0]) == _verdicts(both[1]), stored


@pytest.mark.parametrize("name", _OLDS)
@pytest.mark.parametrize("kube", ["1.29", "1.34"])
def test_edits_that_no_rule_reads_break_what_was_broken(name: str, kube: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are not judged as a whole a second time."""
    r = random.Random(f"{name} {kube}")
    resource, drawn = _resource(_OLDS[name], kube), [widget({"spec": _part(r), "status": _part(r)}) for _ in range(40)]
    short = [_verdicts(replay(resource, stored, had_status=True)) for stored in drawn]
    monkeypatch.setattr(Edit, "is_unnoticed", lambda *_: False)
    assert short == [_verdicts(replay(resource, stored, had_status=True)) for stored in drawn]


@pytest.mark.parametrize("name", _OLDS)
def test_a_create_is_that_of_the_object_without_its_status(name: str) -> None:
    r = random.Random(name)
    resource = _resource(_OLDS[name], "1.31")
    for _ in range(60):
        stored = widget({key: _part(r) for key in ("spec", "status") if r.random() < 0.9})
        answer = replay(resource, stored, had_status=True).writes[WriteKind.CREATE]
        assert (answer.verdict is WriteResult.ACCEPTED) == resource.create(stored).accepted, stored


def _resource(definition: Json, kube: str) -> Resource:
    return resource_of(definition, None, kubernetes_server(kube))
