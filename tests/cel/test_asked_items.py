"""The items that rules ask of lists."""

from __future__ import annotations

from typing import Any

import pytest

from crdcompat.cel.asked_items import Asked, Same, asked_items


@pytest.mark.parametrize(
    ("rule", "ways"),
    [
        ("self.l.exists(x, x.a == 'A')", [((("a",), "A"),)]),
        ("self.l.exists(x, 'A' == x.a && x.b.c == 2)", [((("a",), "A"), (("b", "c"), 2))]),
        ("self.l.exists(x, x.a == 'A' || x.a == 'B')", [((("a",), "A"),), ((("a",), "B"),)]),
        ("self.l.exists_one(x, x.a in ['A', 'B'])", [((("a",), "A"),), ((("a",), "B"),)]),
        ("size(self.l.filter(x, x == 'A')) > 0", [(((), "A"),)]),
        ("has(self.n) ? self.l.exists(x, x.on && x.a == self.n) : true", [((("on",), True), (("a",), Same(("n",))))]),
        ("self.l.exists(x, x.a == 'A' && has(x.b))", [((("a",), "A"),)]),
        ("self.l.exists(x, x.a > 1)", []),
        ("self.l.all(x, x.a == 'A')", []),
        ("!self.l.exists(x, x.a == 'A')", []),
        ("oldSelf.l.exists(x, x.a == 'A')", []),
        ("self.l.exists(x,", []),
    ],
)
def test_the_items_that_a_rule_asks_for(rule: str, ways: list[Any]) -> None:
    assert asked_items(rule) == ((Asked(("l",), tuple(ways)),) if ways else ())


def test_each_list_is_asked_once() -> None:
    rule = "self.l.exists(x, x.a == 'A') && (self.l.exists(x, x.a == 'A') || self.m.exists(x, x.b == 1))"
    assert asked_items(rule) == (Asked(("l",), (((("a",), "A"),),)), Asked(("m",), (((("b",), 1),),)))
