"""A constraint that moves between keywords and rules is no finding, wherever it moves; a weaker one is found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers import Json, array, both, crd, diff, obj, root, string

_RULES = "x-kubernetes-validations"
_OF_CRDS = {"crd-refused", "crd-refused-by", "cel-cost-near-budget"}
_NUMBER = {"type": "integer"}


def rules(*texts: str) -> Json:
    return {_RULES: [{"rule": text} for text in texts]}


def spec(value: Json | None = None, **parent: Json) -> Json:
    """A CRD whose spec has the members v, w and x, with keywords of the spec itself."""
    members = obj(v=value or string(), w=string(), x=string())
    return crd(root(spec={**members, **parent}))


def found(tmp_path: Path, old: Json, new: Json) -> set[tuple[str, str, str]]:
    """Rule, direction and path of all findings about values; some of the CRDs are too costly for a server."""
    report = diff(*both(tmp_path, old, new))
    assert report["undecided"] == []
    about_values = (finding for finding in report["findings"] if finding["rule"] not in _OF_CRDS)
    return {(finding["rule"], finding["direction"], finding["path"]) for finding in about_values}


_PATTERN = "^[a-z]([-a-z0-9]*[a-z0-9])?$"
_MEMBER = {"type": "object", "additionalProperties": string()}
_SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"


def keyed(*keys: str, **list_keywords: Any) -> Json:
    """A list keyed by members of its items: ``kind`` has two values, ``name`` any."""
    items = obj(kind=string("A", "B"), name=string())
    return array(
        {**items, "required": list(keys)},
        **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)},
        **list_keywords,
    )


def letters(**list_keywords: Any) -> Json:
    return array(string("A", "B"), **{"x-kubernetes-list-type": "set"}, **list_keywords)


#: gateway-api 1.3 -> 1.4: the items of a list of origins are no "*" by their pattern.
_ORIGINS, _NO_OTHERS = array(string(pattern="^[a-z]+$")), rules("!('*' in self && self.size() > 1)")

EQUAL: dict[str, tuple[Json, Json]] = {
    "a rule about an item that the pattern excludes": (spec(_ORIGINS), spec({**_ORIGINS, **_NO_OTHERS})),
    "a rule about an item that the pattern excludes, in a list of lists": (
        spec(array(obj(l=array(obj(m=_ORIGINS))))),
        spec(array(obj(l=array(obj(m={**_ORIGINS, **_NO_OTHERS}))))),
    ),
    "a named format": (
        spec(string(pattern=_SUBDOMAIN, maxLength=253)),
        spec({**string(), **rules("!format.dns1123Subdomain().validate(self).hasValue()")}),
    ),
    "a named format, of a rule": (
        spec({**string(maxLength=63), **rules("self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')")}),
        spec({**string(maxLength=63), **rules("!(format.dns1035Label().validate(self).hasValue())")}),
    ),
    "a limit that the keys of a list imply": (spec(keyed("kind")), spec(keyed("kind", maxItems=2))),
    "a limit that the members of a set imply": (spec(letters()), spec(letters(maxItems=3))),
    "a pattern below a nullable object": (
        spec(obj(a=string(pattern=_PATTERN)) | {"nullable": True}),
        spec(obj(a={**string(), **rules(f"self.matches('{_PATTERN}')")}) | {"nullable": True}),
    ),
    "a pattern of a nullable string": (
        spec(string(pattern=_PATTERN, nullable=True)),
        spec({**string(nullable=True), **rules(f"self.matches('{_PATTERN}')")}),
    ),
    "a pattern": (spec(string(pattern=_PATTERN)), spec({**string(), **rules(f"self.matches('{_PATTERN}')")})),
    "a pattern, from above": (
        spec(string(pattern=_PATTERN)),
        spec(**rules(f'!has(self.v) || self.v.matches("{_PATTERN}")')),
    ),
    "a prefix": (spec(string(pattern="^a/")), spec({**string(), **rules("self.startsWith('a/')")})),
    "required": (spec(required=["v"]), spec(**rules("has(self.v)"))),
    "required, below a member whose name rules escape": (
        spec(properties={"a-b": {**obj(c=string()), "required": ["c"]}}),
        spec(properties={"a-b": obj(c=string())}, **rules("!has(self.a__dash__b) || has(self.a__dash__b.c)")),
    ),
    "required, two at once": (spec(required=["v", "w"]), spec(**rules("has(self.w) && has(self.v)"))),
    "an enum": (spec(string("A", "B")), spec({**string(), **rules("self in ['B', 'A']")})),
    "an enum, as a macro": (spec(string("A", "B")), spec({**string(), **rules("['A', 'B'].exists(x, x == self)")})),
    "an enum, from above": (spec(string("A", "B")), spec(**rules("!has(self.v) || self.v == 'A' || self.v == 'B'"))),
    "an enum, as a pattern": (spec(string("A", "B")), spec(string(pattern="^(A|B)$"))),
    "lengths": (
        spec(string(minLength=2, maxLength=5)),
        spec({**string(), **rules("self.size() >= 2", "size(self) < 6")}),
    ),
    "a length that a rule about it and a pattern imply": (
        spec({**string(pattern="^([ab]{5})+$"), **rules("size(self) < 10")}),
        spec({**string(pattern="^([ab]{5})+$"), **rules("size(self) < 6")}),
    ),
    "a length, from above": (spec(string(maxLength=5)), spec(**rules("!has(self.v) || self.v.size() <= 5"))),
    "bounds": (
        spec({**_NUMBER, "minimum": 1, "maximum": 10}),
        spec({**_NUMBER, **rules("self > 0 && self <= 10")}),
    ),
    "exclusive bounds": (
        spec({"type": "number", "minimum": 1, "exclusiveMinimum": True}),
        spec({"type": "number", **rules("self > 1.0")}),
    ),
    "a range as an enum": (
        spec({**_NUMBER, "minimum": 1, "maximum": 3}),
        spec({**_NUMBER, **rules("self == 1 || self == 2 || self == 3")}),
    ),
    "multiples": (spec({**_NUMBER, "multipleOf": 5}), spec({**_NUMBER, **rules("self % 5 == 0")})),
    "numbers of items": (
        spec(array(string(), minItems=1, maxItems=3)),
        spec({**array(string()), **rules("self.size() > 0", "self.size() <= 3")}),
    ),
    "numbers of entries": (
        spec({**_MEMBER, "maxProperties": 3}),
        spec({**_MEMBER, **rules("size(self) <= 3")}),
    ),
    "numbers of members": (spec(minProperties=1), spec(**rules("has(self.v) || has(self.w) || has(self.x)"))),
    "two of three members": (
        spec(minProperties=2),
        spec(minProperties=2, **rules("has(self.v) || has(self.w)")),
    ),
    "one member": (
        spec(minProperties=1, maxProperties=1),
        spec(oneOf=[{"required": [name]} for name in "vwx"]),
    ),
    "any of two": (
        spec(anyOf=[{"required": ["v"]}, {"required": ["w"]}]),
        spec(**rules("has(self.v) || has(self.w)")),
    ),
    "one of two": (
        spec(oneOf=[{"required": ["v"]}, {"required": ["w"]}]),
        spec(**rules("(has(self.v) ? 1 : 0) + (has(self.w) ? 1 : 0) == 1")),
    ),
    "not both": (
        {**spec({"type": "string"}, **{"not": {"required": ["v", "w"]}})},
        spec(**rules("!(has(self.v) && has(self.w))")),
    ),
    "a union": (
        spec(
            string("A", "B"),
            required=["v"],
            oneOf=[
                {"properties": {"v": {"enum": ["A"]}}, "required": ["w"], "not": {"required": ["x"]}},
                {"properties": {"v": {"enum": ["B"]}}, "required": ["x"], "not": {"required": ["w"]}},
            ],
        ),
        spec(
            string("A", "B"),
            required=["v"],
            **rules(
                "self.v == 'A' ? has(self.w) : !has(self.w)",
                "self.v == 'B' ? has(self.x) : !has(self.x)",
            ),
        ),
    ),
    "items": (
        spec(array(string(pattern="^[a-z]+$"), maxItems=1000)),
        spec({**array(string(), maxItems=1000), **rules("self.all(x, x.matches('^[a-z]+$'))")}),
    ),
    "members of items": (
        spec(array(obj(a=string("A", "B")))),
        spec(array({**obj(a=string()), **rules("!has(self.a) || self.a in ['A', 'B']")})),
    ),
    "members of items of a list that is said to be atomic": (
        spec(array(obj(a=string("A", "B")))),
        spec(
            array(
                {**obj(a=string()), **rules("!has(self.a) || self.a in ['A', 'B']")},
                **{"x-kubernetes-list-type": "atomic"},
            )
        ),
    ),
    "values of maps": (
        spec({"type": "object", "additionalProperties": string("A", "B")}),
        spec({"type": "object", "additionalProperties": {**string(), **rules("self in ['A', 'B']")}}),
    ),
    "allOf": (
        spec(string(allOf=[{"pattern": "^a"}, {"pattern": "b$"}])),
        spec({**string(pattern="^a"), **rules("self.endsWith('b')")}),
    ),
}
EQUAL["items"] = (spec(array(string(pattern="^[a-z]+$"), maxItems=1000)), EQUAL["items"][1])


@pytest.mark.parametrize("case", EQUAL)
def test_a_constraint_that_moves_is_no_finding(tmp_path: Path, case: str) -> None:
    old, new = EQUAL[case]
    assert found(tmp_path / "1", old, new) == set()
    assert found(tmp_path / "2", new, old) == set()


WEAKER: dict[str, tuple[Json, Json]] = {
    "a named format": (
        spec({**string(maxLength=99), **rules("self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')")}),
        spec({**string(maxLength=99), **rules("!format.dns1123Subdomain().validate(self).hasValue()")}),
    ),
    "a named format that is shorter": (
        spec({**string(maxLength=99), **rules("!format.dns1035Label().validate(self).hasValue()")}),
        spec({**string(maxLength=99), **rules("self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')")}),
    ),
    "a limit below the number of keys": (spec(keyed("kind", maxItems=1)), spec(keyed("kind"))),
    "a limit on a list with free keys": (spec(keyed("kind", "name", maxItems=2)), spec(keyed("kind", "name"))),
    "a limit on a list whose key is optional": (
        spec(array(obj(kind=string("A", "B"), name=string()), maxItems=2)),
        spec(array(obj(kind=string("A", "B"), name=string()))),
    ),
    "a limit below the members of a set": (spec(letters(maxItems=1)), spec(letters())),
    "a pattern": (spec(string(pattern="^[a-z]+$")), spec({**string(), **rules("self.matches('^[a-z]*$')")})),
    "required": (spec(required=["v"]), spec(**rules("has(self.v) || has(self.w)"))),
    "an enum": (spec(string("A", "B")), spec({**string(), **rules("self in ['A', 'B', 'C']")})),
    "an enum, from above": (
        spec(string("A", "B")),
        spec(**rules("!has(self.v) || self.v in ['A', 'C'] || self.v == 'B'")),
    ),
    "lengths": (spec(string(maxLength=5)), spec({**string(), **rules("size(self) <= 6")})),
    "bounds": (spec({**_NUMBER, "minimum": 1}), spec({**_NUMBER, **rules("self >= 0")})),
    "numbers of items": (spec(array(string(), maxItems=3)), spec({**array(string()), **rules("self.size() <= 4")})),
    "any of two": (
        spec(anyOf=[{"required": ["v"]}, {"required": ["w"]}]),
        spec(**rules("has(self.v) || has(self.w) || has(self.x)")),
    ),
    "items": (
        spec(array(string("A", "B"), maxItems=9)),
        spec({**array(string(), maxItems=9), **rules("self.all(x, x in ['A', 'B', 'C'])")}),
    ),
    "an item beside others": (
        spec({**array(string()), **rules("!('*' in self)")}),
        spec({**array(string()), **_NO_OTHERS}),
    ),
}


@pytest.mark.parametrize("case", WEAKER)
def test_a_constraint_that_moves_and_becomes_weaker_is_found(tmp_path: Path, case: str) -> None:
    old, new = WEAKER[case]
    assert {direction for _, direction, _ in found(tmp_path / "1", old, new)} == {"rollback"}
    assert {direction for _, direction, _ in found(tmp_path / "2", new, old)} == {"upgrade"}


_EITHER = {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}


@pytest.mark.parametrize(
    ("one", "rule", "others"),
    [
        ({**_NUMBER, "minimum": 0}, "type(self) != int || self >= 0", set()),
        ({**_NUMBER, "minimum": 0}, "type(self) == string ? self.matches('^[0-9]+%$') : self >= 0", set()),
        (string(pattern="^a"), "type(self) == int || self.startsWith('a')", set()),
        ({**_NUMBER, "minimum": 0}, "type(self) != int || self >= -1", {("bounds-loosened", "rollback", "spec.v")}),
        ({**_NUMBER, "minimum": 0}, "type(self) != int || self >= 1", {("cel-rule-added", "upgrade", "spec.v")}),
    ],
)
def test_a_constraint_that_becomes_a_rule_of_one_type(
    tmp_path: Path, one: Json, rule: str, others: set[tuple[str, str, str]]
) -> None:
    """Karpenter 1.15: ``maxPods`` takes expressions, too."""
    typed = {("type-changed", "rollback", "spec.v")}
    assert found(tmp_path, spec(one), spec({**_EITHER, **rules(rule)})) == typed | others


def one_of(*names: str) -> Json:
    """A spec with at most one of some members."""
    each = [{"required": [name]} for name in names]
    return crd(root(spec={**obj(**dict.fromkeys(names, string())), "oneOf": [{"not": {"anyOf": each}}, *each]}))


def test_a_union_without_a_member_that_its_reader_prunes(tmp_path: Path) -> None:
    old, new = one_of("a", "b"), one_of("a", "b", "c")
    assert found(tmp_path, old, new) == {("property-added", "rollback", "spec.c")}


def test_what_is_known_of_the_values_beside_takes_part(tmp_path: Path) -> None:
    """Both members of a union list the values, and the enum of the kind leaves no third case."""

    def unless(kind: str, *values: str) -> Json:
        return {"anyOf": [{"properties": {"v": {"enum": [*values]}}}, {"not": {"properties": {"w": {"enum": [kind]}}}}]}

    either = {"allOf": [unless("A", "x", "y"), unless("B", "x")], "required": ["w"]}
    old, new = (crd(root(spec={**obj(v=v, w=string("A", "B")), **either})) for v in (string(), string("x", "y")))
    assert found(tmp_path, old, new) == set()


def test_a_union_that_nothing_breaks(tmp_path: Path) -> None:
    either = {"anyOf": [{"required": ["v"]}, {"not": {"required": ["v"]}}]}
    assert found(tmp_path, spec(), spec(**either)) == set()


_ADDED = ("enum-value-added", "rollback", "spec.v[*].kind")
_REFUSED = ("cel-rule-added", "upgrade", "spec.v")


@pytest.mark.parametrize(
    ("rule", "known", "expected"),
    [
        ("self.filter(x, x.kind == 'C').size() <= 1", "AB", {_ADDED}),
        ("self.filter(x, x.kind == 'C').size() == 0", "AB", {_ADDED}),
        ("size(self.filter(x, 'C' == x.kind)) < 2", "AB", {_ADDED}),
        ("self.filter(x, x.kind == 'C').size() <= 1", "ABC", {_REFUSED}),
        ("self.filter(x, x.kind == 'B').size() <= 1", "AB", {_ADDED, _REFUSED}),
        ("self.filter(x, x.kind == 'C').size() != 0", "AB", {_ADDED, _REFUSED}),
        # An item without the member is an error of the filter.
        ("self.filter(x, x.other == 'C').size() <= 1", "AB", {_ADDED, _REFUSED}),
    ],
)
def test_a_filter_that_takes_no_item(
    tmp_path: Path, rule: str, known: str, expected: set[tuple[str, str, str]]
) -> None:
    """Gateway API 1.5: a filter of the type CORS cannot be repeated; the release before has no such type."""

    def items(kinds: str) -> Json:
        item = {**obj(kind=string(*kinds), other=string("C")), "required": ["kind"]}
        return array(item, maxItems=4)

    assert found(tmp_path, spec(items(known)), spec({**items("ABC"), **rules(rule)})) == expected
