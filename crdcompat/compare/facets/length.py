"""Lengths of strings (docs/semantics.md#limits)."""

from __future__ import annotations

from collections.abc import Iterator

from crdcompat.apiserver.keywords import Keyword
from crdcompat.candidates import languages
from crdcompat.candidates.local import NodeJudge
from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Facet
from crdcompat.compare.limits import limit_changes, limit_effects, may_be
from crdcompat.compare.site import ReaderVerdict, Site, Trial, Trials, WriterReader
from crdcompat.compare.union import looser
from crdcompat.schema.paths import node_at
from crdcompat.vocabulary import Direction, Effect

_LIMITS = ("minLength", "maxLength")
KEYWORDS = frozenset(_LIMITS)
EFFECTS = limit_effects("length")


def changes(site: Site) -> Iterator[Change]:
    return limit_changes(site, "length", _LIMITS)


def trials(change: Change, direction: Direction, pair: WriterReader) -> Trials:
    """Strings that the writer accepts and the reader rejects."""
    writer, reader = node_at(pair.writer.node, change.path), node_at(pair.reader.node, change.path)
    if writer is None or reader is None:
        return Trials(())
    if not may_be(writer, "string"):
        return Trials((), complete=True)
    texts, complete = languages.strings_off_length(writer, reader, NodeJudge(writer, pair.writer.server).accepts)
    return Trials(tuple(Trial(text, change.path) for text in texts), complete=complete)


def shows(effect: Effect, observed: ReaderVerdict) -> bool:
    return observed.breaks(*map(Keyword, _LIMITS))


FACET = Facet(KEYWORDS, EFFECTS, changes, trials, shows, widen=looser(*_LIMITS))
