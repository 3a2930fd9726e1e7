"""Where values stand, kept while a document is read: the same places that composing the file again would find."""

from __future__ import annotations

import pytest
from places import agree

from crdcompat.yaml.documents import Document, read_documents

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
def test_values_that_share_a_line_have_no_positions(text: bytes) -> None:
    (document,) = read_documents(text, "f")
    assert isinstance(document, Document)
    assert document.positions is None


def test_an_item_of_a_list_has_no_positions_of_its_own() -> None:
    text = b"kind: List\napiVersion: v1\nitems:\n- {kind: A, apiVersion: v1}\n- {kind: B, apiVersion: v1}\n"
    assert [getattr(document, "positions", 0) for document in read_documents(text, "f")] == [None, None]
