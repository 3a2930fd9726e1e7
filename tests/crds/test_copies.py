"""Copies of one CRD that differ: each is compared with its counterpart, by folder, by content, by what is left over."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from helpers import Json, commit, crd, git, obj, root, run, string, write


def _copy(values: str) -> Json:
    """A CRD with an enum of letters in status; other letters are its description."""
    members = [letter for letter in values if letter.isupper()]
    text = {"description": values} if values != "".join(members) else {}
    return crd(root(status=obj(phase=string(*members, **text))))


def _sides(top: Path, old: Mapping[str, str], new: Mapping[str, str]) -> tuple[Path, Path]:
    """Two trees with copies: top folder and letters."""
    for name, side in (("old", old), ("new", new)):
        for folder, values in side.items():
            write(top / name / folder / "widget.yaml", _copy(values))
    return top / "old", top / "new"


def _rollback(report: Json) -> list[tuple[str, str]]:
    """The errors in rollback: the values of OLD and those that NEW adds."""
    found = (each for each in report["findings"] if (each["direction"], each["severity"]) == ("rollback", "error"))
    return sorted(("".join(each["old"]), "".join(each["added"])) for each in found)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        pytest.param({"config": "A", "bundle": "A"}, {"deploy": "AB", "bundle": "A"}, [("A", "B")], id="moved"),
        pytest.param({"config": "A"}, {"apart": "A", "deploy": "AB"}, [("A", "B")], id="moved and copied"),
        pytest.param({"config": "A", "bundle": "AB"}, {"deploy": "A", "bundle": "AB"}, [], id="moved as it is"),
        pytest.param(
            {"config": "A", "bundle": "AB"}, {"deploy": "AB", "bundle": "AB"}, [("A", "B")], id="moved, as another copy"
        ),
        pytest.param(
            {"config": "A", "bundle": "C"}, {"deploy": "AB", "charts": "C"}, [("A", "B")], id="two moved, one as it is"
        ),
        pytest.param(
            {"config": "A", "bundle": "A"}, {"config": "A", "bundle": "A", "deploy": "AB"}, [("A", "B")], id="added"
        ),
        pytest.param(
            {"config": "Atext", "bundle": "A"},
            {"config": "Atext", "bundle": "A", "deploy": "AB"},
            [("A", "B")],
            id="added beside copies that differ in texts",
        ),
        pytest.param(
            {"config": "A", "bundle": "C"},
            {"config": "AB", "bundle": "C", "deploy": "AB"},
            [("A", "B")],
            id="added as a copy",
        ),
        pytest.param({"config": "AB", "bundle": "A"}, {"config": "AB"}, [("A", "B")], id="removed"),
    ],
)
def test_copies_that_belong_together(
    tmp_path: Path, old: Mapping[str, str], new: Mapping[str, str], found: list[tuple[str, str]]
) -> None:
    ran = run("diff", *_sides(tmp_path, old, new), "--format", "json")
    assert (_rollback(ran.report), ran.code) == (found, 1 if found else 0)
    assert ran.report["summary"]["crds"]["unmatched"] == []
    verdict = run("matrix", "./old", "./new", "--format", "json", cwd=tmp_path).report["cells"]
    assert [each["verdict"] for each in verdict if each["direction"] == "rollback"] == ["blocked" if found else "clean"]


_TWO_MOVED = {"config": "A", "bundle": "C"}, {"deploy": "AB", "charts": "CD"}


@pytest.mark.parametrize(
    ("old", "new", "left"),
    [
        pytest.param(*_TWO_MOVED, (["bundle", "config"], ["charts", "deploy"]), id="two moved"),
        pytest.param(
            {"config": "A", "bundle": "C"},
            {"config": "A", "bundle": "C", "deploy": "AB"},
            (["bundle", "config"], ["deploy"]),
            id="added",
        ),
    ],
)
def test_copies_with_several_counterparts_are_not_compared(
    tmp_path: Path, old: Mapping[str, str], new: Mapping[str, str], left: tuple[list[str], list[str]]
) -> None:
    sides = _sides(tmp_path, old, new)
    ran = run("diff", *sides, "--format", "json")
    files = [[f"{folder}/widget.yaml" for folder in folders] for folders in left]
    assert ran.report["summary"]["crds"]["unmatched"] == [
        {"crd": "widgets.example.com", "old": files[0], "new": files[1]}
    ]
    assert (_rollback(ran.report), ran.code) == ([], 2)
    says = f"widgets.example.com: its copies differ, and nothing says which belong together: {', '.join(files[0])} in "
    assert says in ran.err
    assert says in run("diff", *sides, "-v").out.replace("\n    ", " ")
    cells = run("matrix", "./old", "./new", "--format", "json", cwd=tmp_path).report["cells"]
    assert {each["verdict"] for each in cells} == {"unknown"}


def _check(repo: Path, files: Mapping[str, str], code: int) -> list[tuple[str, str]]:
    git(repo, "rm", "-rqf", "--ignore-unmatch", ".")
    commit(repo, {f"{folder}/widget.yaml": _copy(values) for folder, values in files.items()})
    ran = run("check", "--base", "HEAD~1", "--format", "json", cwd=repo)
    assert ran.code == code, ran.err
    return [each for section in ran.report["sections"] for each in _rollback(section)]


def test_check_sees_copies_that_move(tmp_path: Path) -> None:
    git(tmp_path, "init", "-qb", "main")
    commit(tmp_path, {f"{folder}/widget.yaml": _copy("A") for folder in ("config", "bundle")})
    assert _check(tmp_path, {"deploy": "AB", "bundle": "A"}, 1) == [("A", "B")]
    assert _check(tmp_path, {"deploy": "ABC", "bundle": "A", "charts": "ABCD"}, 2) == [("AB", "C")]
    assert _check(tmp_path, {"deploy": "ABC", "bundle": "A", "charts": "ABCD", "copy": "A"}, 0) == []
