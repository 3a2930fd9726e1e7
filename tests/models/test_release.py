"""The skipped files of a comparison."""

from __future__ import annotations

from crdcompat.errors import Skipped
from crdcompat.models.release import sorted_skips


def test_skipped_files_have_one_order() -> None:
    """Also those that differ in content alone: the order of a set is another one in each run."""
    files = [Skipped("f", "why", content=name) for name in "abcdefgh"]
    assert sorted_skips(files[::-1], files[:2]) == tuple(files)
