"""What each facet costs in a whole-branch diff: finding its changes, and proving them.

    python benchmarks/facets.py [OLD NEW]      default: release-4.15 release-4.16

Runs in a new clone of openshift/api made from the bundle beside the project. ``changes`` is the time a facet takes to
look at every place that differs, ``proof`` the time its changes take to be judged on both sides.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

import crdcompat
from crdcompat.compare import engine, schema_walk
from crdcompat.compare.facet import Facet
from crdcompat.compare.registry import all_facets, module_of

_BUNDLE = Path(__file__).resolve().parents[2] / "shared/data/openshift-api-4.12-4.16.bundle"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("releases", nargs="*", default=["release-4.15", "release-4.16"])
    old, new = parser.parse_args().releases
    seconds: dict[str, dict[str, float]] = {"changes": defaultdict(float), "proof": defaultdict(float)}
    count: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as clone:
        subprocess.run(["git", "clone", "--quiet", str(_BUNDLE), clone], check=True)
        began = time.perf_counter()
        sides = [crdcompat.load(name, repo=clone) for name in (old, new)]
        loaded = time.perf_counter()
        timed = tuple(_timed_changes(facet, seconds["changes"]) for facet in all_facets())
        vars(schema_walk)["all_facets"] = lambda: timed
        _time_proofs(seconds["proof"], count)
        crdcompat.diff(*sides)
        ended = time.perf_counter()
    print(f"{old} -> {new}: {loaded - began:.2f} s reading, {ended - loaded:.2f} s comparing")
    print(f"{'facet':<20} {'changes':>10} {'proof':>10} {'judged':>8}")
    for facet in all_facets():
        name = _name(facet)
        print(f"{name:<20} {seconds['changes'][name]:8.3f} s {seconds['proof'][name]:8.3f} s {count[name]:>8}")


def _name(facet: Facet) -> str:
    return module_of(next(iter(facet.effects))).rpartition(".")[2]


def _timed_changes(facet: Facet, spent: dict[str, float]) -> Facet:
    original = facet.changes

    def timed(site: Any) -> Iterator[Any]:
        began = time.perf_counter()
        found = list(original(site))
        spent[_name(facet)] += time.perf_counter() - began
        return iter(found)

    return replace(facet, changes=timed)


def _time_proofs(spent: dict[str, float], count: Counter[str]) -> None:
    original: Callable[..., Any] = vars(engine)["outcomes_of"]

    def timed(places: Any, *rest: Any) -> Any:
        began = time.perf_counter()
        outcomes = original(places, *rest)
        name = module_of(places[0].change.kind).rpartition(".")[2]
        spent[name] += time.perf_counter() - began
        count[name] += len(outcomes)
        return outcomes

    vars(engine)["outcomes_of"] = timed


if __name__ == "__main__":
    main()
