"""Whoever opens a pull request chooses names of branches and tags: a name never stands for what they chose."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from changes import repository, widget
from helpers import commit, git, run

_FILE = ".crdcompat.yaml"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The project: main, and release-1.0 as old as main."""
    made = repository(tmp_path)
    commit(made, {"w.yaml": widget("A")})
    git(made, "branch", "release-1.0")
    commit(made, {_FILE: "base: main\nrollback_targets: [release-1.0]\n"})
    return made


@pytest.fixture
def clone(project: Path) -> Path:
    """A clone with a pull request that breaks rollbacks checked out, without a branch of its own."""
    made = project.parent / "clone"
    git(project.parent, "clone", "-q", str(project), str(made))
    git(made, "checkout", "-q", "--detach")
    git(made, "branch", "-q", "-D", "main")
    commit(made, {"w.yaml": widget("A", "B")})
    return made


_REFUSED = {
    "HEAD": "changes with the checkout",
    "FETCH_HEAD": "changes with the checkout",
    "@": "changes with the checkout",
    "refs/pull/1/head": "changes with the checkout",
    "refs/stash": "changes with the checkout",
    "worktree:": "branches and tags alone",
    "index:": "branches and tags alone",
    "empty:": "branches and tags alone",
    "-": "branches and tags alone",
    "@{-1}": "branches and tags alone",
    "main@{1}": "branches and tags alone",
    "main~3": "branches and tags alone",
    "main^": "branches and tags alone",
    "main..pr": "branches and tags alone",
    ":/fix": "branches and tags alone",
    "path:/etc": "branches and tags alone",
    "/etc": "branches and tags alone",
    "./crds": "branches and tags alone",
    "../crds": "branches and tags alone",
    "cluster:prod": "branches and tags alone",
    "oci:image.tar": "branches and tags alone",
    "--output=x": "branches and tags alone",
    "release-*": "branches and tags alone",
    "a b": "branches and tags alone",
    "https://example.com/a.yaml": "a URL is read only if the command line names it",
}


@pytest.mark.parametrize("key", ["base", "rollback_targets", "of a branch"])
@pytest.mark.parametrize("name", sorted(_REFUSED))
def test_a_configuration_names_branches_and_tags_alone(tmp_path: Path, key: str, name: str) -> None:
    values = {"base": name, "rollback_targets": [name], "of a branch": {"main": [name]}}
    (tmp_path / _FILE).write_text("# one\n" + json.dumps({key.replace("of a branch", "rollback_targets"): values[key]}))
    ran = run("check", cwd=tmp_path)
    assert ran.code == 2
    key = "base" if key == "base" else "rollback_targets"
    assert f"{_FILE}:2: {key}: {name}: " in ran.err
    assert _REFUSED[name] in ran.err


def test_the_names_of_a_project_are_read_where_ci_fetched_them(clone: Path) -> None:
    ran = run("check", "--format", "json", cwd=clone)
    assert ran.code == 1
    assert [each["old"]["name"] for each in ran.report["sections"]][1:] == ["release-1.0"]
    assert all(each["summary"]["findings"]["error"] == 1 for each in ran.report["sections"])


@pytest.mark.parametrize("name", ["main", "release-1.0"])
def test_a_local_branch_of_the_pull_request_stands_for_no_release(clone: Path, name: str) -> None:
    git(clone, "branch", "-q", "-f", name, "HEAD")
    ran = run("check", "--format", "json", cwd=clone)
    assert ran.code == 1
    assert [each["summary"]["findings"]["error"] for each in ran.report["sections"]] == [1, 1]


@pytest.mark.parametrize("name", ["main", "release-1.0"])
def test_a_tag_of_the_pull_request_is_named_with_the_line_to_write(clone: Path, name: str) -> None:
    git(clone, "tag", name, "HEAD")
    ran = run("check", cwd=clone)
    assert ran.code == 2
    assert (
        f"{name} is the name of refs/remotes/origin/{name} and refs/tags/{name}, which differ: say which one: "
        in ran.err
    )
    line = {
        "main": "base: refs/remotes/origin/main or",
        "release-1.0": "rollback_targets: [refs/remotes/origin/release-1.0]",
    }
    assert line[name] in ran.err


def test_a_tag_that_is_the_branch_is_no_doubt(clone: Path) -> None:
    git(clone, "tag", "main", "origin/main")
    assert run("check", cwd=clone).code == 1


