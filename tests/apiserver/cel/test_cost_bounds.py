"""Hostile rules and objects: an answer after bounded work, Unknown where there is none."""

from __future__ import annotations

from typing import Any

import pytest
from operations import operations

from crdcompat.apiserver.cel import CelOutcome, RuleEvaluator
from crdcompat.apiserver.server_versions import Server
from crdcompat.schema.structural import Node

#: Calls of one evaluation; the costliest rule here needs two million.
_MOST_CALLS = 6_000_000

LIST = {"type": "array", "items": {"type": "string"}}


def judge(rule: str, value: Any, schema: dict[str, Any] | None = None) -> CelOutcome:
    spec = {**(schema or LIST), "x-kubernetes-validations": [{"rule": rule}]}
    root = Node({"type": "object", "properties": {"spec": spec}})
    with operations() as done:
        found = RuleEvaluator(root, Server(33)).evaluate({"spec": value}, None, ratchet=False)
    assert done.calls < _MOST_CALLS
    return found


@pytest.mark.parametrize(
    "rule",
    [
        "(",
        "self.nope(",
        "nope",
        "self.nope()",
        "(" * 50_000 + "1" + ")" * 50_000,
        "[" * 40_000 + "]" * 40_000,
        "self" + ".a" * 40_000,
        "1" + "+1" * 40_000 + " > 0",
        "self" + "[0]" * 20_000,
        "true?" * 10_000,
        "self.all(x," * 5_000 + "true" + ")" * 5_000,
        "x" * 200_000,
        "'" * 99_999,
        '"' * 99_999,
        "1",
        "'text'",
        "cel.bind(x, 1, true)",
        "true\ud800",
    ],
)
def test_what_does_not_compile_to_a_boolean_is_unknown(rule: str) -> None:
    found = judge(rule, ["a"])
    assert not found.errors
    assert [unknown.field for unknown in found.unknown] == ["spec"]
    assert found.unknown[0].what == rule


def test_long_but_flat_rules_are_evaluated() -> None:
    assert judge("true" + " && true" * 10_000, ["a"]) == CelOutcome()
    assert judge("!" * 50_000 + "true", ["a"]) == CelOutcome()


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ("self.all(x, self.all(y, self.all(z, x != 'q' || y == z)))", [str(n) for n in range(1000)]),
        ("self" + ".map(x, x + x)" * 28 + ".size() > 0", ["a" * 1000]),
        ("self.all(x, self.join(',').contains(x))", ["a" * 1000] * 5000),
        ("self[0]" + ".replace('a', self[0])" * 8 + ".size() > 0", ["a" * 1000]),
        ("self.all(x, self.exists(y, y.replace('a', y).size() == 3))", ["a" * 3000] * 90),
    ],
)
def test_too_much_work_is_unknown(rule: str, value: Any) -> None:
    found = judge(rule, value)
    assert not found.errors
    assert len(found.unknown) == 1


def test_ordinary_loops_are_evaluated() -> None:
    unique = "self.all(x, self.exists_one(y, x == y))"
    assert judge(unique, [str(n) for n in range(90)]) == CelOutcome()
    assert len(judge(unique, ["a", "a"]).errors) == 1
    assert judge("self.all(x, x.matches('^[0-9]+$'))", [str(n) for n in range(5000)]) == CelOutcome()


def test_catastrophic_patterns_are_no_matter() -> None:
    text = {"type": "string"}
    assert len(judge("self.matches('^(a+)+$')", "a" * 5000 + "b", text).errors) == 1
    assert len(judge("self.find('^(a+)+$') != ''", "a" * 5000 + "b", text).errors) == 1


def test_deep_schemas_are_unknown() -> None:
    schema: dict[str, Any] = {"type": "string", "x-kubernetes-validations": [{"rule": "false"}]}
    value: Any = "x"
    for _ in range(3000):
        schema = {"type": "object", "properties": {"a": schema}}
        value = {"a": value}
    evaluator = RuleEvaluator(Node(schema), Server(33))
    assert len(evaluator.evaluate(value, None, ratchet=False).unknown) == 1


def test_lone_surrogates_are_no_crash() -> None:
    found = judge("self.size() > 100", "\ud800", {"type": "string"})
    assert found.errors or found.unknown
