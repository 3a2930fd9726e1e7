"""The keys of a list of type map: the members that identify an item (docs/semantics.md#list-types)."""

from __future__ import annotations

from collections.abc import Iterator

from crdcompat.compare.changes import Change
from crdcompat.compare.duplicates import duplicate_trials, shows_duplicate
from crdcompat.compare.facet import Effects, Facet, copy_from_new
from crdcompat.compare.site import Site
from crdcompat.vocabulary import Effect

_KEYWORD = "x-kubernetes-list-map-keys"
KEYWORDS = frozenset({_KEYWORD})
EFFECTS = {"list-keys.changed": Effects(rollback=(Effect.WRITE_REJECTED,), upgrade=(Effect.WRITE_REJECTED,))}


def changes(site: Site) -> Iterator[Change]:
    old, new = site.old, site.new
    if not old.list_type == new.list_type == "map":
        return
    if sorted(old.list_keys) != sorted(new.list_keys):
        yield site.change("list-keys.changed", list(old.list_keys), list(new.list_keys), _KEYWORD)


FACET = Facet(KEYWORDS, EFFECTS, changes, duplicate_trials, shows_duplicate, widen=copy_from_new(KEYWORDS))
