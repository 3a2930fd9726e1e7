"""How many members an object has (rows 18 to 21 of reference section 13)."""

from __future__ import annotations

from collections.abc import Iterator

from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Facet, as_new
from crdcompat.compare.limits import limit_changes, limit_effects, limit_trials, sizes_outside
from crdcompat.compare.site import Meeting, Seen, Site, Trials
from crdcompat.schema.paths import node_at
from crdcompat.schema.sample import object_of_size
from crdcompat.vocabulary import Direction, Effect

_LIMITS = ("minProperties", "maxProperties")
KEYWORDS = frozenset(_LIMITS)
EFFECTS = limit_effects("property-count")


def changes(site: Site) -> Iterator[Change]:
    return limit_changes(site, "property-count", _LIMITS)


def trials(change: Change, direction: Direction, meeting: Meeting) -> Trials:
    """Objects of a size that the writer allows and the reader does not."""
    writer, reader = node_at(meeting.writer.node, change.path), node_at(meeting.reader.node, change.path)
    if writer is None or reader is None:
        return Trials(())
    return limit_trials(change, (object_of_size(writer, size) for size in sizes_outside(reader, writer, _LIMITS)))


def shows(effect: Effect, seen: Seen) -> bool:
    return seen.rejects()


FACET = Facet(KEYWORDS, EFFECTS, changes, trials, shows, widen=as_new(KEYWORDS))
