"""The fast reader of plain block style: it reads as libyaml does, or not at all."""

from __future__ import annotations

import os
import random
from typing import Any

import pytest
from yaml_readers import by_block, by_libyaml, differing

from crdcompat.yaml import block, streams
from crdcompat.yaml.documents import Document, read_documents

CASES = int(os.environ.get("CRDCOMPAT_FUZZ", "2000"))

#: Everything that plain block style has.
WHOLE = rb"""---
# Source: of a tool

   # indented
apiVersion: example.com/v1
kind: Widget
metadata:
  # of a member
  annotations:
    note: |
      {"a": 1}

       indented
    strip: |-
      text
    spaced: |2-
        two more
      than this

    spaces: |3
        one more
    keep: |+
      text


    apostrophes: 'it''s: #1
      folded

      and broken'
    quotes: "tab\tbreak\n\
      \ joined, \\ folded
      \"here\""
  managedFields:
  - fieldsV1:
      f:metadata:
        f:labels:
          .: {}
          k:{"type":"Ready","name":"a"}: {}
    empty: []
spec:
  list:
# of an item

    - one
    # of the next one
    -   two: 2
        three:
        - 3
        - - nested
    - plain scalar
        that goes on
  numbers: []
  whole: 1.0
  octal: 010
  float: 1.5e-3
  null-word: ~
  nothing:
  bool: yes
  time: 12:30:45
  url: http://x.example/a#b?c=:d
  colon: :5000
  minus: -x
  unicode: caf\xc3\xa9
   # the end
"""
NESTED_LIST = b"        - - nested\n"

OTHER = {
    "an anchor": b"a: &x 1\n",
    "an alias": b"a: *x\n",
    "a tag": b"a: !!str 1\n",
    "a comment": b"a: 1 # one\n",
    "a comment in a scalar": b"a: b\n  # one\n  c\n",
    "a comment before more of a scalar": b"a: b\n# one\n  c\n",
    "a blank line in a scalar": b"a: b\n\n  c\n",
    "a comment before the text of a block": b"a: |\n# one\n  b\n",
    "flow style": b"a: {b: c}\n",
    "a folded block": b"a: >\n  b\n",
    "a block with no indent": b"a: |0\n  b\n",
    "a block with a larger indent": b"a: |3\n  b\n",
    "a block with an indent behind": b"a: |-2\n  b\n",
    "a block with another digit": "a: |\u0662\n  b\n".encode(),
    "a duplicate key": b"a: 1\na: 2\n",
    "a merge": b"<<: a\n",
    "a key that is a boolean": b"y: 1\n",
    "a key that is a number": b"1: 1\n",
    "a number beyond int64": b"a: 9223372036854775808\n",
    "infinity": b"a: .inf\n",
    "a tab": b"a:\tb\n",
    "a line break of Unicode": "a: b\u2028c\n".encode(),
    "a carriage return": b"a: b\r\n",
    "text that is not UTF-8": b"a: \xff\n",
    "no line break at the end": b"a: b",
    "a list at the top": b"- a\n",
    "a scalar at the top": b"a\n",
    "two documents": b"a: 1\n---\na: 2\n",
    "a document end": b"a: 1\n...\n",
    "a dash alone": b"a:\n-\n  b: c\n",
    "a wrong indent": b"a:\n    b: 1\n  c: 2\n",
    "a value and a map": b"a: 1\n  b: 2\n",
    "an open quote": b"a: 'b\n",
    "text after a quote": b"a: 'b' c\n",
    "an unknown escape": b'a: "\\x41"\n',
    "nothing": b"\n",
    "comments alone": b"---\n# one\n",
    "a marker alone": b"---\n",
    "deep nesting": b"".join(b" " * n + b"a:\n" for n in range(300)),
}  # fmt: skip


def test_everything_that_plain_block_style_has() -> None:
    text = WHOLE.replace(rb"caf\xc3\xa9", "café".encode()).replace(NESTED_LIST, b"")
    found = by_block(text)
    assert found is not None
    assert found == by_libyaml(text)


@pytest.mark.parametrize("text", OTHER.values(), ids=OTHER)
def test_another_style_is_left_to_libyaml(text: bytes) -> None:
    assert by_block(text) is None


@pytest.mark.parametrize(
    "text",
    [
        b'a: "x' + b" " * 100_000 + b'y"\n',
        b"a: 'x" + b" " * 100_000 + b"y'\n",
        b'a: "' + b"\\ " * 50_000 + b'y"\n',
        b"a: x" + b" " * 100_000 + b"y\n",
        b"a" * 100_000 + b": x\n",
        b"a: '" + b"''" * 50_000 + b"\n",
        b"a: " + b": " * 50_000 + b"\n",
        b"a:b" * 50_000 + b": x\n",
    ],
)
def test_long_lines_are_read_in_linear_time(text: bytes) -> None:
    """A quadratic expression would take minutes."""
    found = by_block(text)
    assert found is None or found == by_libyaml(text)


def test_a_list_in_a_list_is_left_to_libyaml() -> None:
    assert by_block(b"a:\n" + NESTED_LIST) is None


def test_a_text_of_very_many_lines_is_left_to_libyaml(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block, "_MAX_LINES", 3)
    assert by_block(b"a:\n- 1\n- 2\n") is not None
    assert by_block(b"a:\n- 1\n- 2\n- 3\n") is None


def test_documents_of_a_stream_have_the_lines_of_the_stream() -> None:
    found = list(read_documents(b"a: 1\n---\nb:\n- c: 2\n", "x.yaml"))
    assert [(each.index, each.line, each.data) for each in found if isinstance(each, Document)] == [
        (0, 1, {"a": 1}),
        (1, 3, {"b": [{"c": 2}]}),
    ]
    last = found[1]
    assert isinstance(last, Document)
    assert last.positions is not None
    assert last.positions.find(last.data, [("b", 0, "c")]) == {("b", 0, "c"): (4, 3)}


def test_streams_with_comments_are_read_alike() -> None:
    pieces = [
        b"# a\n",
        b"\n",
        b"  \n",
        b"   # b\n",
        b"a: 1\n",
        b"b:\n- c\n",
        b"---\n",
        b"---\n",
        b"--- \n",
        b"%X 1\n",
        b"...\n",
    ]
    rng, read = random.Random(3), 0
    for _ in range(CASES):
        text = b"".join(rng.choices(pieces, k=rng.randint(1, 7)))
        try:
            right = [_plain(each) for each in streams._read_stream(text, streams._documents)]
        except streams.Fault:
            right = []
        found = [_plain(each) for each in streams._blocks(text, None)]
        assert found in ([], right), text
        read += bool(found)
    assert read > CASES // 10


def _plain(found: streams.Parsed | streams.Fault) -> tuple[int | None, Any]:
    return found.line, found.data if isinstance(found, streams.Parsed) else found.message


def test_mutations_are_read_alike() -> None:
    wrong, read = differing([WHOLE.replace(NESTED_LIST, b"")], random.Random(5), CASES)
    assert wrong == []
    assert read > CASES // 40
