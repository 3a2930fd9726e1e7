"""Names of releases in a matrix: as short as they may be, and still different."""

from __future__ import annotations

import pytest

from crdcompat.models.matrix import MatrixReport
from crdcompat.models.release import Release
from crdcompat.render.wording.matrix import shortest_names


@pytest.mark.parametrize(
    ("names", "short"),
    [
        ("release-4.9 release-4.13", "4.9 4.13"),
        ("release-4.13 release-4.14 master", "4.13 4.14 master"),
        ("origin/release-4.13 origin/release-4.14 HEAD", "4.13 4.14 HEAD"),
        ("v1.2 v1.3 main", "v1.2 v1.3 main"),
        ("release-1.2 main", "release-1.2 main"),
        ("release-1.2 release-1.3 1.2", "release-1.2 release-1.3 1.2"),
        ("api-one api-two", "one two"),
    ],
)
def test_names_lose_what_stands_before_versions(names: str, short: str) -> None:
    releases = tuple(Release(name, None, None) for name in names.split())
    assert [*shortest_names(MatrixReport(releases, ())).values()] == short.split()
