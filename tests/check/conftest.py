"""A pull request of real history, and no CI that says what its base is."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from changes import CV
from helpers import git

_CI = ("PRE_COMMIT_FROM_REF", "PRE_COMMIT_TO_REF", "PULL_BASE_SHA", "PULL_BASE_REF", "GITHUB_BASE_REF")


@pytest.fixture(autouse=True)
def _no_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*_CI, "CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def pull_request(openshift_api: Path, tmp_path: Path) -> Path:
    """A clone in which the 4.14 ClusterVersion is staged on 4.13's tree."""
    clone = tmp_path / "pr"
    subprocess.run(["git", "clone", "--quiet", str(openshift_api), str(clone)], check=True)
    git(clone, "config", "user.email", "a@example.com")
    git(clone, "config", "user.name", "A")
    for name in ("4.12", "4.13", "4.14"):
        tip = git(openshift_api, "rev-parse", f"refs/remotes/origin/release-{name}")
        git(clone, "fetch", "--quiet", str(openshift_api), f"{tip}:refs/remotes/origin/release-{name}")
    git(clone, "checkout", "--quiet", "-b", "work", "origin/release-4.13")
    git(clone, "checkout", "--quiet", "origin/release-4.14", "--", CV)
    return clone
