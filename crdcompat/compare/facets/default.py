"""Defaults of fields that both sides have (docs/semantics.md#nulls-and-defaults).

The server writes defaults into the object at create, so they remain as data. Where both sides have a default, only
objects that were stored without the field, before it had one, read differently; no release writes such objects now. If
the other side's schema rejects a default, the facet of the rejecting keyword (enum, bounds, pattern) reports it.
"""

from __future__ import annotations

from collections.abc import Iterator

from crdcompat.compare.changes import Change, shown
from crdcompat.compare.facet import Effects, Facet, copy_from_new
from crdcompat.compare.site import Site, Trial, Trials, WriterReader
from crdcompat.schema.equality import identical
from crdcompat.schema.paths import ITEM, VALUE
from crdcompat.schema.structural import ABSENT
from crdcompat.vocabulary import Direction, Effect

KEYWORDS = frozenset({"default"})
EFFECTS = {
    "default.added": Effects(upgrade=(Effect.VALUE_DEFAULTED,)),
    "default.removed": Effects(rollback=(Effect.VALUE_DEFAULTED,)),
    "default.changed": Effects(rollback=(Effect.VALUE_DEFAULTED,), upgrade=(Effect.VALUE_DEFAULTED,)),
}

_STORED_EARLIER = "only an object that was stored before the field had a default shows it: a write stores the default"


def changes(site: Site) -> Iterator[Change]:
    old, new = site.old.default, site.new.default
    if identical(old, new):
        return
    kind = "default.added" if old is ABSENT else "default.removed" if new is ABSENT else "default.changed"
    yield site.change(kind, shown(old), shown(new), "default")


def trials(change: Change, direction: Direction, pair: WriterReader) -> Trials:
    """The parent object without the field."""
    if change.path[-1:] in ((), (ITEM,), (VALUE,)):
        return Trials((), complete=True)  # these defaults only replace a null, which the facet ``nullable`` judges
    if change.kind == "default.changed":
        return Trials((), why=_STORED_EARLIER)
    return Trials((Trial(ABSENT, change.path),), complete=True)


FACET = Facet(
    KEYWORDS, EFFECTS, changes, trials, lambda effect, observed: observed.defaults(), widen=copy_from_new(KEYWORDS)
)
