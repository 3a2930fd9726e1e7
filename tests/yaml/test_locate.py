from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from operations import operations

from crdcompat.yaml.locate import locate

if TYPE_CHECKING:
    pass

TEXT = b"""\
# a comment
a:
  b: [x, y]
  on: 1
list:
- name: one
- name: two
  deep: {k: v, k: w}
---
second:
  1.5: x
"""


def test_places() -> None:
    expected = {
        (0, ()): (2, 1),
        (0, ("a",)): (2, 1),
        (0, ("a", "b")): (3, 3),
        (0, ("a", "b", 1)): (3, 10),
        (0, ("a", "true")): (4, 3),
        (0, ("list",)): (5, 1),
        (0, ("list", 0)): (6, 3),
        (0, ("list", 1, "deep", "k")): (8, 16),
        (1, ("second", "1.5")): (11, 3),
    }
    assert locate(TEXT, expected) == expected


def test_a_missing_tail_is_its_ancestor() -> None:
    wanted = [
        (0, ("a", "nothing", 3)),
        (0, ("list", 7)),
        (0, ("a", "b", "x")),
        (0, ("list", -1)),
        (0, ("x",)),
    ]
    assert list(locate(TEXT, wanted).values()) == [(2, 1), (5, 1), (3, 3), (5, 1), (2, 1)]


def test_documents_that_are_not_there() -> None:
    assert locate(TEXT, [(2, ()), (-1, ()), (99, ("a",))]) == {}
    assert locate(TEXT, []) == {}


def test_json_files() -> None:
    data = json.dumps({"a": {"b": [1, 2]}}, indent=2).encode()
    assert locate(data, [(0, ("a", "b", 1))]) == {(0, ("a", "b", 1)): (5, 7)}
    lines = b'{"a": 1}\n{"b": 2}\n'
    assert locate(lines, [(0, ("a",)), (1, ("b",))]) == {(0, ("a",)): (1, 2), (1, ("b",)): (2, 2)}


def test_broken_documents_are_left_out() -> None:
    data = b"a: 1\n---\nb: [\n---\nc:\n  d: 1\n"
    assert locate(data, [(0, ("a",)), (1, ("b",)), (2, ("c", "d"))]) == {
        (0, ("a",)): (1, 1),
        (2, ("c", "d")): (6, 3),
    }
    for junk in (b"\xff\xfea", b"{{", b"\x00", b""):
        assert locate(junk, [(0, ())]) == {}


def test_byte_order_mark_and_utf16() -> None:
    for encoding in ("utf-8-sig", "utf-16"):
        assert locate("x: 1\nü: {é: 2}\n".encode(encoding), [(0, ("ü", "é"))]) == {(0, ("ü", "é")): (2, 5)}


def test_aliases_lead_to_their_anchor_and_end() -> None:
    data = b"a: &a\n  b: {c: 1}\nd: *a\n"
    assert locate(data, [(0, ("d", "b", "c"))]) == {(0, ("d", "b", "c")): (2, 7)}
    loop = b"a: &a {b: *a}"
    assert locate(loop, [(0, ("a", *["b"] * 1000))])[0, ("a", *["b"] * 1000)] == (1, 8)
    bomb = "\n".join(["a0: &a0 [x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30))])
    pointer: tuple[Any, ...] = ("a29", *[9] * 29)
    with operations() as done:
        assert locate(bomb.encode(), [(0, pointer)]) == {(0, pointer): (1, 5)}
    assert done.calls < 20_000
    assert locate(b"[" * 100_000, [(0, ())]) == {}


def test_duplicate_anchors() -> None:
    assert locate(b"a: &x 1\nb: &x 2\nc: *x\n", [(0, ("c",))]) == {(0, ("c",)): (3, 1)}
