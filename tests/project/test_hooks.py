"""The pre-commit hook: the real pre-commit program on scratch repositories, its pip offline."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from offline import copy_project, need_wheelhouse, offline_environment
from pipelines import snippet

_NOWHERE = "0" * 40
_GIT_CONFIG = '[init]\n\tdefaultBranch = main\n[protocol "file"]\n\tallow = always\n'


def _crd(*, phases: tuple[str, ...] = ("Pending", "Ready"), extra: dict[str, object] | None = None) -> str:
    """A CRD with an enum in status; JSON is YAML, so that it can go into either kind of file."""
    spec = {"type": "object", "properties": {"size": {"type": "integer"}, **(extra or {})}}
    status = {"type": "object", "properties": {"phase": {"type": "string", "enum": list(phases)}}}
    schema = {"type": "object", "properties": {"spec": spec, "status": status}}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
    }
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"kind": "Widget", "listKind": "WidgetList", "plural": "widgets", "singular": "widget"},
            "scope": "Namespaced",
            "versions": [version],
        },
    }
    return json.dumps(crd, indent=2) + "\n"


_BEFORE = _crd()
_HARMLESS = _crd(extra={"colour": {"type": "string"}})
_BREAKING = _crd(phases=("Pending", "Ready", "Degraded"))


@dataclass(frozen=True, slots=True)
class Ran:
    """What a program answered."""

    code: int
    output: str


@dataclass(frozen=True, slots=True)
class Scratch:
    """A user's repository with our hook in its configuration."""

    path: Path
    env: dict[str, str]

    def run(self, *command: str, **env: str) -> Ran:
        """Run a program here."""
        done = subprocess.run(
            command, cwd=self.path, env={**self.env, **env}, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        return Ran(done.returncode, done.stdout)

    def git(self, *args: str) -> str:
        """Run git, which must succeed."""
        ran = self.run("git", *args)
        assert ran.code == 0, ran.output
        return ran.output.strip()

    def pre_commit(self, *args: str, **env: str) -> Ran:
        """Run the real pre-commit."""
        return self.run(sys.executable, "-m", "pre_commit", *args, **env)

    def stage(self, text: str, name: str = "crds/widgets.yaml") -> None:
        """Write a file and put it into the index."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self.git("add", name)

    def commit(self, text: str, name: str = "crds/widgets.yaml") -> str:
        """Commit a file without running any hook; returns the commit."""
        self.stage(text, name)
        self.git("commit", "--quiet", "--no-verify", "--message", "change")
        return self.git("rev-parse", "HEAD")


@pytest.fixture(scope="module")
def hook_environment(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], str]:
    """The environment for pre-commit with the hooks installed in it, and the configuration that docs/ci.md shows."""
    need_wheelhouse()
    top = tmp_path_factory.mktemp("hooks")
    env = offline_environment(top / "home") | {
        "PRE_COMMIT_HOME": str(top / "pre-commit"),
        "PRE_COMMIT_COLOR": "never",
        "GIT_CONFIG_GLOBAL": str(top / "gitconfig"),
        "GIT_CONFIG_SYSTEM": os.devnull,
        **{f"GIT_{who}_NAME": "Test" for who in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{who}_EMAIL": "test@example.com" for who in ("AUTHOR", "COMMITTER")},
    }
    (top / "gitconfig").write_text(_GIT_CONFIG, encoding="utf-8")
    project = Scratch(copy_project(top / "crdcompat"), env)
    project.git("init", "--quiet")
    project.git("add", "--all", "--force")
    project.git("commit", "--quiet", "--message", "release")
    project.git("tag", "v0.0.1")
    config = snippet(".pre-commit-config.yaml")
    config["repos"][0] |= {"repo": str(project.path), "rev": "v0.0.1"}
    user = _user(top / "first", env, json.dumps(config))
    installed = user.pre_commit("install-hooks")
    assert installed.code == 0, installed.output
    return env, json.dumps(config)


@pytest.fixture
def empty(hook_environment: tuple[dict[str, str], str], tmp_path: Path) -> Scratch:
    """A repository without a commit; the configuration is in the index."""
    env, config = hook_environment
    return _user(tmp_path / "user", env, config)


@pytest.fixture
def scratch(empty: Scratch) -> Scratch:
    """A repository with one CRD committed."""
    empty.commit(_BEFORE)
    return empty


def _user(path: Path, env: dict[str, str], config: str) -> Scratch:
    path.mkdir()
    user = Scratch(path, env)
    user.git("init", "--quiet")
    user.stage(config, ".pre-commit-config.yaml")
    return user


def _blocked(ran: Ran) -> bool:
    return ran.code == 1 and "exit code: 1" in ran.output and "error[enum-value-added]" in ran.output


def _passed(ran: Ran) -> bool:
    return ran.code == 0 and "...Passed\n" in ran.output


def test_harmless_change_passes(scratch: Scratch) -> None:
    scratch.stage(_HARMLESS)
    ran = scratch.pre_commit("run")
    assert _passed(ran), ran.output


def test_status_enum_addition_is_blocked(scratch: Scratch) -> None:
    scratch.stage(_BREAKING)
    ran = scratch.pre_commit("run")
    assert _blocked(ran), ran.output
    assert "status.phase" in ran.output and '"Degraded"' in ran.output
    _, said = ran.output.split("- exit code: 1\n")
    assert len(said.strip().splitlines()) <= 8


def test_change_in_a_json_file_is_blocked(scratch: Scratch) -> None:
    scratch.git("mv", "crds/widgets.yaml", "crds/widgets.json")
    scratch.stage(_BREAKING, "crds/widgets.json")
    ran = scratch.pre_commit("run")
    assert _blocked(ran), ran.output


def test_unstaged_change_does_not_count(scratch: Scratch) -> None:
    scratch.stage(_HARMLESS)
    (scratch.path / "crds/widgets.yaml").write_text(_BREAKING, encoding="utf-8")
    ran = scratch.pre_commit("run")
    assert _passed(ran), ran.output
    assert (scratch.path / "crds/widgets.yaml").read_text(encoding="utf-8") == _BREAKING


def test_change_without_yaml_or_json_skips_the_hook(scratch: Scratch) -> None:
    scratch.stage("words\n", "README.md")
    ran = scratch.pre_commit("run")
    assert ran.code == 0 and "(no files to check)Skipped" in ran.output, ran.output


def test_unreadable_crd_fails_the_hook(scratch: Scratch) -> None:
    scratch.stage(_BEFORE.replace('"versions": [', '"versions": {'))
    ran = scratch.pre_commit("run")
    assert ran.code == 1 and "exit code: 2" in ran.output, ran.output


def test_refs_given_to_pre_commit(scratch: Scratch) -> None:
    before = scratch.git("rev-parse", "HEAD")
    harmless = scratch.commit(_HARMLESS)
    breaking = scratch.commit(_BREAKING)
    ran = scratch.pre_commit("run", "--from-ref", before, "--to-ref", harmless)
    assert _passed(ran), ran.output
    ran = scratch.pre_commit("run", "--from-ref", before, "--to-ref", breaking)
    assert _blocked(ran), ran.output
    assert before[:12] in ran.output and breaking[:12] in ran.output


def test_all_zero_from_ref_compares_from_where_the_branch_left(scratch: Scratch) -> None:
    scratch.git("update-ref", "refs/remotes/origin/main", "HEAD")
    scratch.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    breaking = scratch.commit(_BREAKING)
    zeros = {"PRE_COMMIT_FROM_REF": _NOWHERE, "PRE_COMMIT_TO_REF": breaking}
    ran = scratch.pre_commit("run", "--all-files", **zeros)
    assert _blocked(ran), ran.output


def test_all_zero_from_ref_without_a_remote_has_nothing_before_it(scratch: Scratch) -> None:
    zeros = {"PRE_COMMIT_FROM_REF": _NOWHERE, "PRE_COMMIT_TO_REF": scratch.commit(_BREAKING)}
    ran = scratch.pre_commit("run", "--all-files", **zeros)
    assert _passed(ran), ran.output


def test_all_zero_to_ref_is_a_branch_that_goes(scratch: Scratch) -> None:
    zeros = {"PRE_COMMIT_FROM_REF": scratch.commit(_BREAKING), "PRE_COMMIT_TO_REF": _NOWHERE}
    ran = scratch.pre_commit("run", "--all-files", **zeros)
    assert _passed(ran), ran.output


def test_first_commit_passes(empty: Scratch) -> None:
    empty.pre_commit("install")
    empty.stage(_BREAKING)
    ran = empty.run("git", "commit", "--message", "first")
    assert ran.code == 0 and "Passed" in ran.output, ran.output


def test_commit_is_stopped(scratch: Scratch) -> None:
    """As git runs hooks: with the index of this commit, which may be another file than .git/index."""
    scratch.pre_commit("install")
    scratch.stage(_HARMLESS)
    (scratch.path / "notes.yaml").write_text("a: 1\n", encoding="utf-8")
    scratch.git("add", "--intent-to-add", "notes.yaml")
    (scratch.path / "crds/widgets.yaml").write_text(_BREAKING, encoding="utf-8")
    head = scratch.git("rev-parse", "HEAD")
    for what in (["--all"], ["--only", "crds/widgets.yaml"]):
        ran = scratch.run("git", "commit", "--message", "breaking", *what)
        assert ran.code == 1 and "error[enum-value-added]" in ran.output, ran.output
    assert scratch.git("rev-parse", "HEAD") == head
    ran = scratch.run("git", "commit", "--message", "only the notes", "--only", "notes.yaml")
    assert ran.code == 0 and "Passed" in ran.output, ran.output


def test_push_is_stopped(scratch: Scratch, tmp_path: Path) -> None:
    """pre-commit itself turns the all-zero id of a branch that is new to the remote into its first new commit."""
    remote = tmp_path / "remote.git"
    scratch.git("init", "--quiet", "--bare", str(remote))
    scratch.git("remote", "add", "origin", str(remote))
    scratch.git("push", "--quiet", "origin", "main")
    scratch.pre_commit("install", "--hook-type", "pre-push")
    scratch.git("switch", "--quiet", "--create", "feature")
    scratch.commit(_HARMLESS)
    ran = scratch.run("git", "push", "origin", "feature")
    assert ran.code == 0 and "Passed" in ran.output, ran.output
    scratch.commit(_BREAKING)
    ran = scratch.run("git", "push", "origin", "feature")
    assert ran.code == 1 and "error[enum-value-added]" in ran.output, ran.output
    ran = scratch.run("git", "push", "origin", "feature:refs/heads/another")
    assert ran.code == 1 and "error[enum-value-added]" in ran.output, ran.output
    ran = scratch.run("git", "push", "origin", ":feature")
    assert ran.code == 0, ran.output


# -- the hook that compares two releases -----------------------------------------------------------------


def _by_hand(scratch: Scratch) -> Ran:
    return scratch.pre_commit("run", "crdcompat-diff", "--hook-stage", "manual")


def test_releases_are_compared_by_hand(scratch: Scratch) -> None:
    """Whatever the last commit touched, and what is in the index does not count."""
    scratch.git("branch", "release-4.13")
    scratch.commit(_HARMLESS)
    scratch.stage(_BREAKING)
    ran = _by_hand(scratch)
    assert _passed(ran), ran.output
    assert "spec.colour" in ran.output, "who asks by hand sees the report of a comparison that passes"
    scratch.commit(_BREAKING)
    scratch.commit("words\n", "README.md")
    ran = _by_hand(scratch)
    assert _blocked(ran), ran.output
    assert "release-4.13" in ran.output


def test_a_release_that_is_not_there(scratch: Scratch) -> None:
    ran = _by_hand(scratch)
    assert ran.code == 1 and "exit code: 2" in ran.output, ran.output
    assert "no branch, tag or commit release-4.13" in ran.output


def test_releases_are_compared_only_by_hand(scratch: Scratch) -> None:
    scratch.stage(_HARMLESS)
    ran = scratch.pre_commit("run")
    assert _passed(ran) and "crdcompat diff" not in ran.output, ran.output
