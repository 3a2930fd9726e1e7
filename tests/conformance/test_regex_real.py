"""All patterns of openshift/api, release-4.12 to release-4.16: read, matched, compared, listed."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
import yaml
from patterns import disagreements, oracle, texts

from crdcompat.schema.regex import compare, finite, members
from crdcompat.schema.regex.automaton import pattern_automaton

_RELEASES = ["4.12", "4.13", "4.14", "4.15", "4.16"]
_KEY = re.compile(r"(\s*(?:- )?)pattern:")


@pytest.fixture(scope="session")
def patterns(openshift_api: Path) -> list[str]:
    """Every distinct value of a key ``pattern`` in the YAML of the releases."""
    found: set[str] = set()
    for release in _RELEASES:
        command = ["git", "-C", str(openshift_api), "grep", "-h", "-A9", "-E", r"^\s*(- )?pattern:"]
        command += [f"origin/release-{release}", "--", "*.yaml"]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")
        for at, line in enumerate(lines):
            key = _KEY.match(line)
            if key is None:
                continue
            block = [line[len(key[1]) :]]
            for more in lines[at + 1 : at + 10]:
                if not more.startswith(" " * (len(key[1]) + 1)):
                    break
                block.append(more)
            found.add(yaml.safe_load("\n".join(block))["pattern"])
    assert len(found) > 90
    return sorted(found)


def test_every_pattern_is_read_and_agrees_with_google_re2(patterns: list[str]) -> None:
    differ = {pattern: wrong for pattern in patterns if (wrong := disagreements(pattern, texts(pattern, 25)))}
    assert differ == {}


def test_pairs_are_decided_and_witnesses_confirmed(patterns: list[str]) -> None:
    short = [pattern for pattern in patterns if len(pattern) < 160]
    pairs = [(old, new) for old in short for new in short if old != new]
    known = {pattern: [*texts(pattern, 6), *members([pattern], limit=3)] for pattern in short}
    kinds: Counter[str] = Counter()
    for old, new in pairs:
        relation = compare(old, new)
        kinds[relation.kind] += 1
        in_old, in_new = oracle(old).search, oracle(new).search
        if relation.only_new is not None:
            assert in_new(relation.only_new) and not in_old(relation.only_new), (old, new, relation)
        if relation.only_old is not None:
            assert in_old(relation.only_old) and not in_new(relation.only_old), (old, new, relation)
        if relation.kind in ("narrower", "equal"):
            assert all(in_old(text) for text in known[new] if in_new(text)), (old, new, relation)
        if relation.kind in ("wider", "equal"):
            assert all(in_new(text) for text in known[old] if in_old(text)), (old, new, relation)
    assert kinds["undecided"] == 0, kinds
    assert kinds["wider"] == kinds["narrower"]


def test_every_pattern_has_members_short_and_long(patterns: list[str]) -> None:
    for pattern in patterns:
        found = list(members([pattern], limit=5))
        assert found, pattern
        assert all(oracle(pattern).search(text) for text in found)
        longer = list(members([pattern], min_length=len(found[0]) + 1, limit=1))
        assert all(len(text) > len(found[0]) for text in longer)
        assert longer or finite(pattern) or pattern_automaton(pattern).matches(found[0])


def test_finite_patterns(patterns: list[str]) -> None:
    listed = {pattern: found for pattern in patterns if (found := finite(pattern)) is not None}
    assert listed["^(Managed|Unmanaged|Force|Removed)$"] == ("Managed", "Unmanaged", "Force", "Removed")
    assert listed["^$|^(ocp|origin|okd|dedicated|online|azure)$"][:3] == ("", "ocp", "origin")
    assert len(listed) == 9
    assert finite("^Allow|Deny$") is None
    assert all(oracle(pattern).search(text) for pattern, found in listed.items() for text in found)
