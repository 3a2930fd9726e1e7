"""A pull request does not judge itself: the configuration of the merge base counts, whatever key the change edits."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from changes import repository, widget
from helpers import Json, Run, commit, git, run, write

from crdcompat.config.configuration_file import config_schema

_FILE, _WAIVERS = ".crdcompat.yaml", ".crdcompat-waivers.yaml"
#: The keys as a project has them, and as a change edits them to hide its error.
_BEFORE: Json = {
    "base": "main",
    "rollback_targets": ["release-1.0"],
    "include": ["config/*"],
    "exclude": ["config/samples/*"],
    "ships": [],
    "preset": "plain",
    "variant_annotations": [],
    "releases": {},
    "kubernetes": {"min": "1.30", "max": "1.33"},
    "contexts": [],
    "severities": [{"rule": "enum-value-added", "severity": "error"}],
    "objects": [],
    "formats": ["text"],
    "status_advice": True,
    "profile": "strict",
    "fail_on": "error",
    "waivers": _WAIVERS,
    "trust": "base",
    "installer": "helm-templates",
}
_HIDING: Json = {
    "base": "pr",
    "rollback_targets": [],
    "include": ["docs/*"],
    "exclude": ["*"],
    "ships": ["config/other/*"],
    "preset": "openshift",
    "variant_annotations": ["example.com/x"],
    "releases": {"main": "1.20"},
    "kubernetes": {"min": "1.33", "max": "1.33"},
    "contexts": ["Nothing"],
    "severities": [{"severity": "info"}],
    "objects": ["recorded"],
    "formats": ["concise"],
    "status_advice": False,
    "profile": "standard",
    "fail_on": "never",
    "waivers": "own.yaml",
    "trust": "change",
    "installer": "apply",
}
_WAIVER = {
    "crd": "widgets.example.com", "version": "v1", "path": "status.p", "rule": "enum-value-added",
    "direction": "rollback", "values": ["B"], "severity": "error", "reason": "it is mine", "owner": "me",
}  # fmt: skip
_ACCEPTING = json.dumps({"waivers": [_WAIVER]})


def _config(values: Json) -> str:
    return json.dumps(values, indent=1) + "\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A clone as CI makes it, with main and release-1.0 of the remote; nothing is configured yet."""
    made = repository(tmp_path)
    commit(made, {"config/w.yaml": widget("A"), "README": "a"})
    git(made, "branch", "release-1.0")
    return made


def _clone(project: Path) -> Path:
    """The clone of a pull request ``pr``."""
    clone = project.parent / "clone"
    git(project.parent, "clone", "-q", str(project), str(clone))
    git(clone, "checkout", "-q", "-b", "pr")
    return clone


def _check(repo: Path, *args: str) -> Run:
    return run("check", *args, "--format", "json", cwd=repo)


def _errors(ran: Run) -> int:
    errors: int = ran.report["summary"]["findings"]["error"]
    return errors


def test_each_key_of_the_configuration_is_tried() -> None:
    """A new key needs a value here that would hide an error."""
    assert set(_BEFORE) == set(_HIDING) == set(config_schema()["properties"])
    assert all(_BEFORE[key] != _HIDING[key] for key in _BEFORE)


@pytest.mark.parametrize("told", ["option", "CI", "git"])
@pytest.mark.parametrize("key", sorted(_HIDING))
def test_an_edit_of_a_key_hides_nothing(project: Path, monkeypatch: pytest.MonkeyPatch, key: str, told: str) -> None:
    commit(project, {_FILE: _config(_BEFORE)})
    clone = _clone(project)
    more: dict[str, Any] = {_WAIVERS: _ACCEPTING} if key == "trust" else {"own.yaml": _ACCEPTING}
    commit(clone, {"config/w.yaml": widget("A", "B"), _FILE: _config({**_BEFORE, key: _HIDING[key]}), **more})
    if told == "CI":
        monkeypatch.setenv("GITHUB_BASE_REF", "main")
    ran = _check(clone, *(("--base", "origin/main") if told == "option" else ()))
    assert ran.code == 1, ran.err
    assert _errors(ran) == 1
    (line,) = ran.report["rules"]
    assert line.startswith(f"this change edits the rules of its own check: {key}")
    assert ran.report["accepted_by_change"] == []


@pytest.mark.parametrize("key", sorted(_HIDING))
def test_an_edit_alone_is_shown_and_passes(project: Path, key: str) -> None:
    """Whoever edits the configuration without a CRD gets one line, and the edit counts after the merge."""
    commit(project, {_FILE: _config(_BEFORE)})
    clone = _clone(project)
    commit(clone, {_FILE: _config({**_BEFORE, key: _HIDING[key]})})
    ran = run("check", "--base", "origin/main", cwd=clone)
    assert ran.code == 0, ran.err
    (line, *_) = ran.out.splitlines()
    assert line.startswith(f"this change edits the rules of its own check: {key}")


