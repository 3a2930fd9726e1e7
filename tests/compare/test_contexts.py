"""One change in several contexts: one finding where one object proves it in all, else one for what is known in each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers import Json, crd, diff, obj, root, string
from variants import SET, tree

from crdcompat import load_crds
from crdcompat.compare.changes import Change
from crdcompat.compare.contexts import by_witness, schemas_of
from crdcompat.compare.result import Occurrence
from crdcompat.compare.witness import Outcome, Witness, prove
from crdcompat.crds.pairing import pair
from crdcompat.vocabulary import Direction, Effect

#: No search finds the number that this rule asks for.
HARD = "!has(self.phase) || (has(self.n) && self.n * 7919 % 104729 == 5)"
NEVER_B: Json = {"not": {"properties": {"phase": {"enum": ["B"]}}, "required": ["phase"]}}


def _needs(number: int) -> str:
    return f"!has(self.phase) || (has(self.n) && self.n == {number})"


def _rule(text: str) -> Json:
    return {"x-kubernetes-validations": [{"rule": text}]}


def _found(
    top: Path, contexts: dict[str, Json], *values: str, direction: str = "rollback"
) -> list[tuple[list[str], list[str], Json | None]]:
    """Contexts, values and the ``spec`` of the witness of each finding; ``contexts``: what specs have beside.

    The writer's enum has the ``values``, the reader's has not.
    """
    writer, reader = ("new", "old") if direction == "rollback" else ("old", "new")
    for side, members in ((reader, ("A",)), (writer, ("A", *values))):
        for name, more in contexts.items():
            spec = {**obj(phase=string(*members), n={"type": "integer"}), **more}
            tree(top / side, **{name: crd(root(spec=spec), annotations={SET: name})})
    report = diff(top / "old", top / "new", "--direction", direction)
    shown = []
    for finding in report["findings"]:
        witness = finding["witness"]["object"]
        names = [name.removesuffix("/default") for name in finding["contexts"]]
        shown.append((names, finding["added"] or finding["removed"], witness and witness["spec"]))
    return shown


@pytest.mark.parametrize("other", [{}, _rule("!has(self.n) || self.n > 3"), _rule(_needs(2))])
def test_one_witness_for_all_contexts_is_one_finding(tmp_path: Path, other: Json) -> None:
    """The object of one context may serve the other, though not the other way round."""
    ((contexts, added, witness),) = _found(tmp_path, {"CustomNoUpgrade": {}, "Default": other}, "B")
    assert (contexts, added) == (["CustomNoUpgrade", "Default"], ["B"])
    assert witness == ({"phase": "B", "n": 2} if other == _rule(_needs(2)) else {"phase": "B"})


def test_the_witness_of_one_context_spares_the_search_in_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[Direction] = []

    def counted(change: Change, direction: Direction, *more: Any) -> Outcome:
        searched.append(direction)
        return prove(change, direction, *more)

    monkeypatch.setattr("crdcompat.compare.contexts.prove", counted)
    contexts: dict[str, Json] = {"CustomNoUpgrade": {}, "Default": {"maxProperties": 2}, "Set": {"maxProperties": 3}}
    assert len(_found(tmp_path, contexts, "B")) == 1
    assert searched.count(Direction.ROLLBACK) == 1


@pytest.mark.parametrize(("hard", "plain"), [("CustomNoUpgrade", "Default"), ("Default", "CustomNoUpgrade")])
def test_a_context_without_a_proof_hides_no_proof_and_gets_none(tmp_path: Path, hard: str, plain: str) -> None:
    found = _found(tmp_path, {hard: _rule(HARD), plain: {}}, "B")
    assert sorted(found, key=lambda each: each[2] is None) == [
        ([plain], ["B"], {"phase": "B"}),
        ([hard], ["B"], None),
    ]


def test_a_witness_of_one_context_proves_the_change_in_another_that_has_none(tmp_path: Path) -> None:
    """The rule of one context names the number that the other asks for in a form that no search follows."""
    hidden = "!has(self.phase) || (has(self.n) && self.n * 7919 % 104729 == 10492)"
    assert _found(tmp_path / "alone", {"Default": _rule(hidden)}, "B") == [(["Default"], ["B"], None)]
    contexts = {"CustomNoUpgrade": _rule(_needs(41)), "Default": _rule(hidden)}
    assert _found(tmp_path, contexts, "B") == [(["CustomNoUpgrade", "Default"], ["B"], {"phase": "B", "n": 41})]


def test_contexts_that_need_different_witnesses_have_one_each(tmp_path: Path) -> None:
    contexts = {
        "CustomNoUpgrade": _rule(_needs(1)),
        "Default": _rule(_needs(2)),
        "DevPreviewNoUpgrade": _rule("!has(self.phase) || (has(self.n) && self.n > 1)"),
        "TechPreviewNoUpgrade": _rule(HARD),
    }
    assert _found(tmp_path, contexts, "B") == [
        (["Default", "DevPreviewNoUpgrade"], ["B"], {"phase": "B", "n": 2}),
        (["CustomNoUpgrade"], ["B"], {"phase": "B", "n": 1}),
        (["TechPreviewNoUpgrade"], ["B"], None),
    ]


def test_the_witness_that_serves_most_contexts_is_theirs(tmp_path: Path) -> None:
    at_least = _rule("!has(self.phase) || (has(self.n) && self.n >= 5)")
    contexts = {"CustomNoUpgrade": at_least, "Default": _rule(_needs(7)), "DevPreviewNoUpgrade": _rule(HARD)}
    assert _found(tmp_path, contexts, "B") == [
        (["CustomNoUpgrade", "Default"], ["B"], {"phase": "B", "n": 7}),
        (["DevPreviewNoUpgrade"], ["B"], None),
    ]


@pytest.mark.parametrize("direction", ["rollback", "upgrade"])
@pytest.mark.parametrize(("narrow", "wide"), [("CustomNoUpgrade", "Default"), ("Default", "CustomNoUpgrade")])
def test_a_value_that_one_context_forbids_counts_in_the_other(
    tmp_path: Path, narrow: str, wide: str, direction: str
) -> None:
    found = _found(tmp_path, {narrow: NEVER_B, wide: {}}, "B", "C", direction=direction)
    assert {contexts[0]: values for contexts, values, _ in found} == {narrow: ["C"], wide: ["B", "C"]}


def test_an_effect_that_is_assumed_is_apart_from_one_that_may_be(tmp_path: Path) -> None:
    """Equal changes beside it prove the effect in one context, nothing does in the other."""
    names = ("CustomNoUpgrade", "Default", "DevPreviewNoUpgrade")
    variants = {name: crd(root(spec=obj(**{name: string()})), annotations={SET: name}) for name in names}
    crds = load_crds(f"path:{tree(tmp_path, **variants)}")
    change = Change("enum.value-added", ("spec",), ["A"], ["A", "B"], added=("B",))
    places = [
        Occurrence(each.context, each.terminal, each.old.versions["v1"], each.new.versions["v1"], change)
        for each in pair(crds, crds).pairs
    ]
    assumed, first, second = Witness(None, assumed=True), Witness(None, reason="first"), Witness(None, reason="second")
    outcomes = {
        schemas_of(place): Outcome(Effect.WRITE_REJECTED, witness)
        for place, witness in zip(places, (assumed, first, second), strict=True)
    }
    found = by_witness(places, Effect.WRITE_REJECTED, outcomes, lambda _: pytest.fail("there is nothing to judge"))
    assert found == [(assumed, (places[0],)), (first, (places[1], places[2]))]
