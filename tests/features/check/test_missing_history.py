"""Clones of CI systems that lack commits: one paste of the printed commands, and the next run has all it needs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from checkouts import BREAKING, CONFIG, GITHUB, HARMLESS, NAME, OWNER, Server, github, gitlab, prow, server
from helpers import Json, git
from pipelines import Job

_LAYOUTS: dict[str, Callable[[Server], Job]] = {
    "actions/checkout, depth 1": lambda at: github(at, 1),
    "actions/checkout, depth 2": lambda at: github(at, 2),
    "GitLab, depth 1": lambda at: gitlab(at, 1),
    "GitLab, depth 2": lambda at: gitlab(at, 2),
    "GitLab, merged result, depth 1": lambda at: gitlab(at, 1, merged=True),
    "clonerefs": lambda at: prow(at, at.top),
    "clonerefs, blobless": lambda at: prow(at, at.top, options=("--filter=blob:none",)),
    "clonerefs, treeless": lambda at: prow(at, at.top, options=("--filter=tree:0",)),
}
_RELEASES = "'+refs/heads/release-*:refs/remotes/origin/release-*' '+refs/heads/stable-*:refs/remotes/origin/stable-*'"


def _commands(output: str) -> str:
    """The lines to paste."""
    _, found, rest = output.partition("to get all that this check needs:\n")
    assert found, output
    lines = rest.splitlines()
    return "\n".join(line for line in lines if line.startswith("git "))


_CHANGES = [
    *((name, BREAKING, 1) for name in _LAYOUTS),
    *((name, HARMLESS, 0) for name in ("actions/checkout, depth 1", "GitLab, depth 1", "clonerefs")),
]


@pytest.mark.parametrize(("layout", "change", "code"), _CHANGES)
def test_one_paste_is_enough(tmp_path: Path, layout: str, change: Json, code: int) -> None:
    work = _LAYOUTS[layout](server(tmp_path, change))
    ran = work.script("crdcompat check")
    assert ran.code == 2, ran.output
    pasted = work.script(_commands(ran.output))
    assert pasted.code == 0, pasted.output
    ran = work.script("crdcompat check")
    assert ran.code == code, ran.output
    assert ("error[enum-value-added] widgets.example.com" in ran.output) == bool(code), ran.output
    assert "error[enum-value-added] gadgets.example.com" not in ran.output
    told = (
        "Against the rollback target release-4.1"
        if code
        else "(compared with the API before this change and release-4.1)"
    )
    assert told in ran.output


@pytest.mark.parametrize("layout", [name for name in _LAYOUTS if not name.startswith("clonerefs")])
def test_release_branches_come_along_where_nothing_names_targets(tmp_path: Path, layout: str) -> None:
    work = _LAYOUTS[layout](server(tmp_path, BREAKING, "{}\n"))
    ran = work.script("crdcompat check")
    assert ran.code == 2, ran.output
    assert _commands(ran.output) == f"git fetch --unshallow origin main:refs/remotes/origin/main {_RELEASES}"
    assert work.script(_commands(ran.output)).code == 0
    assert work.script("crdcompat check").code == 1
    assert git(work.at, "for-each-ref", "--format=%(refname)", "refs/remotes/origin").split() == [
        "refs/remotes/origin/main",
        "refs/remotes/origin/release-4.1",
    ]


def test_the_text(tmp_path: Path) -> None:
    """What, where, what to do; the setting of the CI system is the lasting repair."""
    work = github(server(tmp_path, BREAKING), 1)
    assert work.script("crdcompat check").output == (
        f"crdcompat: no branch, tag or commit main in {work.at}\n"
        "to get all that this check needs:\n"
        "git fetch --unshallow origin main:refs/remotes/origin/main release-4.1:refs/remotes/origin/release-4.1\n"
        "or set `fetch-depth: 0` of actions/checkout\n"
    )


def test_the_setting_of_gitlab(tmp_path: Path) -> None:
    work = gitlab(server(tmp_path, BREAKING), 20)
    assert work.script("crdcompat check").output.endswith('\nor set `GIT_DEPTH: "0"` in .gitlab-ci.yml\n')


def test_a_clone_without_a_remote_is_fetched_from_where_it_came(tmp_path: Path) -> None:
    at = server(tmp_path, BREAKING)
    work = prow(at, tmp_path)
    address = at.bare.as_uri().removesuffix(".git")  # as git records it, and as insteadOf has mapped it
    assert work.script("crdcompat check").output.endswith(
        f"to get all that this check needs:\ngit fetch {address} release-4.1:refs/remotes/origin/release-4.1\n"
    )


def test_a_clone_without_a_remote_does_not_pass_for_want_of_a_base(tmp_path: Path) -> None:
    """As in a container that does not get Prow's variables."""
    work = prow(server(tmp_path, BREAKING), tmp_path)
    ran = work.script("crdcompat check", PULL_BASE_SHA="")
    assert ran.code == 2 and "no base is known" in ran.output, ran.output


def test_a_name_that_is_nowhere_is_no_matter_of_fetching_all(tmp_path: Path) -> None:
    """A clone with its whole history: only the one name is missing."""
    work = github(server(tmp_path, BREAKING), 0)
    ran = work.script("crdcompat check --target release-9.9")
    assert ran.code == 2
    assert _commands(ran.output) == "git fetch origin release-9.9:refs/remotes/origin/release-9.9"
    assert "fetch-depth" not in ran.output
    ran = work.script("crdcompat check --head=^main")
    assert ran.code == 2 and "fetch" not in ran.output, ran.output


def test_a_missing_head_is_fetched_too(tmp_path: Path) -> None:
    at = server(tmp_path, BREAKING)
    work = github(at, 1, ref="refs/heads/main", event="push")
    check = f"crdcompat check --base main --head {at.head}"
    ran = work.script(check)
    assert ran.code == 2
    assert _commands(ran.output) == (
        f"git fetch --unshallow origin {at.head} release-4.1:refs/remotes/origin/release-4.1"
    )
    assert work.script(_commands(ran.output)).code == 0
    assert work.script(check).code == 1


def test_targets_of_another_remote(tmp_path: Path) -> None:
    """A contributor's clone: each line asks the remote that has the branch; only one of them deepens."""
    at = server(tmp_path, BREAKING, CONFIG.replace("release-4.1", "upstream/release-4.1"))
    work = github(at, 1)
    git(work.at, "remote", "add", "upstream", f"{GITHUB}{OWNER}/{NAME}")
    ran = work.script("crdcompat check")
    assert _commands(ran.output) == (
        "git fetch --unshallow origin main:refs/remotes/origin/main\n"
        "git fetch upstream release-4.1:refs/remotes/upstream/release-4.1"
    )
    assert work.script(_commands(ran.output)).code == 0
    assert work.script("crdcompat check").code == 1


@pytest.mark.parametrize("options", [(), ("--filter=blob:none",)], ids=["", "blobless"])
def test_only_refs_are_fetched(tmp_path: Path, options: tuple[str, ...]) -> None:
    """A map has the targets of other branches."""
    config = "rollback_targets: {main: [git:release-4.1, release-4.1], release-4.1: [release-4.0]}\n"
    at = server(tmp_path, BREAKING, config)
    work = prow(at, tmp_path, options=options)
    refs = ["release-4.1:refs/remotes/origin/release-4.1", *([at.base] if options else [])]
    ran = work.script("crdcompat check")
    assert ran.code == 2
    command = _commands(ran.output)
    assert [word for word in command.split() if word == at.base or "release" in word or "crds" in word] == refs
    assert work.script(command).code == 0
    assert work.script("crdcompat check").code == 1
