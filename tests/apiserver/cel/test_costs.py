"""The estimated costs of the set and list libraries: the factors are those of API servers 1.31 to 1.36."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from helpers import Json, array, crd, obj, root, string

import crdcompat
from crdcompat.apiserver.cel.static.sizes import MAX, scaled

SETS, LISTS = ("1.28", "1.31"), ("1.34", "1.36")


def _factor(rule: str, most: int, kubernetes: str) -> str:
    """How often the cost of a rule exceeds the limit; "" if it does not, the other error if there is one."""
    items = {"maxItems": most}
    spec: Json = {
        **obj(l=array({**string(), "maxLength": 20}, **items), n=array(array({"type": "integer"}, **items), **items)),
        "x-kubernetes-validations": [{"rule": rule}],
    }
    verdict = crdcompat.judge_crd(crd(root(spec=spec)), kubernetes=kubernetes)
    details = [error.detail for error in verdict.errors if error.field.endswith(".rule")]
    found = re.search(r"by factor of (more than )?([\d.]+)x", details[0]) if details else None
    return found[2] if found else "".join(details)


@pytest.mark.parametrize(
    ("rule", "most", "factor", "servers"),
    [
        ("sets.contains(self.l, self.l)", 3000, "", SETS),
        ("sets.contains(self.l, self.l)", 5000, "2.5", SETS),
        ("sets.intersects(self.l, self.l)", 5000, "2.5", SETS),
        ("sets.equivalent(self.l, self.l)", 3000, "1.8", SETS),
        ("self.l.distinct().size() > 1", 2000, "", LISTS),
        ("self.l.distinct().size() > 1", 3000, "1.8", LISTS),
        ("self.l.sort() == self.l", 3000, "1.9", LISTS),
        ("self.l.sortBy(x, size(x)) == self.l", 3000, "1.8", LISTS),
        ("self.l.slice(3, 1) == self.l", 10, "100", LISTS),
        ("self.l.slice(0, 3).all(x, x.matches('a'))", 3000, "", LISTS),
        ("self.l.reverse() == self.l", 3000, "", LISTS),
        ("self.n.flatten().all(x, x > 1)", 1000, "", LISTS),
        ("self.n.flatten(10000000) == []", 100, "100", LISTS),
        ("lists.range(100000000).size() > 1", 1, "10.0", LISTS),
    ],
)
def test_costs(rule: str, most: int, factor: str, servers: tuple[str, str]) -> None:
    before, since = servers
    assert _factor(rule, most, since) == factor
    assert "undeclared reference" in _factor(rule, most, before)


@pytest.mark.parametrize("number", [10**400, math.inf])
def test_sizes_beyond_64_bits(number: Any) -> None:
    """A limit of 1e308 characters, each of four bytes, is a size, too."""
    assert scaled(number, 0.5) == scaled(MAX, 0.5)
