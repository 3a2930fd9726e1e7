"""The version of a distribution is that of the tag; a clone without tags, or no clone, has one, too."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import commit, git
from offline import PROJECT


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone with two commits, the number 1.0.0, and nothing else."""
    (tmp_path / "clone/crdcompat").mkdir(parents=True)
    shutil.copyfile(PROJECT / "version_from_git.py", tmp_path / "clone/version_from_git.py")
    git(tmp_path / "clone", "init", "-qb", "main")
    commit(tmp_path / "clone", {"crdcompat/version.py": 'try:\n    pass\nexcept E:\n    __version__ = "1.0.0"\n'})
    commit(tmp_path / "clone", {"more.txt": "more\n"})
    return tmp_path / "clone"


def _version(folder: Path) -> str:
    command = [sys.executable, "-B", "-c", "import version_from_git; print(version_from_git.version())"]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def test_a_clone_without_tags(clone: Path) -> None:
    assert _version(clone) == f"1.0.0.dev2+g{git(clone, 'rev-parse', '--short', 'HEAD')}"


@pytest.mark.parametrize(("tag", "after"), [("v2.0", "2.1"), ("v2.3.4", "2.3.5"), ("v2.3.4rc1", "2.3.4rc1")])
def test_a_tag_and_what_follows(clone: Path, tag: str, after: str) -> None:
    git(clone, "tag", tag)
    git(clone, "tag", "validated")
    assert _version(clone) == tag.removeprefix("v")
    commit(clone, {"more.txt": "still more\n"})
    assert re.fullmatch(re.escape(f"{after}.dev1+g") + "[0-9a-f]+", _version(clone))


def test_no_clone(clone: Path) -> None:
    """Also inside of another repository, whose tags are about something else."""
    git(clone, "tag", "v9.9.9")
    inner = clone / "vendored"
    shutil.copytree(clone, inner, ignore=shutil.ignore_patterns(".git"))
    assert _version(inner) == "1.0.0.dev0"


def test_the_number_of_the_program_is_found() -> None:
    shown = subprocess.run([sys.executable, "-c", "import version_from_git as v; print(v._number())"], cwd=PROJECT,
                           check=True, capture_output=True, text=True).stdout.strip()  # fmt: skip
    assert re.fullmatch(r"\d+\.\d+\.\d+", shown)
