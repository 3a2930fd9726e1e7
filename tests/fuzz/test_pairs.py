"""Pairs of CRDs, one hostile change apart: each command answers, or says what is wrong.

The cases are the same in every run; ``CRDCOMPAT_FUZZ=20000`` (``make fuzz``) compares so many pairs.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from helpers import Json, run, spawn
from hostile import CASES, bounded, garbage, sound, spoiled_crd

_SHARE = 40
_FORMATS = ("text", "html", "sarif", "markdown", "junit", "github", "gitlab", "concise", "csv")


@pytest.mark.parametrize("share", range(max(CASES // _SHARE, 1)))
def test_hostile_pairs(tmp_path: Path, real: list[Json], share: int) -> None:
    for seed in range(share * _SHARE, (share + 1) * _SHARE):
        rng = random.Random(seed)
        base = rng.choice(real)
        old = spoiled_crd(base, rng) if rng.random() < 0.3 else base
        new = spoiled_crd(old if rng.random() < 0.7 else base, rng)
        for side, definition in (("old", old), ("new", new)):
            (tmp_path / side).mkdir(exist_ok=True)
            (tmp_path / side / "crd.json").write_text(json.dumps(definition))
        with bounded():
            compared = sound(run("diff", "path:old", "path:new", "--format", "json", cwd=tmp_path), seed)
            if compared.out:
                assert compared.report["format"] == "1"
            _other_command(tmp_path, base, rng, seed)


def _other_command(at: Path, base: Json, rng: random.Random, seed: int) -> None:
    """One of the other commands that read CRDs."""
    drawn = rng.random()
    if drawn < 0.08:
        sound(run("diff", "path:old", "path:new", "--format", rng.choice(_FORMATS), "-v", cwd=at), seed)
    elif drawn < 0.12:
        sound(run("diff", "path:old", "path:new", "--suggest-patch", cwd=at), seed)
    elif drawn < 0.18:
        (at / "objects.json").write_text(json.dumps(_object(base, rng)))
        sides = ("path:old", "path:new", "--objects", "objects.json", "--kube-version", "1.30")
        sound(run("simulate", *sides, "--format", "json", cwd=at), seed)
    elif drawn < 0.22:
        sound(run("matrix", "path:old", "path:new", "--format", "json", cwd=at), seed)
    elif drawn < 0.26:
        sound(run("servers", "new/crd.json", "--format", "json", cwd=at), seed)
    elif drawn < 0.30:
        (at / "object.json").write_text(json.dumps(_object(base, rng)))
        sound(run("judge", "new/crd.json", "object.json", cwd=at), seed)
    elif drawn < 0.31:
        sound(spawn("diff", "path:old", "path:new", cwd=at), seed)


def _object(definition: Json, rng: random.Random) -> Json:
    spec = definition["spec"]
    made = {"apiVersion": f"{spec['group']}/{spec['versions'][0]['name']}", "kind": spec["names"]["kind"]}
    return {**made, "metadata": {"name": "a", "namespace": "b"}, "spec": garbage(rng), "status": garbage(rng)}
