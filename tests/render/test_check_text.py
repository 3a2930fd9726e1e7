"""The text of ``check`` on the change of the demo: short enough for a hook, in the words of a pull request."""

from __future__ import annotations

from json import dumps
from pathlib import Path

import pytest
from changes import repository, widget
from helpers import commit, crd, git, obj, root, run, string

from crdcompat.package_data import data_dir

_SHORT = """\
This change: BLOCKED (rollback to the API before this change)
crd.yaml:103:29: error[enum-value-added] ClusterVersion status.capabilities.{enabled,known}Capabilities[*]: this change
    adds "MachineAPI", "Build", "DeploymentConfig", "ImageRegistry"; the API before this change rejects them: the
    controller cannot write status
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
    """The verdict, a line for each error, and what to do next."""
    ran = run("check", "--base", "HEAD~1", "-q", cwd=demo)
    *lines, accept, all_of_it = ran.out.splitlines(keepends=True)
    assert (ran.code, "".join(lines)) == (1, _SHORT)
    assert accept.startswith("To accept it, then git add the waiver file: crdcompat waive ")
    base = git(demo, "rev-parse", "HEAD~1")[:12]
    assert all_of_it == f"To see all of it: crdcompat check --base {base}\n"


def test_a_quiet_check_names_what_fails(tmp_path: Path) -> None:
    """Not errors alone: the repository decides what fails."""
    repo = repository(tmp_path)
    for modes in ("AB", "A"):
        commit(repo, {"w.yaml": crd(root(spec=obj(mode=string(*modes))))})
    quiet = ("check", "--base", "HEAD~1", "-q", "--fail-on")
    assert [run(*quiet, level, cwd=repo).out for level in ("error", "never")] == ["", ""]
    ran = run(*quiet, "warning", cwd=repo)
    first, line, *_ = ran.out.splitlines()
    assert (ran.code, first) == (1, "This change: AT RISK (compared with the API before this change)")
    assert line.startswith("w.yaml:") and ": warning[enum-value-removed] Widget spec.mode: " in line
    assert "\nTo accept it, then git add the waiver file: crdcompat waive " in ran.out


def test_a_quiet_check_names_what_was_not_judged(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    schemas = [root(spec=obj(a=string(**more))) for more in ({}, {"x-kubernetes-new": 1})]
    for schema in schemas:
        commit(repo, {"w.yaml": crd(schema)})
    quiet = ("check", "--base", "HEAD~1", "-q", "--fail-on")
    ran = run(*quiet, "info", cwd=repo)
    first, second, *_ = ran.out.splitlines()
    assert (ran.code, first.partition(" spec.a")[0]) == (2, "undecided: widgets.example.com/v1")
    assert second.startswith("This change: UNKNOWN (not judged: ")
    ran = run("check", "--base", "HEAD~1", "-q", "--allow-unknown", cwd=repo)
    assert (ran.code, "), allowed by --allow-unknown\n" in ran.out.replace("\n  ", " ")) == (0, True)


def test_an_erased_value_is_not_called_a_rejected_write(tmp_path: Path) -> None:
    """The configuration can raise the loss of a value to an error."""
    repo = repository(tmp_path)
    rule = {"rule": "property-added", "severity": "error"}
    for fields in ({}, {"a": string()}):
        commit(repo, {"w.yaml": crd(root(spec=obj(**fields))), ".crdcompat.yaml": dumps({"severities": [rule]})})
    ran = run("check", "--base", "HEAD~1", "-q", cwd=repo)
    assert ran.code == 1 and "Widget spec.a: the API before this change erases the value\n" in ran.out


def test_warnings_beside_an_error_are_a_line_each(demo: Path) -> None:
    text = run("check", "--base", "HEAD~1", cwd=demo).out
    assert _WARNINGS in text
    assert len(text.splitlines()) <= 38
    assert _WARNINGS not in run("check", "--base", "HEAD~1", "-v", cwd=demo).out


def test_warnings_alone_are_whole(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    for modes in ("AB", "A"):
        commit(repo, {"w.yaml": crd(root(spec=obj(mode=string(*modes))))})
    ran = run("check", "--base", "HEAD~1", cwd=repo)
    assert ran.code == 0 and "warning[enum-value-removed] widgets.example.com/v1 spec.mode\n  --> w.yaml:" in ran.out


def test_a_target_names_itself_and_not_the_change(tmp_path: Path) -> None:
    """A target can lack values that an earlier change has added."""
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    git(repo, "branch", "release-1")
    commit(repo, {"w.yaml": widget("A", "B")})
    targets = ("--target", "release-1", "--targets-only")
    command = ("check", "--base", "HEAD~1", *targets)
    assert "Against the rollback target release-1\n" in run(*command, cwd=repo).out
    line = 'error[enum-value-added] Widget status.p: release-1 rejects "B": the controller cannot write status\n'
    assert line in run(*command, "-q", cwd=repo).out


def test_many_errors_are_a_line_each(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    for phases in ("A", "AB"):
        commit(repo, {f"{x}.yaml": crd(root(status=obj(**{x: string(*phases)})), kind=x.upper()) for x in "vwxyz"})
    lines = run("check", "--base", "HEAD~1", "-q", cwd=repo).out.splitlines()
    assert [line.partition(":")[0] for line in lines[1:11:2]] == [f"{x}.yaml" for x in "vwxyz"]


@pytest.mark.parametrize(("others", "how"), [(1, "crdcompat waive "), (9, "crdcompat check -v shows the ids")])
def test_the_steps_accept_all_that_fails(tmp_path: Path, others: int, how: str) -> None:
    """Siblings that share a block with one command, and the findings of other blocks with another one."""
    repo = repository(tmp_path)
    for value in ("A", "AB"):
        fields = {f"f{number}": obj(v=string(f"{number}", *value[1:])) for number in range(others)}
        commit(repo, {"w.yaml": crd(root(status=obj(a=string(*value), b=string(*value), **fields)))})
    ran = run("check", "--base", "HEAD~1", "-q", cwd=repo)
    found = run("check", "--base", "HEAD~1", "--format", "json", cwd=repo).report["sections"][0]["findings"]
    first, other, _ = ran.out.splitlines()[-3:]
    siblings = [each["id"] for each in found if each["path"] in ("status.a", "status.b")]
    assert len(siblings) == 2 and all(name in first for name in siblings)
    assert other.startswith(f"To accept the other {others} finding{'s' if others > 1 else ''}: {how}")


def test_a_clean_change_prints_at_most_five_lines(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": crd(root(spec=obj(a=string())))})
    commit(repo, {"w.yaml": crd(root(spec=obj(a=string(), b=string())))})
    ran = run("check", "--base", "HEAD~1", cwd=repo)
    assert (ran.code, ran.out.splitlines()) == (0, [
        "This change: CLEAN (compared with the API before this change)",
        "0 errors, 0 warnings, 1 info.",
        "info widgets.example.com/v1",
        "  spec.b: lost [property-added]",
        "Not listed: 2 notes (-v).",
    ])  # fmt: skip
    fields = {f"f{number}": string() for number in range(9)}
    commit(repo, {"w.yaml": crd(root(spec=obj(a=string(), b=string(), **fields)))})
    lines = run("check", "--base", "HEAD~1", cwd=repo).out.splitlines()
    assert lines[2:] == ["9 info: 9 property-added (-v lists them)", "Not listed: 2 notes (-v)."]
    assert len(run("check", "--base", "HEAD~1", "-v", cwd=repo).out.splitlines()) > 20
    # Where an info fails the check, all of it is shown.
    assert "What this change does" in run("check", "--base", "HEAD~1", "--fail-on", "info", cwd=repo).out


@pytest.mark.parametrize(("variable", "count"), [("CI", 1), ("PROW_JOB_ID", 1), ("HOME", 0)])
def test_a_change_without_a_crd_is_a_line_in_ci(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, count: int
) -> None:
    """An empty log looks broken."""
    repo = repository(tmp_path)
    commit(repo, {"README.md": "one"})
    commit(repo, {"README.md": "two"})
    monkeypatch.setenv(variable, str(tmp_path))
    ran = run("check", "--base", "HEAD~1", cwd=repo)
    assert (ran.code, ran.out.count("\n"), ran.out.endswith("nothing to check\n")) == (0, count, bool(count))
    assert run("check", "--base", "HEAD~1", "-q", cwd=repo).out == ""
