"""Where values stand, kept while a document is read: the same places that composing the file again would find."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crdcompat.manifests.documents import Document, read_documents
from crdcompat.manifests.locate import locate
from crdcompat.sources import open_source

TEXT = """\
# a comment
a:
  b: [x, {y: [1, 2]}, ü]
  "on": |-
    text: no key
  ? c
  : 'text

    over: lines'
list:
- name: one
  deep:
  - - 1
    - k: v
- plain
  text
-
  name: two
empty: {}
nothing:
last: !!str 5
---
second:
  1.5: x
  yes: {x: 1 }
"""


def pointers(value: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield at
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for part, member in members:
        yield from pointers(member, (*at, part))


def agree(data: bytes, chosen: int | None = None) -> int:
    """Check every place, or some of them; how many were known."""
    known = 0
    for document in read_documents(data, "f"):
        assert isinstance(document, Document)
        if document.positions is None:
            continue
        wanted = list(pointers(document.data))
        if chosen is not None:
            wanted = random.Random(0).sample(wanted, min(chosen, len(wanted)))
        wanted += [(*wanted[-1], "missing"), (*wanted[-1], 99), (*wanted[0], -1), ("nothing", "below")]
        places = document.positions.find(document.data, wanted)
        found = locate(data, ((document.index, pointer) for pointer in wanted))
        assert places == {pointer: found[document.index, pointer] for pointer in wanted}
        known += len(places)
    return known


def test_every_place_of_a_stream() -> None:
    assert agree(TEXT.encode()) == 38


def test_aliases_stand_at_their_anchor() -> None:
    assert agree(b"a: &a\n  b: [1, {c: d}]\ne: *a\nf: [*a, *a]\ng: 1\n") > 20


@pytest.mark.parametrize(
    "text",
    [
        b"a: 1\nb: {c: 2}\na: 3\n",
        b"a: &a {b: 1}\nc: {<<: *a}\nd: 2\n",
        b"a: {1: x, '1': y}\nb: 2\n",
        b'{"a": {"b": 1}}',
    ],
    ids=["a key twice", "merged", "two keys of one name", "JSON"],
)
def test_where_values_do_not_stand_one_by_one_nothing_is_told(text: bytes) -> None:
    (document,) = read_documents(text, "f")
    assert isinstance(document, Document)
    assert document.positions is None


def test_an_item_of_a_list_has_no_positions_of_its_own() -> None:
    text = b"kind: List\napiVersion: v1\nitems:\n- {kind: A, apiVersion: v1}\n- {kind: B, apiVersion: v1}\n"
    assert [getattr(document, "positions", 0) for document in read_documents(text, "f")] == [None, None]


def test_real_files(openshift_api: Path) -> None:
    tree = open_source("release-4.16", repo=str(openshift_api))
    entries = [entry for entry in tree.entries() if entry.path.endswith(".crd.yaml")]
    assert sum(agree(data, 40) for _, data in tree.read(entries[::4])) > 1500
