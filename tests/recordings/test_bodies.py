"""Recorded objects of kinds that no release has: what is left of their YAML, and what is read as a whole."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable

import pytest
from yaml_readers import mutated

from crdcompat.errors import Problem
from crdcompat.recordings.bodies import reducer
from crdcompat.yaml.documents import Document, read_documents

CASES = int(os.environ.get("CRDCOMPAT_FUZZ", "2000"))
KINDS = {("example.com", "Widget")}
reduce = reducer(KINDS)

POD = b"""---
apiVersion: v1
kind: Pod
metadata:
  annotations:
    note: |
      kind: Widget

      text
  managedFields:
  - apiVersion: v1
    fieldsV1: {}
  name: a
  namespace: b
  uid: 1-2-3-4-5
spec:
  containers:
  - args:
    - -v
    name: c
status:
- 1

- 2
"""
LIST = b"""apiVersion: apps/v1
items:
- apiVersion: apps/v1
  kind: ReplicaSet
  metadata:
    labels:
      uid: x
    name: a
    namespace: b
    uid: 1-2-3-4-5
  spec:
    uid: y
    list:
    - 1
- apiVersion: apps/v1
  kind: ReplicaSet
  metadata:
    name: c
    uid: 1-2-3-4-6
  status:
  - 1
kind: ReplicaSetList
metadata:
  continue: ""