@pytest.mark.parametrize("kind", ["branch", "tag"])
def test_a_ref_called_as_a_branch_of_the_remote_is_named(clone: Path, kind: str) -> None:
    git(clone, kind, "origin/main", "HEAD")
    ran = run("check", "--base", "origin/main", cwd=clone)
    assert ran.code == 2
    assert "which differ: say which one: --base refs/remotes/origin/main or --base refs/" in ran.err
    assert run("check", "--base", "refs/remotes/origin/main", cwd=clone).code == 1


def test_a_branch_of_the_remote_called_with_the_remote_stands_for_itself_alone(clone: Path) -> None:
    git(clone, "update-ref", "refs/remotes/origin/origin/main", "HEAD")
    git(clone, "update-ref", "refs/remotes/pull/main", "HEAD")
    for base in ("origin/main", "main"):
        assert run("check", "--base", base, cwd=clone).code == 1


@pytest.mark.parametrize("option", ["--base", "--target"])
def test_a_typed_name_of_a_branch_that_hides_the_remotes_is_named(clone: Path, option: str) -> None:
    name = {"--base": "main", "--target": "release-1.0"}[option]
    git(clone, "branch", "-q", "-f", name, "HEAD")
    ran = run("check", option, name, cwd=clone)
    assert ran.code == 2
    assert f"say which one: {option} refs/heads/{name} or {option} refs/remotes/origin/{name}" in ran.err
    assert run("check", option, f"refs/remotes/origin/{name}", cwd=clone).code == 1


@pytest.mark.parametrize("suffix", ["~0", "^0", "^{}", "^{commit}"])
@pytest.mark.parametrize("option", ["--base", "--target"])
@pytest.mark.parametrize("kind", ["a tag", "a local branch"])
def test_a_suffix_hides_no_doubt(clone: Path, kind: str, option: str, suffix: str) -> None:
    name = {"--base": "main", "--target": "release-1.0"}[option]
    spelled = f"origin/{name}" if kind == "a tag" else name
    git(clone, "tag" if kind == "a tag" else "branch", spelled, "HEAD")
    more = () if option == "--base" else ("--base", "refs/remotes/origin/main")
    ran = run("check", *more, option, f"{spelled}{suffix}", cwd=clone)
    assert (ran.code, f"{option} refs/remotes/origin/{name}{suffix}" in ran.err) == (2, True)
    assert run("check", *more, option, f"refs/remotes/origin/{name}{suffix}", cwd=clone).code == 1


@pytest.mark.parametrize("kind", ["branch", "tag"])
def test_a_ref_called_as_part_of_a_full_name_is_named(clone: Path, kind: str) -> None:
    git(clone, kind, "remotes/origin/main", "HEAD")
    ran = run("check", "--base", "remotes/origin/main", cwd=clone)
    assert (ran.code, "--base refs/remotes/origin/main or --base refs/" in ran.err) == (2, True)


@pytest.mark.parametrize("kind", ["branch", "tag"])
def test_a_ref_called_as_a_short_commit_id_is_named(clone: Path, kind: str) -> None:
    commit_id = git(clone, "rev-parse", "refs/remotes/origin/main")
    git(clone, kind, commit_id[:9], "HEAD")
    ran = run("check", "--base", commit_id[:9], cwd=clone)
    assert (ran.code, f" or --base {commit_id}" in ran.err) == (2, True)
    assert run("check", "--base", commit_id, cwd=clone).code == 1


@pytest.mark.parametrize("key", ["base", "rollback_targets"])
def test_a_full_name_of_a_branch_is_that_of_the_remote(clone: Path, key: str) -> None:
    """A checkout makes a local branch of the pull request, which the author may call main."""
    names = {"base": "main", "rollback_targets": "release-1.0"}
    own = clone.parent / "c.yaml"
    full = f"refs/heads/{names[key]}"
    own.write_text(json.dumps({**names, "rollback_targets": ["release-1.0"], key: full if key == "base" else [full]}))
    git(clone, "checkout", "-q", "-b", names[key])
    ran = run("check", "--config", own, "--format", "json", cwd=clone)
    assert ran.code == 1
    assert [each["summary"]["findings"]["error"] for each in ran.report["sections"]] == [1, 1]


