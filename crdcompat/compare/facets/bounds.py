"""Bounds of numbers: minimum and maximum, inclusive or exclusive (rows 14 and 15 of reference section 13)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Facet, copy_from_new
from crdcompat.compare.limits import BOUNDS, limit_changes, limit_effects, limit_trials, range_of
from crdcompat.compare.site import ReaderVerdict, Site, Trials, WriterReader
from crdcompat.schema.paths import node_at
from crdcompat.schema.sample import numbers_between
from crdcompat.schema.structural import Node
from crdcompat.vocabulary import Direction, Effect

KEYWORDS = frozenset(BOUNDS)
EFFECTS = limit_effects("bounds")


def changes(site: Site) -> Iterator[Change]:
    return limit_changes(site, "bounds", BOUNDS)


def trials(change: Change, direction: Direction, pair: WriterReader) -> Trials:
    """Numbers just outside the reader's bounds and inside the writer's."""
    writer, reader = node_at(pair.writer.node, change.path), node_at(pair.reader.node, change.path)
    if writer is None or reader is None:
        return Trials(())
    return limit_trials(change, _numbers(writer, reader))


def shows(effect: Effect, observed: ReaderVerdict) -> bool:
    return observed.rejects()


def _numbers(writer: Node, reader: Node) -> Iterator[Any]:
    mine, theirs = range_of(writer, BOUNDS), range_of(reader, BOUNDS)
    whole = writer.type == "integer" or writer.int_or_string
    above = (theirs.high, min(mine.high, theirs.high + 1_000_000))
    below = (max(mine.low, theirs.low - 1_000_000), theirs.low)
    for (low, high), edge in ((above, theirs.high), (below, theirs.low)):
        if math.isfinite(low) and math.isfinite(high) and low <= high:
            # Numbers closest to the limit first: they show the reader where it is.
            found = list(numbers_between(low, high, writer, whole=whole))
            yield from sorted(found, key=lambda value: abs(value - edge))


FACET = Facet(KEYWORDS, EFFECTS, changes, trials, shows, widen=copy_from_new(KEYWORDS))
