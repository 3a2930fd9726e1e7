"""When a rule accepts a value."""

from __future__ import annotations

from crdcompat.apiserver.cel.views import View
from crdcompat.apiserver.server_versions import DEFAULT_SERVER
from crdcompat.compare.equivalence.connectives import has, opposite
from crdcompat.compare.equivalence.formula import Literal
from crdcompat.compare.equivalence.premises import Place, formula_of_rule
from crdcompat.compare.equivalence.rule_formulas import OLD
from crdcompat.schema.structural import Node


def test_a_rule_about_updates_is_read_where_it_judges_them_alone() -> None:
    place, view = Place(("self",), ()), View(Node({"type": "string"}))
    update = {"rule": "self == oldSelf"}
    both = {"rule": "oldSelf.orValue('a') == self", "optionalOldSelf": True}
    for_values = {"rule": "self == 'a'"}
    for rule, of_updates, is_read in (
        (update, True, True),
        (update, False, False),
        (both, True, False),
        (both, False, False),
        (for_values, False, True),
    ):
        found = formula_of_rule(rule, place, view, DEFAULT_SERVER, of_updates=of_updates)
        assert (found is not None) == is_read, rule


def test_a_rule_about_updates_holds_where_the_stored_object_has_no_value() -> None:
    place, view = Place(("self", "spec", "mode"), ()), View(Node({"type": "string"}))
    found = formula_of_rule({"rule": "self == oldSelf"}, place, view, DEFAULT_SERVER, of_updates=True)
    assert found is not None and not isinstance(found, Literal)
    assert opposite(has((OLD, "spec", "mode"))) in found.parts