@pytest.mark.parametrize("is_folder", [True, False], ids=["a folder", "a file"])
def test_a_path_of_the_change_stands_for_no_release(clone: Path, is_folder: bool) -> None:
    git(clone, "update-ref", "-d", "refs/remotes/origin/release-1.0")
    commit(clone, {"release-1.0/w.yaml" if is_folder else "release-1.0": widget("A", "B")})
    for more in ((), ("--targets-only",)):
        ran = run("check", "--base", "origin/main", "--target", "release-1.0", *more, cwd=clone)
        assert (ran.code, "a path of the change is no release: path:release-1.0 names it" in ran.err) == (2, True)
    named = run("check", "--base", "origin/main", "--target", "path:release-1.0", "--format", "json", cwd=clone)
    assert [each["old"]["name"] for each in named.report["sections"]][1:] == ["path:release-1.0"]


def test_a_local_branch_that_gives_the_same_base_is_no_doubt(project: Path, clone: Path) -> None:
    """The main branch of the remote went on: the branch on this machine did not."""
    git(clone, "branch", "-q", "main", "HEAD~1")
    commit(project, {"README": "b"})
    git(clone, "fetch", "-q")
    assert run("check", "--base", "main", cwd=clone).code == 1


def test_variables_of_ci_name_a_branch_not_a_tag(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(clone, "tag", "main", "HEAD")
    git(clone, "branch", "-q", "main", "HEAD")
    for variable in ("GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"):
        with monkeypatch.context() as patch:
            patch.setenv(variable, "main")
            assert run("check", cwd=clone).code == 1


def test_the_remote_of_a_fork_stands_for_no_project(clone: Path) -> None:
    """Some jobs fetch the fork of a pull request as a second remote, and check its branch out under its name."""
    for name in ("main", "release-1.0"):
        git(clone, "update-ref", f"refs/remotes/fork/{name}", "HEAD")
    git(clone, "checkout", "-q", "-b", "main")
    ran = run("check", "--format", "json", cwd=clone)
    assert ran.code == 1
    assert [each["summary"]["findings"]["error"] for each in ran.report["sections"]] == [1, 1]
    ran = run("check", "--base", "main", cwd=clone)
    assert (ran.code, "--base refs/heads/main or --base refs/remotes/origin/main" in ran.err) == (2, True)


# -- submodules -------------------------------------------------------------------------------


@pytest.mark.parametrize("head", ["index:", "HEAD", "worktree:"])
def test_a_submodule_that_moves_is_named(tmp_path: Path, head: str) -> None:
    made = repository(tmp_path)
    commit(made, {"w.yaml": widget("A"), ".gitmodules": ""})
    ids = [git(made, "rev-parse", "HEAD"), "1" * 40]
    for each in ids:
        git(made, "update-index", "--add", "--cacheinfo", f"160000,{each},deps/crds")
        git(made, "commit", "-qm", "moved")
    ran = run("check", "--base", "HEAD~1", "--head", head, cwd=made)
    assert ran.code == 0
    assert f"note: not judged: submodule deps/crds moved from {ids[0][:12]} to {ids[1][:12]}" in ran.out.splitlines()
    assert "submodule" not in run("check", "--base", "HEAD", cwd=made).out
    for glob in ("deps/crds/*", "deps/crds/w.yaml", "deps/*", "dep*", "*/crds/*.yaml", "deps/crds"):
        (tmp_path / "c.yaml").write_text(f"ships: ['{glob}']\n")
        ran = run("check", "--base", "HEAD~1", "--head", head, "--config", tmp_path / "c.yaml", cwd=made)
        assert (ran.code, "submodule deps/crds moved from" in ran.out) == (2, True), glob
    for glob in ("*.yaml", "config/*", "deps/other/*", "*"):
        (tmp_path / "c.yaml").write_text(f"ships: ['{glob}']\n")
        ran = run("check", "--base", "HEAD~1", "--head", head, "--config", tmp_path / "c.yaml", cwd=made)
        assert (ran.code, "note: not judged: submodule deps/crds moved from" in ran.out) == (0, True), glob


@pytest.mark.parametrize("listed", ["deps/crds/w.yaml", "deps/crds", "./deps/crds/base"])
def test_a_submodule_that_a_kustomization_lists_is_not_judged(tmp_path: Path, listed: str) -> None:
    made = repository(tmp_path)
    commit(made, {"w.yaml": widget("A"), "kustomization.yaml": f"resources: [w.yaml, {listed}]\n"})
    for each in (git(made, "rev-parse", "HEAD"), "1" * 40):
        git(made, "update-index", "--add", "--cacheinfo", f"160000,{each},deps/crds")
        git(made, "commit", "-qm", "moved")
    ran = run("check", "--base", "HEAD~1", cwd=made)
    assert (ran.code, "UNKNOWN (not judged: submodule deps/crds moved from" in ran.out) == (2, True)
