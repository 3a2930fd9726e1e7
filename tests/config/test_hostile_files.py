"""Files that a tree brings along: what is no regular file inside of the repository is refused, and nothing is written
through them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from changes import repository, widget
from helpers import commit, git, run, spawn, write

_SECRET = "token: very-secret\n"
_FILE, _WAIVERS = ".crdcompat.yaml", ".crdcompat-waivers.yaml"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A change that breaks rollbacks, and a secret beside the repository."""
    made = repository(tmp_path)
    (tmp_path / "secret").write_text(_SECRET)
    commit(made, {"w.yaml": widget("A")})
    commit(made, {"w.yaml": widget("A", "B")})
    return made


def _large(path: Path) -> None:
    path.write_text("# a\n" * (2 << 20))


_HOSTILE: dict[str, tuple[Callable[[Path], None], str]] = {
    "a device": (lambda path: path.symlink_to("/dev/zero"), "outside of the repository"),
    "a pipe": (os.mkfifo, "no regular file"),
    "a link to a pipe": (
        lambda path: (os.mkfifo(f"{path}.pipe"), path.symlink_to(f"{path}.pipe"))[1],
        "no regular file",
    ),
    "a secret": (lambda path: path.symlink_to(path.parent.parent / "secret"), "outside of the repository"),
    "a secret by a relative link": (lambda path: path.symlink_to("../secret"), "outside of the repository"),
    "a file of git": (lambda path: path.symlink_to(".git/config"), "a file of git itself"),
    "a folder": (Path.mkdir, "no regular file"),
    "a loop": (lambda path: path.symlink_to(path.name), ""),
    "a large file": (_large, "larger than 4 MB"),
}


@pytest.mark.parametrize("name", [_FILE, ".crdcompat.yml", "pyproject.toml", _WAIVERS])
@pytest.mark.parametrize("what", sorted(_HOSTILE))
def test_what_is_no_file_of_the_repository_is_refused(repo: Path, name: str, what: str) -> None:
    make, why = _HOSTILE[what]
    make(repo / name)
    for command in (("check", "--base", "HEAD~1"), ("config",), ("diff", "HEAD~1", "HEAD")):
        ran = run(*command, cwd=repo)
        assert ran.code == 2, command
        (line,) = ran.err.splitlines()
        assert name in line and why in line
        assert "secret" not in line.replace(str(repo.parent), "").replace("../secret", "")


@pytest.mark.parametrize("what", ["a secret", "a folder", "a large file"])
@pytest.mark.parametrize("side", ["base", "head"])
def test_what_a_commit_has_in_place_of_the_configuration_is_refused(repo: Path, what: str, side: str) -> None:
    """A base that cannot be read can be mended; what the change brings cannot be passed over."""
    good = {_FILE: "fail_on: error\n", "w.yaml": widget("A", "B", "C")}
    if side == "head":
        commit(repo, {_FILE: "fail_on: error\n"})
        (repo / _FILE).unlink()
    _HOSTILE[what][0](repo / _FILE)
    if what == "a folder":
        write(repo / _FILE / "a", "a")
    commit(repo, {"README": "a"})
    if side == "base":
        git(repo, "rm", "-rqf", _FILE)
        commit(repo, good)
    ran = run("check", "--base", "HEAD~1", cwd=repo)
    assert (ran.code, ran.out.count("cannot be used")) == (
        (2 if what == "a secret" else 1, 1) if side == "base" else (2, 0)  # a link out of the tree is never judged
    )


@pytest.mark.parametrize("name", [_FILE, "pyproject.toml"])
def test_a_large_configuration_is_refused_before_it_takes_minutes(repo: Path, name: str) -> None:
    globs = json.dumps([f"a{number}" for number in range(40_000)])
    write(repo / name, f"include: {globs}\n" if name == _FILE else f"[tool.crdcompat]\ninclude = {globs}\n")
    ran = run("check", "--base", "HEAD~1", cwd=repo)
    assert (ran.code, f"{name}: larger than 256 KB" in ran.err) == (2, True)
    write(repo / "pyproject.toml", f"[tool.other]\na = {globs}\n")
    (repo / _FILE).unlink(missing_ok=True)
    assert run("check", "--base", "HEAD~1", cwd=repo).code == 1


