"""The base of a change, and its rollback targets: what CI, git and the configuration say."""

from __future__ import annotations

from pathlib import Path

import pytest
from changes import check, repository, widget
from helpers import commit, crd, git, obj, root, run

from crdcompat.features.check.base import find_change


def test_the_order_in_which_the_base_is_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = repository(tmp_path)
    commits = [commit(repo, {"w.yaml": widget("A", name)}) for name in "BCDE"]
    (repo / ".crdcompat.yaml").write_text(f"base: {commits[2]}\n")
    expected = []
    for chosen, variable in ((commits[2], ""), (commits[1], "GITHUB_BASE_REF"), (commits[0], "PULL_BASE_SHA")):
        if variable:
            monkeypatch.setenv(variable, chosen)
        expected.append(chosen[:12])
        assert chosen[:12] in check(repo, code=1)["notes"][0]
    assert commits[2][:12] in check(repo, "--base", commits[2], code=1)["notes"][0]
    assert len(set(expected)) == 3


def test_only_what_left_the_base_counts(tmp_path: Path) -> None:
    """The base went on after the change left it: that is not this change's doing."""
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    git(repo, "checkout", "--quiet", "-b", "work")
    commit(repo, {"w.yaml": widget("A", "B")})
    git(repo, "checkout", "--quiet", "main")
    commit(repo, {"w.yaml": widget("A", "Z")})
    git(repo, "checkout", "--quiet", "work")
    (section,) = check(repo, "--base", "main", code=1)["sections"]
    assert [finding["added"] for finding in section["findings"]] == [["B"]]


def test_an_unknown_base_is_no_pass(tmp_path: Path) -> None:
    """As CI makes a clone: no default branch of the remote, nothing staged, and a bad change at HEAD."""
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    git(repo, "branch", "--move", "trunk")
    git(repo, "checkout", "--quiet", "-b", "feat")
    commit(repo, {"w.yaml": widget("A", "B")})
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--branch", "feat", str(repo), str(clone))
    git(clone, "remote", "set-head", "origin", "--delete")
    for args in ((), ("--base", "")):
        ran = run("check", *args, cwd=clone)
        assert ran.code == 2
        assert "give --base" in ran.err or "--base is empty" in ran.err
    assert check(clone, "--base", "origin/trunk", code=1)["summary"]["findings"]["error"] == 1


@pytest.mark.parametrize("known", [True, False], ids=["HEAD known", "HEAD unknown"])
@pytest.mark.parametrize(("remote", "branch"), [("upstream", "master"), ("origin", "main")])
def test_the_base_is_the_main_branch_of_the_only_remote(tmp_path: Path, remote: str, branch: str, known: bool) -> None:
    repo = repository(tmp_path)
    base = commit(repo, {"w.yaml": widget("A")})
    git(repo, "branch", "--move", branch)
    git(repo, "checkout", "--quiet", "-b", "feat")
    commit(repo, {"w.yaml": widget("A", "B")})
    git(repo, "checkout", "--quiet", branch)
    git(tmp_path, "clone", "--quiet", f"--origin={remote}", "--branch=feat", str(repo), "clone")
    git(tmp_path / "clone", "checkout", "--quiet", "--detach")
    if not known:
        git(tmp_path / "clone", "remote", "set-head", remote, "--delete")
    named = f"the remote's default branch {branch}" if known and remote == "origin" else f"{remote}/{branch}"
    assert check(tmp_path / "clone", code=1)["notes"][0] == f"compared with {base[:12]}, the merge base with {named}"


def test_a_history_too_short_for_the_base_says_what_to_fetch(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    git(repo, "checkout", "--quiet", "-b", "feat")
    commit(repo, {"w.yaml": widget("A", "B")})
    git(repo, "checkout", "--quiet", "main")
    commit(repo, {"w.yaml": widget("A", "Z")})
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth=1", "--no-single-branch", "--branch=feat", f"file://{repo}", str(clone))
    ran = run("check", "--base", "origin/main", cwd=clone)
    assert ran.code == 2
    assert "have no common commit" in ran.err and "\ngit fetch --unshallow origin " in ran.err


def test_a_head_is_never_read_as_a_path_an_option_or_a_range(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A"), "docs/README": "a"})
    git(repo, "checkout", "-qb", "docs")
    commit(repo, {"w.yaml": widget("A", "B")})
    git(repo, "checkout", "-q", "main")
    git(tmp_path, "clone", "-q", str(repo), "clone")
    assert check(tmp_path / "clone", "--head", "docs", code=1)["summary"]["findings"]["error"] == 1
    git(repo, "branch", "-qm", "docs", "topic")
    for head in ("docs", "main..topic", "main^{tree}", "^main", "-p", f"--output={tmp_path / 'written'}"):
        ran = run("check", f"--head={head}", cwd=repo)  # no remote names a base
        assert (ran.code, ran.out) == (2, ""), head
    assert not (tmp_path / "written").exists()


def test_a_tag_that_is_pushed_onto_another_history_stands_for_its_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = repository(tmp_path)
    first = commit(repo, {"w.yaml": widget("A")})
    git(repo, "tag", "-a", "v1", "-m", "one")
    git(repo, "checkout", "-q", "--orphan", "other")
    commit(repo, {"w.yaml": widget("A", "B")})
    monkeypatch.setenv("PRE_COMMIT_FROM_REF", git(repo, "rev-parse", "v1"))
    assert check(repo, "--head", "HEAD", code=1)["sections"][0]["old"]["commit"] == first


def test_a_default_branch_that_git_does_not_name_gives_no_release(tmp_path: Path) -> None:
    """A branch called as the remote's HEAD is makes git silent: HEAD's own name is not taken in its place."""
    repo = tmp_path / "repo"
    repo.mkdir()
    git(repo, "init", "--quiet", "--initial-branch=release-4.99")
    commit(repo, {"w.yaml": crd(root(spec=obj()))})
    git(tmp_path, "clone", "--quiet", str(repo), "clone")
    clone = tmp_path / "clone"
    found = find_change(repo=str(clone), environment={})
    assert found is not None and found.release == "release-4.99"
    git(clone, "update-ref", "refs/heads/refs/remotes/origin/HEAD", "HEAD")
    found = find_change(repo=str(clone), environment={})
    assert found is not None and (found.release, found.why) == ("", "the remote's default branch")
