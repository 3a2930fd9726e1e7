"""Eras: servers that answer alike about the values of a field, or about a CRD, by what their schemas use.

A behaviour that comes with a minor stays. So the servers of an era follow one another, and one of them answers for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import orjson

from crdcompat.apiserver.cel.environment import changed_functions, era_of
from crdcompat.apiserver.cel.rule_programs import program
from crdcompat.apiserver.crd_validation.cost_budget import uses
from crdcompat.apiserver.equivalence import is_bare
from crdcompat.apiserver.formats import behaviours_of
from crdcompat.apiserver.server_versions import Server
from crdcompat.cel.parse import RefusedError
from crdcompat.crds.model import Crd
from crdcompat.schema.structural import RULES, Node

#: The minors that changed the estimates of the cost of rules, up or down (``cel/static/cost.py``, ``calls.py``).
_ESTIMATES = (28, 29, 30, 32, 34)
#: A CRD whose rules use this part of a budget may be above it by the estimates of another minor.
_SHARE = 0.25
#: The minor that knows the field optionalOldSelf.
_OPTIONAL_OLD_SINCE = 29


class Turns:
    """What decides at which minors the answers about some fields change; grows with each field."""

    def __init__(self) -> None:
        self._behaviours: set[str] = set()
        self._functions: set[frozenset[str]] = set()
        self._optional_old = False

    def add(self, old: Node, new: Node) -> bool:
        """Add a field by its two schemas. False if neither uses anything whose answer depends on the minor."""
        behaviours = {*_of_values(old), *_of_values(new)}
        rules = [rule for one, other in ((old, new), (new, old)) for rule in one.rules if rule not in other.rules]
        if rules and any(is_bare(part) for side in (old, new) for part in side.parts()):
            behaviours.add("cel_bare_objects")
        functions = {found for rule in rules if (found := _functions(str(rule.get("rule", ""))))}
        optional_old = any("optionalOldSelf" in rule for rule in rules)
        self._behaviours |= behaviours
        self._functions |= functions
        self._optional_old |= optional_old
        return bool(behaviours or functions or optional_old)

    def eras(self, servers: Sequence[Server]) -> list[tuple[Server, ...]]:
        """The servers by eras, in their order."""
        found: dict[tuple[object, ...], list[Server]] = {}
        for server in servers:
            behaviours = (*map(server.does, sorted(self._behaviours)),)
            libraries = (*(era_of(server.minor, names) for names in self._functions),)
            optional_old = self._optional_old and (server.minor >= _OPTIONAL_OLD_SINCE, server.does("ratchet_main"))
            found.setdefault((behaviours, libraries, optional_old), []).append(server)
        return [tuple(era) for era in found.values()]


def asked_about(crd: Crd, servers: Sequence[Server]) -> tuple[Server, ...]:
    """The servers among ``servers`` that show whether any of them refuses a CRD.

    ``servers`` are in the order of ``ranges.listed``. What a newer server checks, the newest one
    checks. What an older server lacks, the oldest one lacks: functions and fields of rules. Only the estimates of costs
    go both ways.
    """
    has_rules = _has_rules(crd)
    shown: set[Server] = set()
    for is_openshift in (False, True):
        of_product = [server for server in servers if (server.openshift is not None) == is_openshift]
        shown.update(of_product[-1:])
        if not of_product or not has_rules:
            continue
        shown.add(of_product[0])
        if uses(crd, of_product[-1], _SHARE):
            eras = {sum(each.minor >= minor for minor in _ESTIMATES): each for each in of_product}
            shown.update(eras.values())
    return tuple(server for server in servers if server in shown)


def _has_rules(crd: Crd) -> bool:
    """Whether a CRD may have rules: its text names them."""
    try:
        return RULES.encode() in orjson.dumps(crd.raw)
    except TypeError:  # integers of more than 64 bits, for example
        return True


def _of_values(node: Node) -> Iterator[str]:
    """The behaviours that decide on the values of a node itself."""
    for branch in (node, *_branches(node)):
        yield from behaviours_of(branch.format, branch.type or node.type)
        if branch is not node and RULES in branch.raw:
            yield "cel_in_all_of"
    if {"integer", "number"} & {*node.types}:
        yield from ("integer_range", "halved_tolerance")


def _branches(node: Node) -> Iterator[Node]:
    for branch in node.junctor_branches():
        yield branch
        yield from _branches(branch)


def _functions(rule: str) -> frozenset[str]:
    """The functions of a rule that servers of different minors run differently; none of one that is not parsed."""
    try:
        return frozenset(changed_functions(program(rule).names))
    except (RefusedError, RecursionError):
        return frozenset()
