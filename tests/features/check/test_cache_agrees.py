"""With a warm cache, without one, and as ``diff``, ``check`` gives the same findings on random histories."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest
from changes import repository
from helpers import Json, commit, crd, git, obj, root, run, string

#: ``make fuzz`` makes 400 histories of 20,000 cases.
CASES = int(os.environ.get("CRDCOMPAT_FUZZ", "200")) // 50
_KINDS = ("Widget", "Other", "More")
_SETS = (None, "Default", "CustomNoUpgrade")
#: The words that a file spells with an escape. Nothing but the escapes makes a file of the last kind a candidate.
_ESCAPED = ((), ("feature-set", "example.com"), ("plural", "CustomResourceDefinition"))
_FOLDERS = ("", "config/crd/", "deploy/")


def _file(rng: random.Random, number: int) -> str:
    """A manifest of some kind and feature set, in some spelling."""
    chosen = rng.choice(_SETS)
    annotations = {"release.openshift.io/feature-set": chosen} if chosen else {}
    kind = _KINDS[number % len(_KINDS)]
    phases = rng.choice((("A",), ("A", "B")))
    text = json.dumps(crd(root(status=obj(p=string(*phases))), kind=kind, annotations=annotations), indent=1)
    for word in rng.choice(_ESCAPED):
        text = text.replace(word, f"\\u{ord(word[0]):04x}{word[1:]}")
    return f"# {rng.random()}\n{text}"


def _findings(section: Json) -> set[tuple[object, ...]]:
    return {
        (each["direction"], each["rule"], each["crd"], each["path"], each["severity"], *each["contexts"])
        for each in section["findings"]
    }


@pytest.mark.parametrize("seed", range(CASES))
def test_check_and_diff_agree(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    repo = repository(tmp_path)
    paths = [f"{rng.choice(_FOLDERS)}{number}.yaml" for number in range(6)]
    commit(repo, {path: _file(rng, number) for number, path in enumerate(paths)})
    for number in rng.sample(range(6), 3):
        git(repo, "rm", "-q", paths[number])
        paths[number] = rng.choice((paths[number], f"{rng.choice(_FOLDERS)}{number}.yaml"))
        commit(repo, {paths[number]: _file(rng, number)})
        said = [
            run("check", "--base", "HEAD~1", "--head", "HEAD", "--format", "json", *args, cwd=repo)
            for args in ((), (), ("--no-cache",))
        ]
        assert {(ran.code, ran.out) for ran in said} == {(said[0].code, said[0].out)}, said[0].err
        (section,) = said[0].report["sections"] or [{"findings": []}]
        whole = run("diff", "HEAD~1", "HEAD", "--format", "json", cwd=repo)
        assert _findings(section) == _findings(whole.report)
        assert section.get("undecided", []) == whole.report["undecided"]
