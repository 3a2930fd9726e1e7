"""Places in files of a real release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdcompat.sources import open_source
from crdcompat.yaml.documents import Document, read_documents
from crdcompat.yaml.locate import locate

if TYPE_CHECKING:
    from pathlib import Path


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
