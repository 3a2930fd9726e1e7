"""The members that every resource has, whatever its schema says: ``apiVersion``, ``kind`` and ``metadata``.

A server never prunes them, and a resource of a CRD has the version that is written and the CRD's kind
(docs/semantics.md#pruning).
"""

from __future__ import annotations

from crdcompat.apiserver.strategy import Resource
from crdcompat.schema.paths import SchemaPath, node_at
from crdcompat.schema.structural import Node

OF_RESOURCES = frozenset({"apiVersion", "kind", "metadata"})


def is_resource(root: Node, path: SchemaPath) -> bool:
    """Whether values at ``path`` are resources: the object itself, or an embedded one."""
    return not path or ((node := node_at(root, path)) is not None and node.embedded)


def is_of_resource(root: Node, path: SchemaPath) -> bool:
    """Whether ``path`` is that of a member which a resource has without its schema."""
    return bool(path) and path[-1] in OF_RESOURCES and is_resource(root, path[:-1])


def type_at(resource: Resource, path: SchemaPath) -> str | None:
    """The one value at ``path`` in every object of ``resource``; None but for its own ``apiVersion`` and ``kind``."""
    fixed: dict[SchemaPath, str] = {("apiVersion",): resource.api_version, ("kind",): resource.crd.kind}
    return fixed.get(path)
