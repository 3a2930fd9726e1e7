"""The CEL rules of a CRD: whether they compile against the schema, and what they cost.

Source: apiextensions-apiserver, pkg/apis/apiextensions/validation/validation.go and cel_validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from crdcompat.apiserver.cel.static.compile import Compiled, compiled
from crdcompat.apiserver.cel.static.declared import MAX_REQUEST, Declared, declared
from crdcompat.apiserver.cel.static.sizes import MAX, plus, times
from crdcompat.apiserver.crd_validation import shown
from crdcompat.apiserver.crd_validation.decoded_keywords import Schema
from crdcompat.apiserver.crd_validation.definition import fault, map_keys
from crdcompat.apiserver.crd_validation.tolerated import Tolerated
from crdcompat.apiserver.field_errors import FORBIDDEN, INTERNAL, INVALID, FieldError
from crdcompat.apiserver.field_paths import rule_place
from crdcompat.apiserver.server_versions import Server
from crdcompat.schema.paths import Pointer
from crdcompat.schema.structural import RULES

#: The largest estimated cost of one rule, and of all rules of a schema.
RULE_LIMIT, TOTAL_LIMIT = 10_000_000, 100_000_000
#: What a server says of the most expensive rules where all rules together exceed the limit.
CONTRIBUTED = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
_SHOWN_EXPENSIVE = 4
_ADVICE = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength "
    "where arrays, maps, and strings are declared)"
)
_NO_TYPE = (
    "internal error: failed to construct type information for x-kubernetes-validations rules: "
    "unable to convert structural schema to CEL declarations"
)


class Scope:
    """A schema with its CEL type, made when it is needed, and how often its values can occur (None: without limit)."""

    __slots__ = ("_found", "cardinality", "is_root", "schema")

    def __init__(self, schema: Schema, cardinality: int | None = 1, *, is_root: bool = True) -> None:
        self.schema = schema
        self.is_root = is_root
        self.cardinality = cardinality
        self._found: Declared | None = None

    def child(self, schema: Schema) -> Scope:
        """The scope of a schema of members, items or values."""
        factor = _occurrences(self.schema)
        known = self.cardinality is not None and factor is not None
        return Scope(schema, times(self.cardinality or 0, factor or 0) if known else None, is_root=False)

    def type(self, server: Server) -> Declared | None:
        """The CEL type; None if there is none."""
        if self._found is None:
            resource = self.is_root or bool(self.schema.get("x-kubernetes-embedded-resource"))
            self._found = declared(self.schema, resource=resource, enums=server.does("enum_lengths"))
        return self._found

    def occurrences(self, root: Declared) -> int:
        """How often values of the type ``root`` can occur here: at most as often as they fit into a request."""
        return self.cardinality if self.cardinality is not None else MAX_REQUEST // (root.min_size + 1)


def _occurrences(schema: Schema) -> int | None:
    """How often the values below a schema can occur in one of its values; None: without limit."""
    kind, limit = schema.get("type"), "maxItems"
    if kind == "object":
        if "additionalProperties" not in schema:
            return 1
        limit = "maxProperties"
    elif kind != "array":
        return 1
    most = schema.get(limit)
    return None if most is None else max(int(most), 0)


class Expressions:
    """The rules of one schema. ``limited``: the cost of a single rule is limited."""

    def __init__(self, server: Server, tolerated: Tolerated, *, limited: bool) -> None:
        self.server = server
        self.tolerated = tolerated
        self.limited = limited
        self.total = 0
        self._expensive: list[tuple[int, Pointer]] = []

    def root(self, schema: Schema) -> Scope:
        return Scope(schema)

    def faults(self, scope: Scope, at: Pointer, uncorrelatable: Pointer | None) -> Iterator[FieldError]:
        """The faults of the rules of one schema. ``uncorrelatable``: where above values have no old counterpart."""
        root = scope.type(self.server)
        if root is None:
            yield fault(INTERNAL, (*at, RULES), "", _NO_TYPE, self.server)
            return
        for index, rule in enumerate(scope.schema[RULES]):
            yield from self._rule(rule, root, scope.occurrences(root), (*at, RULES, index), uncorrelatable)

    def _rule(
        self, rule: Mapping[str, Any], root: Declared, cardinality: int, at: Pointer, uncorrelatable: Pointer | None
    ) -> Iterator[FieldError]:
        new = partial(_new, at=at, server=self.server)
        text, message = rule.get("rule", ""), rule.get("messageExpression", "")
        compile_here = partial(compiled, root=root, server=self.server, optional_old=bool(rule.get("optionalOldSelf")))
        found = compile_here(text, stored=text in self.tolerated.rules)
        said = _said(found, "bool", _FAILED, "cel expression must evaluate to a bool")
        cost = 0 if said else times(found.cost, cardinality)
        if cost > RULE_LIMIT and self.limited:
            yield new(FORBIDDEN, "rule", "", over_budget("estimated rule cost", cost, RULE_LIMIT))
        self._observe(cost, (*at, "rule"))
        if said:
            yield new(INVALID, "rule", shown.rule(rule, self.server), said)
        elif message:
            worded = compile_here(message, stored=message in self.tolerated.messages)
            wrong = "messageExpression must evaluate to a string"
            if said := _said(worded, "string", _MESSAGE_FAILED, wrong):
                yield new(INVALID, "messageExpression", shown.rule(rule, self.server), said)
            else:
                if worded.cost > RULE_LIMIT and self.limited:
                    said = over_budget("estimated messageExpression cost", worded.cost, RULE_LIMIT)
                    yield new(FORBIDDEN, "messageExpression", "", said)
                self._observe(worded.cost, (*at, "messageExpression"))
        if found.uses_old and found.result is not None and found.result.kind == "bool":
            if uncorrelatable is not None:
                place = rule_place(uncorrelatable, map_keys(uncorrelatable))
                detail = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {place}"
                yield new(INVALID, "rule", text, detail)
        elif rule.get("optionalOldSelf") is not None:
            detail = "may not be set if oldSelf is not used in rule"
            yield new(INVALID, "optionalOldSelf", rule["optionalOldSelf"], detail)

    def _observe(self, cost: int, at: Pointer) -> None:
        self.total = plus(self.total, cost)
        if cost >= TOTAL_LIMIT // 100:
            self._expensive = sorted((*self._expensive, (cost, at)), key=lambda each: -each[0])[:_SHOWN_EXPENSIVE]

    def total_faults(self, at: Pointer) -> Iterator[FieldError]:
        """The faults of the rules together."""
        if self.total <= TOTAL_LIMIT:
            return
        for _, place in self._expensive:
            yield fault(FORBIDDEN, place, "", CONTRIBUTED, self.server)
        what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
        yield fault(FORBIDDEN, at, "", over_budget(what, self.total, TOTAL_LIMIT), self.server)


_FAILED = {"compilation": "compilation failed: ", "instantiation": "program instantiation failed: "}
_MESSAGE_FAILED = {stage: f"messageExpression {stage} failed: " for stage in _FAILED}


def _said(found: Compiled, wanted: str, heads: Mapping[str, str], otherwise: str) -> str:
    """The text about an expression that does not compile, or not to the wanted type; "" for a good one."""
    if found.error:
        return f"{heads[found.stage]}{found.error}"
    return otherwise if found.result is None or found.result.kind != wanted else ""


def over_budget(what: str, cost: int, limit: int) -> str:
    """The sentence about a cost above its limit."""
    factor = min(cost, MAX) / limit
    if factor > 100:
        shown_factor = "more than 100x"
    else:
        shown_factor = f"{factor:.6f}x" if factor < 1.5 else f"{factor:.1f}x"
    return f"{what} exceeds budget by factor of {shown_factor} {_ADVICE}"


def _new(kind: str, member: str, value: Any, detail: str, *, at: Pointer, server: Server) -> FieldError:
    return fault(kind, (*at, member), value, detail, server)
