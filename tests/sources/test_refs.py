"""Where the sides of a comparison come from: refs, clones, worktrees, folders."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from helpers import Json, commit, diff, git, run, write
from variants import variant


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """main has the new value, release-1 (and the tag v1.0) has not; the file was moved between."""
    path = tmp_path / "repo"
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    commit(path, {"crds/widget.yaml": variant("A"), "README.md": "x"})
    git(path, "branch", "release-1")
    git(path, "tag", "v1.0")
    git(path, "tag", "-am", "the same", "annotated")
    commit(path, {"crds/widget.yaml": None, "deploy/all/w.yaml": variant("A", "B")})
    return path


def _added(report: Json) -> list[str]:
    return [value for finding in report["findings"] for value in finding["added"]]


@pytest.mark.parametrize(
    "old", ["release-1", "v1.0", "annotated", "HEAD~1", "main^", "refs/heads/release-1", "git:v1.0"]
)
def test_refs(repo: Path, old: str) -> None:
    report = diff(old, "main", cwd=repo)
    assert _added(report) == ["B"]
    assert report["old"]["commit"] == git(repo, "rev-parse", "release-1")
    assert report["old"]["name"] == old


def test_commits_by_id(repo: Path) -> None:
    first, second = git(repo, "rev-parse", "release-1"), git(repo, "rev-parse", "main")
    assert _added(diff(first, second[:10], cwd=repo)) == ["B"]


def test_a_branch_of_the_remote_only(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(repo), "clone")
    for name in ("release-1", "origin/release-1"):
        report = diff(name, "main", cwd=tmp_path / "clone")
        assert _added(report) == ["B"]
    assert diff("release-1", "main", cwd=tmp_path / "clone")["old"]["notes"] == [
        "release-1 is read as origin/release-1"
    ]


def test_repo_option(repo: Path, tmp_path: Path) -> None:
    assert _added(diff("release-1", "main", "--repo", repo, cwd=tmp_path)) == ["B"]


def test_a_ref_against_a_path(repo: Path, tmp_path: Path) -> None:
    written = write(tmp_path / "elsewhere" / "x.yaml", variant("A", "B", "C"))
    assert _added(diff("release-1", written, cwd=repo)) == ["B", "C"]
    assert _added(diff("release-1", "path:deploy", cwd=repo)) == ["B"]
    assert _added(diff("git:release-1", "worktree:", cwd=repo)) == ["B"]
    assert _added(diff("git:release-1", "index:", cwd=repo)) == ["B"]


def test_bare_mirror_without_a_config_file(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--mirror", str(repo), "mirror.git")
    (tmp_path / "mirror.git" / "config").unlink()
    assert _added(diff("release-1", "main", "--repo", tmp_path / "mirror.git")) == ["B"]
    assert _added(diff("release-1", "main", cwd=tmp_path / "mirror.git")) == ["B"]


def test_shallow_clone(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth", "1", "--no-single-branch", f"file://{repo}", "shallow")
    report = diff("origin/release-1", "main", cwd=tmp_path / "shallow")
    assert _added(report) == ["B"]
    ran = run("diff", "HEAD~1", "main", cwd=tmp_path / "shallow")
    assert ran.code == 2
    assert "shallow" in ran.err


def test_linked_worktree(repo: Path, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "-q", "--detach", str(tmp_path / "linked"), "release-1")
    assert _added(diff("release-1", "main", cwd=tmp_path / "linked")) == ["B"]
    assert _added(diff("worktree:", "main", cwd=tmp_path / "linked")) == ["B"]


def test_from_a_folder_below(repo: Path) -> None:
    assert _added(diff("release-1", "main", cwd=repo / "deploy")) == ["B"]


def test_a_ref_that_is_a_path_too(repo: Path) -> None:
    write(repo / "release-1" / "w.yaml", variant("A", "B", "Q"))
    report = diff("release-1", "main", cwd=repo)
    assert _added(report) == ["B"]
    assert "git ref and a path" in " ".join(report["old"]["notes"])


def test_nothing_is_written_into_the_repository(repo: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in repo.rglob("*") if path.is_file()}
    diff("release-1", "main", cwd=repo)
    assert {path: path.stat().st_mtime_ns for path in repo.rglob("*") if path.is_file()} == before


def test_the_copied_repository_gives_the_same_report(repo: Path, tmp_path: Path) -> None:
    shutil.copytree(repo, tmp_path / "copy")
    here, there = (diff("release-1", "main", cwd=path) for path in (repo, tmp_path / "copy"))
    assert json.dumps(here) == json.dumps(there)


@pytest.mark.parametrize(
    ("paths", "count"), [(["deploy"], 1), (["crds"], 1), (["./crds/"], 1), (["crds/widget.yaml"], 1)]
)
def test_paths_choose_by_the_files_of_either_side(repo: Path, paths: list[str], count: int) -> None:
    assert len(diff("release-1", "main", *paths, cwd=repo)["findings"]) == count


def test_paths_that_choose_nothing(repo: Path) -> None:
    ran = run("diff", "release-1", "main", "elsewhere", cwd=repo)
    assert ran.code == 2
    assert "elsewhere" in ran.err
