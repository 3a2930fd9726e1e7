"""Maps: objects with arbitrary keys, closed objects, plain objects (docs/semantics.md#pruning)."""

from __future__ import annotations

from collections.abc import Iterator

from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Facet, copy_from_new, explains_below
from crdcompat.compare.shapes import SHAPE_EFFECTS, shape_trials, shows_shape
from crdcompat.compare.site import Site
from crdcompat.schema.structural import Node

KEYWORDS = frozenset({"additionalProperties"})
EFFECTS = {"map.introduced": SHAPE_EFFECTS, "map.dropped": SHAPE_EFFECTS}


def changes(site: Site) -> Iterator[Change]:
    if site.reshaped or _form(site.old) == _form(site.new):
        return
    kind = "map.introduced" if site.new.additional is not None else "map.dropped"
    yield site.change(kind, _form(site.old), _form(site.new), "additionalProperties")


def _form(node: Node) -> str:
    """The kind of an object by its additionalProperties."""
    if isinstance(node.additional, Node):
        return "map"
    return {None: "object", True: "open map", False: "closed"}[node.additional]


FACET = Facet(
    KEYWORDS, EFFECTS, changes, shape_trials, shows_shape, widen=copy_from_new(KEYWORDS), explains=explains_below
)
