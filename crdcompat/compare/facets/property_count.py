"""Number of members of an object (docs/semantics.md#limits)."""

from __future__ import annotations

from crdcompat.candidates.sample import object_of_size
from crdcompat.compare.changes import Change
from crdcompat.compare.limit_facets import limit_facet, limit_trials, may_be, range_of, sizes_outside
from crdcompat.compare.site import Trials, WriterReader
from crdcompat.compare.union import looser
from crdcompat.schema.structural import Node
from crdcompat.vocabulary import Direction

_LIMITS = ("minProperties", "maxProperties")


def trials(change: Change, direction: Direction, pair: WriterReader) -> Trials:
    """Objects of sizes that the writer allows and the reader rejects."""
    writer, reader = pair.nodes(change.path)
    if writer is None or reader is None:
        return Trials(())
    if not may_be(writer, "object"):
        return Trials((), complete=True)
    least, most = _sizes_read(writer, reader)
    limits = range_of(reader, _LIMITS)
    if limits.low <= least and most <= limits.high:
        return Trials((), complete=True)
    sizes = sizes_outside(reader, writer, _LIMITS, added=len(_added(writer, reader)))
    return limit_trials(change, (object_of_size(writer, size) for size in sizes))


def _sizes_read(writer: Node, reader: Node) -> tuple[float, float]:
    """The least and the largest number of members that the reader may read in an object of the writer."""
    limits, added = range_of(writer, _LIMITS), _added(writer, reader)
    kept = {name for name, member in writer.properties.items() if _keeps(reader.properties.get(name), member)}
    always = len({*kept.intersection(writer.required), *reader.defaulted})
    if writer.additional or writer.preserve or writer.embedded or reader.embedded:
        return always, limits.high + len(added)
    least = max(always, limits.low) if len(kept) == len(writer.properties) else always
    return least, min(len(writer.properties.keys() | added), limits.high + len(added))


def _keeps(read: Node | None, written: Node) -> bool:
    """Whether the reader keeps each value of a member: it declares the member, and does not drop its null."""
    return read is not None and (read.nullable or not written.nullable)


def _added(writer: Node, reader: Node) -> set[str]:
    """The members that the reader adds by default where the writer does not."""
    return set(reader.defaulted) - set(writer.defaulted)


FACET = limit_facet("property-count", _LIMITS, trials, looser(*_LIMITS))
