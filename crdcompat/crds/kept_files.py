"""The CRDs of files that an earlier run has read, by git's blob id: reading them again is a third of a second run.

Kept are files without a CRD, and files with CRDs whose values have known places, with the remarks about them: nothing
with a problem, and nothing that depends on the path of the file. What `ANSWERS` does not keep is read anew, with the
same result.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from crdcompat.crds.file import NO_CRD, CrdFile
from crdcompat.crds.kustomizations import is_kustomization_name
from crdcompat.crds.model import CrdDocument, read_crd
from crdcompat.errors import Problem, Skipped
from crdcompat.schema.answers import ANSWERS
from crdcompat.sources.blobs import blob_id, is_blob_id
from crdcompat.sources.tree import Entry
from crdcompat.yaml.positions import Positions

_TOPIC = "documents of a blob"


class _Kept(Struct, array_like=True, frozen=True):
    """One document: its index in the file, its data, and `Positions.to_bytes` of it."""

    index: int
    data: Any
    places: bytes


class _KeptFile(Struct, array_like=True, frozen=True):
    """The documents of a file, and the line and text of each remark."""

    documents: list[_Kept]
    remarks: list[tuple[int | None, str]] = []


def kept_file(entry: Entry) -> CrdFile | None:
    """What an earlier run read from this file; None if it has to be read."""
    if not ANSWERS.are_kept or entry.oid is None or not is_blob_id(entry.oid) or is_kustomization_name(entry.path):
        return None
    kept = ANSWERS.known(_TOPIC, entry.oid.encode(), _KeptFile)
    if kept is None:
        return None
    if not kept.documents:
        return _without_crd(entry)
    remarks = tuple(Problem(entry.path, line, text) for line, text in kept.remarks)
    return CrdFile(tuple(_document(each, entry) for each in kept.documents), remarks=remarks)


def keep_file(entry: Entry, data: bytes, file: CrdFile) -> None:
    """Keep for later runs what was read from the bytes of a file. Raises nothing."""
    if not ANSWERS.are_kept or entry.oid is None or not is_blob_id(entry.oid) or is_kustomization_name(entry.path):
        return
    if file not in (CrdFile(file.documents, remarks=file.remarks), _without_crd(entry)):
        return
    documents = [
        _Kept(each.index, each.crd.raw, each.positions.to_bytes())
        for each in file.documents
        if each.positions is not None and not each.pointer
    ]
    # A file of a working tree has the id of the blob that git made of it, and can have other bytes.
    if len(documents) == len(file.documents) and blob_id(data, like=entry.oid) == entry.oid:
        kept = _KeptFile(documents, [(each.line, each.message) for each in file.remarks])
        ANSWERS.keep(_TOPIC, entry.oid.encode(), kept, _KeptFile)


def _without_crd(entry: Entry) -> CrdFile:
    return CrdFile(skipped=(Skipped(entry.path, NO_CRD),))


def _document(kept: _Kept, entry: Entry) -> CrdDocument:
    return CrdDocument(read_crd(kept.data), entry.path, kept.index, (), entry.oid, Positions.from_bytes(kept.places))
