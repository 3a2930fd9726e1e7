"""Environments of CI jobs, and the snippets that run in them: docs/ci.md and action.yml."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml
from helpers import Json, commit, crd, git, obj, root, string
from markdown_it import MarkdownIt
from offline import PROJECT

BEFORE, HARMLESS, BREAKING = (
    crd(root(spec=obj(size=string(), **more), status=obj(phase=string(*phases))))
    for more, phases in (
        ({}, ("Pending", "Ready")),
        ({"colour": string()}, ("Pending", "Ready")),
        ({}, ("Pending", "Ready", "Degraded")),
    )
)
CRD_FILE = "crds/widgets.yaml"
_OF_A_CI = ("GITHUB_", "RUNNER_", "PULL_", "CI_", "GITLAB", "ARTIFACT", "PRE_COMMIT", "INPUT_", "CRDCOMPAT_")


@dataclass(frozen=True, slots=True)
class Ran:
    """How a script ended."""

    code: int
    output: str


@dataclass(frozen=True, slots=True)
class Job:
    """A clone as a CI makes it, with the change of a pull request, and the environment of the job."""

    at: Path
    base: str
    env: dict[str, str]

    def script(self, text: str, *bash: str, **env: str) -> Ran:
        """Run a script with bash."""
        command = ["bash", *(bash or ("-eo", "pipefail")), "-c", text]
        whole = {**self.env, **env}
        done = subprocess.run(
            command, cwd=self.at, env=whole, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        return Ran(done.returncode, done.stdout)


def snippet(name: str) -> Json:
    """The YAML block of docs/ci.md that begins with the comment ``# name``."""
    page = (PROJECT / "docs/ci.md").read_text(encoding="utf-8")
    blocks = [token.content for token in MarkdownIt().parse(page) if token.type == "fence" and token.info == "yaml"]
    (found,) = (block for block in blocks if block.partition("\n")[0] == f"# {name}")
    parsed: Json = yaml.safe_load(found)
    return parsed


def programs(folder: Path) -> Path:
    """A folder with a program ``crdcompat`` that runs this checkout."""
    folder.mkdir(parents=True)
    program = folder / "crdcompat"
    start = "import sys; from crdcompat.__main__ import main; main()"
    program.write_text(
        f"#!/bin/sh\nPYTHONPATH='{PROJECT}' exec '{sys.executable}' -P -c '{start}' \"$@\"\n", encoding="utf-8"
    )
    program.chmod(0o755)
    return folder


def job(top: Path, change: Json | None, env: Mapping[str, str]) -> Job:
    """The pull request on a branch of its own, merged into main as GitHub and Prow do; ``change`` None touches no CRD.

    main has a later change of its own that is as bad; the pull request's report must not contain it.
    """
    origin = top / "origin"
    origin.mkdir(parents=True)
    git(origin, "init", "-q", "-b", "main")
    commit(origin, {CRD_FILE: BEFORE, "gadgets.yaml": {**_gadgets("A")}})
    git(origin, "checkout", "-q", "-b", "feature")
    head = commit(origin, {"README.md": "words\n"} if change is None else {CRD_FILE: change})
    git(origin, "checkout", "-q", "main")
    base = commit(origin, {"gadgets.yaml": _gadgets("A", "B")})
    git(top, "clone", "-q", str(origin), "clone")
    clone = top / "clone"
    git(clone, "checkout", "-q", "--detach", base)
    git(clone, "merge", "-q", "--no-edit", head)
    git(clone, "branch", "-q", "-D", "main")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OF_A_CI)}
    path = f"{programs(top / 'bin')}{os.pathsep}{kept['PATH']}"
    return Job(clone, base, {**kept, "PATH": path, "CI": "true", **env})


def _gadgets(*values: str) -> Json:
    return crd(root(status=obj(mode=string(*values))), kind="Gadget")


def written(report: Path) -> str:
    """The text of a report that a job wrote; JSON, or XML, that can be read."""
    text = report.read_text(encoding="utf-8")
    if text.startswith("<"):
        from xml.etree import ElementTree

        ElementTree.fromstring(text)
    else:
        json.loads(text)
    return text
