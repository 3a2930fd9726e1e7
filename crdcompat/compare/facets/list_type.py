"""List types: atomic, set or map (docs/semantics.md#list-types)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crdcompat.compare.changes import Change
from crdcompat.compare.duplicates import duplicate_trials, shows_duplicate
from crdcompat.compare.facet import Effects, Facet, copy_from_new
from crdcompat.compare.site import Site
from crdcompat.schema.structural import Node
from crdcompat.vocabulary import Effect

_KEYWORD = "x-kubernetes-list-type"
KEYWORDS = frozenset({_KEYWORD})
_REJECTED = (Effect.WRITE_REJECTED,)
EFFECTS = {
    "list-type.tightened": Effects(upgrade=_REJECTED),
    "list-type.loosened": Effects(rollback=_REJECTED),
    "list-type.changed": Effects(rollback=_REJECTED, upgrade=_REJECTED),
}


def changes(site: Site) -> Iterator[Change]:
    old, new = site.old, site.new
    if old.list_type == new.list_type:
        return
    kind = "list-type.changed"
    if old.list_type == "atomic":
        kind = "list-type.tightened"
    elif new.list_type == "atomic":
        kind = "list-type.loosened"
    yield site.change(kind, _shown(old), _shown(new), _KEYWORD)


def _shown(node: Node) -> Any:
    if node.list_type == "map":
        return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(node.list_keys)}
    return node.list_type


FACET = Facet(
    KEYWORDS,
    EFFECTS,
    changes,
    duplicate_trials,
    shows_duplicate,
    widen=copy_from_new((_KEYWORD, "x-kubernetes-list-map-keys")),
)
