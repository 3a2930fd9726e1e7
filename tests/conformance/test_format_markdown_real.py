"""Markdown reports of real releases."""

from __future__ import annotations

from pathlib import Path

from helpers import run
from report_samples import LIMIT


def test_real_releases(openshift_api: Path) -> None:
    ran = run("diff", "release-4.13", "release-4.14", "--format", "markdown", cwd=openshift_api)
    assert len(ran.out) < LIMIT
    assert "<summary>enum-value-added (rollback) <code>clusterversions.config.openshift.io/v1 " in ran.out
    assert "left out" not in ran.out
