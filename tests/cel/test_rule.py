"""What a rule names, read from its syntax tree: in whatever words, through variables, optionals and escaped names."""

from __future__ import annotations

from typing import Any

import pytest

from crdcompat.cel.identifiers import escape, unescape
from crdcompat.cel.rule import ITEM, ITEMS, PRESENCE, SIZE, VALUE, Pattern, Use
from crdcompat.cel.uses import rule_of, uses_old

_OF_ITEMS = [(("l", ITEM, "a"), VALUE), (("l", ITEM, "b"), VALUE)]


@pytest.mark.parametrize(
    ("text", "uses"),
    [
        ("self.a == 'x'", [(("a",), VALUE)]),
        ("(self).a == 'x' // self.c", [(("a",), VALUE)]),
        ("has(self.a.b)", [(("a", "b"), PRESENCE)]),
        ("self.?a.?b.hasValue()", [(("a", "b"), PRESENCE)]),
        ("optional.ofNonZeroValue(self.a).hasValue()", [(("a",), VALUE), (("a",), PRESENCE)]),
        ("self.a.?b.orValue(self.c) == 'x'", [(("a", "b"), VALUE), (("c",), VALUE)]),
        ("(self.a ? self.b : self.c).d", [(("a",), VALUE), (("b", "d"), VALUE), (("c", "d"), VALUE)]),
        ("size(self.a) > self.b.size()", [(("a",), SIZE), (("b",), SIZE)]),
        ("self.m['k'] + self.m[?'l'].value()", [(("m", "k"), VALUE), (("m", "l"), VALUE)]),
        ("self.l[0].a || self.m[self.k].a", [(("l", ITEM, "a"), VALUE), (("k",), VALUE), (("m", ITEM, "a"), VALUE)]),
        ("self.l.first().a == self.l.last().b", _OF_ITEMS),
        ("[self].all(s, s.a == 'x')", [(("a",), VALUE)]),
        ("[self.a, self.b].exists(v, v == 'x')", [(("a",), VALUE), (("b",), VALUE)]),
        ("self.a in ['x', self.b]", [(("a",), VALUE), (("b",), VALUE)]),
        ("self.l.all(x, x.a)", [(("l",), ITEMS), (("l", ITEM, "a"), VALUE)]),
        ("self.l.all(self, self.a)", [(("l",), ITEMS), (("l", ITEM, "a"), VALUE)]),
        ("self.l.filter(x, x.a).map(y, y.b) == []", [(("l",), ITEMS), *_OF_ITEMS]),
        ("self.l.map(x, x.a, x.b).exists(z, z)", [(("l",), ITEMS), *_OF_ITEMS]),
        ("self.m.all(k, v, v.a == k)", [(("m",), ITEMS), (("m", ITEM, "a"), VALUE)]),
        ("self.?a.optMap(v, v.b == 'x').orValue(true)", [(("a",), PRESENCE), (("a", "b"), VALUE)]),
        ("self == {'a': self.b}", [((), VALUE), (("b",), VALUE)]),
        ("self.__namespace__ == self.?a__dash__b", [(("namespace",), VALUE), (("a-b",), VALUE)]),
    ],
)
def test_values_that_a_rule_uses(text: str, uses: list[tuple[tuple[str, ...], str]]) -> None:
    rule = rule_of(text)
    assert rule is not None
    assert sorted(rule.uses, key=repr) == sorted((Use(*use) for use in uses), key=repr)


@pytest.mark.parametrize(
    ("text", "literals"),
    [
        ("self.a == 'x' && self.b == \"it's\"", ["x", "it's"]),
        ("self.a == r'\\d' || self.a == '\\u0042' || self.a == '''y'''", ["\\d", "B", "y"]),
        ("self.a == 'old' + 'Self'", ["old", "oldSelf", "Self"]),
        ("self.n > 0xA && self.n < -3 && self.f <= 1.5 && self.n != 5u", [10, -3, 1.5, 5]),
        ("self.m['k'] == true", ["k", True]),
        ("self.l.all(x, x.matches('^a$')) // 'c'", []),
        ("self.l.exists_one(x, x == 'a')", ["a"]),
        ("self.n <= 5 + 5 * 2 && self.n > int('3')", [5, 15, 10, 2, 3, "3"]),
        ("self.a + '!' != 'B!' && 'x' + self.a != 'xC'", ["!", "B!", "B", "x", "xC", "C"]),
        ("self.a.lowerAscii() == 'b'", ["b", "B"]),
        ("-self.n >= -10", [-10, 10]),
        ("-self.n > 2 || self.a == true", [2, -2, True]),
        ("self.n <= 1 / 0", [1, 0]),
    ],
)
def test_literals(text: str, literals: list[Any]) -> None:
    rule = rule_of(text)
    assert rule is not None
    assert list(map(repr, rule.literals)) == list(map(repr, literals))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("self == oldSelf", True),
        ("self.a == (oldSelf).a", True),
        ("has(oldSelf.a)", True),
        ("self.l.all(x, x in oldSelf.l)", True),
        ("self != 'oldSelf'", False),
        ("self == '' // oldSelf", False),
        ("self.oldSelf == ''", False),
        ("self.l.all(oldSelf, oldSelf > 1)", False),
        ("self ==", False),
        (None, False),
    ],
)
def test_which_rules_compare_with_the_stored_value(text: Any, expected: bool) -> None:
    assert uses_old(text) is expected


@pytest.mark.parametrize(
    ("text", "patterns"),
    [
        ("self.matches('^a$')", [Pattern((), "^a$")]),
        ("!(self.a.matches(r'\\d'))", [Pattern(("a",), "\\d", negated=True)]),
        ("![self].exists(s, !s.matches('x'))", [Pattern((), "x")]),
        ("self.split('@')[1].matches('x')", [Pattern((), "x", ("@", 1))]),
        ("self.matches(self)", []),
        ("'a'.matches('b')", []),
    ],
)
def test_patterns(text: str, patterns: list[Pattern]) -> None:
    rule = rule_of(text)
    assert rule is not None
    assert list(rule.patterns) == patterns


def test_equal_trees_have_equal_forms() -> None:
    forms = [
        rule.tree.form()
        for text in ("self.a=='x'", '((self).a == "x") // a', "\nself . a == r'x'", "'x' == self.a", "has(self.a)")
        if (rule := rule_of(text)) is not None
    ]
    assert forms[0] == forms[1] == forms[2]
    assert len(set(forms)) == 3


def test_a_rule_is_read_once() -> None:
    assert rule_of("self.once == 1") is rule_of("self.once == 1")


@pytest.mark.parametrize("text", ["", " ", "self.", "self.a ==", 5, None, [], {}, "self" + ".a" * 5000])
def test_what_is_no_rule(text: Any) -> None:
    assert rule_of(text) is None


@pytest.mark.parametrize(
    "name",
    ["a", "namespace", "in", "x-y", "a.b", "a/b", "p__q", "__namespace__", "a__dash__b", "_", "___", "a-.b", "__"],
)
def test_escaped_names(name: str) -> None:
    escaped = escape(name)
    assert escaped is not None
    assert unescape(escaped) == name


@pytest.mark.parametrize("name", ["a", "__a", "__dash", "x__y"])
def test_identifiers_that_stand_for_themselves(name: str) -> None:
    assert unescape(name) == name
