"""Replay merged pull requests of openshift/api with ``check`` and compare with what a reader judged (``make replay``).

Prints per pull request that has findings, or was judged, its exit code, seconds, and findings by judged class; then the
totals. A finding is recognised by rule, direction, CRD version and path. ``--releases BUNDLE`` replays another history,
which nobody judged: releases as tags ``<project>/<release>``, each as one change after the release before, with the one
before that as rollback target.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

DATA = Path(__file__).resolve().parents[3] / "shared/data/pr-replay"
BUNDLE = DATA / "openshift-api-master-2025.bundle"
#: When the releases forked, by the branches of the bundle: a pull request rolls back to the latest fork before it.
FORKS = ("release-4.19", "release-4.20", "release-4.21")

Key = tuple[str, str, str, str, str]
"""Commit, rule, direction, CRD and version, path."""


class Change(NamedTuple):
    """What ``check`` is asked: the name of the change, its head, and the configuration."""

    name: str
    head: str
    configuration: str


class Replayed(NamedTuple):
    """One pull request: its exit code, seconds, and report."""

    commit: str
    code: int
    seconds: float
    report: dict[str, Any]
    errors: str

    def findings(self) -> dict[Key, dict[str, Any]]:
        """The findings against the base, each once."""
        found = {}
        for section in self.report.get("sections", ()):
            if section["against"] == "base":
                for item in section["findings"]:
                    crd = f"{item['crd']}/{item['version']}" if item["version"] else item["crd"]
                    found[self.commit, item["rule"], item["direction"], crd, item["path"]] = item
        return found


def clone(bundle: Path, folder: Path) -> Path:
    """A bare clone of a history."""
    subprocess.run(["git", "clone", "-q", "--bare", str(bundle), str(folder / "api.git")], check=True)
    return folder / "api.git"


def releases(repo: Path) -> list[Change]:
    """Each release of each project as a change that follows the release before: tags have no common history."""
    by_project: dict[str, list[tuple[list[int], str]]] = {}
    for tag in _git(repo, "tag").split():
        project, _, release = tag.rpartition("/")
        by_project.setdefault(project, []).append(([int(part) for part in re.findall(r"\d+", release)], tag))
    found = []
    for tagged in by_project.values():
        made: list[str] = []
        for _, tag in sorted(tagged):
            parent = ("-p", made[-1]) if made else ()
            head = _git(repo, "commit-tree", f"{tag}^{{tree}}", *parent, "-m", tag).strip()
            if made:
                target = f"rollback_targets: [{made[-2]}]\n" if len(made) > 1 else ""
                found.append(Change(tag, head, target))
            made.append(head)
    return found


def _git(repo: Path, *args: str) -> str:
    identity = [part for name in ("name", "email") for part in ("-c", f"user.{name}=replay@example.com")]
    return subprocess.run(["git", "-C", repo, *identity, *args], check=True, capture_output=True, text=True).stdout


def _is_ancestor(repo: Path, older: str, newer: str) -> bool:
    asked = subprocess.run(["git", "-C", str(repo), "merge-base", "--is-ancestor", older, newer], check=False)
    return asked.returncode == 0


def configuration(repo: Path, commit: str) -> str:
    """The configuration of master at a commit: the next release, and the latest fork as target."""
    forked = [name for name in FORKS if _is_ancestor(repo, name, f"{commit}^1")]
    target = forked[-1] if forked else None
    minor = 19 + len(forked)
    targets = f'\nrollback_targets: {{master: ["{target}"]}}' if target else ""
    return f'releases: {{master: "openshift-4.{minor}"}}{targets}\n'


def replay(repo: Path, change: Change, folder: Path) -> Replayed:
    """Run ``check`` on one change as CI does."""
    config = folder / "config.yaml"
    config.write_text(change.configuration)
    command = [
        str(Path(sys.executable).parent / "crdcompat"), "check", "--base", f"{change.head}^1", "--head", change.head,
        "--config", str(config), "--format", "json",
    ]  # fmt: skip
    start = time.perf_counter()
    ran = subprocess.run(command, cwd=repo, capture_output=True, text=True, check=False, env={**os.environ, "CI": ""})
    took = time.perf_counter() - start
    return Replayed(change.head, ran.returncode, took, json.loads(ran.stdout) if ran.stdout else {}, ran.stderr)


def judged() -> dict[str, Any]:
    """The reader's judgements."""
    found: dict[str, Any] = json.loads((DATA / "judged.json").read_text())
    return found


def main() -> int:
    """Replay all, print the table."""
    parser = argparse.ArgumentParser(description="Replay a history with check.")
    parser.add_argument("names", nargs="*", help="beginnings of merge ids or names of releases (default: all)")
    parser.add_argument("--releases", type=Path, metavar="BUNDLE", help="releases as tags <project>/<release>")
    options = parser.parse_args()
    facts = judged() if options.releases is None else {"findings": [], "missed": []}
    known: dict[Key, dict[str, Any]] = {
        (item["commit"], item["rule"], item["direction"], item["crd"], item["path"]): item for item in facts["findings"]
    }
    missed = {item["commit"]: item["what"] for item in facts["missed"]}
    totals: Counter[str] = Counter()
    seconds: list[float] = []
    with tempfile.TemporaryDirectory() as name:
        repo = clone(options.releases or BUNDLE, Path(name))
        changes = (
            [Change(item["merge"], item["commit"], configuration(repo, item["commit"])) for item in facts["merges"]]
            if options.releases is None
            else releases(repo)
        )
        for change in changes:
            if options.names and not any(change.name.startswith(part) for part in options.names):
                continue
            ran, commit = replay(repo, change, Path(name)), change.head
            seconds.append(ran.seconds)
            totals[f"exit {ran.code}"] += 1
            everything = ran.findings()
            findings = {key: item for key, item in everything.items() if item["severity"] != "info"}
            expected = [key for key in known if key[0] == commit]
            warnings: Counter[str] = Counter()
            if findings or expected or ran.code or commit in missed:
                about = f"  {missed[commit]}" if commit in missed else ""
                print(f"{change.name} exit {ran.code} {ran.seconds:.1f} s{about}")
            for key in dict.fromkeys((*expected, *findings)):
                verdict = known[key]["judged"] if key in known else "unjudged"
                state = everything[key]["severity"] if key in everything else "-"
                contexts = ",".join(
                    sorted({each.split("/")[0] for each in everything.get(key, {}).get("contexts", ())})
                )
                totals[f"{verdict}: {state}"] += 1
                if options.releases and state == "warning":
                    warnings[f"{key[1]} {key[2]}"] += 1
                    continue
                print(f"    {verdict:9} {state:8} {key[1]} {key[2]} {key[3]} {key[4]} [{contexts}]")
            for about, count in sorted(warnings.items()):
                print(f"    {count:3} warnings {about}")
            if ran.code == 2:
                print("    " + ran.errors.strip().replace("\n", "\n    "))
    print()
    for name, count in sorted(totals.items()):
        print(f"{count:4} {name}")
    seconds.sort()
    print(f"seconds: median {seconds[len(seconds) // 2]:.2f}, most {seconds[-1]:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
