"""Trees of any size, made of release-4.16 of openshift/api: all its YAML again and again, each CRD by another name.

    python benchmarks/trees.py FOLDER [COPIES…]     write them there (default: 1 4 16)

Three branches each: ``base``; ``one``, where an enum of ClusterVersion gains a value; ``many``, where one enum of each
of 64 CRDs does. Checked out is ``base``, with the change of ``one`` staged. The clone is packed
and its index fresh, as in daily use.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

_BUNDLE = Path(__file__).resolve().parents[2] / "shared/data/openshift-api-4.12-4.16.bundle"
CHANGED = "config/v1/zz_generated.crd-manifests/0000_00_cluster-version-operator_01_clusterversions-Default.crd.yaml"
_MANY = 64
_GROUP = re.compile(rb"(?m)^(  group: )(.*)$")
_NAME = re.compile(rb"(?m)^(  name: )([a-z]+)\.(.*)$")
_ENUM = re.compile(r"(?m)^( +)enum:\n")


def make(tree: Path, copies: int) -> None:
    """Make a repository at ``tree`` whose tree is ``copies`` times that of release-4.16."""
    subprocess.run(["git", "clone", "--quiet", "--branch", "release-4.16", str(_BUNDLE), str(tree)], check=True)
    _git(tree, "switch", "--quiet", "--create", "base")
    files = [tree / name for name in _git(tree, "ls-files", "*.yaml").splitlines()]
    for number in range(1, copies):
        for file in files:
            copied = tree / f"copy{number}" / file.relative_to(tree)
            copied.parent.mkdir(parents=True, exist_ok=True)
            data = _GROUP.sub(rb"\g<1>copy%d.\g<2>" % number, file.read_bytes())
            copied.write_bytes(_NAME.sub(rb"\g<1>\g<2>.copy%d.\g<3>" % number, data))
    _commit(tree, "copies")
    _branch(tree, "one", [tree / CHANGED])
    with_enums = [file for file in files if ".crd-manifests/" in str(file) and _ENUM.search(file.read_text())]
    _branch(tree, "many", with_enums[:_MANY])
    _git(tree, "gc", "--quiet")
    _git(tree, "checkout", "--quiet", "one", "--", CHANGED)
    settle(tree)


def settle(tree: Path) -> None:
    """Make the index of a checkout fresh, as after the first minute of work in it.

    What was written in the same moment as the index counts as changed: git would hash those files each time.
    """
    time.sleep(1.1)
    _git(tree, "status")


def _branch(tree: Path, name: str, changed: list[Path]) -> None:
    _git(tree, "switch", "--quiet", "--create", name, "base")
    for file in changed:
        text = file.read_text("utf-8")
        file.write_text(_ENUM.sub(r"\1enum:\n\1- Brandnew\n", text, count=1), "utf-8")
    _commit(tree, name)
    _git(tree, "switch", "--quiet", "base")


def _commit(tree: Path, message: str) -> None:
    _git(tree, "add", "--all")
    _git(tree, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--allow-empty", "--message", message)


def _git(at: Path, *args: str) -> str:
    return subprocess.run(["git", "-C", str(at), *args], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    for count in map(int, sys.argv[2:] or ("1", "4", "16")):
        make(Path(sys.argv[1]) / f"tree-{count}", count)
