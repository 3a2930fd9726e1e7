"""Waivers in the Go source of openshift/api: 4.14's ClusterVersion on 4.13's tree, the change that broke rollbacks."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from helpers import check, git
from offline import SHARED

BASE = ("--base", "origin/release-4.13")
CRD = "config/v1/0000_00_cluster-version-operator_01_clusterversion.crd.yaml"
GO = "config/v1/types_cluster_version.go"
_BUNDLE = SHARED / "data/incidents/openshift-api-master-2023-2024.bundle"
_FIELDS = ("known", "enabled")
MARKER = '// +crdcompat:ignore=enum-value-added,severity=error,reason="the operator keeps out, for now"'


@pytest.fixture
def pull_request(tmp_path: Path) -> Path:
    """A clone with Go source in which the 4.14 ClusterVersion is staged."""
    if not _BUNDLE.is_file():
        pytest.skip(f"needs {_BUNDLE}")
    clone = tmp_path / "pr"
    subprocess.run(["git", "clone", "--quiet", str(_BUNDLE), str(clone)], check=True)
    git(clone, "checkout", "--quiet", "-b", "work", "origin/release-4.13")
    git(clone, "checkout", "--quiet", "origin/release-4.14", "--", CRD, GO)
    return clone


def _mark(repo: Path, *declarations: str) -> dict[str, str]:
    """Put the marker above these declarations, and stage it; the place of each."""
    lines = (repo / GO).read_text().splitlines()
    for declared in declarations:
        at = next(index for index, line in enumerate(lines) if line.strip().startswith(declared))
        lines.insert(at, MARKER)
    (repo / GO).write_text("\n".join([*lines, ""]))
    git(repo, "add", GO)
    after = [line.strip() for line in lines]
    return {
        each: f"{GO}:{next(index for index, line in enumerate(after) if line.startswith(each))}"
        for each in declarations
    }


def test_a_marker_above_a_field_covers_this_field(pull_request: Path) -> None:
    assert check(pull_request, *BASE, code=1)["accepted_by_change"] == []
    first = _mark(pull_request, "KnownCapabilities []")
    report = check(pull_request, *BASE, code=1)
    assert [(each["path"], each["marker"]) for each in report["accepted_by_change"]] == [
        ("status.capabilities.knownCapabilities[*]", first["KnownCapabilities []"])
    ]
    _mark(pull_request, "EnabledCapabilities []")
    report = check(pull_request, *BASE, code=0)
    paths = {f"status.capabilities.{each}Capabilities[*]" for each in _FIELDS}
    assert {each["path"] for each in report["accepted_by_change"]} == paths
    assert (report["rules"], report["waivers"]) == ([], [])


def test_a_marker_above_a_type_covers_each_field_of_it_at_its_severity(pull_request: Path) -> None:
    place = _mark(pull_request, "type ClusterVersionCapability string")
    report = check(pull_request, *BASE, code=0)
    paths = {f"status.capabilities.{each}Capabilities[*]" for each in _FIELDS}
    # The markers say error: the warning of spec is worse than nothing, and covered, too.
    paths |= {"spec.capabilities.additionalEnabledCapabilities[*]"}
    accepted = {(each["path"], each["marker"]) for each in report["accepted_by_change"]}
    assert accepted == {(path, place["type ClusterVersionCapability string"]) for path in paths}
