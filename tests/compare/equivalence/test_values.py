"""Whether one value can satisfy several statements about it at once."""

from __future__ import annotations

from typing import Any

import pytest

from crdcompat.apiserver.cel.views import View
from crdcompat.compare.equivalence.formula import Atom, Kind
from crdcompat.compare.equivalence.values import can_hold
from crdcompat.schema.structural import Node


@pytest.mark.parametrize(("excluded", "expected"), [((True, False), False), ((True,), True), ((True, "a"), True)])
def test_a_boolean_is_one_of_two_values(excluded: tuple[Any, ...], expected: bool) -> None:
    """A text, which ``dyn`` lets a rule compare with a boolean, is none of them."""
    facts = [(Atom(Kind.EQUAL, ("self",), value), False) for value in excluded]
    assert can_hold(facts, View(Node({"type": "boolean"}))) == expected


@pytest.mark.parametrize(("excluded", "expected"), [(1.5, False), (2.5, True)])
def test_between_equal_limits_is_one_number(excluded: float, expected: bool) -> None:
    limits = ((1.5, False), True), ((1.5, True), False)
    facts = [(Atom(Kind.FROM, ("self",), limit), holds) for limit, holds in limits]
    facts.append((Atom(Kind.EQUAL, ("self",), excluded), False))
    assert can_hold(facts, View(Node({"type": "number"}))) == expected
