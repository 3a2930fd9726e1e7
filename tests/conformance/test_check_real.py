"""check on the real history of openshift/api."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from helpers import Json, check, git, run

CV = "config/v1/0000_00_cluster-version-operator_01_clusterversion.crd.yaml"


CAPABILITIES = ["MachineAPI", "Build", "DeploymentConfig", "ImageRegistry"]


#: What the 4.14 ClusterVersion does on 4.13's tree: (direction, rule, path, severity, line in OLD, line in NEW).
FOUND = [
    ("rollback", "enum-value-added", "status.capabilities.enabledCapabilities[*]", "error", 186, 200),
    ("rollback", "enum-value-added", "status.capabilities.knownCapabilities[*]", "error", 202, 220),
    ("rollback", "enum-value-added", "spec.capabilities.additionalEnabledCapabilities[*]", "warning", 65, 74),
    ("rollback", "enum-value-added", "spec.capabilities.baselineCapabilitySet", "warning", 78, 87),
    ("upgrade", "cel-rule-added", "", "warning", 35, 445),
]


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


def brief(section: Json, *, status: str = "new") -> list[tuple[Any, ...]]:
    return [
        (f["direction"], f["rule"], f["path"], f["severity"], *(place["line"] for place in f["locations"]))
        for f in section["findings"]
        if f["status"] == status
    ]


BASE = ("--base", "origin/release-4.13")


def test_a_pull_request_in_the_index_in_the_working_tree_and_committed(pull_request: Path) -> None:
    reports = [check(pull_request, *BASE, code=1)]
    git(pull_request, "reset", "--quiet")
    assert check(pull_request, *BASE, code=0)["sections"] == []  # the index is 4.13's again
    reports.append(check(pull_request, *BASE, "--head", "worktree:", code=1))
    git(pull_request, "commit", "--quiet", "-am", "capabilities")
    reports.append(check(pull_request, *BASE, "--head", "HEAD", code=1))
    for report in reports:
        section, target = report["sections"]
        assert [section["against"], target["old"]["name"]] == ["base", "release-4.12"]
        assert brief(section) == FOUND
        assert section["findings"][0]["added"] == CAPABILITIES
        assert (section["old"]["name"], section["old"]["kubernetes"]) == ("release-4.13", "1.26")
        assert report["summary"]["findings"] == {"error": 2, "warning": 3, "info": 0}


@pytest.mark.parametrize(
    "environment",
    [
        {"PULL_BASE_SHA": "<4.13>", "PULL_BASE_REF": "release-4.13"},
        {"GITHUB_BASE_REF": "release-4.13"},
        {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "release-4.13"},
        {"PRE_COMMIT_FROM_REF": "<4.13>", "PRE_COMMIT_TO_REF": "HEAD"},
        {"GITHUB_BASE_REF": "", "PULL_BASE_SHA": "<4.13>"},
    ],
    ids=lambda environment: "+".join(environment),
)
def test_where_ci_says_what_the_base_is(
    pull_request: Path, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
) -> None:
    git(pull_request, "commit", "--quiet", "-am", "capabilities")
    base = git(pull_request, "rev-parse", "origin/release-4.13")
    for name, value in environment.items():
        monkeypatch.setenv(name, value.replace("<4.13>", base))
    section, target = check(pull_request, code=1)["sections"]
    assert (brief(section), target["old"]["name"]) == (FOUND, "release-4.12")


def test_what_stood_before_against_a_target_is_existing(pull_request: Path) -> None:
    (pull_request / ".crdcompat.yaml").write_text("rollback_targets: {release-4.13: [release-4.12]}\n")
    report = check(pull_request, *BASE, code=1)
    base, target = report["sections"]
    assert (base["against"], target["against"], target["old"]["name"]) == ("base", "target", "release-4.12")
    assert brief(base) == FOUND
    fresh = [finding for finding in target["findings"] if finding["status"] == "new"]
    assert [(f["path"], f["added"]) for f in fresh if f["severity"] == "error"] == [
        ("status.capabilities.enabledCapabilities[*]", CAPABILITIES),
        ("status.capabilities.knownCapabilities[*]", CAPABILITIES),
    ]
    there = [f for f in target["findings"] if f["path"].endswith("knownCapabilities[*]") and f["status"] == "existing"]
    assert [finding["added"] for finding in there] == [["NodeTuning"]]
    for finding in (*fresh, *there):
        if finding["rule"] == "enum-value-added":
            assert finding["witness"]["object"] is not None
            assert any(f'"{finding["added"][0]}"' in error for error in finding["witness"]["errors"])
    # One change that breaks two releases is one finding.
    assert report["summary"]["findings"]["error"] == 2
    assert target["summary"]["findings"]["existing"] == len(target["findings"]) - len(fresh)


def test_a_release_that_the_map_does_not_name(pull_request: Path) -> None:
    (pull_request / ".crdcompat.yaml").write_text("rollback_targets: {release-4.14: [release-4.13]}\n")
    report = check(pull_request, *BASE, code=1)
    assert len(report["sections"]) == 1
    assert any("does not name 'release-4.13'" in note for note in report["notes"])


def test_moved_files_have_no_finding(pull_request: Path) -> None:
    """Each path counts, so that the files are compared; nothing came of the move."""
    git(pull_request, "reset", "--quiet", "--hard")
    git(pull_request, "mv", "config/v1", "config/elsewhere")
    report = check(pull_request, *BASE, code=0)
    assert [f for section in report["sections"] for f in section["findings"] if f["status"] == "new"] == []
    assert {each["outcome"] for each in report["files"] if each["file"].endswith(".crd.yaml")} == {"judged"}
    quiet = run("check", *BASE, "-q", cwd=pull_request)
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


def test_waivers_over_their_life(pull_request: Path) -> None:
    """The pull request passes with waivers, fails after their end, and for a value they do not name."""
    report = check(pull_request, *BASE, code=1)
    ids = [f["id"] for f in report["sections"][0]["findings"] if f["severity"] == "error"]
    waived = run("waive", *ids, "--base", BASE[1], "--reason", "cluster-version-operator keeps out", cwd=pull_request)
    assert waived.code == 0, waived.err
    file = pull_request / ".crdcompat-waivers.yaml"
    text = file.read_text()
    passed = check(pull_request, *BASE, code=0)
    found = passed["sections"][0]["findings"]
    assert [f["waiver"]["reason"] for f in found if f["waiver"]] == ["cluster-version-operator keeps out"] * 2
    assert passed["summary"]["findings"]["error"] == 0

    file.write_text(text.replace("reason:", "until: '2020-01-31'\n    reason:"))
    late = check(pull_request, *BASE, code=1)
    assert late["summary"]["findings"]["error"] == 2
    assert late["waivers"] == []
    assert [line.count("a waiver that has expired (until 2020-01-31)") for line in late["rules"]] == [1, 1]

    file.write_text(text)
    crd_file = pull_request / CV
    crd_file.write_text(re.sub(r"(?m)^( *)- ImageRegistry$", r"\g<0>\n\1- Ingress", crd_file.read_text()))
    git(pull_request, "add", "-A")
    more = check(pull_request, *BASE, code=1)
    errors = [f for f in more["sections"][0]["findings"] if f["severity"] == "error" and f["waiver"] is None]
    assert {tuple(f["added"]) for f in errors} == {("Ingress",)}
    assert all('"Ingress"' in f["witness"]["errors"][0] for f in errors)
    lines = crd_file.read_text().splitlines()
    for finding in errors:
        (place,) = (place for place in finding["locations"] if place["side"] == "new")
        assert lines[place["line"] - 1][place["column"] - 1 :] == "Ingress"
