"""Pairs of CRDs that are small as text and cost much where an algorithm is quadratic or builds what a limit says.

Each bomb is a function of a size; ``BOMBS`` names them with the size that an input of less than 3 MB allows, or that
was the worst found. Tests run smaller sizes and count steps; ``benchmarks/budgets.py`` measures the full ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from helpers import Json, array, crd, obj, root, string, version

RULES = "x-kubernetes-validations"
Pair = tuple[Json, Json]


class Bomb(NamedTuple):
    """A pair of CRDs by size; ``size`` is the full one, ``small`` the one that tests run."""

    make: Callable[[int], Pair]
    size: int
    small: int


def _pair(old: Json, new: Json) -> Pair:
    """Two releases of a CRD with these schemas of ``spec.a``."""
    return crd(root(spec=obj(a=old))), crd(root(spec=obj(a=new)))


def _names(count: int, prefix: str = "v") -> list[str]:
    return [f"{prefix}{index:05}" for index in range(count)]


def _limit(keyword: str, kind: str) -> Callable[[int], Pair]:
    holder = {
        "string": string(),
        "array": array(string()),
        "object": {"type": "object", "additionalProperties": string()},
    }

    def make(size: int) -> Pair:
        return _pair({**holder[kind], keyword: size}, {**holder[kind], keyword: size + 1})

    return make


def _limit_gained(keyword: str, kind: str) -> Callable[[int], Pair]:
    holder = {
        "string": string(),
        "array": array(string()),
        "object": {"type": "object", "additionalProperties": string()},
    }
    return lambda size: _pair(holder[kind], {**holder[kind], keyword: size})


def _rules_in_list(count: int) -> Pair:
    def listed(rules: list[Json]) -> Json:
        items = {**obj(a={"type": "integer"}), RULES: rules}
        return {**array(items), "maxItems": 5}

    def rules(shift: int) -> list[Json]:
        return [{"rule": f"self.a != {index + shift}"} for index in range(count)]

    return _pair(listed(rules(0)), listed(rules(count)))


def _many_rules(count: int) -> Pair:
    def with_rules(shift: int) -> Json:
        return {**string(), "maxLength": 9, RULES: [{"rule": f"self != 'x{index + shift}'"} for index in range(count)]}

    return _pair(with_rules(0), with_rules(count))


def _nested_rules(count: int) -> Pair:
    """Rules that quantify over a list within a list."""

    def listed(operator: str) -> Json:
        rule = "self.all(a, self.exists(b, self.all(c, self.exists(d, a {} b && c != 'x{}' || d == b))))"
        rules = [{"rule": rule.format(operator, index)} for index in range(count)]
        return {**array({**string(), "maxLength": 3}), "maxItems": 9, RULES: rules}

    return _pair(listed("=="), listed("<="))


def _long_rule(count: int) -> Pair:
    def with_rule(shift: int) -> Json:
        text = " || ".join(f"self == 'x{index + shift} '" for index in range(count))
        return {**string(), "maxLength": 9, RULES: [{"rule": f"({text}) && true"}]}

    return _pair(with_rule(0), with_rule(1))


def _deep_rule(count: int) -> Pair:
    def with_rule(inner: str) -> Json:
        return {**string(), "maxLength": 9, RULES: [{"rule": "(" * count + inner + ")" * count}]}

    return _pair(with_rule("self == 'a'"), with_rule("self == 'b'"))


def _negated_rule(count: int) -> Pair:
    def with_rule(inner: str) -> Json:
        return {**string(), "maxLength": 9, RULES: [{"rule": "!" * count + f"({inner})"}]}

    return _pair(with_rule("self == 'a'"), with_rule("self == 'b'"))


def _conditions(count: int) -> Pair:
    """A rule with many independent parts, so that a table of truth doubles with each."""

    def with_rule(operator: str) -> Json:
        parts = [f"(has(self.{name}) {operator} self.{name} == 'x')" for name in _names(count)]
        return {
            **obj(**{name: {**string(), "maxLength": 5} for name in _names(count)}),
            RULES: [{"rule": " && ".join(parts)}],
        }

    return _pair(with_rule("||"), with_rule("&&"))


def _members_of_rules(count: int) -> Pair:
    """One rule for each member, beside them: together they are a long formula."""

    def side(value: str) -> Json:
        rules = [{"rule": f"!has(self.{name}) || self.{name} != '{value}'"} for name in _names(count)]
        return {**obj(**{name: {**string(), "maxLength": 5} for name in _names(count)}), RULES: rules}

    return _pair(side("x"), side("y"))


def _discriminator(count: int) -> Pair:
    """Branches that are told apart by the enum of one member, until they share a value."""
    names = _names(count)

    def side(*more: str) -> Json:
        branches = [{"properties": {"t": {"enum": [name, *more]}}} for name in names]
        return {**obj(t=string(*names)), "oneOf": branches}

    return _pair(side(), side("z"))


def _branches(keyword: str) -> Callable[[int], Pair]:
    def make(count: int) -> Pair:
        def side(least: int) -> Json:
            branches = [{"required": [name], "properties": {name: {"minLength": least}}} for name in _names(count)]
            return {**obj(**{name: string() for name in _names(count)}), keyword: branches}

        return _pair(side(0), side(1))

    return make


def _branches_added(keyword: str) -> Callable[[int], Pair]:
    def make(count: int) -> Pair:
        def side(number: int) -> Json:
            branches = [{"required": [name]} for name in _names(number)]
            return {**obj(**{name: string() for name in _names(2 * count)}), keyword: branches}

        return _pair(side(count), side(2 * count))

    return make


def _any_of_all_of(count: int) -> Pair:
    def side(pattern: str) -> Json:
        return {
            **string(),
            "allOf": [{"anyOf": [{"pattern": f"{pattern}{i}-{j}"} for j in range(count)]} for i in range(count)],
        }

    return _pair(side("^a"), side("^b"))


def _nested_any_of(count: int) -> Pair:
    def side(inner: Json) -> Json:
        for _ in range(count):
            inner = {"anyOf": [inner, {"not": inner}]} if count < 12 else {"allOf": [{"anyOf": [inner]}]}
        return {**string(), **inner}

    return _pair(side({"minLength": 1}), side({"minLength": 2}))


def _enum_changes(count: int) -> Pair:
    """An enum in each of many fields, each changed."""
    old, new = (obj(**{name: string("A", value) for name in _names(count)}) for value in "BC")
    return _pair(old, new)


def _giant_enum(count: int) -> Pair:
    return _pair(string(*_names(count, "a")), string(*_names(count, "b")))


def _giant_enum_grown(count: int) -> Pair:
    return _pair(string(*_names(count)), string(*_names(count + 10)))


def _enum_of_objects(count: int) -> Pair:
    def side(shift: int) -> Json:
        kept = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        return {**kept, "enum": [{"a": {"b": [index + shift]}} for index in range(count)]}

    return _pair(side(0), side(count))


def _enum_and_pattern(count: int) -> Pair:
    enum = _names(count)
    return _pair({**string(*enum), "pattern": "^v[0-4]"}, {**string(*enum), "pattern": "^v[5-9]*"})


def _wide(count: int) -> Pair:
    """Many properties in one object, each new."""
    return _pair(obj(kept=string()), obj(kept=string(), **{name: string() for name in _names(count)}))


def _wide_types(count: int) -> Pair:
    old, new = (obj(**{name: {"type": kind} for name in _names(count)}) for kind in ("string", "integer"))
    return _pair(old, new)


def _wide_required(count: int) -> Pair:
    names = _names(count)
    members = {name: string() for name in names}
    return _pair(obj(**members), {**obj(**members), "required": names})


def _wide_and_required(count: int) -> Pair:
    """Every example needs all members, and each member is changed."""
    names = _names(count)
    old, new = (
        {**obj(**{name: {**string(), "maxLength": most} for name in names}), "required": names} for most in (5, 6)
    )
    return _pair(old, new)


def _wide_defaults(count: int) -> Pair:
    old, new = (obj(**{name: {**string(), "default": value} for name in _names(count)}) for value in "ab")
    return _pair(old, new)


def _wide_patterns(count: int) -> Pair:
    old, new = (
        obj(**{name: {**string(), "pattern": f"^[a-z]{{1,{most}}}({name})?$"} for name in _names(count)})
        for most in (5, 6)
    )
    return _pair(old, new)


def _deep(count: int) -> Pair:
    def side(inner: Json) -> Json:
        for index in range(count):
            inner = array(inner) if index % 2 else obj(a=inner)
        return inner

    return _pair(side(string("A")), side(string("A", "B")))


def _deep_changes(count: int) -> Pair:
    """An enum changed at each of many levels."""

    def side(*values: str) -> Json:
        inner = obj(e=string(*values))
        for _ in range(count):
            inner = obj(e=string(*values), a=inner)
        return inner

    return _pair(side("A"), side("A", "B"))


def _bushy(count: int) -> Pair:
    """A tree of objects with two members each, changed at each leaf; ``count`` levels."""

    def side(levels: int, leaf: Json) -> Json:
        return obj(a=side(levels - 1, leaf), b=side(levels - 1, leaf)) if levels else leaf

    return _pair(side(count, string("A")), side(count, string("A", "B")))


def _least_items(count: int) -> Pair:
    return _pair({**array(string("A")), "minItems": count}, {**array(string("A", "B")), "minItems": count})


def _least_items_of_objects(count: int) -> Pair:
    def side(*values: str) -> Json:
        keyed = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
        items = {**obj(k=string(), v=string(*values)), "required": ["k", "v"]}
        return {**array(items), **keyed, "minItems": count}

    return _pair(side("A"), side("A", "B"))


def _least_set(count: int) -> Pair:
    def side(most: int) -> Json:
        return {**array({**string(), "maxLength": most}), "x-kubernetes-list-type": "set", "minItems": count}

    return _pair(side(8), side(9))


def _nested_least_items(count: int) -> Pair:
    def side(*values: str) -> Json:
        return {**array({**array(string(*values)), "minItems": count}), "minItems": count}

    return _pair(side("A"), side("A", "B"))


def _least_properties(count: int) -> Pair:
    def side(*values: str) -> Json:
        return {"type": "object", "additionalProperties": string(*values), "minProperties": count}

    return _pair(side("A"), side("A", "B"))


def _list_keys(count: int) -> Pair:
    def side(keys: list[str]) -> Json:
        items = {**obj(**{name: string() for name in _names(count)}), "required": _names(count)}
        return {**array(items), "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys}

    return _pair(side(_names(count)), side(_names(count - 1)))


def _long_pattern(count: int) -> Pair:
    def side(end: str) -> Json:
        return {**string(), "pattern": "^(" + "|".join(f"{name}{end}" for name in _names(count)) + ")$"}

    return _pair(side("a*"), side("b*"))


def _counted_pattern(count: int) -> Pair:
    return _pair({**string(), "pattern": f"^(a?b?c?){{{count}}}$"}, {**string(), "pattern": f"^(a?b?d?){{{count}}}$"})


def _blowing_pattern(count: int) -> Pair:
    """The automaton of the n-th character from the end has 2ⁿ states."""
    return _pair({**string(), "pattern": f"a[ab]{{{count}}}$"}, {**string(), "pattern": f"b[ab]{{{count}}}$"})


def _deep_pattern(count: int) -> Pair:
    return _pair(
        {**string(), "pattern": "(" * count + "a" + ")" * count},
        {**string(), "pattern": "(" * count + "b" + ")" * count},
    )


def _long_text_pattern(count: int) -> Pair:
    return _pair({**string(), "pattern": "a" * count}, {**string(), "pattern": "a" * (count + 1)})


def _huge_default(count: int) -> Pair:
    def side(value: str) -> Json:
        kept = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        return {**kept, "default": {name: [value] for name in _names(count)}}

    return _pair(side("a"), side("b"))


def _long_default(count: int) -> Pair:
    return _pair({**string(), "default": "a" * count}, {**string(), "default": "b" * count})


def _required_default(count: int) -> Pair:
    """A default of many members where each has a schema with a default."""

    def side(value: str) -> Json:
        return {**obj(**{name: {**string(), "default": value} for name in _names(count)}), "default": {}}

    return _pair(side("a"), side("b"))


def _many_versions(count: int) -> Pair:
    def side(*values: str) -> Json:
        versions = [
            version(root(spec=obj(a=string(*values), **{f"p{index}": string()})), f"v{index + 1}", storage=index == 0)
            for index in range(count)
        ]
        return crd(versions=versions)

    return side("A"), side("A", "B")


def _columns(count: int) -> Pair:
    def side(kind: str) -> Json:
        columns = [{"name": name, "type": "string", "jsonPath": f".spec.{kind}{name}"} for name in _names(count)]
        return crd(versions=[version(root(spec=obj(a=string())), additionalPrinterColumns=columns)])

    return side("a"), side("b")


def _preserved(count: int) -> Pair:
    """Unknown fields are kept newly, beside a least number of members."""
    kept = {"type": "object", "minProperties": count}
    return crd({**root(spec=obj()), **kept}), crd(
        {**root(spec=obj()), **kept, "x-kubernetes-preserve-unknown-fields": True}
    )


def _multiples(count: int) -> Pair:
    number: Json = {"type": "integer", "minimum": 1, "maximum": 2**62}
    return _pair({**number, "multipleOf": 2**count}, {**number, "multipleOf": 3**count})


def _dependent_enums(count: int) -> Pair:
    """Fields that are required together and hold lists of enums, each changed."""

    def side(*values: str) -> Json:
        members = {name: {**array(string(*values)), "minItems": 2} for name in _names(count)}
        return {**obj(**members), "required": _names(count)}

    return _pair(side("A", "B"), side("A", "B", "C"))


def _not_of_enums(count: int) -> Pair:
    return _pair({**string(), "not": {"enum": _names(count)}}, {**string(), "not": {"enum": _names(count, "w")}})


def _descriptions(count: int) -> Pair:
    def side(text: str) -> Json:
        return obj(**{name: {**string(), "description": text * 20} for name in _names(count)})

    return _pair(side("a"), side("b"))


BOMBS = {
    "maxLength": Bomb(_limit("maxLength", "string"), 2**31 - 2, 2**31 - 2),
    "maxLength 2^40": Bomb(_limit("maxLength", "string"), 2**40, 2**40),
    "minLength": Bomb(_limit("minLength", "string"), 2**31 - 2, 2**31 - 2),
    "maxItems": Bomb(_limit("maxItems", "array"), 2**31 - 2, 2**31 - 2),
    "minItems": Bomb(_limit("minItems", "array"), 2**31 - 2, 2**31 - 2),
    "maxProperties": Bomb(_limit("maxProperties", "object"), 2**31 - 2, 2**31 - 2),
    "minProperties": Bomb(_limit("minProperties", "object"), 2**31 - 2, 2**31 - 2),
    "maxLength gained": Bomb(_limit_gained("maxLength", "string"), 900_000, 900_000),
    "minLength gained": Bomb(_limit_gained("minLength", "string"), 900_000, 900_000),
    "maxItems gained": Bomb(_limit_gained("maxItems", "array"), 10_000, 10_000),
    "minItems gained": Bomb(_limit_gained("minItems", "array"), 10_000, 10_000),
    "maxProperties gained": Bomb(_limit_gained("maxProperties", "object"), 10_000, 10_000),
    "minProperties gained": Bomb(_limit_gained("minProperties", "object"), 10_000, 10_000),
    "rules in a list": Bomb(_rules_in_list, 50_000, 60),
    "many rules": Bomb(_many_rules, 48_000, 60),
    "nested rules": Bomb(_nested_rules, 13_900, 10),
    "long rule": Bomb(_long_rule, 69_000, 300),
    "deep rule": Bomb(_deep_rule, 720_000, 300),
    "negated rule": Bomb(_negated_rule, 1_440_000, 300),
    "conditions of a rule": Bomb(_conditions, 16_000, 30),
    "rules of members": Bomb(_members_of_rules, 14_600, 15),
    "discriminator": Bomb(_discriminator, 25_000, 60),
    "oneOf": Bomb(_branches("oneOf"), 14_400, 60),
    "anyOf": Bomb(_branches("anyOf"), 14_400, 60),
    "allOf": Bomb(_branches("allOf"), 14_400, 60),
    "oneOf added": Bomb(_branches_added("oneOf"), 14_600, 60),
    "anyOf added": Bomb(_branches_added("anyOf"), 14_600, 60),
    "anyOf in allOf": Bomb(_any_of_all_of, 240, 5),
    "nested anyOf": Bomb(_nested_any_of, 11, 8),
    "nested allOf": Bomb(_nested_any_of, 60, 20),
    "enum changes": Bomb(_enum_changes, 28_900, 200),
    "giant enum": Bomb(_giant_enum, 144_000, 500),
    "giant enum grown": Bomb(_giant_enum_grown, 144_000, 500),
    "enum of objects": Bomb(_enum_of_objects, 63_000, 300),
    "enum and pattern": Bomb(_enum_and_pattern, 144_000, 300),
    "wide": Bomb(_wide, 96_000, 300),
    "wide types": Bomb(_wide_types, 47_000, 200),
    "wide required": Bomb(_wide_required, 41_000, 100),
    "wide and required": Bomb(_wide_and_required, 25_800, 100),
    "wide defaults": Bomb(_wide_defaults, 31_000, 200),
    "wide patterns": Bomb(_wide_patterns, 21_900, 50),
    "deep": Bomb(_deep, 60, 30),
    "deep changes": Bomb(_deep_changes, 60, 20),
    "bushy": Bomb(_bushy, 14, 6),
    "minItems and enum": Bomb(_least_items, 4_096, 200),
    "minItems of a map and enum": Bomb(_least_items_of_objects, 4_096, 100),
    "minItems of a set": Bomb(_least_set, 9_000, 100),
    "nested minItems": Bomb(_nested_least_items, 130, 20),
    "minProperties and enum": Bomb(_least_properties, 9_000, 100),
    "list keys": Bomb(_list_keys, 28_900, 50),
    "long pattern": Bomb(_long_pattern, 160_000, 100),
    "counted pattern": Bomb(_counted_pattern, 300, 30),
    "blowing pattern": Bomb(_blowing_pattern, 300, 30),
    "deep pattern": Bomb(_deep_pattern, 720_000, 500),
    "long text as pattern": Bomb(_long_text_pattern, 1_440_000, 500),
    "huge default": Bomb(_huge_default, 85_000, 300),
    "long default": Bomb(_long_default, 1_440_000, 1_000),
    "defaults in a default": Bomb(_required_default, 31_000, 100),
    "versions": Bomb(_many_versions, 4_000, 20),
    "columns": Bomb(_columns, 21_600, 100),
    "kept fields": Bomb(_preserved, 9_000, 100),
    "multiples": Bomb(_multiples, 39, 10),
    "lists required together": Bomb(_dependent_enums, 13_700, 30),
    "not of enums": Bomb(_not_of_enums, 144_000, 300),
    "descriptions": Bomb(_descriptions, 21_000, 200),
}
"""All bombs by name."""


def small() -> Iterator[tuple[str, Pair]]:
    """Each bomb in the size that tests run."""
    for name, bomb in BOMBS.items():
        yield name, bomb.make(bomb.small)
