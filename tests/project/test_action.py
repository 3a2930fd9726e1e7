"""The GitHub action: its steps run with bash as a runner does, with what a pull request could put in."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from checkouts import BREAKING, HARMLESS, github, server
from helpers import Json, git
from offline import PROJECT, copy_project, need_wheelhouse, offline_environment
from pipelines import Job, Ran, programs, snippet, written

ACTION: Json = yaml.safe_load((PROJECT / "action.yml").read_text(encoding="utf-8"))
INSTALL, RUN, COMMENT = ACTION["runs"]["steps"]
#: What the repository has.
_FILES = (".crdcompat.yaml", ".git", "README.md", "crds", "docs.md", "gadgets.yaml")
#: How a runner starts ``shell: bash``.
_BASH = ("--noprofile", "--norc", "-e", "-o", "pipefail")


@pytest.fixture
def change() -> Json:
    """What the pull request does."""
    return BREAKING


@pytest.fixture
def depth() -> int:
    """The ``fetch-depth`` of the checkout: as in the workflow of the page."""
    return int(snippet(".github/workflows/crdcompat.yaml")["jobs"]["check"]["steps"][0]["with"]["fetch-depth"])


@pytest.fixture
def work(tmp_path: Path, change: Json, depth: int) -> Job:
    """A job of a pull request, with this checkout installed where the action installs."""
    temp = tmp_path / "runner temp"
    programs(temp / "crdcompat/bin")
    env = {
        "GITHUB_OUTPUT": str(temp / "output"),
        "GITHUB_STEP_SUMMARY": str(temp / "summary"),
        "RUNNER_TEMP": str(temp),
    }
    cloned = github(server(tmp_path / "top", change), depth)
    return Job(cloned.at, {**cloned.env, **env})


def _step(work: Job, **inputs: str) -> tuple[Ran, str]:
    """Run the action's second step with these inputs; what it printed, and its output ``exit-code``."""
    known = {name: str(declared.get("default", "")) for name, declared in ACTION["inputs"].items()}
    assert set(inputs) <= set(known)
    env = {name: _filled(text, {**known, **inputs}) for name, text in RUN["env"].items()}
    ran = work.script(RUN["run"], *_BASH, **env)
    (line,) = Path(work.env["GITHUB_OUTPUT"]).read_text(encoding="utf-8").splitlines()
    return ran, line.removeprefix("exit-code=")


def _filled(text: str, inputs: Mapping[str, str]) -> str:
    found = re.fullmatch(r"\$\{\{ inputs\.([a-z-]+) \}\}", text)
    assert found, text
    return inputs[found[1]]


def test_nothing_is_filled_into_a_script() -> None:
    for step in (INSTALL, RUN, COMMENT):
        assert step["shell"] == "bash"
        assert "${{" not in step["run"]
        assert "eval" not in step["run"]
    assert {_filled(text, {name: name for name in ACTION["inputs"]}) for text in RUN["env"].values()} == set(
        ACTION["inputs"]
    )
    assert ACTION["runs"]["using"] == "composite"
    assert ACTION["outputs"]["exit-code"]["value"] == f"${{{{ steps.{RUN['id']}.outputs.exit-code }}}}"


def test_a_change_that_breaks(work: Job) -> None:
    ran, code = _step(work)
    assert (ran.code, code) == (1, "1"), ran.output
    assert "enum-value-added" in ran.output and "widgets.example.com" in ran.output
    assert "Against the rollback target release-4.1" in ran.output
    assert git(work.at, "status", "--porcelain") == ""


@pytest.mark.parametrize("change", [HARMLESS])
def test_a_change_that_is_fine(work: Job) -> None:
    ran, code = _step(work)
    assert (ran.code, code) == (0, "0"), ran.output


def test_the_workflow_of_the_page(work: Job) -> None:
    step = snippet(".github/workflows/crdcompat.yaml")["jobs"]["check"]["steps"][1]
    ran, code = _step(work, **step["with"])
    assert (ran.code, code) == (1, "1"), ran.output
    assert "status.phase" in written(work.at / step["with"]["sarif"])


@pytest.mark.parametrize("depth", [1, 2])
def test_a_checkout_that_is_too_shallow(work: Job) -> None:
    """It fails, names what to set, and prints commands that work: after them the same step judges."""
    ran, code = _step(work)
    assert (ran.code, code) == (2, "2"), ran.output
    assert ran.output.endswith("\nor set `fetch-depth: 0` of actions/checkout\n")
    (command,) = (line for line in ran.output.splitlines() if line.startswith("git "))
    assert work.script(command).code == 0
    ran, code = _again(work)
    assert (ran.code, code) == (1, "1"), ran.output


def test_a_base(work: Job) -> None:
    """From the tip itself nothing has changed; a branch that is not there is an error."""
    ran, code = _step(work, base=git(work.at, "rev-parse", "HEAD"))
    assert (ran.code, code) == (0, "0"), ran.output
    ran, code = _again(work, base="no-such-branch")
    assert (ran.code, code) == (2, "2"), ran.output
    assert "no-such-branch" in ran.output


def test_more_arguments(work: Job) -> None:
    ran, code = _step(work, args="  --fail-on never\n--owner\tstatus\n")
    assert (ran.code, code) == (0, "0"), ran.output
    ran, code = _again(work, command="diff", args="main-before HEAD")
    assert (ran.code, code) == (2, "2"), ran.output
    ran, code = _again(work, command="diff", args="origin/main~1 HEAD")
    assert (ran.code, code) == (1, "1"), ran.output


def _again(work: Job, **inputs: str) -> tuple[Ran, str]:
    Path(work.env["GITHUB_OUTPUT"]).unlink()
    return _step(work, **inputs)


