"""Bounds of numbers: minimum and maximum, inclusive or exclusive (rows 14 and 15 of reference section 13)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from crdcompat.apiserver.keywords import Keyword
from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Facet, copy_from_new
from crdcompat.compare.limits import BOUNDS, breaks_limits, limit_changes, limit_effects, limit_trials, may_be, range_of
from crdcompat.compare.local import NodeJudge
from crdcompat.compare.site import ReaderVerdict, Site, Trials, WriterReader
from crdcompat.compare.variants import every_value
from crdcompat.schema.paths import node_at
from crdcompat.schema.sample import numbers_between
from crdcompat.schema.structural import Node
from crdcompat.vocabulary import Direction, Effect

KEYWORDS = frozenset(BOUNDS)
EFFECTS = limit_effects("bounds")

#: Few enough integers to try all; the distance from a bound within which numbers are looked for.
_MAX_LISTED, _MAX_DISTANCE = 64, 1_000_000


def changes(site: Site) -> Iterator[Change]:
    return limit_changes(site, "bounds", BOUNDS)


def trials(change: Change, direction: Direction, pair: WriterReader) -> Trials:
    """Numbers just outside the reader's bounds and inside the writer's."""
    writer, reader = node_at(pair.writer.node, change.path), node_at(pair.reader.node, change.path)
    if writer is None or reader is None:
        return Trials(())
    if not may_be(writer, "integer", "number"):
        return Trials((), complete=True)
    outside = breaks_limits(reader, BOUNDS, pair.reader.server)
    allowed = NodeJudge(writer, pair.writer.server).accepts
    every = every_value(writer) or _all_outside(writer, reader)
    values = every if every is not None else _outside(writer, reader)
    return limit_trials(change, (n for n in values if outside(n) and allowed(n)), complete=every is not None)


def shows(effect: Effect, observed: ReaderVerdict) -> bool:
    return observed.breaks(*map(Keyword, BOUNDS))


def _spans(writer: Node, reader: Node) -> Iterator[tuple[float, float, float]]:
    """The ranges above and below the reader's bounds that the writer's bounds allow: ends, and the reader's bound."""
    mine, theirs = range_of(writer, BOUNDS), range_of(reader, BOUNDS)
    for low, high, edge in (
        (max(theirs.high, mine.low), mine.high, theirs.high),
        (mine.low, min(theirs.low, mine.high), theirs.low),
    ):
        if math.isfinite(edge) and low <= high:
            yield low, high, edge


def _all_outside(writer: Node, reader: Node) -> list[int] | None:
    """All integers outside the reader's bounds, if they are few; else None."""
    spans = list(_spans(writer, reader))
    if writer.type != "integer" or sum(high - low for low, high, _ in spans) > _MAX_LISTED:
        return None
    # A server compares an integer with the whole part of a bound.
    near = (n for low, high, _ in spans for n in range(math.floor(low) - 1, math.ceil(high) + 2))
    edges = [edge for *_, edge in spans]
    return sorted(near, key=lambda value: min(abs(value - edge) for edge in edges))


def _outside(writer: Node, reader: Node) -> Iterator[Any]:
    """Numbers outside the reader's bounds, those closest to a bound first: they show the user where it is."""
    whole = writer.type == "integer" or writer.int_or_string
    found: list[tuple[float, Any]] = []
    next_to: list[float] = []
    for low, high, edge in _spans(writer, reader):
        near = max(low, edge - _MAX_DISTANCE), min(high, edge + _MAX_DISTANCE)
        found += [(abs(n - edge), n) for n in numbers_between(*near, writer, whole=whole)]
        if not whole:
            next_to.append(math.nextafter(edge, math.inf if edge == low else -math.inf))
    yield from (n for _, n in sorted(found, key=lambda each: each[0]))
    yield from next_to


FACET = Facet(KEYWORDS, EFFECTS, changes, trials, shows, widen=copy_from_new(KEYWORDS))
