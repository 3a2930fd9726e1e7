"""Replay merged pull requests of openshift/api with ``check`` as a contributor has it (``make replay``).

Each pull request gets a clone with the branches of its day: master at the parent, without the releases that forked
later. ``crdcompat init`` writes the configuration there, and nothing is added to it. Then ``check`` judges the merge.
Prints each pull request with findings, a judgement or an exit code other than 0: the exit code, seconds, and the
findings by what a reader judged and which severity the reader would give; then the totals. A finding is recognised by
rule, direction, CRD version and path.

``--history`` names one history; ``--all`` replays every merge, also those that nobody judged. ``--json FILE`` keeps the
results. ``--releases BUNDLE`` replays another history, which nobody judged: releases as tags ``<project>/<release>``,
each as one change after the release before, with the one before that as rollback target.
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
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import Any, NamedTuple

DATA = Path(__file__).resolve().parents[3] / "shared/data"
HISTORIES = {
    "incidents": DATA / "incidents/openshift-api-master-2023-2024.bundle",
    "pr-replay": DATA / "pr-replay/openshift-api-master-2025.bundle",
}
#: Changes that are replayed at the same time.
WORKERS = 2
#: The installed command.
PROGRAM = str(Path(sys.executable).parent / "crdcompat")

Key = tuple[str, str, str, str]
"""Rule, direction, CRD and version, path."""


class Change(NamedTuple):
    """What ``check`` is asked: the name of the change, its head, and the configuration (None: what ``init`` writes)."""

    name: str
    head: str
    configuration: str | None = None


class Replayed(NamedTuple):
    """One pull request: its exit code, seconds, report, and what ``check`` printed on standard error."""

    code: int
    seconds: float
    report: dict[str, Any]
    errors: str

    def findings(self) -> dict[Key, dict[str, Any]]:
        """The findings that count, each once: the worst of all sections."""
        found: dict[Key, dict[str, Any]] = {}
        ranks = ("error", "warning", "info")
        for section in self.report.get("sections", ()):
            for item in section["findings"]:
                crd = f"{item['crd']}/{item['version']}" if item["version"] else item["crd"]
                key = item["rule"], item["direction"], crd, item["path"]
                counts = item["status"] == "new" and item["waiver"] is None
                known = found.get(key)
                if counts and (known is None or ranks.index(item["severity"]) < ranks.index(known["severity"])):
                    found[key] = item
        return found


class Judgements(NamedTuple):
    """What a reader said of the merges of a history: findings, expected exits of incidents, missed effects."""

    merges: dict[str, str]
    findings: dict[str, dict[Key, dict[str, Any]]]
    expected: dict[str, dict[str, Any]]
    missed: dict[str, str]


def judgements(history: str) -> Judgements:
    """The reader's judgements on a history, by commit."""
    folder = HISTORIES[history].parent
    facts = json.loads((folder / "judged.json").read_text())
    merges = {item["commit"]: item["merge"] for item in facts["merges"]}
    commits = {merge: commit for commit, merge in merges.items()}
    findings: dict[str, dict[Key, dict[str, Any]]] = {}
    for item in facts["findings"]:
        key = item["rule"], item["direction"], item["crd"].removesuffix("/"), item["path"]
        findings.setdefault(item.get("commit") or commits[item["merge"]], {})[key] = item
    incidents = folder / "incidents.json"
    expected = {each["commit"]: each for each in json.loads(incidents.read_text())} if incidents.exists() else {}
    merges |= {commit: each["merge"] for commit, each in expected.items()}
    return Judgements(merges, findings, expected, {item["commit"]: item["what"] for item in facts.get("missed", ())})


def clone(bundle: Path, folder: Path) -> Path:
    """A clone of a history."""
    subprocess.run(["git", "clone", "-q", str(bundle), str(folder)], check=True)
    return folder


def commits(repo: Path) -> list[Change]:
    """Every merge of a history, oldest first."""
    lines = _git(repo, "log", "--reverse", "--first-parent", "--format=%H %s", "origin/master").splitlines()[1:]
    return [Change(line.split()[0][:12], line.split()[0]) for line in lines]


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
                found.append(Change(tag, head, f"rollback_targets: [{made[-2]}]\n" if len(made) > 1 else ""))
            made.append(head)
    return found


def _git(repo: Path, *args: str) -> str:
    identity = [part for name in ("name", "email") for part in ("-c", f"user.{name}=replay@example.com")]
    return subprocess.run(["git", "-C", repo, *identity, *args], check=True, capture_output=True, text=True).stdout


def as_of(repo: Path, head: str, branches: dict[str, str]) -> None:
    """Set a clone back to the day of a change: master at its parent, and only the releases that had forked."""
    _git(repo, "checkout", "-q", "--force", "-B", "master", f"{head}^1")
    _git(repo, "update-ref", "refs/remotes/origin/master", f"{head}^1")
    day = _date(repo, f"{head}^1")
    for name, commit in branches.items():
        ref = f"refs/remotes/origin/{name}"
        _git(repo, "update-ref", *((ref, commit) if _date(repo, commit) <= day else ("-d", ref)))


def start_of_day(repo: Path, head: str, branches: dict[str, str]) -> None:
    """Set a clone back to the day of a change, with the configuration that ``init`` writes there."""
    (repo / ".crdcompat.yaml").unlink(missing_ok=True)
    as_of(repo, head, branches)
    environment = {**os.environ, "CI": ""}
    subprocess.run([PROGRAM, "init"], cwd=repo, check=True, capture_output=True, env=environment)


def _date(repo: Path, commit: str) -> int:
    """The date of a commit; the oldest releases have no common history with master."""
    return int(_git(repo, "log", "-1", "--format=%ct", commit))


