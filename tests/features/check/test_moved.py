"""A change that only moves files: each path counts, because folders decide what ships and which copies are compared."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from changes import repository, widget
from helpers import commit, git, run

OLD, NEXT = widget("A"), widget("A", "B")
_PAYLOAD = "payload-manifests/crds/w.yaml"
_GROWN = ("rollback", "enum-value-added", "status.p")


def _found(repo: Path) -> tuple[int, set[tuple[str, str, str]]]:
    ran = run("check", "--base", "HEAD~1", "--head", "HEAD", "--format", "json", cwd=repo)
    found = {(f["direction"], f["rule"], f["path"]) for section in ran.report["sections"] for f in section["findings"]}
    return ran.code, found


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"next/w.yaml": NEXT, _PAYLOAD: OLD}, {"next/w.yaml": None, _PAYLOAD: NEXT}),
        ({"next/w.yaml": NEXT, _PAYLOAD: OLD}, {"next/w.yaml": OLD, _PAYLOAD: NEXT}),
        ({"a/w.yaml": OLD, "b/w.yaml": NEXT}, {"a/w.yaml": NEXT, "b/w.yaml": OLD}),
        ({"crds/w.yaml": OLD, "vendor/w.yaml": NEXT}, {"crds/w.yaml": NEXT, "vendor/w.yaml": OLD}),
    ],
    ids=["a promotion", "a payload and its source", "two copies", "a copy that does not ship"],
)
def test_contents_that_change_places(tmp_path: Path, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    repo = repository(tmp_path)
    commit(repo, before)
    commit(repo, after)
    code, found = _found(repo)
    assert (code, _GROWN in found) == (1, True)


def test_a_link_to_another_file(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    (repo / "w.yaml").symlink_to("versions/1.yaml")
    commit(repo, {"versions/1.yaml": OLD, "versions/2.yaml": NEXT, "other": "a"})
    (repo / "w.yaml").unlink()
    (repo / "w.yaml").symlink_to("versions/2.yaml")
    commit(repo, {"other": "b"})
    assert _found(repo)[0] == 1


def test_a_folder_behind_a_link(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    (repo / "crds").symlink_to("testdata/1")
    commit(repo, {"testdata/1/w.yaml": OLD, "testdata/2/w.yaml": NEXT, "other": "a"})
    (repo / "crds").unlink()
    (repo / "crds").symlink_to("testdata/2")
    commit(repo, {"other": "b"})
    code, found = _found(repo)
    assert (code, _GROWN in found) == (1, True)


def test_a_moved_file_without_effect(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"config/w.yaml": OLD, "a.yaml": "a: 1\n"})
    commit(repo, {"config/w.yaml": None, "manifests/w.yaml": OLD})
    assert _found(repo) == (0, set())
    commit(repo, {"a.yaml": None, "b.yaml": "a: 1\n"})
    report = run("check", "--base", "HEAD~1", "--head", "HEAD", "--format", "json", cwd=repo).report
    assert (report["sections"], report["verdict"]) == ([], "clean")


def test_a_further_copy_is_named(tmp_path: Path) -> None:
    """Which of the copies a cluster gets is not known: the one that both sides have is compared."""
    repo = repository(tmp_path)
    commit(repo, {"crds/a.yaml": OLD})
    commit(repo, {"crds/z.yaml": NEXT})
    report = run("check", "--base", "HEAD~1", "--head", "HEAD", "--format", "json", cwd=repo).report
    reason = "a further copy of widgets.example.com: crds/a.yaml is used"
    assert report["files"] == [{"file": "crds/z.yaml", "outcome": "not-judged", "reason": reason}]


@pytest.mark.parametrize("name", ["w.bak", "w.md", "old/w.txt"])
def test_a_crd_that_leaves_the_manifests(tmp_path: Path, name: str) -> None:
    repo = repository(tmp_path)
    commit(repo, {"crds/w.yaml": OLD, "a.yaml": "a: 1\n"})
    commit(repo, {"crds/w.yaml": None, f"crds/{name}": OLD})
    code, found = _found(repo)
    assert (code, {rule for _, rule, _ in found}) == (1, {"crd-removed"})


def test_a_submodule_that_a_kustomization_lists(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"kustomization.yaml": {"resources": ["sub/w.yaml"]}, "a.yaml": "a: 1\n"})
    git(repo, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    git(repo, "commit", "--quiet", "--message", "b")
    report = run("check", "--base", "HEAD~1", "--head", "HEAD", "--format", "json", cwd=repo).report
    assert report["verdict"] == "unknown"
