"""A pull request of real history, and no CI that says what its base is."""

from __future__ import annotations

import pytest

_CI = ("PRE_COMMIT_FROM_REF", "PRE_COMMIT_TO_REF", "PULL_BASE_SHA", "PULL_BASE_REF", "GITHUB_BASE_REF")


@pytest.fixture(autouse=True)
def _no_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*_CI, "CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