_PLACES = {
    "deleted": {_FILE: None},
    "renamed": {_FILE: None, ".crdcompat.yml": _config({**_BEFORE, "exclude": ["*"]})},
    "in pyproject.toml": {_FILE: None, "pyproject.toml": '[tool.crdcompat]\nexclude = ["*"]\n'},
}


@pytest.mark.parametrize("how", sorted(_PLACES))
def test_another_place_of_the_configuration_hides_nothing(project: Path, how: str) -> None:
    commit(project, {_FILE: _config(_BEFORE)})
    clone = _clone(project)
    commit(clone, {"config/w.yaml": widget("A", "B"), **_PLACES[how]})
    ran = _check(clone, "--base", "origin/main")
    assert (ran.code, _errors(ran)) == (1, 1)
    assert len(ran.report["rules"]) == 1


def test_a_configuration_nearer_to_the_check_hides_nothing(project: Path) -> None:
    commit(project, {_FILE: _config(_BEFORE)})
    clone = _clone(project)
    commit(clone, {"config/w.yaml": widget("A", "B"), f"config/{_FILE}": "exclude: ['*']\n"})
    ran = _check(clone / "config", "--base", "origin/main")
    assert (ran.code, _errors(ran)) == (1, 1)


def test_a_head_that_is_not_checked_out_edits_its_rules_as_well(project: Path) -> None:
    commit(project, {_FILE: _config(_BEFORE)})
    clone = _clone(project)
    head = commit(clone, {"config/w.yaml": widget("A", "B"), _FILE: _config({**_BEFORE, "fail_on": "never"})})
    git(clone, "checkout", "-q", "main")
    ran = _check(clone, "--base", "main", "--head", head)
    assert ran.code == 1
    (line,) = ran.report["rules"]
    assert "fail_on becomes never (was error)" in line


def test_the_edit_stands_first_in_each_format(project: Path) -> None:
    commit(project, {_FILE: _config(_BEFORE)})
    clone = _clone(project)
    commit(clone, {"config/w.yaml": widget("A", "B"), _FILE: _config({**_BEFORE, "exclude": ["config/*"]})})
    said = "this change edits the rules of its own check: exclude gains config/* and loses config/samples/*"
    for name in ("text", "concise", "markdown", "github", "gitlab", "junit", "sarif", "html"):
        out = run("check", "--base", "origin/main", "--format", name, cwd=clone).out
        place = out.lower().find(said)
        finding = out.find("<main" if name == "html" else "enum-value-added")
        assert place >= 0, name
        assert name == "sarif" or place < finding, name
    assert said in run("check", "--base", "origin/main", "-q", cwd=clone).out.splitlines()[0]


def test_a_first_configuration_counts_and_is_named(project: Path) -> None:
    clone = _clone(project)
    commit(clone, {"config/w.yaml": widget("A", "B"), _FILE: "rollback_targets: [release-1.0]\n"})
    ran = _check(clone, "--base", "origin/main")
    assert ran.code == 1
    (line,) = ran.report["rules"]
    assert line == f"the configuration of the merge base is missing: that of this change decides, {_FILE}"
    assert [each["against"] for each in ran.report["sections"]] == ["base", "target"]


@pytest.mark.parametrize("key", ["base", "rollback_targets"])
def test_a_first_configuration_names_no_commit_of_its_own(project: Path, key: str) -> None:
    clone = _clone(project)
    own = commit(clone, {"config/w.yaml": widget("A", "B")})
    commit(clone, {_FILE: _config({key: own if key == "base" else [own]})})
    ran = run("check", cwd=clone)
    assert ran.code == 2
    assert f"{own}: a new configuration names branches and tags: this is a commit" in ran.err


@pytest.mark.parametrize("key", ["base", "rollback_targets"])
def test_a_first_configuration_names_no_branch_of_the_change(project: Path, key: str) -> None:
    """Whoever may push a branch could compare the change with itself."""
    clone = _clone(project)
    commit(clone, {"config/w.yaml": widget("A", "B"), _FILE: json.dumps({key: "pr" if key == "base" else ["pr"]})})
    git(clone, "push", "-q", "origin", "pr")
    assert run("check", cwd=clone).code == {"base": 1, "rollback_targets": 2}[key]
    git(clone, "remote", "set-head", "origin", "--delete")
    for name in ("main", "release-1.0"):
        git(clone, "update-ref", "-d", f"refs/remotes/origin/{name}")
        git(clone, "branch", "-f", name, "HEAD~1")
    ran = run("check", cwd=clone)
    assert ran.code == 2
    assert "pr: it has commits of the change: name releases" in ran.err


