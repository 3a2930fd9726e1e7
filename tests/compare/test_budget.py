"""One budget for a comparison: what it cuts is undecided, in the report and in the exit code, and nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from bombs import BOMBS, Pair
from helpers import Json, both, crd, diff, obj, root, run, string, write
from operations import operations

from crdcompat.compare import budget, schema_walk
from crdcompat.compare.changes import Change, Undecided
from crdcompat.compare.site import Site
from crdcompat.schema.structural import Node
from crdcompat.schema.work import WORK, Budget, OverBudgetError

#: Calls for a small bomb. Most take less than a tenth of them.
_MOST_CALLS = 6_000_000


@pytest.mark.parametrize("name", BOMBS)
def test_bombs(tmp_path: Path, name: str) -> None:
    """Each ends in a report, after a bounded number of calls."""
    old, new = both(tmp_path, *BOMBS[name].make(BOMBS[name].small))
    with operations() as done:
        ran = run("diff", old, new, "--format", "json")
    assert ran.code in (0, 1, 2), ran.err
    report = json.loads(ran.out)
    assert report["findings"] or report["undecided"] or report["summary"]["text_only_changes"] or ran.code == 0
    assert done.calls < _MOST_CALLS


_TEXTS = ("maxLength", "maxLength 2^40", "minLength", "maxItems", "minItems", "maxProperties", "minProperties")


@pytest.mark.parametrize("name", _TEXTS)
def test_no_example_is_as_large_as_a_limit_says(tmp_path: Path, name: str) -> None:
    """The limits are of gigabytes: no request reaches the upper ones, and what breaks the lower ones is not made."""
    old, new = both(tmp_path, *BOMBS[name].make(BOMBS[name].size))
    found = [
        (each["rule"].rpartition("-")[2], each["witness"]["object"], "may reject" in each["message"])
        for each in diff(old, new)["findings"]
    ]
    assert found == ([] if name.startswith("max") else [("tightened", None, True)])


def _enums(count: int) -> Pair:
    old, new = (root(spec=obj(**{f"v{index:03}": string(*names) for index in range(count)})) for names in ("A", "AB"))
    return crd(old), crd(new)


def test_changes_that_the_budget_does_not_suffice_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = both(tmp_path, *_enums(40))
    whole = diff(old, new)
    monkeypatch.setattr(budget, "STEPS", 300)
    ran = run("diff", old, new, "--format", "json")
    cut = json.loads(ran.out)
    assert ran.code == 2
    assert {_facts(each) for each in cut["findings"]} == {_facts(each) for each in whole["findings"]}
    unproved = [each for each in cut["findings"] if each["witness"]["object"] is None]
    assert 0 < len(unproved) < len(cut["findings"]) == 40
    assert {each["witness"]["reason"] for each in unproved} == {
        "the work that a comparison may cost did not suffice to build an example object"
    }
    (undecided,) = cut["undecided"]
    assert undecided["path"] in {each["path"] for each in cut["findings"]}
    assert "the work of this comparison (" in undecided["reason"]
    assert " other places" in undecided["reason"]
    assert run("diff", old, new, "--format", "json").out == ran.out


def test_a_crd_with_many_changes_does_not_take_the_work_of_one_with_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one with few is the last by name; what is asked of it beside the proof is answered, too."""
    monkeypatch.setattr(budget, "STEPS", 300)
    for side, many, values in zip(("old", "new"), _enums(40), ("A", "AB"), strict=True):
        write(tmp_path / side / "a.yaml", many)
        write(tmp_path / side / "z.yaml", crd(root(status=obj(phase=string(*values))), kind="Zebra"))
    report = diff(tmp_path / "old", tmp_path / "new")
    assert {each["crd"] for each in report["undecided"]} == {"widgets.example.com"}
    (found,) = (each for each in report["findings"] if each["kind"] == "Zebra")
    assert found["witness"]["object"] is not None
    assert (found["severity"], found["because"]) == ("error", ["status", "named by the enum"])
    assert "status-update-touching" in found["writes"]


def _facts(finding: Json) -> tuple[str, ...]:
    return finding["id"], finding["rule"], finding["path"], finding["direction"], finding["effect"]


def test_a_budget_that_ends_while_schemas_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The equivalence of rules is a search of its own."""
    old, new = both(tmp_path, *BOMBS["many rules"].make(60))
    monkeypatch.setattr(budget, "STEPS", 100)
    report = diff(old, new)
    assert [(each["path"], each["keyword"]) for each in report["undecided"]] == [("spec.a", "x-kubernetes-validations")]
    assert "did not suffice" in report["undecided"][0]["reason"]


def test_changes_beyond_those_that_are_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema_walk, "MAX_CHANGES", 30)
    old, new = both(tmp_path, *_enums(40))
    ran = run("diff", old, new, "--format", "json")
    report = json.loads(ran.out)
    assert (ran.code, len(report["findings"])) == (2, 30)
    (undecided,) = report["undecided"]
    assert (undecided["path"], undecided["keyword"]) == ("spec.v030", "enum.value-added")
    assert undecided["reason"] == "more than 30 changes: this one and those after it are not judged"


def test_blocks_share_a_budget_and_nested_ones_end_with_the_outer() -> None:
    shared = Budget(10)
    with shared.spending():
        WORK.spend(6)
    with pytest.raises(OverBudgetError), shared.spending():
        WORK.spend(5)
    WORK.spend(1_000)  # outside of a block there is no limit
    with pytest.raises(OverBudgetError), Budget(5).spending(), Budget(50).spending():
        WORK.spend(6)
    WORK.spend(1_000)


def test_a_change_found_before_the_budget_ends_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the nodes were looked at before or not: the rest of the node is undecided."""
    real = schema_walk._changes

    def costly(site: Site, *, below: bool) -> Iterator[Change | Undecided]:
        yield from real(site, below=below)
        if site.path == ("p",):
            WORK.spend(1_000)

    monkeypatch.setattr(schema_walk, "_changes", costly)
    sides = Node(obj(p=string("A"))), Node(obj(p=string("A", "B")))
    known: schema_walk.AtNodes = {}
    assert not schema_walk.diff_schemas(*sides, Budget(1_000_000), known).undecided
    for seen in ({}, known):
        found = schema_walk.diff_schemas(*sides, Budget(500), seen)
        assert [change.kind for change in found.changes] == ["enum.value-added"]
        assert [each.path for each in found.undecided] == [("p",)]