"""
UNTYPED = LIST.replace(b"- apiVersion: apps/v1\n  kind: ReplicaSet\n  metadata", b"- metadata")
#: libyaml reads a stream with an empty line between keys.
PLAIN = POD.replace(b"- 1\n\n- 2", b"- 1\n- 2")
WIDGET = PLAIN.replace(b"apiVersion: v1\nkind: Pod", b"apiVersion: example.com/v1\nkind: Widget")
MIXED = LIST.replace(
    b"""apps/v1
  kind: ReplicaSet
  metadata:
    name: c""",
    b"""example.com/v1
  kind: Widget
  metadata:
    name: c""",
)


def read(text: bytes, *, whole: bool = False) -> list[Document | Problem]:
    return list(read_documents(text, "f.yaml", empty_lists=True, reduce=None if whole else reduce))


def data(items: Iterable[Document | Problem]) -> list[object]:
    return [item.data if isinstance(item, Document) else item for item in items]


def test_an_object_keeps_its_type_and_identity() -> None:
    metadata = {"name": "a", "namespace": "b", "uid": "1-2-3-4-5"}
    assert data(read(POD)) == [{"apiVersion": "v1", "kind": "Pod", "metadata": metadata}]


def test_so_does_each_item_of_a_list() -> None:
    one, two = {"name": "a", "namespace": "b", "uid": "1-2-3-4-5"}, {"name": "c", "uid": "1-2-3-4-6"}
    wanted = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata} for metadata in (one, two)]
    assert data(read(LIST)) == wanted
    assert data(read(UNTYPED)) == wanted
    assert [item.pointer for item in read(LIST) if isinstance(item, Document)] == [("items", 0), ("items", 1)]


def test_each_document_of_a_stream_is_reduced_for_itself() -> None:
    pod, widget, last = read(POD + WIDGET + POD)
    assert data([pod, last]) == data(read(POD)) * 2
    assert data([widget]) == data(read(WIDGET, whole=True))
    assert isinstance(last, Document)
    assert (last.index, last.line) == (2, (POD + WIDGET).count(b"\n") + 2)


@pytest.mark.parametrize(
    "text",
    [
        WIDGET,
        MIXED,
        LIST.replace(b"ReplicaSetList", b"WidgetList").replace(b"apps/v1", b"example.com/v1"),
        UNTYPED.replace(b"ReplicaSetList", b"WidgetList").replace(b"apps/v1", b"example.com/v1"),
        # The content identifies an object without a uid.
        POD.replace(b"  uid: 1-2-3-4-5\n", b""),
        POD.replace(b"1-2-3-4-5", b"12"),
        POD.replace(b"1-2-3-4-5", b"2026-01-01"),
        LIST.replace(b"    uid: 1-2-3-4-6\n", b""),
        # CRDs, and the facts of a cluster and of a recording.
        POD.replace(b": v1\nkind: Pod", b": apiextensions.k8s.io/v1\nkind: CustomResourceDefinition"),
        POD.replace(b": v1\nkind: Pod", b": config.openshift.io/v1\nkind: ClusterVersion"),
        POD.replace(b": v1\nkind: Pod", b": config.openshift.io/v1\nkind: Infrastructure"),
        POD.replace(b": v1\nkind: Pod", b": crdcompat.dev/v1\nkind: ClusterRecording"),
        # Types that a path gives, or that are written in another way.
        POD.replace(b"kind: Pod\n", b""),
        POD.replace(b"kind: Pod\n", b'"kind": Pod\n'),
        POD.replace(b"kind: Pod\n", b'kind: "Pod"\n'),
        UNTYPED.replace(b"ReplicaSetList", b"List"),
        LIST.replace(b"  kind: ReplicaSet\n", b"", 1),
        # Lists in lists, items further to the right, and items in flow style.
        LIST.replace(b"kind: ReplicaSet\n", b"kind: ReplicaSetList\n", 1),
        POD.replace(b"kind: Pod", b"kind: PodList"),
        b"apiVersion: v1\nkind: List\nitems:\n  - apiVersion: v1\n    kind: Pod\n    spec: 1\n",
        b"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {uid: 1}}\n",
        # A body that is not below its key.
        POD.replace(b"spec:\n", b'spec: "\nkind: Widget\n"\nstatus:\n', 1),
        POD.replace(b"spec:\n", b"#\nspec:\n").replace(b"status:\n", b"? status\n: \n"),
        b"",
        b"- 1\n",
    ],
)  # fmt: skip
def test_others_are_read_as_a_whole(text: bytes) -> None:
    assert data(read(text)) == data(read(text, whole=True))


def test_a_fault_in_a_body_that_is_not_read_is_not_noticed() -> None:
    broken = POD + b"  - x: [\n"
    assert [type(item) for item in read(broken, whole=True)] == [Problem]
    assert data(read(broken)) == data(read(POD))
    (problem,) = read(WIDGET + b"  - x: [\n")
    assert isinstance(problem, Problem)


def test_mutations_change_no_object_that_a_release_judges() -> None:
    texts = [POD, LIST, UNTYPED, WIDGET, MIXED, POD + WIDGET, LIST + b"---\n" + MIXED]
    rng, reduced = random.Random(11), 0
    for _ in range(CASES):
        text = mutated(rng.choice(texts), rng)
        whole, short = read(text, whole=True), read(text)
        if any(isinstance(item, Problem) for item in whole):
            assert judged(whole) <= judged(short), text
            continue
        assert [identity(item) for item in whole] == [identity(item) for item in short], text
        assert judged(whole) == judged(short), text
        reduced += whole != short
    assert reduced > CASES // 20


def judged(items: Iterable[Document | Problem]) -> set[str]:
    """The objects of kinds that are read as a whole."""
    found = (item.data for item in items if isinstance(item, Document) and isinstance(item.data, dict))
    return {repr(one) for one in found if (str(one.get("apiVersion")).rpartition("/")[0], one.get("kind")) in KINDS}


def identity(item: Document | Problem) -> object:
    """The type and the identity of an object; the whole of it if it has no uid."""
    assert isinstance(item, Document)
    whole = repr(item.data)
    if not isinstance(item.data, dict):
        return whole
    meta = item.data.get("metadata")
    meta = meta if isinstance(meta, dict) else {}
    parts = (item.data.get("apiVersion"), item.data.get("kind"), meta.get("namespace"), meta.get("name"))
    return (*map(repr, parts), meta["uid"] if isinstance(meta.get("uid"), str) else whole)
