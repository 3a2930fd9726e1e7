"""A rule in other words has the same findings: their rules, directions, severities, and whether an example proves them.

OLD has the rule, NEW has not. ``CRDCOMPAT_FUZZ=20000`` (``make fuzz``) asks for more random spellings.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import Json, array, crd, diff, obj, root, string, write
from rewriting import UnwritableError, reworded

ROUNDS = int(os.environ.get("CRDCOMPAT_FUZZ", "400")) // 200
_TEXT, _NUMBER = string(maxLength=20), {"type": "integer"}
_MAP = {"type": "object", "additionalProperties": _TEXT, "maxProperties": 9}

#: The schema of spec, and spellings of one rule at it.
_FAMILIES: dict[str, tuple[Json, tuple[str, ...]]] = {
    "a member": (
        obj(mode=_TEXT),
        (
            "!has(self.mode) || self.mode != 'B'",
            "!(has((self).mode) && (self).mode == 'B')",
            '!has(self.mode) || "B" != self.mode',
            "has(self.mode) ? self.mode != 'B' : true",
            "!has(self.mode) || !(self.mode in ['B'])",
            "self.?mode.orValue('') != 'B'",
            "!self.?mode.hasValue() || self.mode != r'B'",
            "[self].all(s, !has(s.mode) || s.mode != 'B')",
            "![self].exists(s, has(s.mode) && s.mode == 'B')",
            "!has(self.mode) || !self.mode.matches('^B$')",
            "!has(self.mode) || self.mode // the mode\n != '''B'''",
            "!has(self.mode) || self.mode != '\\u0042'",
            "!has(self.mode) || !(self.mode == 'B') == true",
            "!has(self.mode) || [self.mode].all(m, m != 'B')",
            "self.?mode.optMap(m, m != 'B').orValue(true)",
        ),
    ),
    "a member with an escaped name": (
        obj(namespace=_TEXT, **{"x-y": _TEXT, "a.b": _TEXT, "in": _TEXT, "p__q": _TEXT, "a/b": _TEXT}),
        (
            "!has(self.__namespace__) || self.__namespace__ != 'B'",
            "!has(self.x__dash__y) || self.x__dash__y != 'B'",
            "!has(self.a__dot__b) || self.a__dot__b != 'B'",
            "!has(self.__in__) || self.__in__ != 'B'",
            "!has(self.p__underscores__q) || self.p__underscores__q != 'B'",
            "!has(self.a__slash__b) || self.a__slash__b != 'B'",
            "self.?__namespace__.orValue('') != 'B'",
            "self.?x__dash__y.orValue('') != 'B'",
            "[self].all(s, !has(s.a__dot__b) || s.a__dot__b != 'B')",
        ),
    ),
    "a number": (
        obj(n=_NUMBER),
        (
            "!has(self.n) || self.n <= 10",
            "!has(self.n) || 10 >= self.n",
            "!has(self.n) || double(self.n) <= 10.0",
            "!has(self.n) || self.n < 11",
            "!(has(self.n) && self.n > 10)",
            "self.?n.orValue(0) <= 0xA",
            "[self].all(s, !has(s.n) || s.n <= 10)",
            "!has(self.n) || !(self.n > 10)",
        ),
    ),
    "a value": (
        obj(v=_TEXT),
        (
            "!has(self.v) || self.v != 'oldSelf'",
            "!has(self.v) || self.v != 'old' + 'Self'",
            "!has(self.v) || !(self.v in ['oldSelf'])",
            "// oldSelf\n!has(self.v) || self.v != 'oldSel\\146'",
        ),
    ),
    "items": (
        obj(l=array(obj(kind=_TEXT), maxItems=5)),
        (
            "!has(self.l) || self.l.all(x, !has(x.kind) || x.kind != 'B')",
            "!has(self.l) || !self.l.exists(x, has(x.kind) && x.kind == 'B')",
            "!has(self.l) || self.l.filter(x, has(x.kind) && x.kind == 'B').size() == 0",
            "!has(self.l) || !((self.l).exists(it, 'B' in [it.?kind.orValue('')]))",
            "!has(self.l) || !('B' in self.l.map(x, x.?kind.orValue('')))",
        ),
    ),
    "a key": (
        obj(m=_MAP),
        (
            "!has(self.m) || !('k' in self.m) || self.m['k'] != 'B'",
            "!has(self.m) || !(has(self.m.k) && self.m.k == 'B')",
            "!has(self.m) || self.m.?k.orValue('') != 'B'",
            "!has(self.m) || self.m[?'k'].orValue('') != 'B'",
            "!has(self.m) || !self.m.exists(key, key == 'k' && self.m[key] == 'B')",
        ),
    ),
}


def _around(rule: str) -> Iterator[str]:
    """The rule in more words, by its text alone."""
    yield f"({rule})"
    yield f"!(!({rule}))"
    yield f"({rule}) == true"
    yield f"true == ({rule})"
    yield f"({rule}) ? true : false"
    yield f"!({rule}) ? false : true"
    yield f"true && ({rule})"
    yield f"({rule}) || false"
    yield f"({rule}) && ({rule})"
    yield f"({rule}) in [true]"
    yield f"[true].all(yes, yes == ({rule}))"
    yield f"[0].exists(zero, {rule})"
    yield f"// it's a \"comment\" on oldSelf\n{rule}\n// self.other == 'C'"
    yield f"\n\t {rule} \n"
    yield f"optional.of({rule}).value()"
    yield f"optional.none().orValue({rule})"


Outcome = list[tuple[str, str, str, bool]]


def outcomes(folder: Path, schema: Json, rules: list[str]) -> list[Outcome]:
    """The findings for each of the rules: its OLD has the rule, its NEW has not."""
    for index, rule in enumerate(rules):
        kind = f"Widget{index}"
        with_rule = {**schema, "x-kubernetes-validations": [{"rule": rule, "message": "refused"}]}
        for side, spec in (("old", with_rule), ("new", schema)):
            write(folder / side / f"{index:03}.yaml", crd(root(spec=spec), kind=kind))
    report = diff(folder / "old", folder / "new")
    found: list[Outcome] = [[] for _ in rules]
    for finding in report["findings"]:
        index = int(finding["crd"].split(".")[0].removeprefix("widget").removesuffix("s"))
        proved = finding["witness"]["object"] is not None
        found[index].append((finding["rule"], finding["direction"], finding["severity"], proved))
    return found


_EXPECTED: Outcome = [("cel-rule-removed", "rollback", "error", True)]


@pytest.mark.parametrize("name", _FAMILIES)
def test_spellings_by_hand(name: str, tmp_path: Path) -> None:
    schema, rules = _FAMILIES[name]
    found = outcomes(tmp_path, schema, list(rules))
    assert {rule: each for rule, each in zip(rules, found, strict=True) if each != _EXPECTED} == {}


@pytest.mark.parametrize("name", _FAMILIES)
def test_words_around_a_rule(name: str, tmp_path: Path) -> None:
    schema, rules = _FAMILIES[name]
    spelled = list(_around(rules[0]))
    found = outcomes(tmp_path, schema, spelled)
    assert {rule: each for rule, each in zip(spelled, found, strict=True) if each != _EXPECTED} == {}


@pytest.mark.parametrize("name", _FAMILIES)
def test_random_spellings(name: str, tmp_path: Path) -> None:
    schema, rules = _FAMILIES[name]
    rng, spelled = random.Random(f"spellings {name}"), []
    for rule in rules * ROUNDS:
        try:
            spelled.append(reworded(rule, rng))
        except UnwritableError:
            continue
    found = outcomes(tmp_path, schema, spelled)
    assert {rule: each for rule, each in zip(spelled, found, strict=True) if each != _EXPECTED} == {}
