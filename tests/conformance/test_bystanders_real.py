"""A check of real releases says the same whether it reads the bystanders or not."""

from __future__ import annotations

import os
import random
import re
import subprocess
from pathlib import Path

import pytest
from helpers import git
from twice import Check

from crdcompat.crds.context import FEATURE_SET
from crdcompat.schema.answers import ANSWERS

#: Each reads a hundred files twice: `make fuzz` takes all.
_SEEDS = range(6) if "CRDCOMPAT_FUZZ" in os.environ else (5,)


@pytest.mark.parametrize("seed", _SEEDS)
def test_real_trees(openshift_api: Path, tmp_path: Path, check_twice: Check, seed: int) -> None:
    """Values added to enums of some CRDs of release-4.16, one of them without a feature set from then on."""
    clone = tmp_path / "api"
    subprocess.run(["git", "clone", "--quiet", str(openshift_api), str(clone)], check=True)
    git(clone, "fetch", "--quiet", str(openshift_api), "refs/remotes/origin/release-4.15:refs/heads/release-4.15")
    chance = random.Random(seed)
    files = git(clone, "ls-files", "*/zz_generated.crd-manifests/*.yaml").split("\n")
    for number, file in enumerate(chance.sample(files, 4 if seed % 2 else 2)):
        text = (clone / file).read_text()
        text = re.sub(r"(?m)^( +)enum:\n", r"\1enum:\n\1- Brandnew\n", text)
        text = re.sub(rf"(?m)^ +{re.escape(FEATURE_SET)}: .*\n", "", text) if not number else text
        (clone / file).write_text(text)
    git(clone, "add", "-A")
    args = ("--target", "release-4.15") if seed == 5 else ()
    with ANSWERS.kept():  # what both read is judged once
        narrow, _ = check_twice(clone, *args)
    if not args:
        assert narrow["sections"][0]["summary"]["unread"] > 10
