"""Lengths of strings (docs/semantics.md#limits)."""

from __future__ import annotations

from crdcompat.candidates import languages
from crdcompat.candidates.local import NodeJudge
from crdcompat.compare.changes import Change
from crdcompat.compare.limit_facets import limit_facet, may_be
from crdcompat.compare.site import Trial, Trials, WriterReader
from crdcompat.compare.union import looser
from crdcompat.vocabulary import Direction

_LIMITS = ("minLength", "maxLength")


def trials(change: Change, direction: Direction, pair: WriterReader) -> Trials:
    """Strings that the writer accepts and the reader rejects."""
    writer, reader = pair.nodes(change.path)
    if writer is None or reader is None:
        return Trials(())
    if not may_be(writer, "string"):
        return Trials((), complete=True)
    texts, complete = languages.strings_off_length(writer, reader, NodeJudge(writer, pair.writer.server).accepts)
    return Trials(tuple(Trial(text, change.path) for text in texts), complete=complete)


FACET = limit_facet("length", _LIMITS, trials, looser(*_LIMITS))
