"""Suggested patches apply to real releases."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import PAIRS, apply_patch, git, run

import crdcompat


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_real_releases(old: str, new: str, openshift_api: Path, tmp_path: Path) -> None:
    patch = run("diff", f"release-{old}", f"release-{new}", "--suggest-patch", cwd=openshift_api)
    assert patch.err == "", patch.err
    tree = tmp_path / "old"
    git(openshift_api, "worktree", "add", "--detach", str(tree), f"origin/release-{old}")
    try:
        before = crdcompat.load(f"path:{tree}")
        apply_patch(patch.out, tree)
        after = crdcompat.load(f"path:{tree}")
        assert [str(problem) for problem in after.problems] == [str(problem) for problem in before.problems]
        loaded = crdcompat.load(f"release-{new}", repo=str(openshift_api))
        report = crdcompat.diff(after, loaded, directions=("rollback",))
        left = {(f.rule, f.crd, f.path) for f in report.findings if f.effect == "write-rejected"}
        assert left == set()
    finally:
        git(openshift_api, "worktree", "remove", "--force", str(tree))
