"""Replay merged pull requests of openshift/api with ``check`` and compare with what a reader judged (``make replay``).

Prints per pull request that has findings, or was judged, its exit code, seconds, and findings by judged class; then the
totals. A finding is recognised by rule, direction, CRD version and path.
"""

from __future__ import annotations

import json
import os
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


class Replayed(NamedTuple):
    """One pull request: its exit code, seconds, and report."""

    commit: str
    code: int
    seconds: float
    report: dict[str, Any]
    errors: str

    def findings(self) -> dict[Key, dict[str, Any]]:
        """The errors and warnings against the base, each once."""
        found = {}
        for section in self.report.get("sections", ()):
            if section["against"] == "base":
                for item in section["findings"]:
                    if item["severity"] != "info":
                        crd = f"{item['crd']}/{item['version']}" if item["version"] else item["crd"]
                        found[self.commit, item["rule"], item["direction"], crd, item["path"]] = item
        return found


def clone(folder: Path) -> Path:
    """A bare clone of the history."""
    subprocess.run(["git", "clone", "-q", "--bare", str(BUNDLE), str(folder / "api.git")], check=True)
    return folder / "api.git"


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


def replay(repo: Path, commit: str, folder: Path) -> Replayed:
    """Run ``check`` on one merge as CI does."""
    config = folder / "config.yaml"
    config.write_text(configuration(repo, commit))
    command = [
        str(Path(sys.executable).parent / "crdcompat"), "check", "--base", f"{commit}^1", "--head", commit,
        "--config", str(config), "--format", "json",
    ]  # fmt: skip
    start = time.perf_counter()
    ran = subprocess.run(command, cwd=repo, capture_output=True, text=True, check=False, env={**os.environ, "CI": ""})
    took = time.perf_counter() - start
    return Replayed(commit, ran.returncode, took, json.loads(ran.stdout) if ran.stdout else {}, ran.stderr)


def judged() -> dict[str, Any]:
    """The reader's judgements."""
    found: dict[str, Any] = json.loads((DATA / "judged.json").read_text())
    return found


def main() -> int:
    """Replay all, print the table."""
    facts = judged()
    known: dict[Key, dict[str, Any]] = {
        (item["commit"], item["rule"], item["direction"], item["crd"], item["path"]): item for item in facts["findings"]
    }
    merge_of = {item["commit"]: item["merge"] for item in facts["merges"]}
    missed = {item["commit"]: item["what"] for item in facts["missed"]}
    totals: Counter[str] = Counter()
    seconds: list[float] = []
    found: set[Key] = set()
    only = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        repo = clone(Path(name))
        for commit, merge in merge_of.items():
            if only and not any(merge.startswith(part) for part in only):
                continue
            ran = replay(repo, commit, Path(name))
            seconds.append(ran.seconds)
            totals[f"exit {ran.code}"] += 1
            findings = ran.findings()
            found |= findings.keys()
            expected = [key for key in known if key[0] == commit]
            if findings or expected or ran.code or commit in missed:
                print(f"{merge} exit {ran.code} {ran.seconds:.1f} s{'  ' + missed[commit] if commit in missed else ''}")
            for key in dict.fromkeys((*expected, *findings)):
                verdict = known[key]["judged"] if key in known else "unjudged"
                state = findings[key]["severity"] if key in findings else "-"
                contexts = ",".join(sorted({each.split("/")[0] for each in findings.get(key, {}).get("contexts", ())}))
                totals[f"{verdict}: {state}"] += 1
                print(f"    {verdict:9} {state:8} {key[1]} {key[2]} {key[3]} {key[4]} [{contexts}]")
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
