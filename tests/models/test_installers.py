"""The verdict with each installer of a tree, where it differs from the verdict on CRDs that are replaced."""

from __future__ import annotations

from pathlib import Path

import pytest
from changes import repository
from helpers import Json, commit, crd, diff, obj, root, run, string, write

A, AB = (root(status=obj(p=string(*values))) for values in ("a", "ab"))
APPLY, CRDS, TEMPLATES, BUNDLE = (
    "config/crd/w.yaml",
    "chart/crds/w.yaml",
    "chart/templates/w.yaml",
    "bundle/manifests/w.yaml",
)
_AROUND = {
    "chart/Chart.yaml": "name: a\nversion: 1.0.0\n",
    "bundle/metadata/annotations.yaml": "annotations: {}\n",
}
BY = "by installer (docs/installers.md)"
Verdicts = set[tuple[str, str, str | None]]


def _sides(tmp_path: Path, old: dict[str, Json], new: dict[str, Json]) -> tuple[Path, Path]:
    for side, files in (("old", old), ("new", new)):
        for name, data in {**_AROUND, **{file: crd(schema) for file, schema in files.items()}}.items():
            write(tmp_path / side / name, data)
    return tmp_path / "old", tmp_path / "new"


def verdicts(tmp_path: Path, old: dict[str, Json], new: dict[str, Json], *args: str) -> Verdicts:
    report = diff(*_sides(tmp_path, old, new), *args)
    return {(each["installer"], each["direction"], each["verdict"]) for each in report.get("installers", ())}


def test_helm_touches_no_crd_in_crds(tmp_path: Path) -> None:
    """NEW's controllers write the value under OLD's CRD once the chart is upgraded; a rollback changes nothing."""
    same = {APPLY: A, CRDS: A}, {APPLY: AB, CRDS: AB}
    assert verdicts(tmp_path, *same) == {
        ("apply", "rollback", "blocked"),
        ("helm-crds", "rollback", "clean"),
        ("apply", "upgrade", "clean"),
        ("helm-crds", "upgrade", "blocked"),
    }


def test_the_other_way_round(tmp_path: Path) -> None:
    same = {APPLY: AB, CRDS: AB}, {APPLY: A, CRDS: A}
    assert verdicts(tmp_path, *same) == {
        ("apply", "rollback", "clean"),
        ("helm-crds", "rollback", "blocked"),
        ("apply", "upgrade", "blocked"),
        ("helm-crds", "upgrade", "clean"),
    }


def test_a_crd_that_an_upgrade_does_not_create(tmp_path: Path) -> None:
    old, new = _sides(tmp_path, {APPLY: A, CRDS: A}, {APPLY: A, CRDS: A})
    for file in ("config/crd/g.yaml", "chart/crds/g.yaml"):
        write(new / file, crd(A, kind="Gadget"))
    assert {(each["installer"], each["direction"], each["verdict"]) for each in diff(old, new)["installers"]} == {
        ("apply", "upgrade", "clean"),
        ("helm-crds", "upgrade", "blocked"),
    }


def test_a_crd_that_helm_deletes(tmp_path: Path) -> None:
    old, new = _sides(tmp_path, {APPLY: A, TEMPLATES: A}, {APPLY: A, TEMPLATES: A})
    for file in ("config/crd/g.yaml", "chart/templates/g.yaml"):
        write(new / file, crd(A, kind="Gadget"))
    assert {(each["installer"], each["verdict"]) for each in diff(old, new)["installers"]} == {
        ("helm-templates", "blocked"),
        ("apply", "clean"),
    }


def test_a_crd_that_helm_deletes_leaves_with_each_installer(tmp_path: Path) -> None:
    """MinIO 7 drops a kind: an upgrade with kubectl keeps objects that nobody watches, which is no clean one."""
    old, new = _sides(tmp_path, {APPLY: A, TEMPLATES: A}, {APPLY: A, TEMPLATES: A})
    for file in ("config/crd/g.yaml", "chart/templates/g.yaml"):
        write(old / file, crd(A, kind="Gadget"))
    report = diff(old, new)
    assert [(each["rule"], each["direction"]) for each in report["findings"]] == [("crd-deleted", "upgrade")]
    assert "installers" not in report


def test_a_copy_that_the_tree_sets_aside_has_no_verdict(tmp_path: Path) -> None:
    """The chart says what ships: the other copy is named as one that differs, and no installer is judged by it."""
    old, new = _sides(tmp_path, {APPLY: A, TEMPLATES: A}, {APPLY: A, TEMPLATES: AB})
    report = diff(old, new)
    assert [finding["rule"] for finding in report["findings"]] == ["enum-value-added"]
    assert "installers" not in report


