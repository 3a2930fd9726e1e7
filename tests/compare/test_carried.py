"""Outcomes that a matrix carries from pair to pair: they save a search, and each is judged on its own pair."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers import Json, array, crd, obj, prove, root, run, string, write
from msgspec.structs import replace

from crdcompat.compare import witness
from crdcompat.compare.trial_book import TrialBook
from crdcompat.vocabulary import Direction, Effect

#: The rule of the first three releases, and one that refuses other updates.
FIXED = {"x-kubernetes-validations": [{"rule": "self == oldSelf"}]}


def releases(at: Path, **schemas: Json) -> list[str]:
    for name, schema in schemas.items():
        write(at / name / "w.yaml", crd(root(status=schema)))
    return [*schemas]


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Direction]]:
    """The changes that are proved by a search from now on."""
    found: list[tuple[str, Direction]] = []
    real = witness._prove

    def counted(change: Any, direction: Direction, *others: Any) -> witness.Outcome:
        outcome = real(change, direction, *others)
        if outcome.witness.object is not None:
            found.append((change.kind, direction))
        return outcome

    monkeypatch.setattr(witness, "_prove", counted)
    return found


def cells(at: Path, *names: str) -> dict[tuple[str, str], list[Json]]:
    """The findings of each cell."""
    report = run("matrix", *names, "--format", "json", "--no-cache", cwd=at).report
    found = {}
    for cell in report["cells"]:
        rows = [report["findings"][each["finding"]] for each in cell["findings"]]
        found[cell["from"], cell["to"]] = [{**row, "direction": cell["direction"]} for row in rows]
    return found


def alone(at: Path, *names: str) -> dict[tuple[str, str], list[str]]:
    """What a diff of each pair finds without the others, without its examples."""
    found: dict[tuple[str, str], list[str]] = {}
    for index, old in enumerate(names):
        for new in names[index + 1 :]:
            report = run("diff", old, new, "--format", "json", "--no-cache", cwd=at).report
            for each in report["findings"]:
                key = (new, old) if each["direction"] == "rollback" else (old, new)
                found.setdefault(key, []).append(said(each))
    return {key: sorted(rows) for key, rows in found.items()}


def said(finding: Json) -> str:
    kept = ("rule", "severity", "path", "old", "new", "added", "removed", "effect")
    return repr([finding[key] for key in kept])


def test_an_equal_change_is_proved_once(tmp_path: Path, searches: list[tuple[str, Direction]]) -> None:
    names = releases(
        tmp_path,
        a=obj(p=string("A")),
        b=obj(p=string("A", "B")),
        c=obj(p=string("A", "B"), q=string()),
        d=obj(p=string("A", "B"), r=string()),
    )
    found = cells(tmp_path, *names)
    assert {key: sorted(map(said, rows)) for key, rows in found.items() if rows} == alone(tmp_path, *names)
    searches.clear()
    cells(tmp_path, *names)
    assert searches.count(("enum.value-added", Direction.ROLLBACK)) == 1


def test_an_object_that_shows_nothing_here_is_not_carried(
    tmp_path: Path, searches: list[tuple[str, Direction]]
) -> None:
    """The object of the first pair lacks what the writer of the second one requires."""
    names = releases(
        tmp_path,
        a=obj(p=string("A")),
        b=obj(p=string("A", "B")),
        c={**obj(p=string("A", "B"), q=string()), "required": ["q"]},
    )
    found = cells(tmp_path, *names)
    (finding,) = [each for each in found["c", "a"] if each["rule"] == "enum-value-added"]
    assert finding["witness"]["object"]["status"].keys() == {"p", "q"}
    assert searches.count(("enum.value-added", Direction.ROLLBACK)) == 2
    prove(finding, _crd(tmp_path, "a"), _crd(tmp_path, "c"))


def test_an_object_with_another_fault_here_is_not_carried(tmp_path: Path) -> None:
    """The second reader refuses a value of the first object that the change does not concern."""
    written = {**obj(p=string("A", "B"), q=string("X", "Y")), "required": ["q"]}
    names = releases(tmp_path, a=obj(p=string("A"), q=string("X", "Y")), b=obj(p=string("A"), q=string("Y")), c=written)
    found = cells(tmp_path, *names)
    values = {
        key: [row["witness"]["object"]["status"] for row in rows if row["path"] == "status.p"]
        for key, rows in found.items()
    }
    assert values["c", "a"] == [{"p": "B", "q": "X"}]
    assert values["c", "b"] == [{"p": "B", "q": "Y"}]


def test_what_the_reader_does_besides_is_said_of_this_reader(tmp_path: Path) -> None:
    written = {**obj(r=string(), q=string()), "required": ["q"]}
    names = releases(tmp_path, a=obj(q=string()), b=obj(z=string()), c=written)
    found = cells(tmp_path, *names)
    pruned = {
        key: [row["witness"]["pruned"] for row in rows if row["path"] == "status.r"] for key, rows in found.items()
    }
    assert pruned["c", "a"] == [["status.r"]]
    assert [sorted(each) for each in pruned["c", "b"]] == [["status.q", "status.r"]]


def test_several_values_are_each_proved(tmp_path: Path) -> None:
    """In the second pair one of the two values is impossible: the labels of the first pair do not count."""
    either = {**obj(p=string("A", "B", "C")), "x-kubernetes-validations": [{"rule": "!has(self.p) || self.p != 'C'"}]}
    names = releases(tmp_path, a=obj(p=string("A")), b=obj(p=string("A", "B", "C")), c=either)
    found = cells(tmp_path, *names)
    added = {key: [row["added"] for row in rows if row["rule"] == "enum-value-added"] for key, rows in found.items()}
    assert added["b", "a"] == [["B", "C"]]
    assert added["c", "a"] == [["B"]]


def test_an_update_is_carried(tmp_path: Path, searches: list[tuple[str, Direction]]) -> None:
    names = releases(
        tmp_path,
        a=obj(p={**string(), **FIXED}),
        b=obj(p=string()),
        c=obj(p=string(), q=array(string())),
    )
    found = cells(tmp_path, *names)
    assert {key: sorted(map(said, rows)) for key, rows in found.items() if rows} == alone(tmp_path, *names)
    searches.clear()
    cells(tmp_path, *names)
    assert searches.count(("cel.transition-rule-removed", Direction.ROLLBACK)) == 1


def test_the_effect_is_the_one_that_is_shown_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the first reader only prunes, the second one may refuse."""
    found: list[Any] = []
    real = witness._prove

    def seen(change: Any, direction: Direction, pair: Any, *others: Any) -> witness.Outcome:
        found.append((change, direction, pair, real(change, direction, pair, *others)))
        return found[-1][-1]

    monkeypatch.setattr(witness, "_prove", seen)
    cells(tmp_path, *releases(tmp_path, a=obj(p=string("A")), b=obj(p=string("A", "B"))))
    (about,) = [each for each in found if each[3].effect is Effect.WRITE_REJECTED]
    carried = witness._carried(replace(about[3], effect=Effect.VALUE_PRUNED), *about[:3])
    assert carried == about[3]


def test_a_comparison_alone_carries_nothing() -> None:
    book = TrialBook()
    book.carry(("key",), "outcome")
    assert not book.earlier
    book.turn()
    assert book.earlier == {("key",): "outcome"}
    book.carry(("other",), "late")
    assert TrialBook(book).earlier == {("key",): "outcome", ("other",): "late"}


def _crd(at: Path, name: str) -> Json:
    loaded: Json = yaml.safe_load((at / name / "w.yaml").read_text())
    return loaded