def branches_of(repo: Path) -> dict[str, str]:
    """The release branches of a clone with their commits."""
    lines = _git(repo, "for-each-ref", "--format=%(refname:lstrip=3) %(objectname)", "refs/remotes/origin").splitlines()
    return {name: commit for name, commit in map(str.split, lines) if name.startswith("release-")}


def replay(repo: Path, change: Change, branches: dict[str, str]) -> Replayed:
    """Run ``init`` and ``check`` on one change as a contributor does."""
    if change.configuration is None:
        start_of_day(repo, change.head, branches)
    else:
        (repo / ".crdcompat.yaml").write_text(change.configuration)
    command = [PROGRAM, "check", "--base", f"{change.head}^1", "--head", change.head, "--format", "json"]
    start = time.perf_counter()
    ran = subprocess.run(command, cwd=repo, capture_output=True, text=True, check=False, env={**os.environ, "CI": ""})
    took = time.perf_counter() - start
    return Replayed(ran.returncode, took, json.loads(ran.stdout) if ran.stdout else {}, ran.stderr)


def replay_all(bundle: Path, changes: list[Change]) -> Iterator[tuple[Change, Replayed]]:
    """Replay changes, several at a time, in their order."""
    with tempfile.TemporaryDirectory() as name:
        repos: Queue[Path] = Queue()
        for index in range(WORKERS):
            repos.put(clone(bundle, Path(name) / f"clone-{index}"))
        branches = branches_of(Path(name) / "clone-0")

        def run(change: Change) -> Replayed:
            repo = repos.get()
            try:
                return replay(repo, change, branches)
            finally:
                repos.put(repo)

        with ThreadPoolExecutor(WORKERS) as pool:
            yield from zip(changes, pool.map(run, changes), strict=True)


def show(change: Change, ran: Replayed, judged: Judgements, totals: Counter[str]) -> None:
    """Print one pull request, and count it."""
    everything = ran.findings()
    known = judged.findings.get(change.head, {})
    incident, missed = judged.expected.get(change.head), judged.missed.get(change.head)
    totals[f"exit {ran.code}"] += 1
    should = incident["expected"] if incident else ""
    if incident:
        is_right = (ran.code == 1) == (should == "fail") and ran.code != 2
        totals[f"incident expected to {should}: {'right' if is_right else 'WRONG'}"] += 1
    findings = {key: item for key, item in everything.items() if item["severity"] != "info"}
    if not (findings or known or ran.code or missed or incident):
        return
    about = f"  expected: {should}: {incident['what']}" if incident else f"  {missed}" if missed else ""
    print(f"{judged.merges.get(change.head, change.name)} exit {ran.code} {ran.seconds:.1f} s{about}")
    lines: Counter[str] = Counter()
    paths: dict[str, str] = {}
    for key in dict.fromkeys((*known, *findings)):
        state = everything[key]["severity"] if key in everything else "-"
        verdict = known[key].get("judged", "unjudged") if key in known else "unjudged"
        wanted = known[key].get("should", "") if key in known else ""
        contexts = ",".join(sorted({each.split("/")[0] for each in everything.get(key, {}).get("contexts", ())}))
        totals[f"{verdict}{f', should be {wanted}' if wanted else ''}: {state}"] += 1
        line = f"{verdict:9} {wanted:8}{state:8} {key[0]} {key[1]} [{contexts}]"
        paths.setdefault(line, f"{key[2]} {key[3]}")
        lines[line] += 1
    for line, count in lines.items():
        print(f"    {line} {paths[line]}{f' and {count - 1} more' if count > 1 else ''}")
    if ran.code == 2:
        print("    " + ran.errors.strip().replace("\n", "\n    "))


def main() -> int:
    """Replay, print the table."""
    parser = argparse.ArgumentParser(description="Replay a history with check.")
    parser.add_argument(
        "names", nargs="*", help="beginnings of merge or commit ids or names of releases (default: all)"
    )
    parser.add_argument("--history", choices=tuple(HISTORIES), action="append", help="one history (default: both)")
    parser.add_argument("--all", action="store_true", help="also the merges that nobody judged")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write exit codes and findings to a file")
    parser.add_argument("--releases", type=Path, metavar="BUNDLE", help="releases as tags <project>/<release>")
    options = parser.parse_args()
    totals: Counter[str] = Counter()
    seconds: list[float] = []
    kept = []
    for history in ("",) if options.releases else options.history or tuple(HISTORIES):
        bundle = options.releases or HISTORIES[history]
        judged = Judgements({}, {}, {}, {}) if options.releases else judgements(history)
        with tempfile.TemporaryDirectory() as name:
            repo = clone(bundle, Path(name) / "clone")
            changes = releases(repo) if options.releases else commits(repo)
        wanted = [
            change
            for change in changes
            if any(
                each.startswith(part)
                for part in options.names
                for each in (change.name, judged.merges.get(change.head, ""))
            )
            or (not options.names and (options.all or options.releases or change.head in judged.merges))
        ]
        print(f"{history or bundle}: {len(wanted)} changes")
        for change, ran in replay_all(bundle, wanted):
            show(change, ran, judged, totals)
            seconds.append(ran.seconds)
            kept.append({"history": history, "commit": change.head, "exit": ran.code, "report": ran.report})
            sys.stdout.flush()
    print()
    for name, count in sorted(totals.items()):
        print(f"{count:4} {name}")
    seconds.sort()
    if seconds:
        print(f"seconds: median {seconds[len(seconds) // 2]:.2f}, most {seconds[-1]:.2f}")
    if options.json:
        options.json.write_text(json.dumps(kept))
    return 0


if __name__ == "__main__":
    sys.exit(main())
