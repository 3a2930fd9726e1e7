"""PATH limits what is read: files below it, and others that name a CRD found there."""

from __future__ import annotations

from pathlib import Path

from helpers import brief, crd, diff, obj, run, string, write

_A, _AB = (crd(obj(status=obj(phase=string(*phases)))) for phases in ("A", "AB"))
_GADGET = crd(obj(status=obj(phase=string("A"))), kind="Gadget")
_BROKEN = "kind: CustomResourceDefinition\nspec: [\n"


def _sides(tmp_path: Path) -> tuple[Path, Path]:
    """Widget lies elsewhere in OLD; a file outside of the path cannot be read."""
    write(tmp_path / "old/before/w.yaml", _A)
    write(tmp_path / "new/config/w.yaml", _AB)
    for side in ("old", "new"):
        write(tmp_path / side / "other/broken.yaml", _BROKEN)
        write(tmp_path / side / "other/g.yaml", _GADGET)
    return tmp_path / "old", tmp_path / "new"


def test_files_elsewhere_that_name_no_crd_of_the_path_are_not_read(tmp_path: Path) -> None:
    sides = _sides(tmp_path)
    assert run("diff", *sides).code == 2
    report = diff(*sides, "config")
    assert [brief(finding)[:4] for finding in report["findings"]] == [
        ("rollback", "error", "enum-value-added", "widgets.example.com")
    ]
    assert report["summary"]["crds"]["old"] == report["summary"]["crds"]["new"] == 1
    assert report["summary"]["problems"] == []


_HIDDEN = 'kind: CustomResourceDefinition\nname: "widg\\x65ts.example.com"\nspec: [\n'


def test_a_file_that_may_hide_the_name_is_read(tmp_path: Path) -> None:
    sides = _sides(tmp_path)
    write(tmp_path / "old/other/hidden.yaml", _HIDDEN)
    ran = run("diff", *sides, "config", "--format", "json")
    assert ran.code == 2
    assert [problem["file"] for problem in ran.report["summary"]["problems"]] == ["other/hidden.yaml"]


def test_a_path_without_crds(tmp_path: Path) -> None:
    ran = run("diff", *_sides(tmp_path), "nowhere")
    assert ran.code == 2
    assert "nothing to compare: no CRD of both sides has a file below nowhere" in ran.err


def test_a_single_file_is_read_whole(tmp_path: Path) -> None:
    _, new = _sides(tmp_path)
    assert [brief(finding)[2] for finding in diff(tmp_path / "old/before/w.yaml", new, "config")["findings"]] == [
        "enum-value-added"
    ]
