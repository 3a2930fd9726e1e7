"""Since when Default has what a change concerns, from the releases that are read anyway."""

from __future__ import annotations

from pathlib import Path

import pytest
from changes import repository
from helpers import Json, commit, crd, diff, git, obj, root, run, string, write

from crdcompat.crds.context import FEATURE_SET

_ONLY_PREVIEW = "TechPreviewNoUpgrade"


def _widget(*phases: str, sets: str = "Default", name: str = "p") -> Json:
    return crd(root(status=obj(**{name: string(*phases)})), annotations={FEATURE_SET: sets})


def _of(report: Json, path: str = "status.p") -> list[list[str]]:
    found = [each for each in report["findings"] if each["path"] == path and each["rule"] == "enum-value-added"]
    return [[reason for reason in each["because"] if reason.startswith("in Default")] for each in found]


def test_old_alone_is_read_by_diff(tmp_path: Path) -> None:
    for side, phases in (("old", "A"), ("new", "AB")):
        write(tmp_path / side / "w.yaml", _widget(*phases))
    assert _of(diff(tmp_path / "old", tmp_path / "new")) == [["in Default since old or before"]]


def test_without_feature_sets_nothing_is_said(tmp_path: Path) -> None:
    for side, phases in (("old", "A"), ("new", "AB")):
        write(tmp_path / side / "w.yaml", crd(root(status=obj(p=string(*phases)))))
    assert _of(diff(tmp_path / "old", tmp_path / "new")) == [[]]


@pytest.mark.parametrize(
    ("older", "newer", "expected"),
    [
        pytest.param(_widget("A"), _widget("A"), "in Default since release-1.1 or before", id="both"),
        pytest.param(_widget("A", name="q"), _widget("A"), "in Default since release-1.2", id="the newer one alone"),
        pytest.param(
            _widget("A", sets=_ONLY_PREVIEW), _widget("A"), "in Default since release-1.2", id="a preview before"
        ),
        pytest.param(_widget("A", name="q"), _widget("A", name="q"), "in Default not yet in release-1.2", id="none"),
    ],
)
def test_the_targets_are_read_by_check(tmp_path: Path, older: Json, newer: Json, expected: str) -> None:
    repo = repository(tmp_path)
    for name, made in (("release-1.1", older), ("release-1.2", newer)):
        commit(repo, {"w.yaml": made, "of.txt": name})
        git(repo, "branch", name)
    for phases in ("A", "AB"):
        commit(repo, {"w.yaml": _widget(*phases), "of.txt": phases})
    targets = ("--target", "release-1.1", "--target", "release-1.2")  # in any order
    report = run("check", "--base", "HEAD~1", *targets, "--all", "--format", "json", cwd=repo).report
    assert _of(report["sections"][0]) == [[expected]]


def test_the_older_releases_are_read_by_matrix(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    for name, made in (("a", _widget("A", name="q")), ("b", _widget("A")), ("c", _widget("A", "B"))):
        commit(repo, {"w.yaml": made})
        git(repo, "tag", name)
    report = run("matrix", "a", "b", "c", "--format", "json", cwd=repo).report
    assert "in Default since b" in str(report)
