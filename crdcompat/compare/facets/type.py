"""Types of fields (docs/semantics.md#types-and-numbers).

A change of type includes all differences below it: a list that became an object is not also a removal of items.
"""

from __future__ import annotations

from collections.abc import Iterator

from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Facet, explains_below
from crdcompat.compare.shapes import SHAPE_EFFECTS, shape_trials, shows_shape
from crdcompat.compare.site import Site
from crdcompat.schema.structural import Node

KEYWORDS = frozenset({"type", "x-kubernetes-int-or-string", "items"})
EFFECTS = {"type.changed": SHAPE_EFFECTS}


def changes(site: Site) -> Iterator[Change]:
    if site.reshaped:
        yield site.change("type.changed", _shown(site.old), _shown(site.new), "x-kubernetes-int-or-string", "type")


def _shown(node: Node) -> str | None:
    return "int-or-string" if node.int_or_string else node.type or None


FACET = Facet(KEYWORDS, EFFECTS, changes, shape_trials, shows_shape, explains=explains_below)
