"""Writes what is generated in contrib/openshift-api: the configuration, and the page for reviewers.

    python tests/conformance/openshift_patch.py

Needs the histories of ``../shared``. The configuration is what ``init`` writes at the end of the newest one. The page
has what ``check -q`` says about changes that broke releases, each checked as ``replay.py`` checks it (a minute).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import replay

FOLDER = Path(__file__).resolve().parents[2] / "contrib/openshift-api"
PAGE, CONFIGURATION = FOLDER / "incidents.md", FOLDER / ".crdcompat.yaml"
INCIDENTS = replay.HISTORIES["incidents"].parent / "incidents.json"
_HEAD = """\
# What the check would have said

For reviewers of openshift/api: changes that broke releases until they were reverted or repaired, and the repairs. For
each, a clone with the branches of that day: `crdcompat init` at the parent, with nothing added, then
`crdcompat check -q` of the merge.

`tests/conformance/openshift_patch.py` of crdcompat writes this page.
"""


def incidents() -> list[dict[str, Any]]:
    """The incidents and repairs, in the order of their numbers."""
    found: list[dict[str, Any]] = json.loads(INCIDENTS.read_text(encoding="utf-8"))
    return sorted(found, key=lambda each: each["pr"])


def sections(wanted: Iterable[Mapping[str, Any]]) -> list[str]:
    """The section of each of these incidents."""
    with tempfile.TemporaryDirectory() as name:
        repo = replay.clone(replay.HISTORIES["incidents"], Path(name) / "clone")
        branches = replay.branches_of(repo)
        return [_section(each, *_checked(repo, each["commit"], branches)) for each in wanted]


def _checked(repo: Path, commit: str, branches: dict[str, str]) -> tuple[int, str]:
    """The exit code and the output of ``check -q``."""
    replay.start_of_day(repo, commit, branches)
    command = [replay.PROGRAM, "check", "--base", f"{commit}^1", "--head", commit, "-q"]
    environment = {**os.environ, "CI": "", "COLUMNS": "120"}
    ran = subprocess.run(command, cwd=repo, capture_output=True, text=True, check=False, env=environment)
    return ran.returncode, ran.stdout


def _section(incident: Mapping[str, Any], code: int, output: str) -> str:
    told = "It broke releases." if incident["expected"] == "fail" else "It repaired an earlier change."
    address = f"https://github.com/openshift/api/pull/{incident['pr']}"
    shown = f"The check fails (exit code {code}):\n\n```text\n{output}```" if code else "The check passes, silently."
    return f"## [#{incident['pr']}]({address})\n\n{told} {shown}\n"


def configuration() -> str:
    """What ``init`` writes at the end of the newest history."""
    with tempfile.TemporaryDirectory() as name:
        repo = replay.clone(replay.HISTORIES["pr-replay"], Path(name) / "clone")
        subprocess.run([replay.PROGRAM, "init"], cwd=repo, check=True, capture_output=True)
        return (repo / ".crdcompat.yaml").read_text(encoding="utf-8")


def main() -> int:
    """Write both."""
    CONFIGURATION.write_text(configuration(), encoding="utf-8")
    PAGE.write_text("\n".join((_HEAD, *sections(incidents()))), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
