"""Number of items in a list (docs/semantics.md#limits)."""

from __future__ import annotations

from crdcompat.candidates.valid_lists import list_of
from crdcompat.compare.changes import Change
from crdcompat.compare.intersection import intersection
from crdcompat.compare.limit_facets import limit_facet, limit_trials, may_be, sizes_outside
from crdcompat.compare.site import Trials, WriterReader
from crdcompat.compare.union import looser
from crdcompat.compare.valid_values import ValidValues
from crdcompat.vocabulary import Direction

_LIMITS = ("minItems", "maxItems")


def trials(change: Change, direction: Direction, pair: WriterReader) -> Trials:
    """Lists of sizes that the writer allows and the reader rejects."""
    writer, reader = pair.nodes(change.path)
    if writer is None or reader is None:
        return Trials(())
    if not may_be(writer, "array"):
        return Trials((), complete=True)
    made_of = intersection(writer, reader, pair.writer.server), writer
    made = ValidValues(pair.writer.server)
    sizes = sizes_outside(reader, writer, _LIMITS)
    return limit_trials(change, (list_of(node, size, made) for size in sizes for node in made_of))


FACET = limit_facet("item-count", _LIMITS, trials, looser(*_LIMITS))
