"""Rules that both sides state, each in its own words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crdcompat.apiserver.cel.views import View
from crdcompat.compare.equivalence.entailment import entails
from crdcompat.compare.equivalence.formula import Formula
from crdcompat.compare.equivalence.rule_formulas import truth_of_rule
from crdcompat.schema.structural import Node

#: Rules by normalized text.
Rules = Mapping[str, dict[str, Any]]


def rewritten(old: Rules, old_node: Node, new: Rules, new_node: Node, *, root: bool) -> frozenset[str]:
    """The texts of the rules of both sides that the remaining rules of the other side entail.

    A conjunction equals its parts in several rules. A rule that became weaker or stronger is stated on one
    side only. ``root``: the nodes are the roots of their schemas.
    """
    views = View(old_node, resource=root), View(new_node, resource=root)
    mine, theirs = _formulas(old, old_node, root=root), _formulas(new, new_node, root=root)
    while True:
        left = _stated(mine, theirs, views[1])
        right = _stated(theirs, left, views[0])
        if len(left) == len(mine) and len(right) == len(theirs):
            return frozenset((*left, *right, *(old.keys() & new.keys())))
        mine, theirs = left, right


def equal_transitions(old: Rules, old_node: Node, new: Rules, new_node: Node, *, root: bool) -> frozenset[str]:
    """The texts of transition rules that are equal to one of the other side.

    A transition rule must be equal as a whole: a part of it without ``oldSelf`` would also judge new objects.
    """
    mine, theirs = (
        {text: (formula, rules[text].get("optionalOldSelf") is True) for text, formula in found.items()}
        for rules, found in (
            (old, _formulas(old, old_node, root=root)),
            (new, _formulas(new, new_node, root=root)),
        )
    )
    shared = set(mine.values()) & set(theirs.values())
    found = (text for side in (mine, theirs) for text, form in side.items() if form in shared)
    return frozenset((*(old.keys() & new.keys()), *found))


def _stated(formulas: Mapping[str, Formula], others: Mapping[str, Formula], view: View) -> dict[str, Formula]:
    """The formulas that the others together entail."""
    known = tuple(others.values())
    return {
        text: formula for text, formula in formulas.items() if text in others or entails(known, formula, {"self": view})
    }


def _formulas(rules: Rules, node: Node, *, root: bool) -> dict[str, Formula]:
    """When each rule is true, without the rules that cannot be read."""
    read = {
        text: truth_of_rule(str(rule.get("rule", "")), ("self",), node, resource=root) for text, rule in rules.items()
    }
    return {text: truth.true for text, truth in read.items() if truth is not None}
