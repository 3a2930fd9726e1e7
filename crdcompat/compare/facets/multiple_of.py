"""multipleOf: a changed factor may reject numbers in both directions (row 22 of reference section 13)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Effects, Facet, drop_keywords
from crdcompat.compare.limits import BOUNDS, limit_trials, range_of
from crdcompat.compare.site import ReaderVerdict, Site, Trials, WriterReader
from crdcompat.schema.paths import node_at
from crdcompat.schema.sample import number, values, whole_number
from crdcompat.schema.structural import Node
from crdcompat.vocabulary import Direction, Effect

KEYWORDS = frozenset({"multipleOf"})
EFFECTS = {"multiple-of.changed": Effects(rollback=(Effect.WRITE_REJECTED,), upgrade=(Effect.WRITE_REJECTED,))}


def changes(site: Site) -> Iterator[Change]:
    old, new = site.old.raw.get("multipleOf"), site.new.raw.get("multipleOf")
    if old != new:
        yield site.change("multiple-of.changed", old, new, "multipleOf")


def trials(change: Change, direction: Direction, pair: WriterReader) -> Trials:
    """Multiples of the writer's factor that are not multiples of the reader's."""
    writer, reader = node_at(pair.writer.node, change.path), node_at(pair.reader.node, change.path)
    if writer is None or reader is None:
        return Trials(())
    return limit_trials(change, _multiples(writer, reader))


def shows(effect: Effect, observed: ReaderVerdict) -> bool:
    return observed.rejects()


def _multiples(writer: Node, reader: Node) -> Iterator[Any]:
    """Numbers within the writer's bounds that are multiples of its factor and not of the reader's."""
    mine, factor = range_of(writer, BOUNDS), number(reader.raw.get("multipleOf"), 1) or 1
    step = number(writer.raw.get("multipleOf"), 0.5 if writer.type == "number" else 1) or 1
    for edge in (0, mine.low, mine.high):
        start = math.ceil(edge / step) if math.isfinite(edge) else 0
        near = (count * step for count in range(start - 4, start + 8))
        for value in sorted(near, key=lambda value: (abs(value - start * step), value < 0)):
            if mine.low <= value <= mine.high and value % factor:
                yield whole_number(value) if value == int(value) else value
    yield from values(writer)


FACET = Facet(KEYWORDS, EFFECTS, changes, trials, shows, widen=drop_keywords(KEYWORDS))
