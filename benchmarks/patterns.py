"""How fast patterns are compared, and how many are decided: every ordered pair of the patterns of a git tree.

    python benchmarks/patterns.py CLONE REF [REF ...] [--bound N] [--longest N]

CLONE is a git repository, for example of openshift/api; every ``pattern:`` in the YAML of the refs is taken.
Each text that shows a difference is matched by google-re2 once more.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import time
from collections import Counter

import yaml

from crdcompat.schema.re2 import Pattern, compile_pattern
from crdcompat.schema.regex import Relation, Unsupported, compare, finite, members
from crdcompat.schema.regex.automaton import pattern_automaton

_KEY = re.compile(r"(\s*(?:- )?)pattern:")
_CONTEXT = 9


def patterns_of(clone: str, ref: str) -> set[str]:
    command = ["git", "-C", clone, "grep", "-h", f"-A{_CONTEXT}", "-E", r"^\s*(- )?pattern:", ref, "--", "*.yaml"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")
    found: set[str] = set()
    for at, line in enumerate(lines):
        key = _KEY.match(line)
        if key is None:
            continue
        indent = " " * (len(key[1]) + 1)
        block = [line[len(key[1]) :]]
        for more in lines[at + 1 : at + 1 + _CONTEXT]:
            if not more.startswith(indent):
                break
            block.append(more)
        value = yaml.safe_load("\n".join(block))["pattern"]
        if isinstance(value, str):
            found.add(value)
    return found


def confirmed(old: str, new: str, relation: Relation) -> bool:
    first, second = compile_pattern(old), compile_pattern(new)
    assert isinstance(first, Pattern)
    assert isinstance(second, Pattern)
    for text, holds, lacks in ((relation.only_new, second, first), (relation.only_old, first, second)):
        if text is not None and (not holds.search(text) or lacks.search(text)):
            return False
    return True


def readable(patterns: list[str]) -> list[str]:
    found: list[str] = []
    for pattern in patterns:
        try:
            pattern_automaton(pattern)
        except Unsupported as refused:
            print(f"not read: {pattern[:80]}: {refused.reason}")
        else:
            found.append(pattern)
    return found


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.2f} ms"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("clone")
    arguments.add_argument("refs", nargs="+")
    arguments.add_argument("--bound", type=int, default=10_000)
    arguments.add_argument("--longest", type=int, default=160, help="skip patterns of this length or longer")
    given = arguments.parse_args()

    everything = sorted(set().union(*(patterns_of(given.clone, ref) for ref in given.refs)))
    start = time.perf_counter()
    read = readable(everything)
    print(f"{len(read)} of {len(everything)} patterns read in {milliseconds(time.perf_counter() - start)}")

    start = time.perf_counter()
    listed = [pattern for pattern in read if finite(pattern) is not None]
    print(f"{len(listed)} finite; asked of all in {milliseconds(time.perf_counter() - start)}")
    start = time.perf_counter()
    with_members = [pattern for pattern in read if next(members([pattern]), None) is not None]
    print(f"{len(with_members)} with a member; asked of all in {milliseconds(time.perf_counter() - start)}")

    short = [pattern for pattern in read if len(pattern) < given.longest]
    kinds: Counter[str] = Counter()
    took: list[tuple[float, str, str]] = []
    wrong = 0
    for old in short:
        for new in short:
            if old == new:
                continue
            start = time.perf_counter()
            relation = compare(old, new, bound=given.bound)
            took.append((time.perf_counter() - start, old, new))
            kinds[relation.kind] += 1
            wrong += not confirmed(old, new, relation)
            if relation.kind == "undecided":
                print(f"undecided: {old[:60]} -> {new[:60]}: {relation.reason}")
    seconds = [each for each, _, _ in took]
    print(f"{len(short)} patterns, {len(took)} ordered pairs in {sum(seconds):.2f} s: {dict(kinds)}, {wrong} refuted")
    print(f"median {milliseconds(statistics.median(seconds))}, 99 % {milliseconds(sorted(seconds)[-len(took) // 100])}")
    for each, old, new in sorted(took, reverse=True)[:3]:
        print(f"slowest: {milliseconds(each)}: {old[:50]} -> {new[:50]}")


if __name__ == "__main__":
    main()
