"""Real releases, read from git."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import contents

from crdcompat.errors import RefNotFoundError
from crdcompat.sources import open_source


def test_real_releases(openshift_api: Path) -> None:
    tree = open_source("release-4.13", repo=str(openshift_api))
    assert tree.notes == ("release-4.13 is read as origin/release-4.13",)
    assert tree.commit == "2d35a7caa629cb0970276029b871929bd800ccac"
    found = contents(tree)
    assert len(found) == len(list(tree.entries())) == 174
    with pytest.raises(RefNotFoundError) as caught:
        open_source("release-4.11", repo=str(openshift_api))
    assert "fetch origin release-4.11:refs/remotes/origin/release-4.11" in str(caught.value)
