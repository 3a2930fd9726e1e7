"""Functions that do something else on older servers: the answers are those of API servers 1.28, 1.31, 1.33 and 1.36."""

from __future__ import annotations

import pytest
from helpers import Json, crd, obj, root, string

import crdcompat

_OK, _BROKEN = "", "broken"
_INDEX, _LAST = (f"index out of range: {index} evaluating rule: broken" for index in (0, -1))
_NAN = "NaN values cannot be ordered evaluating rule: broken"
_COLONS = "URL parse error during conversion from string: parse {}: invalid port {} after host evaluating rule: broken"

#: Rule, value, and the answers of 1.28, 1.31, 1.33 and 1.36; None: the server does not take the rule.
_ANSWERS: list[tuple[str, str, tuple[str | None, ...]]] = [
    ("cidr('10.0.0.0/8').containsCIDR(self)", "10.0.0.1/32", (None, _BROKEN, _OK, _OK)),
    ("cidr('10.0.0.0/8').containsCIDR(self)", "10.1.0.0/16", (None, _BROKEN, _OK, _OK)),
    ("cidr('10.0.0.0/8').containsCIDR(self)", "10.1.2.3/8", (None, _BROKEN, _OK, _OK)),
    ("cidr('10.0.0.0/8').containsCIDR(self)", "11.0.0.0/8", (None, _BROKEN, _BROKEN, _BROKEN)),
    ("cidr(self).containsCIDR('10.1.0.0/16')", "10.0.0.0/8", (None, _BROKEN, _OK, _OK)),
    ("cidr(self).containsCIDR('10.1.0.0/16')", "10.1.2.3/16", (None, _OK, _OK, _OK)),
    ("isURL(self)", "http://fd00::1", (_OK, _OK, _OK, _BROKEN)),
    ("isURL(self)", "http://[fd00::1]", (_OK, _OK, _OK, _OK)),
    ("isURL(self)", "http://a:80:80/", (_OK, _OK, _OK, _BROKEN)),
    ("isURL(self)", "http://a:80", (_OK, _OK, _OK, _OK)),
    ("isURL(self)", "http://a:", (_OK, _OK, _OK, _OK)),
    ("isURL(self)", "http://a::", (_OK, _OK, _OK, _BROKEN)),
    (
        "url(self).getHost() != ''",
        "http://a:80:80/x",
        (_OK, _OK, _OK, _COLONS.format('"http://a:80:80/x"', '":80:80"')),
    ),
    ("self.indexOf('b') == 2", "", (_INDEX, _INDEX, _BROKEN, _BROKEN)),
    ("self.indexOf('b') == 2", "aab", (_OK, _OK, _OK, _OK)),
    ("self.indexOf('') == 0", "", (_OK, _OK, _OK, _OK)),
    ("self.indexOf('b', 0) == -1", "", (_INDEX, _INDEX, _OK, _OK)),
    ("self.indexOf('b', 0) == -1", "a", (_OK, _OK, _OK, _OK)),
    ("self.lastIndexOf('b') == 2", "", (_LAST, _LAST, _LAST, _BROKEN)),
    ("self.lastIndexOf('b') == 2", "aab", (_OK, _OK, _OK, _OK)),
    ("double(self) > 0.0", "NaN", (_NAN, _NAN, _NAN, _NAN)),
    ("!(double(self) > 0.0)", "nan", (_NAN, _NAN, _NAN, _NAN)),
    ("double(self) > 0.0", "1", (_OK, _OK, _OK, _OK)),
]


def _answer(schema: Json, value: str, minor: str) -> str:
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"v": value}}
    verdict = crdcompat.judge(crd(schema), "create", widget, kubernetes=minor)
    assert not verdict.unknown
    return " ".join(error.detail for error in verdict.errors)


@pytest.mark.parametrize(("rule", "value", "answers"), _ANSWERS)
def test_answers_by_minor(rule: str, value: str, answers: tuple[str | None, ...]) -> None:
    rules = {"x-kubernetes-validations": [{"rule": rule, "message": "broken"}]}
    schema = root(spec=obj(v=string(maxLength=50, **rules)))
    asked = zip(("1.28", "1.31", "1.33", "1.36"), answers, strict=True)
    found = {minor: _answer(schema, value, minor) for minor, answer in asked if answer is not None}
    assert list(found.values()) == [answer for answer in answers if answer is not None]


def test_an_integer_written_as_a_float_that_no_rule_reads() -> None:
    """1E+2 is a float to the server, and an error to a rule that reads it; other rules do not mind."""
    spec = obj(n={"type": "integer"}, a=string())
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"n": 1e2, "a": "x"}}
    found = []
    for rule in ("self.?a.orValue('') == 'x'", "self.n > 0", "self.?n.orValue(0) > 0"):
        schema = root(spec={**spec, "x-kubernetes-validations": [{"rule": rule}]})
        found.append(crdcompat.judge(crd(schema), "create", widget, kubernetes="1.33").accepted)
    assert found == [True, False, None]
