"""The text of ``check`` on the change of the demo: short enough for a hook, in the words of a pull request."""

from __future__ import annotations

from pathlib import Path

import pytest
from changes import repository, widget
from helpers import commit, crd, git, obj, root, run, string

from crdcompat.package_data import data_dir

_QUIET = """\
error[enum-value-added] clusterversions.config.openshift.io/v1 status.capabilities.{enabled,known}Capabilities[*]
  --> crd.yaml:103:29
     103 + - MachineAPI
     104 + - Build
     105 + - DeploymentConfig
     106 + - ImageRegistry

This change: BLOCKED (rollback to the API before this change)
  ClusterVersion  status.capabilities.{enabled,known}Capabilities[*]
    this change adds "MachineAPI", "Build", "DeploymentConfig", "ImageRegistry"; the API before this change rejects
    them: the controller cannot write status
2 errors, 2 warnings, 0 info.
To fix it: Accept in release N, write in N+1: add the value to the enum one release before anything writes it, so that
    the release people roll back to knows it already. (crdcompat explain enum-value-added)
"""
_WARNINGS = """
warning[enum-value-added] clusterversions.config.openshift.io/v1 spec.capabilities.additionalEnabledCapabilities[*]
warning[enum-value-added] clusterversions.config.openshift.io/v1 spec.capabilities.baselineCapabilitySet
  -v shows all in full
"""


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """A repository whose last commit is the change of the demo."""
    repo = repository(tmp_path)
    for release in ("release-4.13", "release-4.14"):
        (file,) = (data_dir("fixtures") / "demo" / release).iterdir()
        (repo / "crd.yaml").write_bytes(file.read_bytes())
        git(repo, "add", "crd.yaml")
        git(repo, "commit", "-qm", release)
    return repo


def test_a_quiet_check_fits_a_hook(demo: Path) -> None:
    """The lines that changed, what the change does, what to do next: each once."""
    ran = run("check", "--base", "HEAD~1", "-q", cwd=demo)
    *lines, accept = ran.out.splitlines(keepends=True)
    assert (ran.code, "".join(lines)) == (1, _QUIET)
    assert accept.startswith("To accept it, then git add the waiver file: crdcompat waive ")
    assert len(lines) + 1 <= 15


def test_warnings_beside_an_error_are_a_line_each(demo: Path) -> None:
    text = run("check", "--base", "HEAD~1", cwd=demo).out
    assert _WARNINGS in text
    assert len(text.splitlines()) <= 34
    assert _WARNINGS not in run("check", "--base", "HEAD~1", "-v", cwd=demo).out


def test_warnings_alone_are_whole(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    for phases in ("AB", "A"):
        commit(repo, {"w.yaml": widget(*phases)})
    ran = run("check", "--base", "HEAD~1", cwd=repo)
    assert ran.code == 0 and "warning[enum-value-removed] widgets.example.com/v1 status.p\n  --> w.yaml:" in ran.out


def test_a_target_names_itself_and_not_the_change(tmp_path: Path) -> None:
    """A target can lack values that an earlier change has added."""
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    git(repo, "branch", "release-1")
    commit(repo, {"w.yaml": widget("A", "B")})
    targets = ("--target", "release-1", "--targets-only")
    text = run("check", "--base", "HEAD~1", *targets, "-q", cwd=repo).out
    assert "Against the rollback target release-1\n" in text
    assert '\n    release-1 rejects "B": the controller cannot write status\n' in text


def test_many_errors_keep_their_sentences(tmp_path: Path) -> None:
    """The verdict names the first four errors; the others are explained where they are."""
    repo = repository(tmp_path)
    for phases in ("A", "AB"):
        commit(repo, {f"{x}.yaml": crd(root(status=obj(**{x: string(*phases)})), kind=x.upper()) for x in "vwxyz"})
    text = run("check", "--base", "HEAD~1", "-q", cwd=repo).out
    assert "\n  and 1 more\n" in text
    assert text.count('  gained "B": after a rollback') == 5