def test_a_first_configuration_on_the_main_branch_itself_counts(project: Path) -> None:
    commit(project, {"config/w.yaml": widget("A", "B"), _FILE: "base: main\nrollback_targets: [release-1.0]\n"})
    assert run("check", "--base", "HEAD~1", cwd=project).code == 1


@pytest.mark.parametrize("at_base", [None, "fail_on: sometimes\n"], ids=["none", "a broken one"])
@pytest.mark.parametrize("own", [None, "exclude: ['*']\n"], ids=["no own one", "an own one"])
def test_a_change_from_before_the_configuration_has_that_of_the_branch(
    project: Path, at_base: str | None, own: str | None
) -> None:
    """Whoever opens a pull request chooses the commit that it begins at."""
    if at_base:
        commit(project, {_FILE: at_base})
    clone = _clone(project)
    commit(clone, {"config/w.yaml": widget("A", "B"), **({_FILE: own} if own else {})})
    commit(project, {_FILE: "rollback_targets: [release-1.0]\n"})
    git(clone, "fetch", "-q")
    if at_base and not own:
        git(clone, "rm", "-q", _FILE)
        git(clone, "commit", "-qm", "a")
    for args in ((), ("--base", "origin/main")):
        ran = _check(clone, *args)
        assert (ran.code, _errors(ran)) == (1, 1)
        first, *edited = ran.report["rules"]
        assert first.startswith("the configuration of the merge base ")
        assert first.endswith(f": that of main decides, {_FILE}")
        assert [line.partition(": ")[2] for line in edited] == (
            ["rollback_targets loses release-1.0; exclude gains * (judged by the rules before it)"] if own else []
        )


_LIKE_REFS = ("HEAD", "origin/main", "refs/remotes/origin/main", "refs/remotes/origin/HEAD", "{base}", "index:")


@pytest.mark.parametrize("name", _LIKE_REFS)
def test_a_file_that_is_called_as_a_ref_hides_nothing(project: Path, name: str) -> None:
    """Git refuses names that are a commit and a file; that is no sign of an own machine."""
    commit(project, {_FILE: _config(_BEFORE)})
    clone = _clone(project)
    name = name.format(base=git(clone, "rev-parse", "HEAD"))
    commit(clone, {"config/w.yaml": widget("A", "B"), _FILE: _config({**_BEFORE, "exclude": ["*"]}), name: "a"})
    for args in ((), ("--base", "origin/main"), ("--base", "origin/main", "--head", "HEAD")):
        ran = _check(clone, *args)
        assert (ran.code, _errors(ran), len(ran.report["rules"])) == (1, 1, 1)


def test_a_long_edit_hides_no_other_one(project: Path) -> None:
    commit(project, {_FILE: _config(_BEFORE)})
    clone = _clone(project)
    many = {f"release-{number}.0": "1.30" for number in range(5000)}
    edit = {**_BEFORE, "base": "b" * 20_000, "releases": many, "trust": "change"}
    commit(clone, {"config/w.yaml": widget("A", "B"), _FILE: _config(edit)})
    (line,) = _check(clone, "--base", "origin/main").report["rules"]
    assert "releases: 4992 more; trust becomes change (was base) (judged" in line
    assert len(line) < 2000


def test_a_change_mends_a_configuration_that_cannot_be_read(project: Path) -> None:
    commit(project, {_FILE: "formats: [junit=report.xml]\n"})
    clone = _clone(project)
    assert run("check", "--base", "origin/main", cwd=clone).code == 2
    commit(clone, {_FILE: "formats: [text]\n", "config/w.yaml": widget("A", "B")})
    ran = run("check", "--base", "origin/main", cwd=clone)
    assert ran.code == 1
    assert ran.out.startswith("the configuration of the merge base cannot be used (")


def test_a_broken_configuration_of_the_change_is_no_pass(project: Path) -> None:
    commit(project, {_FILE: _config(_BEFORE)})
    clone = _clone(project)
    commit(clone, {_FILE: "fail_on: sometimes\n"})
    ran = run("check", "--base", "origin/main", cwd=clone)
    assert (ran.code, f"{_FILE}:1: fail_on" in ran.err) == (2, True)


# -- where CI says ----------------------------------------------------------------------------


def test_a_named_file_outside_of_the_repository_counts(project: Path, tmp_path: Path) -> None:
    commit(project, {_FILE: _config({**_BEFORE, "fail_on": "never"})})
    clone = _clone(project)
    commit(clone, {"config/w.yaml": widget("A", "B")})
    of_ci = write(tmp_path / "ci.yaml", "fail_on: error\n")
    assert run("check", "--base", "origin/main", "--config", of_ci, cwd=clone).code == 1


