"""No remark on CRDs of real releases."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import diff, remarks


@pytest.mark.parametrize("old", ["4.12", "4.13", "4.14", "4.15"])
def test_no_remark_on_real_releases(openshift_api: Path, old: str) -> None:
    assert remarks(diff(f"origin/release-{old}", "release-4.16", cwd=openshift_api)) == []
