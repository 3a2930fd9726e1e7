"""Rules in other words are no change; every smallest difference of meaning is one."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Json, array, both, crd, diff, obj, root, string, write

_RULES = "x-kubernetes-validations"


def spec(*rules: str) -> Json:
    """A CRD whose spec has these rules."""
    flags = {"f": {"type": "boolean"}, "n": {"type": "integer"}, "p": {"x-kubernetes-int-or-string": True}}
    held = {"l": array(string(), maxItems=5), "m": {"type": "object", "additionalProperties": string()}}
    members = obj(a=string(maxLength=99), b=string(), c=string(), o=obj(a=string(), m=held["m"]), **flags, **held)
    return crd(root(spec={**members, _RULES: [{"rule": rule} for rule in rules]}))


def found(tmp_path: Path, old: tuple[str, ...], new: tuple[str, ...]) -> set[tuple[str, str]]:
    """The rules and directions of all findings."""
    report = diff(*both(tmp_path, spec(*old), spec(*new)))
    assert report["undecided"] == []
    return {(finding["rule"], finding["direction"]) for finding in report["findings"]}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.a == 'x'", 'self.a == "x"'),
        ("self.a == 'x'", "('x' == (self.a))"),
        ("has(self.a) && has(self.b)", "has(self.b)&&has(self.a)"),
        ("!(has(self.a) && has(self.b))", "!has(self.a) || !has(self.b)"),
        ("!has(self.a) || self.a.size() > 3", "has(self.a) ? size(self.a) >= 4 : true"),
        ("!has(self.a) || !(self.a != 'x')", "has(self.a) ? self.a == 'x' : true"),
        ("(has(self.a)?1:0)+(has(self.b)?1:0)<=1", "1 >= (has(self.b) ? 1 : 0) + (has(self.a) ? 1 : 0)"),
        ("[has(self.a), has(self.b)].filter(x, x).size() == 1", "[has(self.b), has(self.a)].exists_one(y, y)"),
        ("self.l.all(x, x.startsWith('a'))", "!self.l.exists(it, !it.matches(r'^a'))"),
        ("self.l.all(x, self.l.exists_one(y, x == y))", "self.l.all(one, self.l.exists_one(two, two == one))"),
        ("self.l.map(x, x + 'a').size() > 1", 'size(self.l.map(each, each + "a")) >= 2'),
        ("has(self.o) && has(self.o.a) && self.o.a == 'x'", "self.?o.?a.orValue('') == 'x'"),
        ("self.?a.hasValue()", "has(self.a)"),
        ("'k' in self.m", "has(self.m.k)"),
        ("'k' in self.l", "self.l.exists(x, x == 'k')"),
        ("self.m['k'] == 'v'", "self.m.k == 'v'"),
        ("self.n > 4", "5 <= self.n"),
        ("self.n % 2 == 0", "(self.n%2) == 0"),
        ("self.a <= self.b", "!(self.b < self.a)"),
        ("self.f == true", "self.f"),
        ("duration(self.a) > duration('1s')", 'duration("1s") < duration(self.a)'),
        (
            "isQuantity(self.a) && quantity(self.a).isGreaterThan(quantity('0'))",
            "quantity(self.a).isGreaterThan(quantity('0'))",
        ),
        ("isURL(self.a) && url(self.a).getScheme() == 'https'", "url(self.a).getScheme() == 'https'"),
        ("isIP(self.a) && ip(self.a).family() != 6", "ip(self.a).family() != 6"),
        ("!isCIDR(self.a) ? false : cidr(self.a).ip().family() == 4", "cidr(self.a).ip().family() == 4"),
        ("self.a.matches('^(a*b)?$')", "self.a == '' || self.a.matches('^a*b$')"),
        (
            "!format.dns1123Label().validate(self.a).hasValue() || self.a == ''",
            "self.a == '' || (self.a.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$') && self.a.size() < 64)",
        ),
        ("self.p == 5 || self.p == 'a'", "self.p == 'a' || self.p == 5"),
        ("self.a in ['x', 'y', 'z'] && self.a != 'z'", "self.a == 'y' || self.a == 'x'"),
        ("(has(self.a)?1:0)+(has(self.b)?1:0)==1", "has(self.a) != has(self.b)"),
        ("(has(self.a) ? self.a : '') == 'x' ? has(self.b) : true", "!(has(self.a) && self.a == 'x' && !has(self.b))"),
        (
            "has(self.o) && has(self.o.m) && self.o.m.size() > 0 || !has(self.b)",
            "has(self.b) ? ((has(self.o) && has(self.o.m)) ? self.o.m : {}).size() > 0 : true",
        ),
        ("!(has(self.l) && self.l.exists(x, x.contains('/')))", "(has(self.l) ? self.l : []).all(x, !x.matches('/'))"),
        (
            "[self.a, self.b] in [['x', 'y'], ['z', 'w']]",
            "self.a == 'x' && self.b == 'y' || [self.a, self.b] == ['z', 'w']",
        ),
        ("self.a.matches('^[a-c]$')", "self.a in ['a', 'b', 'c']"),
        ("self.a.startsWith('ab') || self.a.startsWith('ac')", "self.a.matches('^a[bc]')"),
        ("self.a != ''", "self.a.size() > 0"),
        ("self.l.all(x, x.matches('^(a|b)$'))", "self.l.all(x, x in ['b', 'a'])"),
        ("self.n in [1, 2, 3]", "1 <= self.n && self.n < 4"),
        ("!(self.n > 3 && self.n < 5)", "self.n != 4"),
        (
            f"{'+'.join(f'(self.l.size() > {n} ? self.l[{n}].size() : 0)' for n in range(8))} <= 9",
            f"9 >= {'+'.join(f'({n} >= size(self.l) ? 0 : (self.l)[{n}].size())' for n in range(8))}",
        ),
        (
            "self.l.exists_one(x, has(self.a) ? x == self.a : x == '')",
            "self.l.exists_one(x, (has(self.a) && x == self.a) || (!has(self.a) && x == ''))",
        ),
    ],
)
def test_other_words_are_no_finding(tmp_path: Path, old: str, new: str) -> None:
    assert found(tmp_path, (old,), (new,)) == set()


def test_a_conjunction_says_the_same_as_its_parts(tmp_path: Path) -> None:
    whole, parts = ("has(self.a) && self.n > 4",), ("self.n >= 5", "has(self.a)")
    assert found(tmp_path / "1", whole, parts) == set()
    assert found(tmp_path / "2", parts, whole) == set()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.a == 'x'", "self.a == 'X'"),
        ("self.a.matches('^[a-c]$')", "self.a in ['a', 'b', 'd']"),
        ("self.a == 'x y'", "self.a == 'x  y'"),
        ("has(self.a) && has(self.b)", "has(self.a) || has(self.b)"),
        ("has(self.a) && has(self.b)", "has(self.a) && has(self.c)"),
        ("self.a.size() > 3", "self.a.size() >= 3"),
        ("!has(self.a) || self.a == 'x'", "self.a == 'x'"),
        ("self.l.all(x, x == 'a')", "self.l.exists(x, x == 'a')"),
        ("self.l.map(x, x + 'a').size() > 1", "self.l.map(x, x + 'a').size() > 2"),
        ("self.n > 4", "self.n > 5"),
        ("self.n % 2 == 0", "self.n % 3 == 0"),
        ("self.f", "!self.f"),
        ("self.a <= self.b", "self.b <= self.a"),
        ("has(self.a) && self.n > 4", "has(self.a) && self.n >= 4"),
        ("self.a.matches('^(a*b)?$')", "self.a.matches('^a*b$')"),
        ("self.a.matches('^(a*b)?$')", "self.a == 'a' || self.a.matches('^a*b$')"),
        ("isQuantity(self.a)", "quantity(self.a).isGreaterThan(quantity('0'))"),
        (
            "!isQuantity(self.a) || quantity(self.a).isGreaterThan(quantity('0'))",
            "quantity(self.a).isGreaterThan(quantity('0'))",
        ),
        (
            "isQuantity(self.b) && quantity(self.a).isGreaterThan(quantity('0'))",
            "quantity(self.a).isGreaterThan(quantity('0'))",
        ),
        ("isURL(self.a) && self.l.all(x, url(x).getScheme() == 'a')", "self.l.all(x, url(x).getScheme() == 'a')"),
        (
            "self.l.exists_one(x, has(self.a) ? x == self.a : x == '')",
            "self.l.exists_one(x, has(self.a) ? x == self.a : x != '')",
        ),
    ],
)
def test_another_meaning_is_a_finding(tmp_path: Path, old: str, new: str) -> None:
    rules = {rule for rule, _ in found(tmp_path / "1", (old,), (new,)) | found(tmp_path / "2", (new,), (old,))}
    assert rules == {"cel-rule-changed"}


@pytest.mark.parametrize(
    ("old", "new", "directions"),
    [
        (
            "self.all(x, self.exists_one(y, y.t == x.t && y.v == x.v))",
            "self.all(x, !has(x.v) || self.exists_one(y, y.t == x.t && has(y.v) && y.v == x.v))",
            {"rollback"},
        ),
        (
            "self.exists_one(x, x.t == 'a' && x.v == 'b')",
            "self.exists_one(x, x.t == 'a' && has(x.v) && x.v == 'b')",
            {"rollback"},
        ),
        (
            "!self.exists_one(x, x.v == 'b')",
            "!self.exists_one(x, has(x.v) && x.v == 'b')",
            {"rollback"},
        ),
        (
            "self.exists_one(x, x.v == 'b')",
            "self.exists_one(x, !has(x.v) || x.v == 'b')",
            {"rollback"},
        ),
        (
            "self.exists_one(x, has(x.v) && x.v == 'b')",
            "self.exists_one(x, !has(x.v) || x.v == 'b')",
            {"rollback", "upgrade"},
        ),
    ],
)
def test_a_rule_that_no_longer_fails_on_absent_members(
    tmp_path: Path, old: str, new: str, directions: set[str]
) -> None:
    """Where the old rule has a result, the new one has the same: only what failed before can differ."""
    items = obj(t=string(maxLength=9), v=string(maxLength=9)) | {"required": ["t"]}
    sides = (crd(root(spec=obj(l=array(items, maxItems=5, **{_RULES: [{"rule": rule}]})))) for rule in (old, new))
    report = diff(*both(tmp_path, *sides))
    assert {(each["rule"], each["direction"]) for each in report["findings"]} == {
        ("cel-rule-changed", direction) for direction in directions
    }


_ABSENT_EQUALS_B = "self.existsOne(i, x, !has(x.v) || x.v == 'b')"


@pytest.mark.parametrize(
    ("old", "new", "directions"),
    [
        # An item without v is an error of the old rule. The new rule skips it, so it accepts more, and nothing less.
        ("self.existsOne(i, x, x.v == 'b')", "self.existsOne(i, x, has(x.v) && x.v == 'b')", {"rollback"}),
        ("self.existsOne(i, x, has(x.v) && x.v == 'b')", "self.existsOne(i, x, x.v == 'b')", {"upgrade"}),
        ("self.existsOne(i, x, x.v == 'b')", _ABSENT_EQUALS_B, {"rollback"}),
        # Two items, of which one has no v: here the one rule is true and the other false, whichever comes first.
        ("self.existsOne(i, x, has(x.v) && x.v == 'b')", _ABSENT_EQUALS_B, {"rollback", "upgrade"}),
        ("self.filter(x, x.v == 'b').size() == 1", "self.filter(x, has(x.v) && x.v == 'b').size() == 1", {"rollback"}),
        ("self.map(x, x.v) == ['b']", "self.map(x, has(x.v), x.v) == ['b']", {"rollback"}),
        ("self.map(x, has(x.v), x.v) == ['b']", "self.map(x, has(x.v), x.t) == ['b']", {"rollback", "upgrade"}),
        # A filter of nothing is no error.
        ("self.filter(x, x.v == 'b').size() == 0", "self.filter(x, has(x.v) && x.v == 'b').size() == 0", {"rollback"}),
    ],
)
def test_a_comprehension_has_the_results_of_one_that_fails_more(
    tmp_path: Path, old: str, new: str, directions: set[str]
) -> None:
    """A comprehension that fails on fewer items has each result of the other, but the other not each of its results."""
    items = obj(t=string(maxLength=9), v=string(maxLength=9)) | {"required": ["t"]}
    sides = (crd(root(spec=obj(l=array(items, maxItems=5, **{_RULES: [{"rule": rule}]})))) for rule in (old, new))
    config = write(tmp_path / "config.yaml", {"kubernetes": ["1.36"]})  # existsOne(i, x, …): since 1.32
    report = diff(*both(tmp_path, *sides), "--config", config)
    assert {(each["rule"], each["direction"]) for each in report["findings"]} == {
        ("cel-rule-changed", direction) for direction in directions
    }


def test_a_list_without_a_type_is_atomic(tmp_path: Path) -> None:
    """The rule about lists follows from the old one, though required members and the list's type changed, too."""
    rules = (
        "self.all(x, x.t == 'a' ? self.exists_one(y, y.t == x.t && y.v == x.v) : true)",
        "self.all(x, x.t == 'a' && has(x.v) ? self.exists_one(y, y.t == x.t && has(y.v) && y.v == x.v) : true)",
    )
    items = obj(t=string(maxLength=9), v=string(maxLength=9))
    more: tuple[Json, ...] = ({}, {"x-kubernetes-list-type": "atomic"})
    sides = (
        crd(root(spec=obj(l=array(items | {"required": required}, maxItems=5, **{_RULES: [{"rule": rule}]}, **kind))))
        for rule, required, kind in zip(rules, (["t", "v"], ["t"]), more, strict=True)
    )
    report = diff(*both(tmp_path, *sides))
    assert {(each["rule"], each["direction"]) for each in report["findings"]} == {
        ("required-removed", "rollback"),
        ("cel-rule-changed", "rollback"),
    }


def test_a_redundant_rule_is_no_finding(tmp_path: Path) -> None:
    one, both_rules = ("has(self.a)",), ("has(self.a)", "has(self.a) || has(self.b)")
    assert found(tmp_path / "1", one, both_rules) == set()
    assert found(tmp_path / "2", both_rules, one) == set()


def test_only_what_differs_is_named(tmp_path: Path) -> None:
    """Rewritten rules beside a new one are not listed as added."""
    report = diff(*both(tmp_path, spec("self.a == 'x'"), spec('self.a == "x"', "has(self.b)")))
    assert {(f["rule"], f["direction"], tuple(f["added"])) for f in report["findings"]} == {
        ("cel-rule-added", "upgrade", ("has(self.b)",))
    }


def test_no_item_of_an_empty_list_breaks_a_rule(tmp_path: Path) -> None:
    added = "size(self) > 0 || self.all(x, x.startsWith('a'))"
    lists = (array(string(maxLength=9), maxItems=5, **rules) for rules in ({}, {_RULES: [{"rule": added}]}))
    report = diff(*both(tmp_path, *(crd(root(spec=obj(l=side))) for side in lists)))
    assert {each["rule"] for each in report["findings"]} == set()