def test_a_link_inside_of_the_repository_is_followed(repo: Path) -> None:
    write(repo / "ci/c.yaml", "severities: [{severity: warning}]\n")
    (repo / _FILE).symlink_to("ci/c.yaml")
    commit(repo, {"README": "a"})
    commit(repo, {"w.yaml": widget("A", "B", "C")})
    ran = run("check", "--base", "HEAD~1", "--format", "json", cwd=repo)
    assert (ran.code, ran.report["rules"]) == (0, [])


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "-", "cluster:prod", "git:HEAD", ".git/config", "link"])
def test_recordings_are_files_of_the_repository(repo: Path, name: str) -> None:
    (repo / "link").symlink_to("../secret")
    write(repo / _FILE, json.dumps({"objects": [name]}))
    ran = run("check", "--base", "HEAD~1", cwd=repo)
    assert ran.code == 2
    assert name in ran.err and "very-secret" not in ran.err
    assert any(why in ran.err for why in ("files of the repository", "files and folders", "outside of the repository"))


@pytest.mark.parametrize(
    "name", ["../w.yaml", "/tmp/w.yaml", ".git/w.yaml", "hooks/pre-commit", ".git/hooks/pre-commit"]
)
def test_the_configuration_decides_no_place_outside_for_waivers(repo: Path, name: str) -> None:
    write(repo / _FILE, json.dumps({"waivers": name}))
    ran = run("baseline", "--base", "HEAD~1", cwd=repo)
    assert (ran.code, ran.out) == (2, "")
    assert not (repo.parent / "w.yaml").exists()


@pytest.mark.parametrize(
    "text", ["json=r.json", "concise=.git/hooks/pre-commit", "html=../r.html", "text=/tmp/r", "text="]
)
def test_the_configuration_names_no_file_to_write(repo: Path, text: str) -> None:
    write(repo / _FILE, f"# one\nformats:\n- {text}\n")
    for command in (("check", "--base", "HEAD~1"), ("diff", "HEAD~1", "HEAD")):
        ran = run(*command, cwd=repo)
        assert (ran.code, ran.out) == (2, "")
        assert f"{_FILE}:3: formats: {text}: a configuration names no file to write" in ran.err
    assert not (repo / "r.json").exists()


# -- what is written --------------------------------------------------------------------------


@pytest.mark.parametrize("link", ["report.json", "out"])
def test_a_report_is_not_written_through_a_link_of_the_tree(repo: Path, link: str) -> None:
    place = {"report.json": ".git/hooks/pre-commit", "out": ".git/hooks"}[link]
    (repo / link).symlink_to(place)
    commit(repo, {"README": "a"})
    named = link if link == "report.json" else "out/pre-commit"
    for command in (("check", "--base", "HEAD~1"), ("diff", "HEAD~1", "HEAD")):
        ran = run(*command, "--format", f"json={named}", cwd=repo)
        assert ran.code == 2
        assert f"cannot write {named}: {repo / link} is a link of the repository" in ran.err
    assert not (repo / ".git/hooks/pre-commit").exists()


@pytest.mark.parametrize("command", [("init",), ("init", "--force"), ("baseline", "--base", "HEAD~1")])
def test_init_and_baseline_write_through_no_link(repo: Path, command: tuple[str, ...]) -> None:
    (repo / (_FILE if command[0] == "init" else _WAIVERS)).symlink_to("README")
    commit(repo, {"README": "waivers: []\n", "w.yaml": widget("A", "B", "C")})
    ran = run(*command, cwd=repo)
    assert ran.code == 2
    assert (repo / "README").read_text() == "waivers: []\n"


def test_a_named_place_outside_of_the_tree_can_be_a_link(repo: Path) -> None:
    (repo.parent / "real").mkdir()
    (repo.parent / "out").symlink_to("real")
    assert run("check", "--base", "HEAD~1", "--format", "json=../out/r.json", cwd=repo).code == 1
    assert (repo.parent / "real/r.json").is_file()
    assert spawn("check", "--base", "HEAD~1", "--format", "json=/dev/stdout", cwd=repo).report["command"] == "check"


@pytest.mark.parametrize("command", [("init",), ("config",), ("check", "--base", "HEAD~1"), ("diff", "HEAD~1", "HEAD")])
def test_the_folder_of_git_is_no_working_tree(repo: Path, command: tuple[str, ...]) -> None:
    for folder in (".git", ".git/hooks"):
        ran = run(*command, cwd=repo / folder)
        said = f"crdcompat: {repo / folder} is inside of .git, and no working tree: run crdcompat in {repo}\n"
        assert (ran.code, ran.err) == (2, said)
        assert not (repo / folder / _FILE).exists()
