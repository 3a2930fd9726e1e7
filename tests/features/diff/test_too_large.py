"""CRDs with more rules and schemas than a comparison reads: problems of both sides, and other CRDs are compared."""

from __future__ import annotations

from pathlib import Path

from helpers import Json, crd, obj, root, run, string, write

_RULES = "x-kubernetes-validations"
_NAME = "larges.example.com"


def _rules(count: int, value: str) -> Json:
    rules = [{"rule": f"self != '{value}{number}'"} for number in range(count)]
    return crd(root(spec=obj(a={**string(), "maxLength": 9, _RULES: rules})), kind="Large")


def _branches(count: int, least: int) -> Json:
    branches = [{"properties": {"a": {"minLength": least, "maxLength": 9 + number}}} for number in range(count)]
    return crd(root(spec={**obj(a=string()), "allOf": branches}), kind="Large")


def _sides(tmp_path: Path, old: Json | None, new: Json | None) -> tuple[Path, Path]:
    """Two folders with a large CRD, and one before and one after it that lose an enum's value at a rollback."""
    for side, large, values in (("old", old, ("A",)), ("new", new, ("A", "B"))):
        for kind in ("Before", "Widget"):
            write(tmp_path / side / f"{kind}.yaml", crd(root(spec=obj(), status=obj(p=string(*values))), kind=kind))
        if large is not None:
            write(tmp_path / side / "large.json", large)
    return tmp_path / "old", tmp_path / "new"


def _found(old: Path, new: Path, *args: str) -> tuple[set[tuple[str, str]], list[tuple[str, str, str]]]:
    """The findings, and the problems; the exit code is 2 if there is a problem."""
    ran = run("diff", old, new, *args, "--format", "json")
    report = ran.report
    assert ran.code == (2 if report["summary"]["problems"] else 1), ran.err
    found = {(each["crd"], each["rule"]) for each in report["findings"]}
    return found, [(each["file"], each["side"], each["message"]) for each in report["summary"]["problems"]]


_OTHERS = {("befores.example.com", "enum-value-added"), ("widgets.example.com", "enum-value-added")}


def test_rules(tmp_path: Path) -> None:
    old, new = _sides(tmp_path, _rules(1_500, "x"), _rules(1_500, "y"))
    found, problems = _found(old, new)
    text = (
        f"the two sides of {_NAME} are too large for one comparison: they count 34,739, and 20,801 of 20,823 are left "
        "(3,000 CEL rules count 10 each, and 1 for each 25 of their 42,780 bytes; 3,028 schemas that are not plain "
        "count 1 each)"
    )
    assert found == _OTHERS
    assert problems == [("large.json", "new", text)]
    ran = run("diff", old, new, "--direction", "upgrade")
    assert (ran.code, f"could not compare large.json (new): {text}" in " ".join(ran.out.split())) == (2, True), ran.out
    assert "**Could not be read or compared:**" in run("diff", old, new, "--format", "markdown").out
    # A filter by name leaves the large CRD alone.
    assert _found(old, new, "--crd", "widgets.example.com") == (
        {("widgets.example.com", "enum-value-added")},
        [],
    )


def test_schemas(tmp_path: Path) -> None:
    old, new = _sides(tmp_path, _branches(5_500, 1), _branches(5_500, 2))
    found, problems = _found(old, new)
    assert found == _OTHERS
    assert [(file, side) for file, side, _ in problems] == [("large.json", "new")]


def test_on_one_side(tmp_path: Path) -> None:
    old, new = _sides(tmp_path, None, _rules(3_000, "x"))
    found, problems = _found(old, new)
    assert found == _OTHERS
    assert [(file, side) for file, side, _ in problems] == [("large.json", "new")]


def test_what_does_not_differ_is_no_load(tmp_path: Path) -> None:
    old, new = _sides(tmp_path, _rules(3_000, "x"), _rules(3_000, "x"))
    assert _found(old, new) == (_OTHERS, [])


def test_crds_that_fit_are_compared(tmp_path: Path) -> None:
    """The loads of the CRDs of a comparison count together."""
    old, new = _sides(tmp_path, _rules(300, "x"), _rules(300, "y"))
    found, problems = _found(old, new)
    assert found > _OTHERS
    assert problems == []
