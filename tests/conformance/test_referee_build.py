"""Building the API servers, as far as it needs no Go."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import referee_build
from offline import PROJECT
from referee_build import CannotBuildError, build, built, main, recipes

from crdcompat.apiserver.server_versions import kubernetes_server


def test_each_minor_has_a_recipe_that_the_program_can_judge() -> None:
    assert set(referee_build.USUAL) <= recipes().keys()
    for minor, recipe in recipes().items():
        assert recipe.kubernetes.startswith(f"v0.{kubernetes_server(minor).minor}.")
        assert f"k8s.io/apiextensions-apiserver {recipe.kubernetes}\n" in recipe.go_mod


def test_without_go_nothing_is_built_and_it_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotBuildError, match="there is no `go` command"):
        build(recipes()["1.31"], tmp_path)
    assert built(tmp_path) == {}


def test_a_binary_counts_only_for_the_sources_it_is_built_from(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    recipe = recipes()["1.31"]
    binary = recipe.binary(tmp_path)
    binary.parent.mkdir(parents=True)
    binary.touch()
    assert built(tmp_path) == {"1.31": binary}
    assert build(recipe, tmp_path) == binary  # no Go is asked for
    sources = tmp_path / "server"
    sources.mkdir()
    (sources / "main.go").write_text("package main\n")
    monkeypatch.setattr(referee_build, "_SERVER", sources)
    assert built(tmp_path) == {}


def test_a_minor_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["1.5", "1.5.0", "1.30.x"]) == 2
    assert capsys.readouterr().err.startswith("1.5, 1.5.0, 1.30.x: not one of 1.26, ")


def test_a_patch_has_the_recipe_of_its_minor_with_its_own_modules(capsys: pytest.CaptureFixture[str]) -> None:
    patch, minor = referee_build.recipe_of("1.30.0"), recipes()["1.30"]
    assert patch is not None
    assert (patch.kubernetes, patch.etcd, patch.tags) == ("v0.30.0", minor.etcd, minor.tags)
    binary = patch.binary(referee_build.cache_home())
    assert binary != minor.binary(referee_build.cache_home())
    binary.parent.mkdir(parents=True)
    binary.touch()
    assert main(["--built", "1.30", "1.30.0"]) == 0
    assert capsys.readouterr().out == "1.30.0\n"
    assert [*built(referee_build.cache_home())] == ["1.30.0"]


def test_which_are_built(capsys: pytest.CaptureFixture[str]) -> None:
    binary = recipes()["1.31"].binary(referee_build.cache_home())
    binary.parent.mkdir(parents=True)
    binary.touch()
    assert main(["--built", "1.28", "1.31"]) == 0
    assert capsys.readouterr().out == "1.31\n"


# -- what CI does of it ---------------------------------------------


def _ci(tmp_path: Path, *args: str, seconds: int = 600) -> tuple[int, str]:
    """``.ci/referee``, where there is no Go and nothing is built."""
    tools = tmp_path / "bin"
    tools.mkdir(exist_ok=True)
    for name in ("bash", "env", "date", "dirname", "nice", "sleep", "tail"):
        if not (tools / name).exists():
            (tools / name).symlink_to(shutil.which(name) or name)
    environment = {**os.environ, "PATH": str(tools), "PYTHON": sys.executable, "CI_REFEREE_LOG": str(tmp_path / "log")}
    given = [str(int(time.time()) + seconds) if arg == "DEADLINE" else arg for arg in args]
    command = [str(PROJECT / ".ci/referee"), *given]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def _pid_of_the_past() -> str:
    ended = subprocess.Popen(["true"])
    ended.wait()
    return str(ended.pid)


def test_ci_without_go_says_what_was_not_asked_and_passes(tmp_path: Path) -> None:
    assert _ci(tmp_path, "build") == (0, "")
    code, said = _ci(tmp_path, "ask", _pid_of_the_past(), "DEADLINE")
    assert code == 0
    assert said.splitlines() == [
        f"ci: Kubernetes {minor} was not asked: it is not built; the build says: there is no go command"
        for minor in ("1.36", "1.28")
    ]


def test_ci_without_time_says_what_was_not_asked_and_passes(tmp_path: Path) -> None:
    for minor in ("1.36", "1.28"):
        binary = recipes()[minor].binary(referee_build.cache_home())
        binary.parent.mkdir(parents=True)
        binary.touch()
    code, said = _ci(tmp_path, "ask", _pid_of_the_past(), "DEADLINE", seconds=20)
    assert code == 0
    assert [line.partition("tests/")[0] for line in said.splitlines()] == ["ci: not asked, for want of time: "] * 4


def test_ci_ends_a_build_that_takes_too_long(tmp_path: Path) -> None:
    endless = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    code, said = _ci(tmp_path, "ask", str(endless.pid), "DEADLINE", seconds=0)
    assert code == 0
    assert said.startswith("ci: the API servers were not all built in time\n")
    assert endless.wait() != 0
