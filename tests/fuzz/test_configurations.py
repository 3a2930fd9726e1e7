"""Hostile configurations, waiver files, declarations of growth and baselines: a command answers, or names the fault.

The cases are the same in every run; ``CRDCOMPAT_FUZZ=20000`` (``make fuzz``) makes 2,000 of them.
"""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path

import pytest
from changes import growth, repository, widget
from helpers import Json, commit, git, run, write
from hostile import CASES, bounded, sound, spoiled

_SHARE = 12
_WAIVER = {
    "crd": "widgets.example.com", "version": "v1", "path": "status.p", "rule": "enum-value-added",
    "direction": "rollback", "values": ["B"], "reason": "known", "owner": "me", "until": "2030-01-01",
    "severity": "error", "baseline": True,
}  # fmt: skip
_CONFIG: Json = {
    "base": "old",
    "rollback_targets": {"main": ["old", "release-4.16"], "old": ["release-4.16"]},
    "releases": {"main": "1.31", "old": "openshift-4.18"},
    "kubernetes": {"min": "1.28", "max": "1.36", "targets": {"old": ["1.26", "openshift-4.16"]}},
    "preset": "plain",
    "include": ["crds/*"],
    "exclude": ["config/samples/*"],
    "ships": ["crds/*"],
    "profile": "strict",
    "severities": [{"rule": "enum-value-added", "owner": "spec", "severity": "info"}],
    "objects": ["objects.json"],
    "waivers": ".crdcompat-waivers.yaml",
    "fail_on": "error",
    "formats": ["text"],
}
_WORDS = (*_CONFIG, *_WAIVER, *growth("B"), "min", "max", "targets", "owner", "waivers", "growth", "a", "")
_OBJECT = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "status": {"p": "B"}}


@pytest.mark.parametrize("share", range(max(CASES // 10 // _SHARE, 1)))
def test_hostile_configurations(tmp_path: Path, share: int) -> None:
    repo = repository(tmp_path)
    commit(repo, {"crds/w.yaml": widget("A"), "objects.json": json.dumps(_OBJECT)})
    git(repo, "branch", "release-4.16")
    git(repo, "branch", "old")
    baseline = run("baseline", "--base", "old", cwd=repo)
    assert baseline.code in (0, 2), baseline
    for seed in range(share * _SHARE, (share + 1) * _SHARE):
        _one(repo, random.Random(seed), seed)


def _one(repo: Path, rng: random.Random, seed: int) -> None:
    """The files of one case before and after a change, and the answers of the commands that read them."""
    git(repo, "clean", "-fdqx")  # waive and baseline may have written files
    git(repo, "checkout", "-q", "-f", "-B", "main", "release-4.16")
    files = {".crdcompat.yaml": copy.deepcopy(_CONFIG), ".crdcompat-waivers.yaml": _waivers()}
    for key in rng.sample(sorted(_CONFIG), rng.randrange(len(_CONFIG))):
        del files[".crdcompat.yaml"][key]
    for _ in range(rng.choice((1, 1, 2, 4))):
        spoiled(files[rng.choice(sorted(files))], rng, _WORDS)
    texts = {name: _spelled(content, rng) for name, content in files.items()}
    in_base = rng.random() < 0.6
    if in_base:
        _store(repo, texts)
    git(repo, "branch", "-f", "old")
    write(repo / "crds/w.yaml", widget("A", "B"))
    _store(repo, texts)
    commands: tuple[tuple[str, ...], ...] = (
        ("check", "--base", "old", "--format", "json"),
        ("check", "--format", "json"),
        ("check", "--config", ".crdcompat.yaml", "--base", "old"),
        ("diff", "git:old", "git:HEAD", "--format", "json"),
        ("config", "--show"),
        ("config",),
        ("matrix", "git:old", "git:HEAD"),
        ("simulate", "git:old", "git:HEAD", "--objects", "objects.json", "--format", "json"),
        ("waive", "4db04b77d815", "--base", "old", "--reason", "known"),
        ("baseline", "--base", "old"),
        ("init",),
    )
    for command in (commands[0], *rng.sample(commands[1:], 2)):
        with bounded():
            sound(run(*command, cwd=repo), (seed, command, texts))


def _waivers() -> Json:
    return {"waivers": [dict(_WAIVER), dict(_WAIVER)], "growth": [growth("B")]}


def _spelled(content: object, rng: random.Random) -> bytes:
    """A file of this content, whole or with a damaged place."""
    text = json.dumps(content, indent=rng.choice((None, 1)), ensure_ascii=rng.random() < 0.5)
    data = text.encode("utf-8", "surrogatepass")
    if rng.random() < 0.1:
        at = rng.randrange(len(data) + 1)
        data = (
            data[:at]
            + rng.choice((b"", b"\xff", b"\t", b"&a ", b"*a", b"\x00", b"!!set ", b"\n---\n"))
            + data[at + 1 :]
        )
    return data


def _store(repo: Path, texts: dict[str, bytes]) -> None:
    for name, data in texts.items():
        (repo / name).write_bytes(data)
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "--allow-empty", "-m", "change")
