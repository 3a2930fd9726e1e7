"""A move of the API server alone: both sides have the same CRDs, and only the server goes back (or on).

Every stored object was accepted by the server of the writing side. The other server can refuse it: servers differ in
ratcheting, the scope of writes to /status, formats, and functions of CEL rules.
"""

from __future__ import annotations

from crdcompat.apiserver.versions import NEWEST_SERVER, Server, known_server
from crdcompat.crds.reader import CrdSet


def has_same_crds(one: CrdSet, other: CrdSet) -> bool:
    """Whether two sets that one reader has read have the same CRDs."""
    return _schemas(one) == _schemas(other)


def writing_server(reader: CrdSet, writer: CrdSet) -> Server | None:
    """The server of the writing side; None if nothing names it.

    If the CRDs are the same, only a difference of the servers can reject a write. The newest server is then assumed,
    because it accepts most. If the judging server were assumed on both sides, no rejection would be new.
    """
    return known_server(writer) or (NEWEST_SERVER if has_same_crds(reader, writer) else None)


def server_note(reader: CrdSet, writer: CrdSet, judge: Server | None) -> str:
    """The change between sides with the same CRDs; "" for other sides, or if the judging server is not known."""
    judge = judge or known_server(reader)
    before = writing_server(reader, writer)
    if judge is None or before is None or not has_same_crds(reader, writer):
        return ""
    if judge == before:
        return f"both sides have the same CRDs and run on {judge}: nothing changes (--kube-version names another)"
    assumed = "" if known_server(writer) else f" ({before} is assumed: nothing names the server of {writer.name})"
    return f"both sides have the same CRDs, only the server changes: from {before} to {judge}{assumed}"


def _schemas(crds: CrdSet) -> frozenset[tuple[str, int]]:
    return frozenset((document.crd.name, id(document.crd.versions)) for document in crds.documents)
