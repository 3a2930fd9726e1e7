"""docs/updates.md: its script compares a chart and a git base, with a helm and a git of this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from changes import repository, widget
from helpers import commit, git, write
from markdown_it import MarkdownIt
from offline import PROJECT
from pipelines import programs

_BLOCKS = [
    token
    for token in MarkdownIt().parse((PROJECT / "docs/updates.md").read_text(encoding="utf-8"))
    if token.type == "fence"
]
(SCRIPT,) = (block.content for block in _BLOCKS if block.info == "sh")
(WORKFLOW,) = (yaml.safe_load(block.content) for block in _BLOCKS if block.info == "yaml")
#: Stand-ins for helm and git. They copy charts and repositories from a folder, and refuse all other commands.
_HELM = """#!/bin/sh
[ "$1 $3 $4 $5 $7" = "pull --repo https://charts.example.com --version --untar" ] || exit 9
mkdir -p "$9" && cp -r "$STORE/$2-$6" "$9/$2"
"""
_GIT = """#!/bin/sh
if [ "$1" = clone ]; then
  [ "$3" = https://git.example.com/a/b ] || exit 9
  exec "$GIT" clone --quiet "$STORE/b" "$4"
fi
exec "$GIT" "$@"
"""


@pytest.fixture
def job(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A repository with a base of two versions, and the environment of the job."""
    store = tmp_path / "store"
    for version, phases in (("1.4.0", "A"), ("1.5.0", "AB")):
        chart = store / f"widgets-{version}"
        write(chart / "Chart.yaml", f"name: widgets\nversion: {version}\n")
        write(chart / "crds/w.yaml", widget(*phases))
    bases = repository(store)
    bases.rename(store / "b")
    for tag, phases in (("v1.0.0", "A"), ("v2.0.0", "AB")):
        commit(store / "b", {"config/w.yaml": widget(*phases)})
        git(store / "b", "tag", tag)
    made = programs(tmp_path / "programs")
    for name, text in (("helm", _HELM), ("git", _GIT)):
        (made / name).write_text(text)
        (made / name).chmod(0o755)
    found = shutil.which("git")
    assert found is not None
    path = f"{made}{os.pathsep}{os.environ['PATH']}"
    return repository(tmp_path), {**os.environ, "PATH": path, "STORE": str(store), "GIT": found}


def _files(chart: str, ref: str) -> dict[str, object]:
    dependency = f"{{name: widgets, repository: 'https://charts.example.com', version: {chart}}}"
    return {
        "deploy/Chart.yaml": f"name: a\ndependencies: [{dependency}]\n",
        "kustomization.yaml": {"resources": [f"https://git.example.com/a/b//config?ref={ref}"]},
    }


def _ran(job: tuple[Path, dict[str, str]], *changed: tuple[str, str]) -> tuple[int, str]:
    repo, environment = job
    base, *_ = [commit(repo, {**_files(*each), "README": f"{at}"}) for at, each in enumerate(changed)]
    ran = subprocess.run(
        ["bash", "-c", SCRIPT, "bash", base], cwd=repo, env=environment, capture_output=True, check=False
    )
    return ran.returncode, (repo / "comment.md").read_text(encoding="utf-8")


def test_each_update_is_compared(job: tuple[Path, dict[str, str]]) -> None:
    """The chart's CRDs are those that helm does not replace: its upgrade is blocked, the base's rollback is."""
    code, comment = _ran(job, ("1.4.0", "v1.0.0"), ("1.5.0", "v2.0.0"))
    assert code == 1
    of_chart, of_base = comment.split("## kustomization.yaml: v1.0.0 to v2.0.0")
    assert of_chart.startswith("## deploy/Chart.yaml: 1.4.0 to 1.5.0\n")
    assert "does not replace crds/" in of_chart and "does not replace crds/" not in of_base
    assert "status.p" in of_base


def test_an_update_without_another_crd(job: tuple[Path, dict[str, str]]) -> None:
    assert _ran(job, ("1.4.0", "v1.0.0"), ("1.4.0", "v1.0.0")) == (0, "")


def test_what_is_not_listed_is_said(job: tuple[Path, dict[str, str]]) -> None:
    code, comment = _ran(job, ("1.4.0", "v1.0.0"), ("'--repo=x'", "v1.0.0"))
    assert code == 2
    assert "## Not compared" in comment and "deploy/Chart.yaml: dependency widgets: the version" in comment


def test_what_cannot_be_fetched_fails(job: tuple[Path, dict[str, str]]) -> None:
    code, comment = _ran(job, ("1.4.0", "v1.0.0"), ("1.6.0", "v1.0.0"))
    assert code != 0
    assert comment.startswith("## deploy/Chart.yaml: 1.4.0 to 1.6.0")


def test_only_the_last_step_has_a_token() -> None:
    ((name, steps),) = ((name, job["steps"]) for name, job in WORKFLOW["jobs"].items())
    assert name == "updates"
    assert ["GH_TOKEN" in (step.get("env") or {}) for step in steps] == [False, False, True]
    assert steps[0]["with"]["persist-credentials"] is False
    assert "${{" not in steps[1]["run"]
