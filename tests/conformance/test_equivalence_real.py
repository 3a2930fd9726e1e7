"""Real rules in other words are no finding; real rules that differ by one small step are one.

Rules of the CRDs of ../shared, on their own nodes. Two rules differ if there is a value that one accepts and the other
rejects. The cases are the same in every run; ``CRDCOMPAT_FUZZ=20000`` (``make fuzz``) asks for more of them.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from helpers import Json, crd, crd_set, obj, root, without_texts
from rewriting import UnwritableError, conjuncts, mutated, reworded

import crdcompat
from crdcompat.apiserver.server_versions import DEFAULT_SERVER
from crdcompat.candidates.local import NodeJudge
from crdcompat.candidates.small_values import variants
from crdcompat.cel.parse import RefusedError
from crdcompat.schema.structural import Node
from crdcompat.vocabulary import Direction, Owner

CASES = int(os.environ.get("CRDCOMPAT_FUZZ", "2000")) // 10
_RULES = "x-kubernetes-validations"
_MAX_SIZE = 20_000


@pytest.fixture(scope="module")
def ruled(shared: Path) -> list[Json]:
    """The nodes with rules of real CRDs, each with one of its rules, without texts."""
    found: dict[str, Json] = {}
    for folder in ("api-server", "rollback-truth"):
        for path in sorted((shared / f"data/{folder}/crds").glob("*.json")):
            for version in json.loads(path.read_text(encoding="utf-8"))["spec"]["versions"]:
                for node in _nodes(version.get("schema", {}).get("openAPIV3Schema")):
                    plain = without_texts(node)
                    if len(json.dumps(plain)) < _MAX_SIZE and "metadata" not in plain.get("properties", {}):
                        for rule in node[_RULES]:
                            found.setdefault(rule["rule"], {**plain, _RULES: [{"rule": rule["rule"]}]})
    if not found:
        pytest.skip("no CRDs in ../shared/data")
    return [node for rule, node in sorted(found.items()) if "oldSelf" not in rule]


def _nodes(schema: Any) -> Iterator[Json]:
    """The nodes with rules, outside of junctors."""
    if not isinstance(schema, dict):
        return
    if schema.get(_RULES):
        yield schema
    for sub in (*schema.get("properties", {}).values(), schema.get("items"), schema.get("additionalProperties")):
        yield from _nodes(sub)


def _ruled(node: Json, *rules: str) -> Json:
    return {**node, _RULES: [{"rule": rule} for rule in rules]}


def _found(old: Json, new: Json) -> set[tuple[str, str, str]]:
    sides = [crd_set(name, crd(root(spec=obj(v=node)))) for name, node in (("old", old), ("new", new))]
    report = crdcompat.diff(*sides, locate=False)
    assert not report.undecided
    about_values = (finding for finding in report.findings if finding.owner is not Owner.CRD)  # others cost more
    return {(str(finding.direction), finding.rule, finding.path) for finding in about_values}


def _drawn(ruled: list[Json], rng: random.Random) -> tuple[Json, str]:
    node = rng.choice(ruled)
    return node, node[_RULES][0]["rule"]


def test_real_rules_in_other_words(ruled: list[Json]) -> None:
    rng, written = random.Random(1), 0
    for _ in range(CASES):
        node, rule = _drawn(ruled, rng)
        try:
            others = conjuncts(rule, rng) if rng.randrange(4) == 0 else [reworded(rule, rng)]
        except (UnwritableError, RefusedError):
            continue
        written += 1
        assert _found(node, _ruled(node, *others)) == set(), (rule, others)
    assert written > CASES * 0.9


def test_real_rules_that_differ_by_one_step(ruled: list[Json]) -> None:
    """A value that only one side accepts has a finding in its direction."""
    rng, reported = random.Random(2), 0
    for _ in range(CASES):
        node, rule = _drawn(ruled, rng)
        try:
            other = _ruled(node, mutated(rule, rng))
        except (UnwritableError, RefusedError):
            continue
        directions = _distinguished(node, other)
        found = {direction for direction, *_ in _found(node, other)} if directions else set()
        assert directions <= found, (rule, other[_RULES], directions - found)
        reported += bool(directions)
    assert reported > CASES * 0.3


def _distinguished(old: Json, new: Json) -> set[str]:
    """The directions in which a value shows that the two nodes differ."""
    before, after = Node(old), Node(new)
    mine, theirs = NodeJudge(before, DEFAULT_SERVER), NodeJudge(after, DEFAULT_SERVER)
    directions: set[str] = set()
    for value in islice(variants(before, after), 300):
        accepted = mine.accepts(value), theirs.accepts(value)
        if accepted == (False, True):
            directions.add(Direction.ROLLBACK)
        elif accepted == (True, False):
            directions.add(Direction.UPGRADE)
    return directions