def test_a_named_file_of_the_repository_is_that_of_the_base(project: Path) -> None:
    commit(project, {"ci/c.yaml": "fail_on: error\n"})
    clone = _clone(project)
    commit(clone, {"config/w.yaml": widget("A", "B"), "ci/c.yaml": "fail_on: never\n"})
    for name in ("ci/c.yaml", "origin/main:ci/c.yaml"):
        ran = _check(clone, "--base", "origin/main", "--config", name)
        assert ran.code == 1, name
    assert run("check", "--base", "origin/main", "--config", "pr:ci/c.yaml", cwd=clone).code == 0
    assert run("check", "--base", "origin/main", "--config", "pr:gone.yaml", cwd=clone).code == 2


@pytest.mark.parametrize("kind", ["branch", "tag"])
@pytest.mark.parametrize("name", ["main", "origin/main"])
def test_a_ref_of_the_change_stands_for_no_configuration_of_ci(project: Path, kind: str, name: str) -> None:
    commit(project, {"ci/c.yaml": "fail_on: error\n"})
    clone = _clone(project)
    git(clone, "branch", "-q", "-D", "main")
    commit(clone, {"config/w.yaml": widget("A", "B"), "ci/c.yaml": "fail_on: never\n"})
    git(clone, kind, name, "HEAD")
    args = ("--base", "refs/remotes/origin/main", "--config")
    ran = run("check", *args, f"{name}:ci/c.yaml", cwd=clone)
    assert (ran.code, f"--config refs/remotes/origin/{name.removeprefix('origin/')}:ci/c.yaml" in ran.err) == (2, True)
    assert run("check", *args, "refs/remotes/origin/main:ci/c.yaml", cwd=clone).code == 1


def test_a_file_that_is_called_as_a_ref_and_a_path_is_no_configuration_of_ci(project: Path) -> None:
    clone = _clone(project)
    commit(clone, {"config/w.yaml": widget("A", "B"), "gone:c.yaml": "fail_on: never\n"})
    ran = run("check", "--base", "origin/main", "--config", "gone:c.yaml", cwd=clone)
    assert (ran.code, "gone is no branch, tag or commit" in ran.err) == (2, True)


# -- one's own machine ------------------------------------------------------------------------


@pytest.mark.parametrize("args", [(), ("--head", "worktree:")], ids=["staged", "working tree"])
def test_a_hook_reads_the_configuration_of_the_working_tree(project: Path, args: tuple[str, ...]) -> None:
    commit(project, {_FILE: _config(_BEFORE)})
    clone = _clone(project)
    write(clone / "config/w.yaml", widget("A", "B"))
    write(clone / _FILE, _config({**_BEFORE, "severities": [{"severity": "warning"}]}))
    git(clone, "add", "config")
    ran = _check(clone, *args)
    assert (ran.code, ran.report["rules"]) == (0, [])


def test_ci_has_no_own_configuration(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(project, {_FILE: _config(_BEFORE)})
    clone = _clone(project)
    commit(clone, {"config/w.yaml": widget("A", "B"), _FILE: _config({**_BEFORE, "fail_on": "never"})})
    write(clone / "built.txt", "a")
    git(clone, "add", "built.txt")
    monkeypatch.setenv("CI", "true")
    for head in ("index:", "worktree:"):
        assert run("check", "--base", "origin/main", "--head", head, cwd=clone).code == 1


@pytest.mark.parametrize("packed", [False, True], ids=["a folder", "an archive"])
@pytest.mark.parametrize("how", ["deleted", "emptied"])
def test_evidence_that_a_change_takes_away_counts(project: Path, how: str, packed: bool) -> None:
    """What recorded objects hold makes an error of what is else a warning."""
    stored = {
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a", "namespace": "b"},
        "spec": {"a": "x"},
    }  # fmt: skip
    name = "recorded/o.tar.gz" if packed else "recorded/o.json"
    write(project / name, _packed(stored) if packed else stored)
    commit(project, {_FILE: json.dumps({"objects": [name if packed else "recorded"]})})
    clone = _clone(project)
    narrow = widget("A")
    narrow["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["a"]["maxLength"] = 0
    commit(clone, {"config/w.yaml": narrow})
    before = _check(clone, "--base", "origin/main")
    assert [each["evidence"]["recorded_objects"] for each in before.report["sections"][0]["findings"]] == [1]
    commit(clone, {name: None if how == "deleted" else b"" if packed else "{}"})
    ran = _check(clone, "--base", "origin/main")
    assert ran.code == before.code == 1
    assert [each["evidence"]["recorded_objects"] for each in ran.report["sections"][0]["findings"]] == [1]
    (line,) = ran.report["rules"]
    edited = name if packed else "recorded"
    assert line == f"this change edits the rules of its own check: the recording {edited} (judged by the one before it)"


def _packed(data: Json) -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as archive:
        text = json.dumps(data).encode()
        member = tarfile.TarInfo("o.json")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text))
    return held.getvalue()
