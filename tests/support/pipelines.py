"""Jobs of CI systems, and the snippets that run in them: docs/ci.md and action.yml."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import yaml
from helpers import Json
from markdown_it import MarkdownIt
from offline import PROJECT


@dataclass(frozen=True, slots=True)
class Ran:
    """How a script ended."""

    code: int
    output: str


@dataclass(frozen=True, slots=True)
class Job:
    """A clone as a CI makes it, with the change of a pull request, and the environment of the job."""

    at: Path
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


def written(report: Path) -> str:
    """The text of a report that a job wrote; JSON, or XML, that can be read."""
    text = report.read_text(encoding="utf-8")
    if text.startswith("<"):
        from xml.etree import ElementTree

        ElementTree.fromstring(text)
    else:
        json.loads(text)
    return text
