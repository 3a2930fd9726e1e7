"""Map types: how server-side apply merges an object. It affects no stored object (docs/semantics.md#list-types)."""

from __future__ import annotations

from collections.abc import Iterator

from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Effects, Facet
from crdcompat.compare.site import Site, Trials

_KEYWORD = "x-kubernetes-map-type"
KEYWORDS = frozenset({_KEYWORD})
EFFECTS = {"map-type.changed": Effects()}


def changes(site: Site) -> Iterator[Change]:
    old, new = (side.raw.get(_KEYWORD) for side in (site.old, site.new))
    if (old or "granular") != (new or "granular"):
        yield site.change("map-type.changed", old, new, _KEYWORD)


FACET = Facet(KEYWORDS, EFFECTS, changes, lambda *_: Trials(()), lambda *_: False)
