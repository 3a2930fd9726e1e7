"""The Containerfile, without a container engine: what it copies and what it installs from (.ci/image builds it)."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest
from offline import PROJECT, need_wheelhouse, offline_environment

_NAMES = (".containerignore", ".dockerignore")


def _instructions() -> list[tuple[str, str]]:
    """The Containerfile's instructions in order: lines joined, comments left out."""
    lines = (PROJECT / "Containerfile").read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.startswith("#")).replace("\\\n", " ")
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in text.splitlines() if line)]


def _all(word: str) -> list[str]:
    return [rest for name, rest in _instructions() if name == word]


def _copied() -> list[tuple[list[str], str]]:
    """What comes from the checkout, and where it goes."""
    words = [shlex.split(rest) for rest in _all("COPY")]
    return [(made[:-1], made[-1]) for made in words if not made[0].startswith("--from=")]


def _sent() -> list[str]:
    """The top-level files and folders that the ignore file leaves to be copied."""
    lines = [
        line for line in (PROJECT / _NAMES[0]).read_text(encoding="utf-8").splitlines() if line[:1] not in ("#", "")
    ]
    assert lines[0] == "*"
    return [line[1:] for line in lines if line.startswith("!")]


def test_everything_copied_is_there_and_sent() -> None:
    copied = [source for sources, _ in _copied() for source in sources]
    for source in copied:
        assert (PROJECT / source).exists(), source
    assert sorted(copied) == sorted(_sent())
    assert not any(fnmatch(".git", pattern) for pattern in _sent())


def test_both_ignore_files_say_the_same() -> None:
    first, second = ((PROJECT / name).read_bytes() for name in _NAMES)
    assert first == second


def test_what_it_is_made_of() -> None:
    """Debian for glibc; a Python that the project names; no rights; git to read repositories with."""
    names = [image.split()[0] for image in _all("FROM")]
    assert len(set(names)) == 1
    found = re.fullmatch(r"docker\.io/library/python:(3\.\d+)-slim-bookworm", names[0])
    assert found
    assert f"Programming Language :: Python :: {found[1]}" in (PROJECT / "pyproject.toml").read_text(encoding="utf-8")
    assert any(re.search(r"apt-get install .*\bgit\b", rest) for rest in _all("RUN"))
    (user,) = _all("USER")
    assert user.isdecimal() and user != "0"
    assert any(f"useradd --uid {user} " in rest for rest in _all("RUN"))
    assert _all("ENTRYPOINT") == ['["crdcompat"]']
    order = [name for name, _ in _instructions()]
    assert order.index("USER") > max(index for index, name in enumerate(order) if name in ("RUN", "COPY"))


def test_the_program_is_copied_from_where_it_was_installed() -> None:
    (rest,) = (rest for rest in _all("COPY") if rest.startswith("--from="))
    stage, source, target = shlex.split(rest)
    assert any(image.endswith(f" AS {stage.removeprefix('--from=')}") for image in _all("FROM"))
    assert source == target, "a virtual environment cannot be moved"
    assert f"python -m venv {source}" in _all("RUN")
    assert any(rest.startswith(f"{source}/bin/python -m pip install ") for rest in _all("RUN"))
    assert f'PATH="{target}/bin:$PATH"' in _all("ENV")


def test_what_is_copied_can_be_installed(tmp_path: Path) -> None:
    """The build stage's own lines, on nothing but what it copies, in a folder in place of /."""
    need_wheelhouse()
    env = offline_environment(tmp_path / "home")
    top = tmp_path / "root"
    for sources, target in _copied():
        for source in sources:
            to = top / target.lstrip("/")
            if (PROJECT / source).is_dir():
                shutil.copytree(PROJECT / source, to, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                to.mkdir(parents=True, exist_ok=True)
                shutil.copy(PROJECT / source, to)
    build = [name for name, _ in _instructions()].index("FROM", 1)
    lines = [rest for name, rest in _instructions()[:build] if name == "RUN"]
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    for line in lines:
        moved = re.sub(r"(?<![\w.])/(?=(src|opt)\b)", f"{top}/", line)
        done = subprocess.run(["sh", "-c", moved], cwd=tmp_path, env=env, text=True, capture_output=True)
        assert done.returncode == 0, done.stdout + done.stderr
    done = subprocess.run(
        [str(top / "opt/crdcompat/bin/crdcompat"), "demo"], cwd=tmp_path, env=env, text=True, capture_output=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "error[enum-value-added]" in done.stdout


def test_git_reads_what_belongs_to_another_user(tmp_path: Path) -> None:
    """The setting works as the system's: git of the program's own runs does not leave it out."""
    (line,) = (rest for rest in _all("RUN") if "safe.directory" in rest)
    system = tmp_path / "gitconfig"
    env = {**os.environ, "GIT_CONFIG_SYSTEM": str(system)}
    done = subprocess.run(["sh", "-c", line.replace("--system", f"--file '{system}'")], env=env)
    assert done.returncode == 0
    command = ["git", "config", "--get-all", "safe.directory"]
    assert subprocess.run(command, env=env, cwd=tmp_path, text=True, capture_output=True).stdout == "*\n"
    if os.geteuid() != 0:
        pytest.skip("only root can make a folder another user's")
    repo = tmp_path / "repo"
    subprocess.run(["git", "init", "-q", "-b", "main", str(repo)], check=True)
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "x"], cwd=repo, check=True)
    for path in (repo, *repo.rglob("*")):
        os.chown(path, 12345, 12345)
    ran = [
        subprocess.run(
            [sys.executable, "-m", "crdcompat", "check"],
            cwd=repo,
            env={**used, "PYTHONPATH": str(PROJECT)},
            text=True,
            capture_output=True,
        )
        for used in (os.environ, env)
    ]
    assert [done.returncode for done in ran] == [2, 0], [done.stderr for done in ran]
