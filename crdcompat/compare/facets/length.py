"""Lengths of strings (rows 16 and 17 of reference section 13)."""

from __future__ import annotations

from collections.abc import Iterator

from crdcompat.compare import strings
from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Facet, as_new
from crdcompat.compare.limits import limit_changes, limit_effects
from crdcompat.compare.local import Alone
from crdcompat.compare.site import Meeting, Seen, Site, Trial, Trials
from crdcompat.schema.paths import node_at
from crdcompat.vocabulary import Direction, Effect

_LIMITS = ("minLength", "maxLength")
KEYWORDS = frozenset(_LIMITS)
EFFECTS = limit_effects("length")


def changes(site: Site) -> Iterator[Change]:
    return limit_changes(site, "length", _LIMITS)


def trials(change: Change, direction: Direction, meeting: Meeting) -> Trials:
    """Strings that the writer takes and the reader does not."""
    writer, reader = node_at(meeting.writer.node, change.path), node_at(meeting.reader.node, change.path)
    if writer is None or reader is None:
        return Trials(())
    texts, complete = strings.strings_outside(writer, reader, Alone(writer, meeting.writer.server).takes)
    return Trials(tuple(Trial(text, change.path) for text in texts), complete=complete)


def shows(effect: Effect, seen: Seen) -> bool:
    return seen.rejects()


FACET = Facet(KEYWORDS, EFFECTS, changes, trials, shows, widen=as_new(KEYWORDS))
