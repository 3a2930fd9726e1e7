"""Build whole custom resources around one value."""

from __future__ import annotations

from typing import Any

from crdcompat.apiserver.strategy import Resource
from crdcompat.candidates.sample import around, concrete, sample, values
from crdcompat.compare.resource_fields import OF_RESOURCES
from crdcompat.schema.paths import Object, SchemaPath, node_at, with_value
from crdcompat.schema.structural import ABSENT, Node

#: The usual names of singletons: CEL rules often require one of them.
_NAMES = ("example", "cluster", "default", "version", "instance")


def whole_object(resource: Resource, path: SchemaPath, value: Any, root: Node | None = None) -> Object | None:
    """A minimal object of ``resource`` with ``value`` at ``path``; None if none could be made.

    If ``value`` is ABSENT, the object has the field's parent but not the field. ``root`` is the schema that the rest of
    the object is made from, by default that of ``resource``.
    """
    root = root or resource.node
    if value is ABSENT:
        parent = node_at(root, path[:-1])
        bare = _object(parent) if parent is not None else ABSENT
        made = around(root, path[:-1], bare) if isinstance(bare, dict) else ABSENT
        made = with_value(made, concrete(path), ABSENT) if isinstance(made, dict) else made
    else:
        made = around(root, path, value) if path else value
    if not isinstance(made, dict):
        return None
    meta = made.get("metadata")
    meta = dict(meta) if isinstance(meta, dict) else {}
    if "name" not in meta:
        meta["name"] = _name(resource)
    if resource.crd.namespaced:
        meta.setdefault("namespace", "default")
    body = {name: member for name, member in made.items() if name not in OF_RESOURCES}
    return {"apiVersion": resource.api_version, "kind": resource.crd.kind, "metadata": meta, **body}


def _object(node: Node) -> Any:
    """A minimal object that ``node`` allows; ``{}`` if the node has no type."""
    return sample(node) if node.types else {}


def _name(resource: Resource) -> str:
    metadata = resource.node.properties.get("metadata")
    constrained = metadata.properties.get("name") if metadata is not None else None
    if constrained is None or not constrained.raw.keys() - {"type", "description"}:
        return _NAMES[0]
    made = sample(constrained)
    return made if isinstance(made, str) else next((n for n in values(constrained) if isinstance(n, str)), _NAMES[0])
