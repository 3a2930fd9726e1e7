"""Versions that a release has and does not serve: their schemas judge no write, because a server answers 404."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Json, both, brief, crd, diff, obj, string, version

_STORED = version(obj(spec=obj(mode=string())))
_NOT_FOUND = ("warning", "version-served-changed", "")
_REFUSED = ("error", "enum-value-added", "status.phase")


def _beside(*values: str, served: bool) -> Json:
    """A CRD that stores v1, and has v1beta1, too."""
    return crd(
        versions=[_STORED, version(obj(status=obj(phase=string(*values))), "v1beta1", storage=False, served=served)]
    )


@pytest.mark.parametrize(
    ("in_old", "in_new", "rollback", "upgrade"),
    [
        (True, True, {_REFUSED}, set()),
        (True, False, {_REFUSED}, {_NOT_FOUND}),
        (False, True, {_NOT_FOUND}, set()),
        (False, False, set(), set()),
    ],
)
def test_a_value_comes_in_a_version(
    tmp_path: Path, in_old: bool, in_new: bool, rollback: set[tuple[str, ...]], upgrade: set[tuple[str, ...]]
) -> None:
    report = diff(*both(tmp_path, _beside("A", served=in_old), _beside("A", "B", served=in_new)))
    found: dict[str, set[tuple[str, ...]]] = {"rollback": set(), "upgrade": set()}
    for finding in report["findings"]:
        direction, severity, rule, _, path = brief(finding)
        found[direction].add((severity, rule, path))
    assert found == {"rollback": rollback, "upgrade": upgrade}
    windows = {finding["windows"]["old_crd_new_writer"] for finding in report["findings"] if finding["path"]}
    assert windows == ({"write-rejected"} if in_old else set())
    reasons = [each["reason"] for each in report["without_effect"] if each["change"] == "enum.value-added"]
    assert ("the version is not served there, so that no write is judged by its schema" in reasons) == (not in_old)


def test_losses_count_where_a_version_is_not_served(tmp_path: Path) -> None:
    """Objects that were stored in it are still read by its schema."""
    with_field = version(obj(spec=obj(size=string())), "v1beta1", storage=False, served=False)
    without = version(obj(spec=obj()), "v1beta1", storage=False, served=False)
    report = diff(*both(tmp_path, crd(versions=[_STORED, without]), crd(versions=[_STORED, with_field])))
    assert [brief(finding)[:3] for finding in report["findings"]] == [("rollback", "info", "property-added")]
