"""Defaults of fields that both sides have (rows 52 to 54 of reference section 13).

The server writes defaults into the object at create, so they remain as data. On the other side it only matters whether
a default exists, not its value. If the other side's schema rejects the value, the facet of the rejecting keyword (enum,
bounds, pattern) reports it.
"""

from __future__ import annotations

from collections.abc import Iterator

from crdcompat.compare.changes import Change, identical, shown
from crdcompat.compare.facet import Effects, Facet, copy_from_new
from crdcompat.compare.site import ReaderVerdict, Site, Trial, Trials, WriterReader
from crdcompat.schema.structural import ABSENT
from crdcompat.vocabulary import Direction, Effect

KEYWORDS = frozenset({"default"})
EFFECTS = {
    "default.added": Effects(upgrade=(Effect.VALUE_DEFAULTED,)),
    "default.removed": Effects(rollback=(Effect.VALUE_DEFAULTED,)),
    "default.changed": Effects(),
}


def changes(site: Site) -> Iterator[Change]:
    old, new = site.old.default, site.new.default
    if identical(old, new):
        return
    kind = "default.added" if old is ABSENT else "default.removed" if new is ABSENT else "default.changed"
    yield site.change(kind, shown(old), shown(new), "default")


def trials(change: Change, direction: Direction, pair: WriterReader) -> Trials:
    """The parent object without the field."""
    return Trials((Trial(ABSENT, change.path),))


def shows(effect: Effect, observed: ReaderVerdict) -> bool:
    return observed.defaults()


FACET = Facet(KEYWORDS, EFFECTS, changes, trials, shows, widen=copy_from_new(KEYWORDS))
