"""Rules that compute before they compare: the search finds a value that breaks them, though no keyword says it."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Json, array, both, crd, diff, obj, prove, root, string

_INTEGER: Json = {"type": "integer"}
_TEXT = string(maxLength=40)
_EITHER: Json = {"x-kubernetes-int-or-string": True, "maxLength": 40}


def _map(values: Json) -> Json:
    return {"type": "object", "additionalProperties": values, "maxProperties": 9}


_BROKEN: list[tuple[Json, tuple[str, ...]]] = [
    (
        _INTEGER,
        (
            *("double(self) <= 500.0", "self % 7 != 3", "self * 2 < 500", "self + 1 < 500", "-self > -300"),
            "int(double(self)*2.0) < 500",
        ),
    ),
    ({"type": "number"}, ("self < 500.5",)),
    (_EITHER, ("type(self) == int ? int(self) < 50000 : true", "string(self) != '500'")),
    (
        _map(_TEXT),
        (
            *("self.all(k, k.lowerAscii() != 'abc')", "self.all(k, k.size() < 5)", "self.all(k, k.startsWith('abc'))"),
            *("self.all(k, self[k].startsWith('abc'))", "self.all(k, k.substring(0,1) == 'a')", "self.all(k, k != '')"),
            *("!('abc' in self) || self['abc'] != 'xyz'", "self.all(k, !k.contains('.') || self[k] == 'q')"),
            *("self.size() <= 2", "size(self) != 3", "self.all(k, k.size() + self[k].size() < 20)"),
            *("self.exists(k, k == 'abc')", "!self.exists(k, k.endsWith('/'))", "self.map(k, k).all(x, x != 'abc')"),
            *("self.all(k, k.matches('^[a-z]+$'))", "self.filter(k, k.size() > 10).size() == 0"),
        ),
    ),
    (_map(_INTEGER), ("self.all(k, self[k] < 700)", "self.all(k, self[k] * 2 < 700)")),
    (
        obj(m=_map(_TEXT)),
        (
            *("!has(self.m) || self.m.all(k, k.lowerAscii() != 'abc')", "!has(self.m) || self.m.size() < 3"),
            *("!has(self.m) || self.m.all(k, k.substring(0,1) == 'a')", "!has(self.m) || self.m.size() != 5"),
            "!has(self.m) || self.m.filter(k, k.size() > 10).size() == 0",
        ),
    ),
    (obj(m=_map(_INTEGER)), ("!has(self.m) || self.m.all(k, self.m[k] * 2 < 700)",)),
    (
        array(_TEXT, maxItems=9),
        (
            *("self.size() < 3", "self.join(',') != 'a,b,c'", "self.all(x, x.lowerAscii() == x)"),
            "self.indexOf('q') != 1",
        ),
    ),
    (array(_INTEGER, maxItems=9), ("self.isSorted()",)),
    (
        obj(l=array(_INTEGER, maxItems=9)),
        ("!has(self.l) || self.l.sum() < 1000", "!has(self.l) || self.l.size() != 4"),
    ),
    (
        obj(a=_INTEGER, b=_INTEGER),
        (
            *("!has(self.a) || !has(self.b) || self.a + self.b < 1000", "!has(self.a) || double(self.a) < 1000.0"),
            "!has(self.a) || !has(self.b) || self.a < self.b",
        ),
    ),
    (
        obj(a=_TEXT, b=_TEXT),
        (
            *("!has(self.a) || !has(self.b) || self.a.startsWith(self.b)", "!has(self.a) || self.a.size() % 2 == 0"),
            "!has(self.a) || self.a.lowerAscii() != 'abc'",
        ),
    ),
    (
        _TEXT,
        (
            *("self.lowerAscii() != 'abc'", "self.size() * 2 < 50", "self.replace('a','b') != 'bcd'"),
            *(
                "self.charAt(0) != 'q'",
                "self.split('-').size() < 4",
                "self.indexOf('-') < 3",
                "self.reverse() != 'cba'",
            ),
            *("self.substring(1) != 'bc'", "int(self) < 500", "isURL(self)", "!isIP(self)"),
            "quantity(self).isLessThan(quantity('5Gi'))",
        ),
    ),
]
_CASES = [(schema, rule) for schema, rules in _BROKEN for rule in rules]


@pytest.mark.parametrize(("schema", "rule"), _CASES, ids=[rule for _, rule in _CASES])
def test_a_value_that_breaks_the_rule_is_found(tmp_path: Path, schema: Json, rule: str) -> None:
    ruled = {**schema, "x-kubernetes-validations": [{"rule": rule}]}
    old, new = (root(spec=obj(v=each)) for each in (schema, ruled))
    findings = [each for each in diff(*both(tmp_path, old, new))["findings"] if each["rule"] == "cel-rule-added"]
    assert len(findings) == 1
    assert findings[0]["witness"]["object"] is not None
    prove(findings[0], crd(old), crd(new))


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        ("!self.metadata.name.lowerAscii().startsWith('x-')", "x-a"),
        ("self.metadata.name.lastIndexOf('-x') < 0", "a-x"),
    ],
)
def test_a_name_that_breaks_the_rule_is_found(tmp_path: Path, rule: str, name: str) -> None:
    plain = root(spec=obj(v=_TEXT))
    (finding,) = diff(*both(tmp_path, plain, {**plain, "x-kubernetes-validations": [{"rule": rule}]}))["findings"]
    assert finding["witness"]["object"]["metadata"]["name"] == name
