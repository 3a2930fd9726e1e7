"""The members that every resource has, whatever its schema says: ``apiVersion``, ``kind`` and ``metadata``.

A server never prunes them, and a resource of a CRD has the version that is written and the CRD's kind
(docs/semantics.md#pruning).
"""

from __future__ import annotations

from crdcompat.compare.changes import Change
from crdcompat.compare.site import Trial, Trials, WriterReader
from crdcompat.schema.paths import SchemaPath, node_at
from crdcompat.schema.structural import ABSENT, Node

OF_RESOURCES = frozenset({"apiVersion", "kind", "metadata"})


def is_resource(root: Node, path: SchemaPath) -> bool:
    """Whether values at ``path`` are resources: the object itself, or an embedded one."""
    return not path or ((node := node_at(root, path)) is not None and node.embedded)


def trials_of_type(change: Change, pair: WriterReader) -> Trials | None:
    """The only trial of a constraint on ``apiVersion`` or ``kind`` of the resource, whose value no object chooses."""
    fixed: dict[SchemaPath, str] = {("apiVersion",): pair.writer.api_version, ("kind",): pair.writer.crd.kind}
    if (value := fixed.get(change.path)) is None:
        return None
    label = value if value in (*change.added, *change.removed) else ABSENT
    return Trials((Trial(value, change.path, label),), complete=True)
