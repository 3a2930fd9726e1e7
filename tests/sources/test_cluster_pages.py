"""Pages of a cluster's lists: the items are the text of the server, with a kind."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from crdcompat.sources.cluster_pages import Item, Page, Yielded


def page(*items: Any, **more: Any) -> Page:
    return Page(json.dumps({"kind": "WidgetList", "apiVersion": "example.com/v1", **more, "items": items}).encode())


def test_an_item_is_the_text_of_the_server() -> None:
    text = b'{ "kind": "Widget", "metadata": {"namespace": "a", "name": "b", "resourceVersion": "7"}, "big": 1.50 }'
    (item,) = Page(b'{"items": [\n' + text + b"\n]}").items()
    assert item == Item("a", "b", "7", text)
    assert item.place == "a/b"


@pytest.mark.parametrize(
    ("item", "whole"),
    [
        ({"spec": {}}, {"apiVersion": "example.com/v1", "kind": "Widget", "spec": {}}),
        ({"apiVersion": "example.com/v2"}, {"apiVersion": "example.com/v2", "kind": "Widget"}),
        ({"kind": "Gadget"}, {"kind": "Gadget"}),
        ({"kind": None}, {"kind": None}),
    ],
)
def test_servers_omit_the_kind_of_built_in_objects(item: Any, whole: Any) -> None:
    (found,) = page(item).items()
    assert json.loads(found.data) == whole


@pytest.mark.parametrize("metadata", [None, [], "b", {"name": 3}, {"namespace": None}])
def test_objects_without_names(metadata: Any) -> None:
    (found,) = page({"kind": "Widget", "metadata": metadata}).items()
    assert (found.place, json.loads(found.data)["metadata"]) == ("", metadata)


def test_what_is_no_object_is_no_item() -> None:
    found = page(1, None, [{}], {"kind": "Widget"})
    assert len(found) == 1
    assert [item.data for item in found.items()] == [b'{"kind": "Widget"}']
    assert len(found) == 0


@pytest.mark.parametrize("metadata", [None, {}, {"continue": None}, {"continue": 3}])
def test_a_last_page(metadata: Any) -> None:
    assert page(metadata=metadata).token == ""


def test_a_page_that_continues() -> None:
    assert page(metadata={"continue": "t"}).token == "t"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"", "not JSON"),
        (b"<html>", "not JSON"),
        (b'{"items": [{"a": 1}', "not JSON"),
        (b'{"items": [' + b"[" * 200_000 + b"]" * 200_000 + b"]}", "not JSON"),
        (b"[]", "no list"),
        (b'{"items": 3}', "no list"),
    ],
)
def test_answers_that_are_no_page(text: bytes, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Page(text)


@pytest.mark.parametrize("seed", range(20))
def test_each_item_is_given_once(seed: int) -> None:
    """Lists in order, that begin anew, with items that came meanwhile, and in any order."""
    rng = random.Random(seed)
    first = sorted({f"n{rng.randrange(3)}/w{rng.randrange(30)}" for _ in range(20)})
    again = sorted({*first, *(f"n{rng.randrange(3)}/w{rng.randrange(30)}" for _ in range(5))})
    listed = [*first[: rng.randrange(20)], *again]
    if seed % 4 == 0:
        rng.shuffle(listed)
    given = Yielded()
    assert [place for place in listed if given.is_new(place)] == list(dict.fromkeys(listed))
