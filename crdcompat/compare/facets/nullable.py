"""Nullable: stored nulls under a schema that does not allow them (docs/semantics.md#nulls-and-defaults).

The server drops a null member of an object, or replaces it by the default; ``required`` applies after that. A list
keeps its null item, which then fails validation of its type.
"""

from __future__ import annotations

from collections.abc import Iterator

from crdcompat.apiserver.keywords import Keyword
from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Effects, Facet, copy_from_new
from crdcompat.compare.site import ReaderVerdict, Site, Trial, Trials, WriterReader
from crdcompat.vocabulary import Direction, Effect

KEYWORDS = frozenset({"nullable"})
_ANY = (Effect.WRITE_REJECTED, Effect.VALUE_DEFAULTED, Effect.VALUE_PRUNED)
EFFECTS = {
    "nullable.added": Effects(rollback=_ANY),
    "nullable.removed": Effects(upgrade=_ANY),
}


def changes(site: Site) -> Iterator[Change]:
    if site.old.nullable == site.new.nullable:
        return
    kind = "nullable.added" if site.new.nullable else "nullable.removed"
    yield site.change(kind, site.old.nullable, site.new.nullable, "nullable")


def trials(change: Change, direction: Direction, pair: WriterReader) -> Trials:
    """The null itself."""
    return Trials((Trial(None, change.path),), complete=True)


def shows(effect: Effect, observed: ReaderVerdict) -> bool:
    if effect == Effect.WRITE_REJECTED:
        return observed.breaks(Keyword.TYPE, Keyword.REQUIRED)
    return observed.defaults() if effect == Effect.VALUE_DEFAULTED else observed.loses()


FACET = Facet(KEYWORDS, EFFECTS, changes, trials, shows, widen=copy_from_new(KEYWORDS))
