"""How the cost of a command grows with its input: CPU at four sizes, and the exponent that fits them.

    python benchmarks/growth.py [PART OF A NAME…]

Each work is a whole process on releases that are made here. The cost of the smallest input, mostly the start of the
program, is taken off before the exponent is fitted: 1 is linear, 2 is quadratic. ``limit`` marks what is above the aim.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

#: The aim: linear, with room for what is sorted and for the noise of the machine.
_LINEAR = 1.25
_SECONDS = 300
_FORMATS = ("text", "markdown", "html", "json", "sarif", "junit", "github", "gitlab", "concise", "changelog")

Json = dict[str, Any]


class Growth(NamedTuple):
    """One input that grows: ``make`` writes it in a folder, and gives the arguments of the command."""

    sizes: tuple[int, ...]
    make: Callable[[Path, int], list[str]]


def _crd(number: int, spec: Json, **root: Any) -> Json:
    names = {"kind": f"Widget{number}", "plural": f"widget{number}s"}
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": spec, **root}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"widget{number}s.example.com"},
        "spec": {
            "group": "example.com",
            "names": names,
            "scope": "Namespaced",
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }


def _enums(count: int, *values: str) -> Json:
    return {f"f{number}": {"type": "string", "enum": list(values)} for number in range(count)}


def _write(folder: Path, crds: Iterator[Json]) -> None:
    folder.mkdir(parents=True)
    for crd in crds:
        (folder / f"{crd['metadata']['name']}.yaml").write_text(json.dumps(crd, indent=1))


def _folders(top: Path, size: int) -> list[str]:
    """CRDs in folders, of which one changes."""
    for side, values in (("old", ("A",)), ("new", ("A", "B"))):
        _write(top / side, (_crd(each, _enums(20, *(values if each == 0 else ("A",)))) for each in range(size)))
    return ["diff", "old", "new"]


def _commits(top: Path, size: int) -> list[str]:
    """The same in two commits."""
    _folders(top, size)
    _git(top, "init", "--quiet")
    for side in ("old", "new"):
        (top / side).rename(top / "crd")
        _git(top, "add", "crd")
        _git(top, "commit", "--quiet", "--message", side)
        _git(top, "tag", side)
        (top / "crd").rename(top / f"{side}.done")
    return ["diff", "old", "new"]


def _git(top: Path, *args: str) -> None:
    who = ["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "gc.auto=0"]
    subprocess.run(["git", *who, *args], cwd=top, check=True, stdout=subprocess.DEVNULL)


def _changes(top: Path, size: int, *formats: str) -> list[str]:
    """Changed enums, ten in a CRD."""
    for side, values in (("old", ("A",)), ("new", ("A", "B"))):
        _write(top / side, (_crd(number, _enums(10, *values)) for number in range(size // 10)))
    return ["diff", "old", "new", *(f"--format={each}=report.{each}" for each in formats)]


def _format(name: str) -> Callable[[Path, int], list[str]]:
    return lambda top, size: _changes(top, size, name)


def _rules(top: Path, size: int) -> list[str]:
    """Rules in one list, each on a member of its own, of which one changes."""
    fields = {f"f{number}": {"type": "string", "maxLength": 9} for number in range(size)}
    for side, word in (("old", "B"), ("new", "C")):
        rules = [
            {"rule": f"!has(self.f{each}) || self.f{each} != '{word if not each else 'A'}'"} for each in range(size)
        ]
        _write(top / side, iter([_crd(0, fields, **{"x-kubernetes-validations": rules})]))
    return ["diff", "old", "new"]


def _branches(top: Path, size: int) -> list[str]:
    """Branches of one oneOf, of which one changes."""
    fields: Json = {f"f{number}": {"type": "string"} for number in range(size)}
    for side, most in (("old", 9), ("new", 5)):
        branches: list[Json] = [{"required": [f"f{each}"]} for each in range(size)]
        branches[0]["properties"] = {"f0": {"maxLength": most}}
        _write(top / side, iter([_crd(0, fields, oneOf=branches)]))
    return ["diff", "old", "new"]


def _releases(top: Path, size: int) -> list[str]:
    """Releases of a matrix, each with a value more in twenty CRDs; the pairs grow with the square."""
    for release in range(size):
        values = [f"V{number}" for number in range(release + 1)]
        _write(top / f"r-1.{release}", (_crd(number, _enums(1, *values)) for number in range(20)))
    return ["matrix", *(f"r-1.{release}" for release in range(size))]


_WORKS = {
    "CRDs in folders, one changed": Growth((1, 100, 1_000, 10_000), _folders),
    "CRDs in commits, one changed": Growth((1, 100, 1_000, 10_000), _commits),
    "changes": Growth((10, 100, 1_000, 10_000), _changes),
    **{f"findings as {name}": Growth((10, 100, 1_000, 3_000), _format(name)) for name in _FORMATS},
    "rules in one list, one changed": Growth((1, 50, 200, 600), _rules),
    "branches of one oneOf, one changed": Growth((1, 50, 200, 800), _branches),
    "releases of a matrix, by pairs": Growth((2, 5, 10, 25), _releases),
}


def _cost(growth: Growth, size: int) -> float:
    """Seconds of CPU at one size."""
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        args = growth.make(top, size)
        with (top / "report").open("wb") as out:
            command = [sys.executable, "-m", "crdcompat", *args, "--no-cache"]
            process = subprocess.Popen(command, cwd=top, stdout=out, stderr=subprocess.STDOUT)
            _, status, used = os.wait4(process.pid, 0)
        said = (top / "report").read_text()
        is_refused = "are too large" in said  # what is refused costs nothing
        if is_refused or os.waitstatus_to_exitcode(status) not in (0, 1, 2):
            sys.exit(f"growth: {' '.join(command)}: {said[-500:]}")
    return float(used.ru_utime + used.ru_stime)


def exponent(sizes: tuple[int, ...], costs: list[float]) -> float:
    """The exponent that fits the costs above the least one (least squares of the logarithms).

    The least one is the start of the program: a first run can take longer than one of a larger input.
    """
    start = min(costs)
    points = [
        (math.log(size), math.log(cost - start))
        for size, cost in zip(sizes[1:], costs[1:], strict=True)
        if cost > 1.1 * start
    ]
    if len(points) < 2:
        return 0.0
    x, y = (sum(each) / len(points) for each in zip(*points, strict=True))
    return float(sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points))


def main(*parts: str) -> int:
    """Print the table; the exit code is 1 if a work grows faster than the aim."""
    over = 0
    print(f"{'what grows':38}{'sizes':>26}{'CPU s':>30}{'exponent':>10}")
    for name, growth in _WORKS.items():
        if parts and not any(part in name for part in parts):
            continue
        costs = [_cost(growth, size) for size in growth.sizes]
        sizes = growth.sizes
        if "by pairs" in name:
            sizes = tuple(size * (size - 1) // 2 for size in sizes)
        found = exponent(sizes, costs)
        over += found > _LINEAR
        shown = "".join(f"{cost:7.2f}" for cost in costs)
        listed = " ".join(f"{size:,}" for size in growth.sizes)
        print(f"{name:38}{listed:>26}{shown:>30}{found:>10.2f}{'  limit' if found > _LINEAR else ''}", flush=True)
    return int(over > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
