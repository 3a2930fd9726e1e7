from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from crdcompat.manifests.documents import Document, read_documents
from crdcompat.manifests.locate import locate
from crdcompat.sources import open_source

if TYPE_CHECKING:
    from pathlib import Path

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
    start = time.process_time()
    pointer: tuple[Any, ...] = ("a29", *[9] * 29)
    assert locate(bomb.encode(), [(0, pointer)]) == {(0, pointer): (1, 5)}
    assert time.process_time() - start < 1
    assert locate(b"[" * 100_000, [(0, ())]) == {}


def test_duplicate_anchors() -> None:
    assert locate(b"a: &x 1\nb: &x 2\nc: *x\n", [(0, ("c",))]) == {(0, ("c",)): (3, 1)}


def test_items_of_lists_are_found_by_their_document(openshift_api: Path) -> None:
    data = b"kind: List\nitems:\n- kind: A\n- kind: B\n  spec: {x: 1}\n"
    documents = [one for one in read_documents(data, "f") if isinstance(one, Document)]
    wanted = (documents[1].index, (*documents[1].pointer, "spec", "x"))
    assert locate(data, [wanted]) == {wanted: (5, 10)}


def test_every_enum_of_a_real_crd(openshift_api: Path) -> None:
    tree = open_source("release-4.14", repo=str(openshift_api))
    entries = [one for one in tree.entries() if one.path.endswith("clusterversion.crd.yaml")]
    ((_, data),) = tree.read(entries)
    (document,) = read_documents(data, "f")
    assert isinstance(document, Document)
    wanted = [(0, pointer) for pointer in enums(document.data, ())]
    found = locate(data, wanted)
    assert len(wanted) == len(found) > 5
    lines = data.decode().splitlines()
    for line, column in found.values():
        assert lines[line - 1][column - 1 :].startswith("enum:")


def enums(data: Any, at: tuple[str | int, ...]) -> list[tuple[str | int, ...]]:
    if isinstance(data, list):
        return [found for index, child in enumerate(data) for found in enums(child, (*at, index))]
    if not isinstance(data, dict):
        return []
    below = [found for key, child in data.items() for found in enums(child, (*at, key))]
    return [(*at, "enum"), *below] if isinstance(data.get("enum"), list) else below
