"""multipleOf: a changed factor may reject numbers in both directions (docs/semantics.md#limits)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from crdcompat.apiserver.keywords import Keyword
from crdcompat.candidates.local import NodeJudge
from crdcompat.candidates.sample import number, values, whole_number
from crdcompat.candidates.small_values import every_value
from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Effects, Facet, breaks
from crdcompat.compare.limit_facets import BOUNDS, breaks_limits, limit_trials, may_be, range_of, without_numbers
from crdcompat.compare.site import Site, Trials, WriterReader
from crdcompat.compare.union import either
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
    writer, reader = pair.nodes(change.path)
    if writer is None or reader is None:
        return Trials(())
    no_numbers = without_numbers(writer, pair.writer) or without_numbers(reader, pair.reader)
    if no_numbers or not may_be(writer, "integer", "number") or _divides(reader, writer):
        return Trials((), complete=True)
    outside = breaks_limits(reader, KEYWORDS, pair.reader.server)
    allowed = NodeJudge(writer, pair.writer.server).accepts
    every = every_value(writer)
    candidates = every if every is not None else _multiples(writer)
    return limit_trials(change, (n for n in candidates if outside(n) and allowed(n)), complete=every is not None)


def _divides(reader: Node, writer: Node) -> bool:
    """Whether each multiple of the writer's factor is one of the reader's.

    For an integer, a server compares with the whole part of a factor; if that is 0, it rejects every integer.
    """
    if "multipleOf" not in reader.raw:
        return True
    theirs = number(reader.raw["multipleOf"], 0)
    mine = number(writer.raw.get("multipleOf"), 1 if writer.type == "integer" else 0)
    if not (0 < theirs < math.inf and 0 < mine < math.inf):
        return False
    whole = not int(mine) or (int(theirs) > 0 and int(mine) % int(theirs) == 0)
    return whole and (writer.type == "integer" or (Fraction(str(mine)) / Fraction(str(theirs))).denominator == 1)


def _multiples(writer: Node) -> Iterator[Any]:
    """Multiples of the writer's factor within its bounds, those near 0 and near the bounds first."""
    mine = range_of(writer, BOUNDS)
    step = number(writer.raw.get("multipleOf"), 0.5 if writer.type == "number" else 1) or 1
    for edge in (0, mine.low, mine.high):
        start = math.ceil(edge / step) if math.isfinite(edge / step) else 0
        near = filter(math.isfinite, (count * step for count in range(start - 4, start + 8)))
        for value in sorted(near, key=lambda value: (abs(value - start * step), value < 0)):
            yield whole_number(value) if value == int(value) else value
    yield from values(writer)


FACET = Facet(KEYWORDS, EFFECTS, changes, trials, breaks(Keyword.MULTIPLE_OF), widen=either(KEYWORDS))