def test_an_installer_is_not_clean_by_a_copy_that_was_set_aside(tmp_path: Path) -> None:
    """netobserv: the folder has other CRDs, and its copy of the one that changes differs from those that ship."""
    more = root(spec=obj(q=string()), status=obj(p=string("a")))
    old, new = _sides(tmp_path, {APPLY: more, TEMPLATES: A}, {APPLY: more, TEMPLATES: AB})
    for side in (old, new):
        for file in ("config/crd/g.yaml", "chart/templates/g.yaml", "bundle/manifests/g.yaml"):
            write(side / file, crd(A, kind="Gadget"))
    report = diff(old, new)
    assert [each["file"] for each in report["summary"]["superseded"]] == [APPLY]
    assert {(each["installer"], each["direction"], each["verdict"]) for each in report["installers"]} == {
        ("apply", "rollback", "blocked"),
        ("helm-templates", "rollback", "blocked"),
        ("olm-v0", "rollback", None),
    }


def test_olm_rolls_nothing_back(tmp_path: Path) -> None:
    assert verdicts(tmp_path, {BUNDLE: A}, {BUNDLE: AB}) == {("olm-v0", "rollback", None)}
    assert verdicts(tmp_path, {BUNDLE: A}, {BUNDLE: AB}, "--installer", "olm-v1") == set()


@pytest.mark.parametrize("file", [APPLY, TEMPLATES, "manifests/0000_10_w.crd.yaml"])
def test_nothing_is_said_where_nothing_differs(tmp_path: Path, file: str) -> None:
    assert verdicts(tmp_path, {file: A}, {file: AB}) == set()


def test_a_direction_that_was_not_judged(tmp_path: Path) -> None:
    assert verdicts(tmp_path, {CRDS: A}, {CRDS: AB}, "--direction", "rollback") == set()


def test_text(tmp_path: Path) -> None:
    _sides(tmp_path, {APPLY: A, CRDS: A, BUNDLE: A}, {APPLY: AB, CRDS: AB, BUNDLE: AB})
    ran = run("diff", "path:old", "path:new", cwd=tmp_path)
    assert [line for line in ran.out.splitlines() if "installer" in line] == [
        f"rollback {BY}: OLM v0: not supported; helm (crds/): CLEAN; kubectl apply: BLOCKED.",
        f"upgrade {BY}: OLM v0: CLEAN; helm (crds/): BLOCKED; kubectl apply: CLEAN.",
    ]


_TOLD = {
    ("apply", "rollback", "blocked"),
    ("helm-crds", "rollback", "clean"),
    ("apply", "upgrade", "clean"),
    ("helm-crds", "upgrade", "blocked"),
}


def _commits(tmp_path: Path) -> tuple[Path, str, str]:
    repo = repository(tmp_path)
    files = (
        {APPLY: crd(schema), CRDS: crd(schema), "chart/Chart.yaml": _AROUND["chart/Chart.yaml"]} for schema in (A, AB)
    )
    base, head = (commit(repo, each) for each in files)
    return repo, base, head


def test_check_and_matrix_say_the_same(tmp_path: Path) -> None:
    repo, base, head = _commits(tmp_path)
    check = run("check", "--base", base, "--head", head, "--target", base, "--format", "json", cwd=repo).report
    matrix = run("matrix", base, head, "--format", "json", cwd=repo).report
    for found in (
        [each for section in check["sections"] if section["against"] == "target" for each in section["installers"]],
        [each for cell in matrix["cells"] for each in cell["installers"]],
    ):
        assert {(each["installer"], each["direction"], each["verdict"]) for each in found} == _TOLD
    assert all({each["direction"] for each in cell["installers"]} == {cell["direction"]} for cell in matrix["cells"])


@pytest.mark.parametrize("name", ["text", "markdown", "html"])
def test_the_formats_of_check_and_matrix(tmp_path: Path, name: str) -> None:
    repo, base, head = _commits(tmp_path)
    for command in (("diff", base, head), ("check", "--base", base, "--head", head), ("matrix", base, head)):
        ran = run(*command, "--format", name, cwd=repo)
        lines = [line for line in ran.out.splitlines() if "installer (docs/installers.md)" in line.replace("\\", "")]
        assert len(lines) >= 2, ran.out
