"""Suggested patches apply to real releases, and make OLD no laxer and no stricter than NEW needs."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

import pytest
from helpers import PAIRS, apply_patch, git, run

import crdcompat
from crdcompat.models.diff import DiffReport

_OTHERS = (
    ("cluster-api/v1.12.0", "cluster-api/v1.13.0"),
    ("crossplane/v1.17.0", "crossplane/v1.20.0"),
    ("external-secrets/v0.18.0", "external-secrets/v0.19.0"),
    ("http-add-on/v0.11.0", "http-add-on/v0.12.0"),
)
_BY_HAND = re.compile(r"^# \S+: (\w+) \((\w+)\) ?(\S*) has no widening that accepts only ", re.MULTILINE)


#: Each compares whole releases three times: `make fuzz` takes all.
_MOST = None if "CRDCOMPAT_FUZZ" in os.environ else 2


@pytest.mark.parametrize(("old", "new"), PAIRS[:_MOST])
def test_releases_of_openshift(old: str, new: str, openshift_api: Path, tmp_path: Path) -> None:
    _check(openshift_api, f"release-{old}", f"release-{new}", f"origin/release-{old}", tmp_path)


@pytest.mark.parametrize(("old", "new"), _OTHERS[:_MOST])
def test_releases_of_other_projects(old: str, new: str, projects: Path, tmp_path: Path) -> None:
    _check(projects, old, new, old, tmp_path)


def _check(repo: Path, old: str, new: str, commit: str, top: Path) -> None:
    patch = run("diff", old, new, "--suggest-patch", cwd=repo)
    assert patch.err == "", patch.err
    tree = top / "old"
    git(repo, "worktree", "add", "--detach", str(tree), commit)
    try:
        before = crdcompat.load(f"path:{tree}")
        loaded = crdcompat.load(new, repo=str(repo))
        found = crdcompat.diff(before, loaded)
        if "\n--- a/" in f"\n{patch.out}":
            apply_patch(patch.out, tree)
        after = crdcompat.load(f"path:{tree}")
        assert [str(problem) for problem in after.problems] == [str(problem) for problem in before.problems]
        report = crdcompat.diff(after, loaded)
        assert _facts(report) - _facts(found) == Counter()
        narrowed = crdcompat.diff(before, after, directions=("upgrade",)).findings
        assert [(f.rule, f.crd, f.path) for f in narrowed if f.effect in ("write-rejected", "crd-rejected")] == []
        assert _left(report) <= {(kind, version, path) for kind, version, path in _BY_HAND.findall(patch.out)}
    finally:
        git(repo, "worktree", "remove", "--force", str(tree))


def _facts(report: DiffReport) -> Counter[tuple[str, ...]]:
    """The findings by place and severity: a pattern that changed is one that narrowed, once it is joined with NEW's."""
    return Counter((f.direction, f.severity, f.crd, f.version, f.path) for f in report.findings)


def _left(report: DiffReport) -> set[tuple[str, str, str]]:
    """What OLD still refuses, of what a schema can make up for: a patch widens no CRD itself, and no transition."""
    return {
        (f.kind, f.version, f.path)
        for f in report.findings
        if f.direction == "rollback" and f.effect == "write-rejected" and f.owner != "crd"
    }
