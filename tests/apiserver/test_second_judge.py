"""A second judge that owes nothing to the first: structural schemas as plain JSON Schema, run by ``jsonschema``.

Both must say the same of every object, as far as plain JSON Schema has words for it. It has none for, and so
neither judge is asked about:

* CEL rules, list types (set and map), ratcheting, and the rules of object metadata and embedded resources;
* ``format`` (JSON Schema's formats are others; it is taken out of the schemas that both see);
* the decoding before: pruning, dropped nulls and defaults are done by the program for both;
* numbers that Go treats in a way of its own: floats that are only nearly whole, bounds with fractions for
  integers, and ``multipleOf`` with fractions (none is generated);
* integers that Go converts into text to compare them with members of an enum (none is generated).
"""

from __future__ import annotations

from typing import Any

from helpers import Json, root
from helpers import crd as make_crd
from hypothesis import given, settings
from hypothesis import strategies as st
from second_judge import SERVER, Judges

from crdcompat.features.judge.write_verdict import resource_of

# -- the translation ---------------------------------------------------------------------------------------


# -- every recorded object --------------------------------------------------------------------------------


# -- every schema there could be ------------------------------------------------------------------------------

_NAMES = st.sampled_from(["a", "b", "c", "d"])
_TEXTS = st.sampled_from(["", "a", "b", "aa", "ab", "abc", "a.b", "é", "\U0001f600", "0", "10"])
_PATTERNS = st.sampled_from(["a", "^a", "b$", "^(a|b)*$", "^a.c$", r"^\d+$", r"^\pL+$", "^.$", ""])
_SMALL = st.integers(0, 3)
_INTEGERS = st.integers(-6, 6)
_NUMBERS = st.one_of(_INTEGERS, st.sampled_from([0.5, -1.5, 2.25, 3.0, -0.0]))


