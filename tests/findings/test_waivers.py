"""When a waiver has ended."""

from __future__ import annotations

from datetime import date

import pytest

from crdcompat.findings.waivers import Waiver
from crdcompat.vocabulary import Direction


def _until(end: str) -> Waiver:
    return Waiver("widgets.example.com", "v1", "spec.a", "enum-value-added", Direction.ROLLBACK, "known", until=end)


@pytest.mark.parametrize(
    ("end", "release", "ended"),
    [
        ("", "release-4.17", False),
        ("2027-01-30", "release-4.17", True),
        ("2027-01-31", "release-4.17", False),
        ("2027-02-01", "release-4.17", False),
        ("4.16", "release-4.17", True),
        ("4.17", "release-4.17", True),
        ("4.18", "release-4.17", False),
        ("4.9", "release-4.17", True),
        ("5.0", "release-4.17", False),
        ("4.17", "main", False),
    ],
)
def test_a_waiver_holds_through_its_last_day_and_up_to_its_release(end: str, release: str, ended: bool) -> None:
    assert _until(end).expired(date(2027, 1, 31), release) is ended


@pytest.mark.parametrize(
    ("end", "release", "unknown"),
    [("", "main", False), ("2027-01-31", "main", False), ("4.17", "release-4.17", False), ("4.17", "main", True)],
)
def test_the_end_of_a_waiver_is_unknown_on_a_branch_without_a_version(end: str, release: str, unknown: bool) -> None:
    assert _until(end).end_is_unknown(release) is unknown
