"""A move of the API server alone: both sides have the same CRDs, and only the server is rolled back or upgraded.

The server of the writing side accepted every stored object. The other server can refuse it: servers differ in
ratcheting, the scope of writes to /status, formats, and functions of CEL rules.
"""

from __future__ import annotations

from crdcompat.apiserver.supported.ranges import judging_server
from crdcompat.apiserver.versions import NEWEST_SERVER, Server, known_server
from crdcompat.crds.reader import CrdSet


def has_same_crds(one: CrdSet, other: CrdSet) -> bool:
    """Whether two sets have the same CRDs. The same reader must have read both."""
    return _schemas(one) == _schemas(other)


def writing_server(reader: CrdSet, writer: CrdSet) -> Server | None:
    """The server of the writing side; None if nothing names it. In a range of supported servers it is the judging one.

    If the CRDs are the same, only a difference between the servers can cause a rejection. Then the result is the newest
    server, because it accepts most. With the judging server on both sides, no rejection would be new.
    """
    if (known := known_server(writer) or (judging_server(reader) if reader.supported else None)) is not None:
        return known
    return NEWEST_SERVER if has_same_crds(reader, writer) else None


def server_note(reader: CrdSet, writer: CrdSet, judge: Server | None) -> str:
    """A note on the change of the server; "" if the CRDs differ, or the judging server is unknown."""
    judge = judge or judging_server(reader)
    before = writing_server(reader, writer)
    if judge is None or before is None or not has_same_crds(reader, writer):
        return ""
    if judge == before:
        return f"both sides have the same CRDs and run on {judge}: nothing changes (--kube-version names another)"
    assumed = "" if known_server(writer) else f" ({before} is assumed: nothing names the server of {writer.name})"
    return f"both sides have the same CRDs, only the server changes: from {before} to {judge}{assumed}"


def _schemas(crds: CrdSet) -> frozenset[tuple[str, int]]:
    return frozenset((document.crd.name, id(document.crd.versions)) for document in crds.documents)
