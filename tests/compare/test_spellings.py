"""A rule in other words has the same findings: their rules, directions, severities, and whether an example proves them.

OLD has the rule, NEW has not. ``CRDCOMPAT_FUZZ=20000`` (``make fuzz``) asks for more random spellings.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from helpers import Json, array, obj, string
from rule_spellings import Outcome, agree, around, outcomes, random_spellings

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
            "!has(self.mode) || self.mode + '!' != 'B!'",
            "!has(self.mode) || 'x' + self.mode != 'x' + 'B'",
            "!has(self.mode) || bytes(self.mode) != b'B'",
            "!has(self.mode) || self.mode.lowerAscii() != 'b' || self.mode == 'b'",
            "!has(self.mode) || !self.mode.matches('^' + 'B$')",
            "!has(self.mode) || !(self.mode in {'B': 1})",
            "[self].filter(s, has(s.mode) && s.mode == 'B') == []",
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
            "!has(self.n) || int(self.n) <= int('10')",
            "!has(self.n) || dyn(self.n) <= 10.5",
            "has(self.n) ? self.n <= 5 + 5 : true",
            "!has(self.n) || -self.n >= -10",
            "!has(self.n) || self.n - 10 <= 0",
            "!has(self.n) || [self.n, 10].max() == 10",
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


_EXPECTED: Outcome = [("cel-rule-removed", "rollback", "warning", True)]


@pytest.mark.parametrize("name", _FAMILIES)
def test_spellings_by_hand(name: str, tmp_path: Path) -> None:
    schema, rules = _FAMILIES[name]
    agree(tmp_path, schema, rules, _EXPECTED)


@pytest.mark.parametrize("name", _FAMILIES)
def test_words_around_a_rule(name: str, tmp_path: Path) -> None:
    schema, rules = _FAMILIES[name]
    agree(tmp_path, schema, list(around(rules[0])), _EXPECTED)


@pytest.mark.parametrize("name", _FAMILIES)
def test_random_spellings(name: str, tmp_path: Path) -> None:
    schema, rules = _FAMILIES[name]
    agree(tmp_path, schema, random_spellings(rules * ROUNDS, random.Random(f"spellings {name}")), _EXPECTED)


def test_transitions(tmp_path: Path) -> None:
    """The tree decides what compares with the stored value, not the letters."""
    rules = ["self.a == oldSelf.a", "(oldSelf).a == self.a", "[oldSelf].all(old, old.a == self.a)"]
    found = outcomes(tmp_path, obj(a={**_TEXT}) | {"required": ["a"]}, [*rules, "self.a != 'oldSelf'"])
    transition = [("cel-transition-rule-removed", "rollback", "info", True)]
    assert found == [*[transition] * len(rules), _EXPECTED]


def test_lists_of_values_are_enums(tmp_path: Path) -> None:
    """A rule that does nothing else stays an enum, with comments, parentheses and escapes, too."""
    rules = ["self == 'a'", "(self) in ['a'] // b", "'\\x61' == self || self in [r'a']"]
    assert outcomes(tmp_path, _TEXT, rules, "v") == [[("enum-dropped", "rollback", "warning", True)]] * len(rules)
