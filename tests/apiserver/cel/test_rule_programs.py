"""Where rules run, what they see, and the words of what they say (docs/semantics.md#cel-rules)."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from crdcompat.apiserver.cel import CelOutcome, RuleEvaluator
from crdcompat.apiserver.cel.rule_programs import field_path_steps, program
from crdcompat.apiserver.cel.tokens import rewrite
from crdcompat.apiserver.correlation import Pair
from crdcompat.apiserver.server_versions import Server
from crdcompat.cel.identifiers import escape
from crdcompat.schema.paths import Key
from crdcompat.schema.structural import Node

STRING = {"type": "string"}


def with_rules(schema: dict[str, Any], *rules: str | dict[str, Any]) -> dict[str, Any]:
    listed = [{"rule": rule} if isinstance(rule, str) else rule for rule in rules]
    return {**schema, "x-kubernetes-validations": listed}


def thing(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def judge(
    schema: dict[str, Any],
    new: Any,
    *,
    minor: int = 33,
    old: Any = None,
    ratchet: bool = False,
    openshift: tuple[int, int] | None = None,
) -> CelOutcome:
    """``schema`` and the values are those of ``spec``."""
    root = Node(thing(spec=schema))
    pair = Pair({"spec": new}, {"spec": old}, root) if old is not None else None
    evaluator = RuleEvaluator(root, Server(minor, openshift))
    return evaluator.evaluate({"spec": new}, pair, ratchet=ratchet)


def texts(schema: dict[str, Any], new: Any, *, minor: int = 33, **more: Any) -> list[str]:
    found = judge(schema, new, minor=minor, **more)
    assert not found.unknown
    return [error.text() for error in found.errors]


@pytest.mark.parametrize("optional", [False, True])
def test_an_evaluator_judges_each_value_as_if_it_were_the_first(optional: bool) -> None:
    """Values that satisfy the rules of a node are kept: with another old value the same value may break them."""
    immutable = {"rule": "oldSelf.orValue(self) == self", "optionalOldSelf": True} if optional else "self == oldSelf"
    root = Node(thing(spec=with_rules(STRING, immutable, "self != 'bad'"), more=with_rules(STRING, "self != 'good'")))
    evaluator = RuleEvaluator(root, Server(33))

    def broken(value: str, old: str | None = None) -> list[str]:
        new = {"spec": value, "more": value}
        pair = Pair(new, {"spec": old, "more": value}, root) if old is not None else None
        return [str(error.demand) for error in evaluator.evaluate(new, pair, ratchet=False).errors]

    rule = immutable["rule"] if isinstance(immutable, dict) else immutable
    for _ in range(2):
        assert broken("a") == broken("a", "a") == []
        assert broken("a", "b") == [rule]
        assert broken("bad") == broken("bad", "bad") == ["self != 'bad'"]
        assert broken("good") == ["self != 'good'"]


def test_library_is_loaded_only_when_a_rule_is_evaluated() -> None:
    code = (
        "import sys; from crdcompat.apiserver.cel import RuleEvaluator;"
        "from crdcompat.apiserver.server_versions import Server;"
        "from crdcompat.schema.structural import Node;"
        "schema = {'type': 'object', 'x-kubernetes-validations': [{'rule': 'true'}]};"
        "RuleEvaluator(Node(schema), Server(30));"
        "RuleEvaluator(Node({}), Server(30)).evaluate({}, None, ratchet=True);"
        "assert not any(name.startswith('cel_expr_python') for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(("minor", "evaluates"), [(24, False), (25, True)])
def test_cel_is_off_before_1_25(minor: int, evaluates: bool) -> None:
    assert bool(texts(with_rules(STRING, "false"), "x", minor=minor)) == evaluates


class TestWhere:
    def test_paths(self) -> None:
        leaf = with_rules(STRING, {"rule": "self != 'bad'", "message": "m"})
        schema = thing(
            p=leaf,
            m={"type": "object", "additionalProperties": leaf},
            l={"type": "array", "items": thing(q=leaf)},
        )
        new = {"p": "bad", "m": {"k/1.x": "bad"}, "l": [{"q": "ok"}, {"q": "bad"}]}
        assert set(texts(schema, new)) == {
            'spec.p: Invalid value: "string": m',
            'spec.m[k/1.x]: Invalid value: "string": m',
            'spec.l[1].q: Invalid value: "string": m',
        }

    def test_root(self) -> None:
        server = Server(33)
        root = Node(with_rules(thing(spec=STRING), {"rule": "self.metadata.name == self.spec", "message": "m"}))
        evaluator = RuleEvaluator(root, server)
        found = evaluator.evaluate({"metadata": {"name": "a"}, "spec": "b"}, None, ratchet=False)
        assert [error.text() for error in found.errors] == ['<nil>: Invalid value: "object": m']

    def test_parents_come_before_children(self) -> None:
        schema = with_rules(thing(a=with_rules(STRING, "false")), "false")
        assert [text.split(":")[0] for text in texts(schema, {"a": ""})] == ["spec", "spec.a"]

    def test_absent_and_null_are_skipped(self) -> None:
        schema = thing(a=with_rules({**STRING, "nullable": True}, "false"))
        assert texts(schema, {}) == []
        assert texts(schema, {"a": None}) == []

    def test_a_null_member_counts_as_absent(self) -> None:
        for more in ({}, {"nullable": True}, {"nullable": True, "default": "x"}):
            schema = with_rules(thing(a={**STRING, **more}), "!has(self.a) && !self.?a.hasValue()")
            assert texts(schema, {"a": None}) == []
        assert (
            texts(
                with_rules({**thing(), "additionalProperties": {**STRING, "nullable": True}}, "has(self.a)"),
                {"a": None},
            )
            == []
        )

    def test_text_with_a_nul(self) -> None:
        for rule in (
            "self.size() == 3",
            "self.matches('^a.b$')",
            "self == 'a\\u0000b'",
            "self != 'a'",
            "self.matches('a\\\\x00b')",
        ):
            assert texts(with_rules(STRING, rule), "a\0b") == []
        assert texts(with_rules(STRING, "bytes(self) == b'a'"), "a\0b", minor=36) == [
            "spec: Invalid value: \"a\\x00b\": failed rule: bytes(self) == b'a'"
        ]
        keys = with_rules(
            {"type": "object", "additionalProperties": STRING}, "'a' in self || self.all(k, k.size() == 2)"
        )
        assert texts(keys, {"a\0": "x"}) == []

    def test_rules_in_all_of_alone_are_never_evaluated(self) -> None:
        inner = {"allOf": [{"x-kubernetes-validations": [{"rule": "false", "message": "m"}]}]}
        assert texts({**STRING, **inner}, "x", minor=33) == []
        beside = with_rules({**STRING, **inner}, "true")
        assert texts(beside, "x", minor=31) == ['spec: Invalid value: "string": m']
        assert texts(beside, "x", minor=30) == []

    def test_rules_below_all_of_see_the_type_of_the_node(self) -> None:
        branch = {"properties": {"a": {"x-kubernetes-validations": [{"rule": "self > 1", "message": "m"}]}}}
        schema = with_rules({**thing(a={"type": "integer"}), "allOf": [branch]}, "true")
        assert texts(schema, {"a": 1}) == ['spec.a: Invalid value: "integer": m']

    def test_without_a_cel_type_nothing_runs(self) -> None:
        schema = thing(a=with_rules({"x-kubernetes-preserve-unknown-fields": True}, "false"))
        assert texts(schema, {"a": {"b": 1}}) == []


class TestTexts:
    @pytest.mark.parametrize(
        ("rule", "minor", "text"),
        [
            ({"rule": "false"}, 33, 'spec: Invalid value: "string": failed rule: false'),
            ({"rule": " false ", "message": " m "}, 33, 'spec: Invalid value: "string": m'),
            ({"rule": "false", "message": "m"}, 35, 'spec: Invalid value: "v": m'),
            ({"rule": "false", "message": "m", "reason": "FieldValueForbidden"}, 33, "spec: Forbidden: m"),
            (
                {"rule": "false", "message": "m", "reason": "FieldValueRequired"},
                33,
                "spec: Required value: m",
            ),
            (
                {"rule": "false", "message": "m", "reason": "FieldValueDuplicate"},
                33,
                'spec: Duplicate value: "string"',
            ),
            (
                {"rule": "false", "message": "m", "reason": "FieldValueInvalid"},
                33,
                'spec: Invalid value: "string": m',
            ),
            (
                {"rule": "false", "message": "m", "reason": "FieldValueForbidden"},
                27,
                'spec: Invalid value: "string": m',
            ),
            (
                {"rule": "false", "messageExpression": "'got ' + self"},
                27,
                'spec: Invalid value: "string": got v',
            ),
            (
                {"rule": "false", "messageExpression": "'x' + self"},
                26,
                'spec: Invalid value: "string": failed rule: false',
            ),
            (
                {"rule": "false", "message": "m", "messageExpression": "'a\\nb'"},
                33,
                'spec: Invalid value: "string": m',
            ),
            (
                {"rule": "false", "message": "m", "messageExpression": "'  '"},
                33,
                'spec: Invalid value: "string": m',
            ),
            (
                {"rule": "false", "message": "m", "messageExpression": "1"},
                33,
                'spec: Invalid value: "string": m',
            ),
            (
                {"rule": "false", "message": "m", "messageExpression": "[''][3]"},
                33,
                'spec: Invalid value: "string": m',
            ),
            (
                {"rule": "false", "message": "m", "messageExpression": "(("},
                33,
                'spec: Invalid value: "string": m',
            ),
        ],
    )
    def test_of_a_string(self, rule: dict[str, Any], minor: int, text: str) -> None:
        assert texts(with_rules(STRING, rule), "v", minor=minor) == [text]

    def test_message_of_at_most_5120_bytes(self) -> None:
        rule = {"rule": "false", "message": "m", "messageExpression": "self"}
        assert texts(with_rules(STRING, rule), "x" * 5121) == ['spec: Invalid value: "string": m']
        assert texts(with_rules(STRING, rule), "x" * 5120)[0].endswith("x: " + "x" * 5120) is False

    def test_values_of_other_types(self) -> None:
        rule = {"rule": "false", "message": "m"}
        assert texts(with_rules(thing(a=STRING), rule), {}, minor=35) == ["spec: Invalid value: m"]
        assert texts(with_rules({"type": "array", "items": STRING}, rule), [], minor=34) == [
            'spec: Invalid value: "array": m'
        ]
        assert texts(with_rules({"type": "integer"}, rule), 5, minor=35) == ["spec: Invalid value: 5: m"]
        either = with_rules({"x-kubernetes-int-or-string": True}, rule)
        assert texts(either, 5, minor=34) == ['spec: Invalid value: "": m']
        assert texts(either, 5, minor=35) == ["spec: Invalid value: 5: m"]

    def test_field_path(self) -> None:
        rule = {"rule": "false", "message": "m", "fieldPath": ".a['k.v'].b"}
        schema = with_rules(thing(a={"type": "object", "additionalProperties": thing(b=STRING)}), rule)
        assert texts(schema, {}) == ['spec.a[k.v].b: Invalid value: "object": m']
        assert texts(schema, {}, minor=27) == ['spec: Invalid value: "object": m']

    def test_field_path_steps(self) -> None:
        keyed = {"type": "object", "additionalProperties": STRING}
        inside = thing(b=keyed, c=STRING)
        node = Node(thing(a={"type": "object", "additionalProperties": inside}, **{"c.d": STRING}))
        for text, steps in (
            (".a.k.c", ("a", Key("k"), "c")),
            (".a['it\\'s'].b['']", ("a", Key("it's"), "b", Key(""))),
            ("['c.d']", ("c.d",)),
        ):
            found = field_path_steps(text, node)
            assert (found, [type(step) for step in found]) == (steps, [type(step) for step in steps])

    def test_evaluation_errors(self) -> None:
        schema = with_rules(thing(a=STRING), {"rule": "self.a == 'x'", "message": "m"}, "self.a == 'y'")
        assert texts(schema, {}, minor=35) == [
            'spec: Invalid value: "object": no such key: a evaluating rule: m',
            "spec: Invalid value: \"object\": no such key: a evaluating rule: self.a == 'y'",
        ]

    def test_overload_error(self) -> None:
        schema = with_rules({"x-kubernetes-int-or-string": True}, "self > 5")
        text = (
            "'no such overload': call arguments did not match a supported operator, function or macro "
            "signature for rule: self > 5"
        )
        assert texts(schema, "a") == [f'spec: Invalid value: "": {text}']
        assert texts(schema, 6) == []


class TestValues:
    @pytest.mark.parametrize(
        ("schema", "value", "rule"),
        [
            ({"type": "string", "format": "byte"}, "aGVsbG8=", "self == b'hello'"),
            ({"type": "string", "format": "date"}, "2021-02-03", "self.getFullYear() == 2021"),
            (
                {"type": "string", "format": "date-time"},
                "2021-02-03T04:05:06.5+01:00",
                "self.getHours() == 3",
            ),
            (
                {"type": "string", "format": "date-time"},
                "2021-02-03T04:05:06Z",
                "self < timestamp('2022-01-01T00:00:00Z')",
            ),
            ({"type": "string", "format": "duration"}, "1h30m", "self == duration('90m')"),
            ({"type": "string", "format": "duration"}, "2 days", "self == duration('48h')"),
            ({"type": "string", "format": "duration"}, "-1.5s", "self == duration('-1500ms')"),
            ({"type": "string", "format": "ipv4"}, "1.2.3.4", "self == '1.2.3.4'"),
            ({"type": "number"}, 5, "type(self) == double && self / 2.0 == 2.5"),
            ({"type": "integer"}, 5, "type(self) == int && self / 2 == 2"),
            ({"type": "boolean"}, True, "self"),
            ({"x-kubernetes-int-or-string": True}, 5, "type(self) == int ? self == 5 : self == 'x'"),
            (
                {"type": "object", "additionalProperties": {"type": "number"}},
                {"a": 1},
                "self['a'] / 2.0 == 0.5",
            ),
            (
                {"type": "array", "items": {"type": "integer"}},
                [1, 2],
                "self.all(x, x < 3) && size(self) == 2",
            ),
        ],
    )
    def test_are_converted_by_schema(self, schema: dict[str, Any], value: Any, rule: str) -> None:
        assert texts(with_rules(schema, rule), value) == []
        assert texts(with_rules(schema, f"!({rule})"), value) != []

    def test_names_are_escaped(self) -> None:
        values = {"a-b": 1, "namespace": 2, "x.y/z": 3, "__m": 4, "3d": 5}
        schema = thing(**{name: {"type": "integer"} for name in values})
        rule = (
            "self.a__dash__b == 1 && self.__namespace__ == 2"
            " && self.x__dot__y__slash__z == 3 && self.__underscores__m == 4"
        )
        assert texts(with_rules(schema, rule), values) == []

    @pytest.mark.parametrize(
        "rule",
        [
            "has(self.namespace) && self.namespace == 2",
            "self.namespace + self.__namespace__ == 4",
            "self.?namespace.orValue(0) == 2",
            "self.o.namespace.namespace == 3",
            "self.m.all(k, self.m[k] == 4) && self.m.namespace == 4 && !has(self.m.__namespace__)",
            "self.l.all(x, x.namespace == 5)",
            "self == self && self.namespace == 2",
        ],
    )
    def test_reserved_words_are_read_without_an_escape(self, rule: str) -> None:
        """Kong: ``has(self.namespacedRef.namespace)``. The server of 1.33 was asked for its answers."""
        number = {"type": "integer"}
        schema = thing(
            namespace=number,
            o=thing(namespace=thing(namespace=number)),
            m={"type": "object", "additionalProperties": number},
            l={"type": "array", "items": thing(namespace=number)},
        )
        value = {"namespace": 2, "o": {"namespace": {"namespace": 3}}, "m": {"namespace": 4}, "l": [{"namespace": 5}]}
        assert texts(with_rules(schema, rule), value) == []
        assert texts(with_rules(schema, f"!({rule})"), value) != []

    @pytest.mark.parametrize(
        ("name", "escaped"),
        [
            ("size", "size"),
            ("if", "__if__"),
            ("int", "int"),
            ("a$", None),
            ("1a", None),
            ("a__b", "a__underscores__b"),
        ],
    )
    def test_escape(self, name: str, escaped: str | None) -> None:
        assert escape(name) == escaped

    def test_undeclared_members_are_invisible(self) -> None:
        schema = {**thing(a=STRING), "x-kubernetes-preserve-unknown-fields": True}
        assert texts(with_rules(schema, "self.b == 'x'"), {"b": "x"}) == [
            "spec: Invalid value: \"object\": no such key: b evaluating rule: self.b == 'x'"
        ]

    def test_undeclared_members_count_in_equality(self) -> None:
        schema = with_rules({**thing(a=STRING), "x-kubernetes-preserve-unknown-fields": True}, "self == oldSelf")
        assert texts(schema, {"b": 1}, old={"b": 1}) == []
        assert len(texts(schema, {"b": 1}, old={"b": 2})) == 1

    def test_embedded_resources_show_names_only(self) -> None:
        schema = {**thing(spec=STRING), "x-kubernetes-embedded-resource": True}
        value = {"apiVersion": "v1", "kind": "K", "metadata": {"name": "n", "labels": {"a": "b"}}}
        assert texts(with_rules(schema, "self.kind == 'K' && self.metadata.name == 'n'"), value) == []
        assert texts(with_rules(schema, "!has(self.metadata.labels)"), value) == []

    @pytest.mark.parametrize(
        ("schema", "value", "text"),
        [
            ({"type": "integer"}, 1.0, "invalid data, expected int, got float64"),
            ({"type": "integer"}, "x", "invalid data, expected int, got string"),
            ({"type": "string"}, {}, "invalid data, expected string, got map[string]interface {}"),
            ({"type": "boolean"}, [], "invalid data, expected bool, got []interface {}"),
            ({"type": "number"}, True, "invalid data, expected float, got bool"),
            (thing(a=STRING), 1, "invalid data, expected a map for the provided schema with type=object"),
            (
                {"type": "array", "items": STRING},
                1,
                "invalid data, expected an array for the provided schema with type=array",
            ),
        ],
    )
    def test_misfits_are_errors_once_touched(self, schema: dict[str, Any], value: Any, text: str) -> None:
        outer = thing(i=schema, o=STRING)
        touching = [f'spec: Invalid value: "object": {text} evaluating rule: m']
        for rule in ("[self.i].size() == 1", "!has(self.i)", "has(self.i) && true"):
            assert texts(with_rules(outer, {"rule": rule, "message": "m"}), {"i": value}) == touching
        assert texts(with_rules(outer, "!has(self.o) || [self.i].size() == 1"), {"i": value}) == []
        assert text in texts(with_rules(schema, "[self].size() == 1"), value)[0]

    def test_misfits_inside_lists_stay_unknown(self) -> None:
        found = judge(with_rules({"type": "array", "items": {"type": "integer"}}, "self.all(x, x > 0)"), [1, 1.0])
        assert not found.errors
        assert "expected int, got float64" in found.unknown[0].reason


class TestTransitions:
    def test_run_only_with_an_old_value(self) -> None:
        schema = thing(a=with_rules(STRING, {"rule": "self == oldSelf", "message": "m"}))
        assert texts(schema, {"a": "x"}) == []
        assert texts(schema, {"a": "x"}, old={}) == []
        assert texts(schema, {"a": "x"}, old={"a": "x"}) == []
        assert texts(schema, {"a": "x"}, old={"a": "y"}, ratchet=True) == ['spec.a: Invalid value: "string": m']

    @pytest.mark.parametrize(
        ("rule", "new", "text"),
        [
            ("!self || oldSelf", False, ""),
            ("self && oldSelf", False, "m"),
            ("!self || oldSelf", True, "invalid data, expected bool, got int64 evaluating rule: m"),
            ("oldSelf || !self", False, ""),
            ("self == oldSelf", False, "invalid data, expected bool, got int64 evaluating rule: m"),
        ],
    )
    def test_old_values_of_another_type_are_errors_once_they_decide(self, rule: str, new: bool, text: str) -> None:
        schema = thing(a=with_rules({"type": "boolean"}, {"rule": rule, "message": "m"}))
        expected = [f'spec.a: Invalid value: "boolean": {text}'] if text else []
        assert texts(schema, {"a": new}, old={"a": 7}) == expected

    def test_an_optional_old_value_of_another_type_is_unknown(self) -> None:
        rule = {"rule": "oldSelf.hasValue() || self == 'a'", "optionalOldSelf": True}
        found = judge(thing(a=with_rules(STRING, rule)), {"a": "x"}, old={"a": 7})
        assert not found.errors
        assert "expected string, got int64" in found.unknown[0].reason

    def test_map_list_items_correlate_by_key(self) -> None:
        item = with_rules(thing(k=STRING, v=STRING), {"rule": "self.v == oldSelf.v", "message": "m"})
        schema = {
            "type": "array",
            "items": item,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
        }
        old = [{"k": "a", "v": "1"}, {"k": "b", "v": "2"}]
        assert texts(schema, old[::-1], old=old) == []
        assert texts(schema, [{"k": "b", "v": "1"}], old=old) == ['spec[0]: Invalid value: "object": m']
        assert texts({**schema, "x-kubernetes-list-type": "atomic"}, [{"k": "b", "v": "1"}], old=old) == []

    @pytest.mark.parametrize(("minor", "failures"), [(29, 0), (30, 1)])
    def test_optional_old_self_on_create(self, minor: int, failures: int) -> None:
        rule = {"rule": "oldSelf.hasValue() || self != 'x'", "optionalOldSelf": True}
        assert len(texts(with_rules(STRING, rule), "x", minor=minor)) == failures
        assert texts(with_rules(STRING, rule), "x", minor=minor, old="y") == []

    def test_optional_old_self_with_old_value(self) -> None:
        rule = {
            "rule": "oldSelf.orValue('y') == self && oldSelf.?x.hasValue() == false || true",
            "optionalOldSelf": True,
        }
        immutable = {"rule": "!oldSelf.hasValue() || oldSelf.value() == self", "optionalOldSelf": True}
        assert texts(with_rules(STRING, rule, immutable), "x", old="x") == []
        assert len(texts(with_rules(STRING, immutable), "x", old="z")) == 1
        member = {"rule": "oldSelf.?a.orValue('') == self.a", "optionalOldSelf": True}
        assert texts(with_rules(thing(a=STRING), member), {"a": "1"}, old={"a": "1"}) == []

    def test_old_self_in_text_is_no_transition(self) -> None:
        assert len(texts(with_rules(STRING, "self != 'oldSelf' // oldSelf"), "oldSelf")) == 1


SET = {"type": "array", "items": STRING, "x-kubernetes-list-type": "set"}


class TestSetsAndMaps:
    def test_equality_of_sets_ignores_order(self) -> None:
        schema = with_rules(SET, "self == oldSelf")
        assert texts(schema, ["a", "b"], old=["b", "a"]) == []
        assert len(texts(schema, ["a", "b"], old=["b", "c"])) == 1
        deep = with_rules(thing(l=SET), "self == oldSelf")
        assert texts(deep, {"l": ["a", "b"]}, old={"l": ["b", "a"]}) == []

    def test_equality_of_atomic_lists_does_not(self) -> None:
        schema = with_rules({"type": "array", "items": STRING}, "self == oldSelf")
        assert len(texts(schema, ["a", "b"], old=["b", "a"])) == 1

    def test_where_order_matters_too_the_answer_is_unknown(self) -> None:
        schema = with_rules(SET, "self == oldSelf && self[0] == 'a'")
        assert len(judge(schema, ["a", "b"], old=["b", "a"]).unknown) == 1
        assert texts(schema, ["a", "b"], old=["a", "b"]) == []

    def test_union_is_unknown(self) -> None:
        assert "union" in judge(with_rules(SET, "(self + ['a']).size() == 1"), ["a"]).unknown[0].reason


class TestRatcheting:
    RULE = with_rules(STRING, {"rule": "self != 'bad'", "message": "m"})

    def test_an_unchanged_node_is_warned_of(self) -> None:
        found = judge(thing(a=self.RULE, b=STRING), {"a": "bad", "b": "2"}, old={"a": "bad", "b": "1"}, ratchet=True)
        assert found == CelOutcome(warnings=('spec.a: Invalid value: "string": m',))

    def test_not_without_ratcheting_and_not_when_changed(self) -> None:
        schema = thing(a=self.RULE)
        assert len(texts(schema, {"a": "bad"}, old={"a": "bad"}, ratchet=False)) == 1
        assert len(texts(schema, {"a": "bad"}, old={"a": "good"}, ratchet=True)) == 1
        assert len(texts(schema, {"a": "bad"}, old={}, ratchet=True)) == 1

    def test_an_uncorrelated_item_looks_at_its_list(self) -> None:
        schema = thing(l={"type": "array", "items": self.RULE})
        assert judge(schema, {"l": ["bad"]}, old={"l": ["bad"]}, ratchet=True).errors == ()
        assert len(texts(schema, {"l": ["bad", "x"]}, old={"l": ["bad"]}, ratchet=True)) == 1

    def test_evaluation_errors_and_old_self_never(self) -> None:
        schema = with_rules(thing(a=STRING), "self.a == 'x'", "oldSelf == oldSelf && false")
        assert len(texts(schema, {}, old={}, ratchet=True)) == 2

    def test_the_root_never(self) -> None:
        root = Node(with_rules(thing(spec=STRING), "false"))
        value = {"spec": "x"}
        found = RuleEvaluator(root, Server(33)).evaluate(value, Pair(value, dict(value), root), ratchet=True)
        assert len(found.errors) == 1

    def test_all_of_looks_at_the_parent(self) -> None:
        inner = {**STRING, "allOf": [{"x-kubernetes-validations": [{"rule": "false", "message": "m"}]}]}
        schema = with_rules(thing(o=thing(a=inner), b=STRING), "true")
        old = {"o": {"a": "x"}, "b": "1"}
        assert judge(schema, {"o": {"a": "x"}, "b": "2"}, old=old, ratchet=True).errors == ()
        flat = with_rules(thing(a=inner, b=STRING), "true")
        assert len(texts(flat, {"a": "x", "b": "2"}, old={"a": "x", "b": "1"}, ratchet=True)) == 1


class TestServersWithoutTheLibrary:
    @pytest.mark.parametrize(
        ("rule", "minor", "openshift", "known"),
        [
            ("isIP(self) || true", 29, None, False),
            ("isIP(self) || true", 30, None, True),
            ("isIP(self) || true", 26, (4, 13), False),
            ("isIP(self) || true", 27, (4, 14), True),
            ("quantity('1') == quantity('1')", 27, None, False),
            ("quantity('1') == quantity('1')", 28, None, True),
            ("!format.dns1123Label().validate(self).hasValue()", 30, None, False),
            ("!format.dns1123Label().validate(self).hasValue()", 31, None, True),
            ("!format.dns1123Label().validate(self).hasValue()", 29, (4, 16), False),
            ("!format.dns1123Label().validate(self).hasValue()", 30, (4, 17), True),
            ("[1].all(i, v, i < v)", 31, None, False),
            ("[1].all(i, v, i < v)", 32, None, True),
            ("[1].first().hasValue()", 31, None, False),
            ("[1].first().hasValue()", 32, None, True),
            ("isSemver('1.0.0')", 32, None, False),
            ("isSemver('1.0.0')", 33, None, True),
            ("sets.contains([1], [1])", 28, None, False),
            ("sets.contains([1], [1])", 29, None, True),
            ("[1].distinct() == [1]", 33, None, False),
            ("[1].distinct() == [1]", 34, None, True),
            ("url('/a').getHost() == ''", 25, None, True),
        ],
    )
    def test_stored_rules(self, rule: str, minor: int, openshift: tuple[int, int] | None, known: bool) -> None:
        found = judge(with_rules(STRING, rule), "x", minor=minor, openshift=openshift)
        assert not found.unknown
        assert [error.detail.startswith("rule compile error: ") for error in found.errors] == [True] * (not known)

    def test_text(self) -> None:
        schema = with_rules(STRING, {"rule": "isIP(self)", "message": "must be an IP"})
        text = (
            "rule compile error: compilation failed: ERROR: <input>:1:5: undeclared reference to 'isIP' "
            "(in container '')\n | isIP(self)\n | ....^"
        )
        assert texts(schema, "x", minor=26) == [f'spec: Invalid value: "string": {text}']

    def test_issues_come_in_the_order_of_the_text(self) -> None:
        text = texts(with_rules(STRING, "quantity(self).isGreaterThan(quantity('1'))"), "x", minor=26)[0]
        columns = [int(line.split(":")[2]) for line in text.split("ERROR: ")[1:]]
        assert columns == sorted(columns)


class TestRewriting:
    @pytest.mark.parametrize(
        ("rule", "rewritten"),
        [
            ("a.validate(f(x))", "a.validate(f(x))[?0]"),
            ("'a.validate(x)'", "'a.validate(x)'"),
            ("validate(x)", "validate(x)"),
            ("l.indexOf(1)", "l.k8sIndexOf(1)"),
            ("x.y // oldSelf", "x.y\n\n"),
            (r"r'\' + '\'x'", r"r'\' + '\'x'"),
        ],
    )
    def test_only_calls(self, rule: str, rewritten: str) -> None:
        assert rewrite(rule).replace("\n", " ").strip() == rewritten.replace("\n", " ").strip()

    def test_optional_old(self) -> None:
        assert rewrite("oldSelf.x.oldSelf=='oldSelf'", optional_old=True) == "__old[?0].x.oldSelf=='oldSelf'"

    def test_guarded_has(self) -> None:
        assert rewrite("has(self.a.b)&&has(self.c)", guard_has=True) == 'k8sHas(self.a,"b")&&k8sHas(self,"c")'

    def test_names(self) -> None:
        assert {"self", "a", "b"} <= program("self.a.?b == 'c' // d").names
        assert program("self.a.?b == 'c' // d").names.isdisjoint({"c", "d"})


@pytest.mark.parametrize(
    ("rule", "value", "fails"),
    [
        ("has(self.direct)", {"direct": {}}, False),
        ("has(self.direct)", {"header": "a"}, True),
        ("!has(self.direct)", {"direct": {}}, True),
        ("[has(self.header), has(self.direct)].filter(x, x).size() == 1", {"direct": {}}, False),
        ("[has(self.header), has(self.direct)].filter(x, x).size() == 1", {"header": "a", "direct": {}}, True),
        ("has(self.direct) && self.direct == self.direct", {"direct": {}}, False),
    ],
)
def test_an_object_without_declared_members(rule: str, value: Any, *, fails: bool) -> None:
    """The member of a union that has no settings: ``direct: {}``. Servers of 1.28 and 1.36 gave these answers.

    Servers read such an object since 1.29 (kubernetes/kubernetes#121459).
    """
    schema = with_rules(thing(header=STRING, direct={"type": "object"}), rule)
    assert [bool(texts(schema, value, minor=minor)) for minor in (29, 36)] == [fails] * 2
    if "direct" in value:
        before = judge(schema, value, minor=28)
        said = [*(error.detail for error in before.errors), *(unknown.reason for unknown in before.unknown)]
        assert ["invalid object type" in each for each in said] == [True]
