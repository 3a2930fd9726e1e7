"""What holds for every object, whatever a rule states of it."""

from __future__ import annotations

import pytest

from crdcompat.apiserver.cel.views import View
from crdcompat.compare.equivalence.axioms import axioms
from crdcompat.compare.equivalence.connectives import has, opposite, some
from crdcompat.compare.equivalence.formula import Atom, Kind, Literal, Path
from crdcompat.compare.equivalence.terms import Opaque, Ref
from crdcompat.schema.structural import Node


def test_a_member_is_nowhere_without_its_parents() -> None:
    atoms = {Atom(Kind.HAS, ("self", "a", "b", "c"), None): None}
    deepest, parent, top = has(("self", "a", "b", "c")), has(("self", "a", "b")), has(("self", "a"))
    assert [*axioms(atoms, {})] == [some(opposite(deepest), parent), some(opposite(parent), top)]


@pytest.mark.parametrize(("known", "told"), [(("self", "a", "c"), ("self", "b", "c")), (("self", "b"), ("self", "a"))])
def test_equal_values_have_equal_members(known: Path, told: Path) -> None:
    equal = Atom(Kind.TRUE, (), Opaque((Ref(("self", "a"), None), Ref(("self", "b"), None)), "=="))
    found = [*axioms({equal: None, Atom(Kind.HAS, known): None}, {"self": View(Node({}))})]
    assert some(opposite(Literal(equal)), opposite(has(known)), has(told)) in found
