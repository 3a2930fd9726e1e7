"""The share of the server's cost budget that the CEL rules of a CRD use, and the bounds that lower it.

The server estimates the highest cost of each rule from the sizes that the schema allows. There is a budget for one rule
and a budget for all rules of a schema. The server refuses a CRD above either.
Source: apiextensions-apiserver, pkg/apis/apiextensions/validation/cel_validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.apiserver.cel.rule_programs import program
from crdcompat.apiserver.cel.static.compile import compiled
from crdcompat.apiserver.cel.static.sizes import plus, times
from crdcompat.apiserver.crd_validation.crd_decoding import undecodable_definition
from crdcompat.apiserver.crd_validation.decoded_keywords import Schema
from crdcompat.apiserver.crd_validation.definition import definition_of
from crdcompat.apiserver.crd_validation.expressions import RULE_LIMIT, TOTAL_LIMIT, Scope
from crdcompat.apiserver.crd_validation.memo import Memo
from crdcompat.apiserver.crd_validation.plain import doubtful
from crdcompat.apiserver.server_versions import Server
from crdcompat.cel.identifiers import escape
from crdcompat.crds.model import Crd
from crdcompat.schema.answers import ANSWERS, json_of
from crdcompat.schema.paths import Pointer, value_at
from crdcompat.schema.structural import RULES

_KEYWORDS = {"array": "maxItems", "object": "maxProperties", "string": "maxLength"}
#: The bound that `_bounds` tries where the schema has none.
_SMALL = 16
_MAX_BOUNDS = 3


class Bound(Struct, frozen=True):
    """A bound that changes the cost of a rule: its place in the CRD's document, and its value (None: not declared)."""

    at: Pointer
    value: int | None


class Usage(Struct, frozen=True):
    """The cost of the rules of one schema. ``at`` is the place of the most expensive rule in the CRD's document.

    ``cost`` is the cost of that rule, ``total`` the cost of all rules. ``bounds`` are those that lower ``cost`` most;
    bounds that are not declared yet come first.
    """

    at: Pointer
    rule: str
    cost: int
    total: int
    bounds: tuple[Bound, ...]

    @property
    def one_rule(self) -> bool:
        """Whether the budget of one rule is fuller than the budget of all rules."""
        return self.cost / RULE_LIMIT >= self.total / TOTAL_LIMIT

    @property
    def share(self) -> float:
        """The used part of the fuller budget; above 1 the server refuses the CRD."""
        return max(self.cost / RULE_LIMIT, self.total / TOTAL_LIMIT)


class _Rule(Struct, frozen=True):
    """One expression of a rule: its pointer below the root of the schema, its text, and its cost."""

    at: Pointer
    text: str
    optional_old: bool
    cost: int


_KNOWN: Memo[list[Usage]] = Memo()


def usages(crd: Crd, server: Server, least: float) -> list[Usage]:
    """The schemas of a CRD whose rules use at least the part ``least`` (0 to 1) of a budget; none if the CRD does not
    decode."""
    return _KNOWN.of(crd, (server, least), partial(_kept, crd.raw, server, least, bounds=True))


def uses(crd: Crd, server: Server, least: float) -> bool:
    """Whether the rules of a schema of a CRD use at least the part ``least`` of a budget."""
    return bool(_KNOWN.of(crd, (server, least, "uses"), partial(_kept, crd.raw, server, least, bounds=False)))


def _kept(raw: Mapping[str, Any], server: Server, least: float, *, bounds: bool) -> list[Usage]:
    doubts = doubtful(raw)
    asked = partial(json_of, repr(server), doubts, least, bounds)
    return ANSWERS.of("costs of rules", asked, list[Usage], lambda: [*_usages(doubts, server, least, bounds=bounds)])


def _usages(raw: Mapping[str, Any], server: Server, least: float, *, bounds: bool) -> Iterator[Usage]:
    if not server.does("cel") or undecodable_definition(raw, server):
        return
    form = definition_of(raw, server)
    for at, schema in form.placed_schemas():
        rules = [*_rules(Scope(schema), (), form.server)]
        if not rules:
            continue
        most = max(rules, key=lambda each: each.cost)
        place = form.document_pointer((*at, *most.at))
        found = Usage(place, most.text, most.cost, plus(*(each.cost for each in rules)), ())
        if found.share < least:
            continue
        lowering = _bounds(schema, most, form.server) if bounds else ()
        yield replace(
            found, bounds=tuple(Bound(form.document_pointer((*at, *each.at)), each.value) for each in lowering)
        )


