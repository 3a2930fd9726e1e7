"""What decoding says that it took away and added, held against a diff of the object by DeepDiff.

``pruned`` and ``defaulted`` are noted by the code that prunes and defaults, as it goes. DeepDiff knows no schema:
it only sees what was sent and what is stored. A null that is dropped is named by neither, for nothing is lost with it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from deepdiff import DeepDiff
from helpers import Json, root
from hypothesis import given, settings
from hypothesis import strategies as st

from crdcompat.apiserver.decode import Decoded, decode
from crdcompat.schema.structural import Node

_LEAF: Json = {"type": "integer", "default": 3}
_INNER: Json = {
    "type": "object",
    "default": {},
    "properties": {"a": _LEAF, "b": {"type": "string"}, "c": {"type": "integer", "nullable": True, "default": 5}},
}
_SPEC: Json = {
    "type": "object",
    "properties": {
        "a": {"type": "string"},
        "b": _INNER,
        "c": {"type": "array", "items": _INNER},
        "d": {"type": "object", "additionalProperties": _INNER},
        "e": {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"a": _INNER}},
    },
}
_NODE = Node(root(spec=_SPEC))

_NAMES = st.sampled_from("abcdez")
_VALUES = st.recursive(
    st.none() | st.integers(0, 9) | st.sampled_from(["", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=4),
    max_leaves=20,
)


def _field(path: list[Any]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def _seen(sent: Json, decoded: Decoded) -> Iterator[tuple[str, str]]:
    """What DeepDiff sees, as (what happened, field); a null that is gone is nothing."""
    tree = DeepDiff(sent, decoded.object, view="tree", threshold_to_diff_deeper=0)
    for kind, changes in tree.items():
        for change in changes:
            field = _field(change.path(output_format="list"))
            if kind == "dictionary_item_removed":
                if change.t1 is not None:
                    yield "pruned", field
            elif kind == "dictionary_item_added" or change.t1 is None:
                yield "defaulted", field
            else:
                yield kind, field


def _is_within(field: str, others: set[str]) -> bool:
    return any(field.startswith((f"{other}.", f"{other}[")) for other in others)


def _disagreement(sent: Json) -> str:
    """Where the two differ, "" where they do not."""
    before = copy.deepcopy(sent)
    decoded = decode(sent, _NODE)
    seen = set(_seen(sent, decoded))
    reported = {("pruned", field) for field in decoded.pruned} | {("defaulted", field) for field in decoded.defaulted}
    added = {field for what, field in seen if what == "defaulted"}
    # A default may have defaults within, and each is listed; an unknown field may hold null.
    more = {
        (what, field)
        for what, field in reported - seen
        if not (_is_within(field, added) if what == "defaulted" else _is_null(sent, field, decoded))
    }
    if seen - reported or more:
        return f"not listed: {seen - reported}; not seen: {more}; {sent}"
    return "" if sent == before else f"decoding changed what was sent: {before}"


def _is_null(sent: Json, field: str, decoded: Decoded) -> bool:
    removed = DeepDiff(sent, decoded.object, view="tree", threshold_to_diff_deeper=0)["dictionary_item_removed"]
    return any(_field(each.path(output_format="list")) == field and each.t1 is None for each in removed)


@settings(max_examples=300)
@given(_VALUES)
def test_what_is_taken_away_and_added_is_listed(spec: Any) -> None:
    assert _disagreement({"apiVersion": "example.com/v1", "kind": "Widget", "spec": spec}) == ""


@pytest.mark.parametrize(
    ("spec", "pruned", "defaulted"),
    [
        ({"z": 1, "a": None}, ("spec.z",), ("spec.b", "spec.b.a", "spec.b.c")),
        ({"b": {"a": None, "c": None, "z": {"a": 1}}}, ("spec.b.z",), ("spec.b.a",)),
        ({"b": {}, "c": [{"z": 1}]}, ("spec.c[0].z",), ("spec.b.a", "spec.b.c", "spec.c[0].a", "spec.c[0].c")),
        ({"b": None, "e": {"z": 1}}, (), ("spec.b", "spec.b.a", "spec.b.c", "spec.e.a", "spec.e.a.a", "spec.e.a.c")),
    ],
)
def test_pruned_and_defaulted_fields_are_listed(
    spec: Json, pruned: tuple[str, ...], defaulted: tuple[str, ...]
) -> None:
    sent = {"apiVersion": "example.com/v1", "kind": "Widget", "spec": spec}
    decoded = decode(sent, _NODE)
    assert (decoded.pruned, decoded.defaulted) == (pruned, defaulted)
    assert _disagreement(sent) == ""


@pytest.mark.parametrize(
    ("items", "kept"),
    [
        ([{"a": None, "c": None, "z": None}], [{"c": None, "z": None}]),
        ([[{"a": None, "z": 1}]], [[{"a": None, "z": 1}]]),
        ([None, 1, {"b": {"a": None}, "z": {"a": None}}], [None, 1, {"b": {}, "z": {"a": None}}]),
    ],
    ids=["members", "a list without a schema", "below"],
)
def test_items_of_a_list_that_preserves_unknown_fields_lose_declared_nulls_alone(items: Json, kept: Json) -> None:
    inner = {"type": "object", "properties": {"a": {"type": "string"}}}
    item = {**inner, "properties": {**inner["properties"], "b": inner, "c": {"type": "string", "nullable": True}}}
    node = Node(root(spec={"type": "array", "x-kubernetes-preserve-unknown-fields": True, "items": item}))
    decoded = decode({"apiVersion": "example.com/v1", "kind": "Widget", "spec": items}, node)
    assert (decoded.object["spec"], decoded.pruned) == (kept, ())
