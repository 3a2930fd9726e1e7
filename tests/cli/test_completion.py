"""Shell completion: shown when asked for, and what bash makes of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from changes import repository
from helpers import commit, git, spawn

_ASK = """
eval "$(crdcompat --show-completion)"
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_crdcompat_completion crdcompat
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    home = tmp_path / "home"
    home.mkdir()
    programs = Path(sys.executable).parent
    return {**os.environ, "HOME": str(home), "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (("crdcompat", "di"), {"diff"}),
        (("crdcompat", "diff", "a", "b", "--suggest"), {"--suggest-patch"}),
        (("crdcompat", "diff", "--direction", ""), {"rollback", "upgrade", "both"}),
        (("crdcompat", "explain", "enum-value-"), {"enum-value-added", "enum-value-removed"}),
        (("crdcompat", "explain", "enum-dropped", "scope"), {"scope-changed"}),
        (("crdcompat", "diff", "a", "b", "--select", "scope"), {"scope-changed"}),
        (("crdcompat", "diff", "a", "b", "--format", "js"), {"json"}),
    ],
)
def test_bash_completes(env: dict[str, str], typed: tuple[str, ...], offered: set[str]) -> None:
    ran = subprocess.run(["bash", "-c", _ASK, "bash", *typed], env=env, text=True, capture_output=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert set(ran.stdout.split()) == offered


def test_refs_are_completed(env: dict[str, str], tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"a": "1"})
    for name in ("release-1.1", "release-1.2"):
        git(repo, "branch", name)
    git(repo, "tag", "relic")
    asked = {"COMP_WORDS": "crdcompat diff release-1.1 rel", "COMP_CWORD": "3", "_CRDCOMPAT_COMPLETE": "complete_bash"}
    ran = spawn(env={**env, **asked}, cwd=repo)
    assert (ran.out.split(), ran.err) == (["release-1.1", "release-1.2", "relic"], "")
    assert spawn(env={**env, **asked}, cwd=tmp_path.parent).err == ""


def test_the_shell_asks_the_program(env: dict[str, str]) -> None:
    asked = {"COMP_WORDS": "crdcompat sim", "COMP_CWORD": "1", "_CRDCOMPAT_COMPLETE": "complete_bash"}
    ran = spawn(env={**env, **asked})
    assert (ran.out.split(), ran.err) == (["simulate"], "")


def test_showing_writes_nothing(env: dict[str, str]) -> None:
    """bash itself is the shell that asks, so that it is the one detected."""
    ran = subprocess.run(
        ["bash", "-c", "crdcompat --show-completion; exit $?"], env=env, text=True, capture_output=True
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "_CRDCOMPAT_COMPLETE=complete_bash" in ran.stdout
    assert list(Path(env["HOME"]).iterdir()) == []