def _some(**keywords: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    return st.fixed_dictionaries({}, optional=keywords)


_STRING_CHECKS = _some(minLength=_SMALL, maxLength=_SMALL, pattern=_PATTERNS)
_NUMBER_CHECKS = _some(
    minimum=_INTEGERS,
    maximum=_INTEGERS,
    exclusiveMinimum=st.booleans(),
    exclusiveMaximum=st.booleans(),
    multipleOf=st.integers(1, 3),
)
_LIST_CHECKS = _some(minItems=_SMALL, maxItems=_SMALL)
_MAP_CHECKS = _some(minProperties=_SMALL, maxProperties=_SMALL)
_REQUIRED = _some(required=st.lists(_NAMES, min_size=1, max_size=2, unique=True))


def _merged(*parts: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return st.tuples(*parts).map(lambda found: {key: value for part in found for key, value in part.items()})


def _branches(below: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    lists = st.lists(below, min_size=1, max_size=3)
    return st.one_of(
        st.just({}),
        st.just({}),
        st.builds(lambda keyword, found: {keyword: found}, st.sampled_from(["anyOf", "oneOf", "allOf"]), lists),
        st.builds(lambda found: {"not": found}, below),
    )


#: Value validations: what may stand in a branch of anyOf and its like.
_VALIDATIONS = st.recursive(
    st.one_of(_STRING_CHECKS, _NUMBER_CHECKS, _LIST_CHECKS, _MAP_CHECKS, _REQUIRED),
    lambda below: st.one_of(
        _merged(_REQUIRED, st.builds(lambda name, sub: {"properties": {name: sub}}, _NAMES, below)),
        st.builds(lambda sub: {"items": sub}, below),
        _branches(below),
    ),
    max_leaves=4,
)
_COMMON = _merged(_some(nullable=st.booleans()), _branches(_VALIDATIONS))


def _scalar(kind: str, checks: st.SearchStrategy[Json], members: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    enum = _some(enum=st.lists(members, min_size=1, max_size=3, unique=True))
    return _merged(st.just({"type": kind}), checks, enum, _COMMON)


_SCALARS = st.one_of(
    _scalar("string", _STRING_CHECKS, _TEXTS),
    _scalar("integer", _NUMBER_CHECKS, _INTEGERS),
    _scalar("number", _NUMBER_CHECKS, _NUMBERS),
    _merged(st.just({"type": "boolean"}), _COMMON),
    _merged(st.just({"x-kubernetes-int-or-string": True}), _STRING_CHECKS, _NUMBER_CHECKS, _COMMON),
    _merged(st.just({"x-kubernetes-preserve-unknown-fields": True}), _COMMON),
)
SCHEMAS = st.recursive(
    _SCALARS,
    lambda below: st.one_of(
        _merged(
            st.builds(
                lambda properties: {"type": "object", "properties": properties},
                st.dictionaries(_NAMES, below, min_size=1, max_size=3),
            ),
            _REQUIRED,
            _MAP_CHECKS,
            _COMMON,
        ),
        _merged(st.builds(lambda sub: {"type": "object", "additionalProperties": sub}, below), _MAP_CHECKS, _COMMON),
        _merged(st.builds(lambda sub: {"type": "array", "items": sub}, below), _LIST_CHECKS, _COMMON),
    ),
    max_leaves=6,
)
_ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), _NUMBERS, _TEXTS),
    lambda below: st.one_of(st.lists(below, max_size=3), st.dictionaries(_NAMES, below, max_size=3)),
    max_leaves=6,
)


@st.composite
def _value_for(draw: st.DrawFn, schema: Json) -> Any:
    """A value that mostly has the shape the schema wants."""
    if draw(st.integers(0, 9)) == 0:
        return draw(_ANYTHING)
    if schema.get("nullable") and draw(st.integers(0, 3)) == 0:
        return None
    if "enum" in schema and draw(st.booleans()):
        return draw(st.sampled_from(schema["enum"]))
    match schema.get("type"):
        case "string":
            return draw(_TEXTS)
        case "integer":
            return draw(_INTEGERS)
        case "number":
            return draw(_NUMBERS)
        case "boolean":
            return draw(st.booleans())
        case "array":
            return draw(st.lists(_value_for(schema["items"]), max_size=3))
        case "object" if "properties" in schema:
            fields = {name: _value_for(sub) for name, sub in schema["properties"].items()}
            return draw(st.fixed_dictionaries({}, optional=fields))
        case "object":
            return draw(st.dictionaries(_NAMES, _value_for(schema["additionalProperties"]), max_size=3))
    return draw(st.one_of(_TEXTS, _INTEGERS) if schema.get("x-kubernetes-int-or-string") else _ANYTHING)


@settings(max_examples=800, derandomize=True)
@given(st.data())
def test_generated_schemas_and_objects(data: st.DataObject) -> None:
    schema = data.draw(SCHEMAS, label="schema")
    value = data.draw(_value_for(schema), label="value")
    whole = root(spec=schema)
    resource = resource_of(make_crd(whole), "v1", SERVER)
    obj = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a", "namespace": "b"}, "spec": value}
    decoded = resource.read(obj).object
    judges = Judges(whole)
    assert not judges.disagree(decoded)
    # The whole judgement says no more than the schema did: nothing else is in play here.
    verdict = resource.create(obj)
    assert verdict.accepted is judges.plain.is_valid(decoded), verdict.message


def test_the_second_judge_bites() -> None:
    """Each keyword by itself: an object on either side of it."""
    for schema, good, bad in (
        ({"type": "string", "minLength": 1}, "a", ""),
        ({"type": "string", "maxLength": 1}, "\U0001f600", "aa"),
        ({"type": "string", "pattern": "b"}, "abc", "ac"),
        ({"type": "string", "enum": ["a"]}, "a", "b"),
        ({"type": "string", "nullable": True}, None, 1),
        ({"type": "string", "nullable": True, "enum": ["a", None]}, "a", None),
        ({"type": "string"}, "a", None),
        ({"type": "integer", "minimum": 1}, 1, 0),
        ({"type": "integer", "minimum": 1, "exclusiveMinimum": True}, 2, 1),
        ({"type": "integer", "maximum": 1, "exclusiveMaximum": False}, 1, 2),
        ({"type": "integer"}, 1.0, 1.5),
        ({"type": "number", "multipleOf": 2}, 4, 3),
        ({"type": "array", "items": {"type": "string"}, "minItems": 1}, ["a"], []),
        ({"type": "array", "items": {"type": "string"}}, [], [1]),
        ({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}, {"a": ""}, {}),
        ({"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 1}, {"a": ""}, {"a": 1}),
        ({"x-kubernetes-int-or-string": True}, "1", 1.5),
        ({"type": "string", "not": {"pattern": "a"}}, "b", "a"),
        ({"type": "string", "oneOf": [{"minLength": 1}, {"minLength": 2}]}, "a", "aa"),
    ):
        judges = Judges(schema)
        assert not judges.errors(good), schema
        assert judges.errors(bad), schema
        assert judges.plain.is_valid(good), schema
        assert not judges.plain.is_valid(bad), schema
