"""Static checks of rules: types and costs, by minor."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from helpers import Json, array, obj, string

from crdcompat.apiserver.cel import environment
from crdcompat.apiserver.cel.static.compile import compiled
from crdcompat.apiserver.cel.static.declarations import functions
from crdcompat.apiserver.cel.static.declared import declared
from crdcompat.apiserver.server_versions import Server, kubernetes_server
from crdcompat.cel import parse, syntax
from crdcompat.cel.parse import RefusedError
from crdcompat.cel.syntax import Parsed

_SELF = {
    "type": "object",
    "properties": {
        "a": string(maxLength=10),
        "n": {"type": "integer"},
        "l": array(string(maxLength=10), maxItems=5),
        "m": {"type": "object", "additionalProperties": string(), "maxProperties": 3},
        "o": obj(x=string()),
        "p": obj(x=string()),
        "any": {"x-kubernetes-int-or-string": True},
        "free": {"x-kubernetes-preserve-unknown-fields": True},
    },
}


def _errors(rule: str, kube: str = "1.36", *, stored: bool = False, schema: Json = _SELF) -> list[str]:
    root = declared(schema)
    assert root is not None
    found = compiled(rule, root, kubernetes_server(kube), stored=stored, optional_old=False)
    return [line.partition(": ")[2] for line in found.error.splitlines() if line.startswith("ERROR")]


def _cost(rule: str, minor: int = 36, schema: Json = _SELF) -> int:
    root = declared(schema)
    assert root is not None
    found = compiled(rule, root, Server(minor), stored=True, optional_old=False)
    assert not found.error
    return found.cost


@pytest.mark.parametrize(
    "rule",
    [
        "self.a == 'x' && self.n > 1",
        "self.l.all(x, x.size() < 3) && self.m.exists(k, self.m[k] == k)",
        "self.o.?x.orValue('') == optional.of('a').value()",
        "self.l.map(x, {x: 1}).size() == 1",
        "[] == self.l",
        "self.any == 1 || self.any == 'x'",
        "has(self.o.x) ? self.o == oldSelf.o : quantity('1').isLessThan(quantity(self.a))",
        "type(self.n) == int",
    ],
)
def test_what_compiles(rule: str) -> None:
    assert _errors(rule) == []


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("self.nope", ["<input>:1:5: undefined field 'nope'"]),
        ("self.free", ["<input>:1:5: undefined field 'free'"]),
        ("self.a == 1", ["<input>:1:8: found no matching overload for '_==_' applied to '(string, int)'"]),
        ("self.a.b == 'x'", ["<input>:1:7: type 'string' does not support field selection"]),
        ("nope(1)", ["<input>:1:5: undeclared reference to 'nope' (in container '')"]),
        ("[1, 'a'] == []", ["<input>:1:5: expected type 'int' but found 'string'"]),
        # Objects of two properties are of two types, whatever is in them.
        (
            "self.o == self.p",
            ["<input>:1:8: found no matching overload for '_==_' applied to '(selfType0.o, selfType0.p)'"],
        ),
        ("self.a.matches('[')", ["<input>:1:16: invalid matches argument"]),
    ],
)
def test_what_does_not(rule: str, said: list[str]) -> None:
    assert _errors(rule) == said


@pytest.mark.parametrize(
    ("rule", "first", "stored"),
    [
        ("isQuantity(self.a)", "1.29", "1.28"),
        ("sets.contains(self.l, self.l)", "1.30", "1.29"),
        ("isIP(self.a)", "1.31", "1.30"),
        ("isIP(self.a)", "openshift-4.14", "openshift-4.14"),
        ("!format.uuid().validate(self.a).hasValue()", "1.32", "1.31"),
        ("!format.uuid().validate(self.a).hasValue()", "openshift-4.18", "openshift-4.17"),
        ("self.l.all(i, v, i < 3)", "1.33", "1.32"),
        ("isSemver(self.a)", "1.34", "1.33"),
        ("self.l.distinct() == self.l", "1.35", "1.34"),
    ],
)
def test_libraries_by_minor(rule: str, first: str, stored: str) -> None:
    """A new rule may use a library one minor later than a rule that the installed CRD has."""
    assert _errors(rule, first) == []
    assert _errors(rule, stored, stored=True) == []
    for server, is_stored in ((first, False), (stored, True)):
        head, _, minor = server.rpartition(".")
        assert _errors(rule, f"{head}.{int(minor) - 1}", stored=is_stored) != []


_DECIMAL = "error during formatting: decimal clause can only be used on integers, was given"
_TEXT = (
    "error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, "
    "types, durations, and timestamps, was given"
)
_UNREADABLE = "could not parse formatting clause:"


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("'%s has %d, %.1f%%'.format([self.a, 1, 1.5]) != ''", []),
        ("'%s'.format([[1, 'a', {'k': 1, 2: true}]]) != ''", []),  # shown by format, mixed lists and maps are fine
        ("'%d'.format([dyn('a')]) != ''", []),
        ("self.a.format(['a']) != ''", []),  # the text is not known
        ("'%d'.format([self.a]) != ''", [f"<input>:1:18: {_DECIMAL} string"]),
        ("'%d'.format([self.o]) != ''", [f"<input>:1:18: {_DECIMAL} selfType0.o"]),
        ("'%s'.format([[1, quantity('1')]]) != ''", [f"<input>:1:26: {_TEXT} kubernetes.Quantity"]),
        ("'%d%d'.format([1]) != ''", ["<input>:1:14: index 1 out of range"]),
        (
            "'%d'.format([1, 'a']) != ''",
            ["<input>:1:12: too many arguments supplied to string.format (expected 1, got 2)"],
        ),
        ("'%'.format(['a']) != ''", ["<input>:1:11: unexpected end of string"]),
        ("'%q'.format(['a']) != ''", [f'<input>:1:12: {_UNREADABLE} unrecognized formatting clause "q"']),
        ("'%é'.format(['a']) != ''", [f'<input>:1:12: {_UNREADABLE} unrecognized formatting clause "Ã"']),
        (
            "[[1, 'a'], [2, 'b', 3]] == []",
            [f"<input>:1:{at}: expected type 'int' but found 'string'" for at in (6, 16)],
        ),
        ("[dyn(1), 'a'] == []", ["<input>:1:10: expected type 'dyn' but found 'string'"]),
        (
            "{1: 'a', 'b': 2} == {}",
            [
                "<input>:1:10: expected type 'int' but found 'string'",
                "<input>:1:15: expected type 'string' but found 'int'",
            ],
        ),
        ("'%s'.format([size([1, 'a'])]) != ''", ["<input>:1:23: expected type 'int' but found 'string'"]),
    ],
)
def test_literals(rule: str, said: list[str]) -> None:
    """The answers of Kubernetes 1.36."""
    assert _errors(rule) == said


@pytest.mark.parametrize(
    ("minor", "mixed", "wrong"),
    [(29, False, False), (30, True, True), (31, True, False), (36, True, False)],
)
def test_formats_by_minor(minor: int, mixed: bool, wrong: bool) -> None:
    """1.30 is the first to take ``format`` in a new rule; later ones check its arguments."""
    assert (_errors("'%s has %d'.format([self.a, 1]) != ''", f"1.{minor}") == []) == mixed
    assert (_errors("'%d'.format([self.a]) != ''", f"1.{minor}") == []) == wrong


def test_a_list_of_functions_has_no_typing_error() -> None:
    every = functions(36, 36, frozenset())
    assert {overload.member for overload in every["size"]} == {True, False}
    assert [overload.result.name for overload in every["ip"]] == ["net.IP", "net.IP"]


@pytest.mark.parametrize(
    ("rule", "cost"),
    [
        ("self.n == 1", 2),
        ("self.a == 'x'", 3),
        ("self.a.contains(self.a)", 20),
        ("self.l.all(x, x == 'a')", 28),
    ],
)
def test_costs(rule: str, cost: int) -> None:
    assert _cost(rule) == cost


def test_the_cost_of_has_by_minor() -> None:
    """Nothing up to 1.27, its operand and itself on 1.28, its operand since."""
    assert [_cost("has(self.o.x)", minor) for minor in (27, 28, 29)] == [0, 3, 2]


def test_a_list_without_limit_is_as_long_as_a_request() -> None:
    assert _cost("self.all(x, x == 'a')", schema=array(string())) > 1_000_000


@pytest.mark.parametrize("minor", range(25, 37))
@pytest.mark.parametrize(
    "rule",
    [
        "self.a.all(x, x > 1) && has(self.b)",
        "self.?a.orValue(1) == 1",
        "self.a.transformList(i, x, x + i).exists(x, x > 2)",
        "self.a.sortBy(x, x.b)[0].b == self.b",
        "cel.bind(x, self.a, x > 1)",
        "[1, ?self.?a].size() == 1",
        "sets.contains(self.a, [1]) && '%d'.format([1]) == '1' && ip.isCanonical(self.b)",
    ],
)
def test_libraries_with_the_same_macros_share_the_tree(rule: str, minor: int) -> None:
    def parsed(make: Callable[[], Parsed]) -> object:
        try:
            found = make()
            return found.root.form(), found.offsets
        except RefusedError as error:
            return str(error)

    own = environment._environment(minor, backports=frozenset({"net"}), self_type="dyn", old_type="dyn")
    alone = parsed(lambda: syntax.read(parse.compiled(own, rule, disable_check=True).serialize()))
    assert parsed(lambda: environment.parse_as(rule, minor)) == alone


@pytest.mark.parametrize(
    ("rule", "kube", "errors"),
    [
        ("self.namespace == 'a'", "1.31", ["undefined field 'namespace'"]),
        ("self.__namespace__ == 'a'", "1.31", []),
        ("self.namespace == 'a'", "1.32", []),
        ("self.__namespace__ == 'a'", "1.32", []),
        ("self.name == 'a'", "1.32", ["undefined field 'name'"]),
        ("has(self.o.namespace)", "1.32", ["undefined field 'namespace'"]),
    ],
)
def test_a_field_named_like_a_keyword(rule: str, kube: str, errors: list[str]) -> None:
    schema = {"type": "object", "properties": {"namespace": string(maxLength=9), "o": obj(x=string())}}
    assert [error.partition(": ")[2] for error in _errors(rule, kube, schema=schema)] == errors


@pytest.mark.parametrize("minor", [28, 31, 36])
@pytest.mark.parametrize(
    ("rule", "field"),
    [
        ("self.l.all({0}, self.o.x == 'a')", "x"),
        ("self.l.all({0}, self.a.contains({0}))", "a"),
        ("self.m.all({0}, self.m[{0}].contains(self.o.x))", "x"),
        ("self.l.map({0}, self.o.x + {0}).size() > 0", "o"),
    ],
)
def test_the_name_of_a_variable_does_not_change_the_cost(rule: str, field: str, minor: int) -> None:
    assert _cost(rule.format(field), minor) == _cost(rule.format("zz"), minor)