def _rules(scope: Scope, at: Pointer, server: Server) -> Iterator[_Rule]:
    """The expressions below a schema, in its order. Structural schemas forbid rules in allOf, anyOf, oneOf and not."""
    schema = scope.schema
    for index, rule in enumerate(schema.get(RULES, ())):
        for member in ("rule", "messageExpression"):
            if text := rule.get(member):
                optional_old = bool(rule.get("optionalOldSelf"))
                cost = _cost(scope, text, server, optional_old=optional_old, once=member != "rule")
                yield _Rule((*at, RULES, index, member), text, optional_old, cost)
    for step, sub in _below(schema):
        yield from _rules(scope.child(sub), (*at, *step), server)


def _below(schema: Schema) -> Iterator[tuple[Pointer, Schema]]:
    """The schemas of members, items and values, with the steps to them."""
    for name, sub in schema.get("properties", {}).items():
        yield ("properties", name), sub
    for keyword in ("additionalProperties", "items"):
        if isinstance(sub := schema.get(keyword), dict):
            yield (keyword,), sub


def _cost(scope: Scope, text: str, server: Server, *, optional_old: bool, once: bool) -> int:
    """The cost of an expression. The server counts a messageExpression ``once``, and a rule for each value."""
    root = scope.type(server)
    if root is None:
        return 0
    cost = compiled(text, root, server, stored=False, optional_old=optional_old).cost
    return cost if once else times(cost, scope.occurrences(root))


def _bounds(schema: Schema, rule: _Rule, server: Server) -> list[Bound]:
    """The bounds that lower the cost of a rule: the cost is estimated anew with each candidate lowered by itself."""
    steps = rule.at[:-3]
    found = []
    for at, keyword, value in _candidates(schema, steps, program(rule.text).names):
        lower = _SMALL if value is None else value // 2
        cost = _cost_at(_with(schema, at, keyword, lower), rule, server)
        if cost < rule.cost:
            found.append((value is not None, cost, Bound((*at, keyword), value)))
    return [bound for *_, bound in sorted(found, key=lambda each: each[:2])[:_MAX_BOUNDS]]


def _candidates(schema: Schema, steps: Pointer, read: frozenset[str]) -> Iterator[tuple[Pointer, str, int | None]]:
    """The places of bounds that may count, and the present values: above the rule, and in the values that it reads."""
    at: Pointer = ()
    for sub, step in _schemas_to(schema, steps):
        if step[0] != "properties":
            yield from _bound(schema, at)
        schema, at = sub, (*at, *step)
    yield from _bounds_below(schema, steps, read)


def _schemas_to(schema: Schema, steps: Pointer) -> Iterator[tuple[Schema, Pointer]]:
    """The schemas from a root to a place below it, each with the steps from the schema above."""
    while steps:
        count = 2 if steps[0] == "properties" else 1
        step, steps = steps[:count], steps[count:]
        schema = value_at(schema, step)
        yield schema, step


def _bounds_below(schema: Schema, at: Pointer, read: frozenset[str]) -> Iterator[tuple[Pointer, str, int | None]]:
    """The bounds of a schema, and of the schemas below it whose names the rule has."""
    yield from _bound(schema, at)
    for step, sub in _below(schema):
        if step[0] != "properties" or escape(str(step[1])) in read:
            yield from _bounds_below(sub, (*at, *step), read)


def _bound(schema: Schema, at: Pointer) -> Iterator[tuple[Pointer, str, int | None]]:
    """The bound of a list, a map or a string: its place, keyword and value; none for other types."""
    kind = schema.get("type")
    if kind in _KEYWORDS and (kind != "object" or "additionalProperties" in schema):
        yield at, _KEYWORDS[kind], schema.get(_KEYWORDS[kind])


def _cost_at(schema: Schema, rule: _Rule, server: Server) -> int:
    """The cost of a rule in another version of its root schema."""
    scope = Scope(schema)
    for sub, _ in _schemas_to(schema, rule.at[:-3]):
        scope = scope.child(sub)
    return _cost(scope, rule.text, server, optional_old=rule.optional_old, once=rule.at[-1] != "rule")


def _with(schema: Any, at: Pointer, keyword: str, value: int) -> Schema:
    """A copy of the schema with another bound at a place."""
    if not at:
        return {**schema, keyword: value}
    return {**schema, at[0]: _with(schema[at[0]], at[1:], keyword, value)}