_HOSTILE = ("; touch pwned", "$(touch pwned)", "`touch pwned`", "' ; touch pwned #", '" ; touch pwned #', "x\ntouch *")


@pytest.mark.parametrize("name", sorted(ACTION["inputs"]))
def test_hostile_inputs(work: Job, name: str) -> None:
    """They are arguments, one or several, and nothing else; at most a file of that name is written, for SARIF."""
    Path(work.env["GITHUB_OUTPUT"]).touch()
    for text in _HOSTILE:
        ran, code = _again(work, **{name: text})
        assert ran.code in (1, 2) and code == str(ran.code), ran.output
        assert "command not found" not in ran.output
    left = {path.name for path in work.at.iterdir() if path.name not in _FILES}
    assert left == ({text.split("/")[0] for text in _HOSTILE} if name == "sarif" else set()), left
    assert not (work.at / "crds/pwned").exists()


def test_arguments_are_not_expanded(work: Job) -> None:
    ran, _ = _step(work, args="--crd * --select $HOME")
    assert ran.code == 2
    assert "$HOME" in ran.output


# -- the comment ---------------------------------------------------------------------------------------

#: Stands for GitHub's `gh`: it logs its arguments, and knows the comments in a file.
_GH = """#!/bin/bash
echo "$*" >>"$RUNNER_TEMP/calls"
for argument in "$@"; do
  case "$argument" in
    --jq) cat "$RUNNER_TEMP/known" ;;
    body=@*) cp "${argument#body=@}" "$RUNNER_TEMP/sent" ;;
  esac
done
"""


def _comment(work: Job, known: str, exit_code: str) -> list[str]:
    """The calls of ``gh`` after a run with this exit code, where the comments ``known`` are marked."""
    temp = Path(work.env["RUNNER_TEMP"])
    (temp / "gh").write_text(_GH, encoding="utf-8")
    (temp / "gh").chmod(0o755)
    (temp / "known").write_text(known, encoding="utf-8")
    (temp / "calls").unlink(missing_ok=True)
    env = {"GH_TOKEN": "t", "NUMBER": "7", "EXIT_CODE": exit_code, "GITHUB_REPOSITORY": "o/r"}
    ran = work.script(COMMENT["run"], *_BASH, **env, PATH=f"{temp}:{work.env.get('PATH', os.environ['PATH'])}")
    assert ran.code == 0, ran.output
    return (temp / "calls").read_text(encoding="utf-8").splitlines() if (temp / "calls").exists() else []


def test_one_comment_is_made_and_then_updated(work: Job) -> None:
    ran, code = _step(work, comment="true")
    assert (ran.code, code) == (1, "1"), ran.output
    asked, made = _comment(work, "", code)
    assert asked.startswith("api --paginate repos/o/r/issues/7/comments?per_page=100 --jq ")
    assert made.startswith("api --silent --method POST repos/o/r/issues/7/comments --field body=@")
    sent = (Path(work.env["RUNNER_TEMP"]) / "sent").read_text(encoding="utf-8")
    assert sent.startswith("<!-- crdcompat -->\n") and "status.phase" in sent
    for exit_code in ("1", "0"):
        _, updated = _comment(work, "41\n42\n", exit_code)
        assert updated.startswith("api --silent --method PATCH repos/o/r/issues/comments/41 --field body=@")


@pytest.mark.parametrize("change", [HARMLESS])
def test_no_comment_where_nothing_is_found(work: Job) -> None:
    ran, code = _step(work, comment="true")
    assert (ran.code, code) == (0, "0"), ran.output
    assert len(_comment(work, "", code)) == 1


def test_no_comment_unless_it_is_asked_for(work: Job) -> None:
    _, code = _step(work)
    assert _comment(work, "", code) == []
    assert "inputs.comment == 'true'" in COMMENT["if"]


# -- the installation ----------------------------------------------------------------------------------


def test_it_installs_itself(tmp_path: Path) -> None:
    """Away from the network; whatever the pull request's files are called, they are not imported."""
    need_wheelhouse()
    env = offline_environment(tmp_path / "home")
    here = tmp_path / "workspace"
    here.mkdir()
    for module in ("venv", "pip", "sys", "encodings", "crdcompat", "sitecustomize"):
        (here / f"{module}.py").write_text("open('pwned', 'w').close()\nraise SystemExit(9)\n", encoding="utf-8")
    env |= {
        "RUNNER_TEMP": str(tmp_path / "runner temp"),
        "GITHUB_ACTION_PATH": str(copy_project(tmp_path / "the action")),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
    }
    left = Path(env["RUNNER_TEMP"]) / "crdcompat/bin/python"  # as an earlier use in the same job leaves it, broken
    left.parent.mkdir(parents=True)
    left.touch()
    done = _bash(INSTALL["run"], here, env)
    assert done.returncode == 0, done.stderr
    inputs = {"INPUT_COMMAND": "demo", "INPUT_BASE": "", "INPUT_ARGS": "", "INPUT_SARIF": ""}
    done = _bash(RUN["run"], here, {**env, **inputs})
    assert (done.returncode, done.stderr) == (0, "")
    assert "error[enum-value-added]" in done.stdout
    assert not (here / "pwned").exists()


def test_an_old_python_is_reported(tmp_path: Path) -> None:
    old = tmp_path / "bin/python3"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    old.chmod(0o755)
    done = _bash(INSTALL["run"], tmp_path, {"PATH": f"{old.parent}:{Path(shutil.which('bash') or '').parent}"})
    assert done.returncode == 2
    assert done.stdout.startswith("::error::") and "3.11" in done.stdout


def _bash(script: str, at: Path, env: Mapping[str, Any]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", *_BASH, "-c", script], cwd=at, env=env, text=True, capture_output=True)
