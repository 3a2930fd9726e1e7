"""Bounds of numbers: minimum and maximum, inclusive or exclusive (docs/semantics.md#limits)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from crdcompat.apiserver.formats import supported
from crdcompat.apiserver.limits import integer_range
from crdcompat.apiserver.server_versions import Server
from crdcompat.candidates.local import NodeJudge
from crdcompat.candidates.sample import numbers_between
from crdcompat.candidates.small_values import every_value
from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Widening
from crdcompat.compare.limit_facets import (
    BOUNDS,
    Range,
    breaks_limits,
    limit_facet,
    limit_trials,
    may_be,
    range_of,
    without_numbers,
)
from crdcompat.compare.site import Trials, WriterReader
from crdcompat.schema.paths import node_at, schema_pointer
from crdcompat.schema.structural import ABSENT, Node
from crdcompat.vocabulary import Direction

#: Few enough integers to try all; the distance from a bound within which numbers are looked for.
_MAX_LISTED, _MAX_DISTANCE = 64, 1_000_000


def trials(change: Change, direction: Direction, pair: WriterReader) -> Trials:
    """Numbers just outside the reader's bounds and inside the writer's."""
    writer, reader = pair.nodes(change.path)
    if writer is None or reader is None:
        return Trials(())
    no_numbers = without_numbers(writer, pair.writer) or without_numbers(reader, pair.reader)
    if no_numbers or not may_be(writer, "integer", "number"):
        return Trials((), complete=True)
    outside = breaks_limits(reader, BOUNDS, pair.reader.server)
    allowed = NodeJudge(writer, pair.writer.server).accepts
    spans = list(_spans(_range_on(writer, pair.writer.server), range_of(reader, BOUNDS)))
    every = every_value(writer) or _all_outside(writer, spans)
    values = every if every is not None else _outside(writer, spans)
    return limit_trials(change, (n for n in values if outside(n) and allowed(n)), complete=every is not None)


#: A range of numbers beyond a bound of the reader: its ends, and that bound.
_Span = tuple[float, float, float]


def _range_on(node: Node, server: Server) -> Range:
    """The range of a node's numbers on a server, which may check the range of the type, too."""
    found = range_of(node, BOUNDS)
    if node.type != "integer" or not supported(node.format or "int64", "integer", server):
        return found
    low, high = integer_range(node.format)
    return Range(max(found.low, low), min(found.high, high), found.open_low, found.open_high)


def _spans(mine: Range, theirs: Range) -> Iterator[_Span]:
    """The ranges above and below the reader's bounds that the writer's bounds allow."""
    for low, high, edge in (
        (max(theirs.high, mine.low), mine.high, theirs.high),
        (mine.low, min(theirs.low, mine.high), theirs.low),
    ):
        if math.isfinite(edge) and low <= high:
            yield low, high, edge


def _all_outside(writer: Node, spans: Sequence[_Span]) -> list[int] | None:
    """All integers outside the reader's bounds, if they are few; else None."""
    if writer.type != "integer" or sum(high - low for low, high, _ in spans) > _MAX_LISTED:
        return None
    # A server compares an integer with the whole part of a bound.
    near = (n for low, high, _ in spans for n in range(math.floor(low) - 1, math.ceil(high) + 2))
    edges = [edge for *_, edge in spans]
    return sorted(near, key=lambda value: min(abs(value - edge) for edge in edges))


def _outside(writer: Node, spans: Sequence[_Span]) -> Iterator[Any]:
    """Numbers outside the reader's bounds, those closest to a bound first: they show the user where it is."""
    whole = writer.type == "integer" or writer.int_or_string
    found: list[tuple[float, Any]] = []
    next_to: list[float] = []
    for low, high, edge in spans:
        near = max(low, edge - _MAX_DISTANCE), min(high, edge + _MAX_DISTANCE)
        found += [(abs(n - edge), n) for n in numbers_between(*near, writer, whole=whole)]
        if not whole:
            next_to.append(math.nextafter(edge, math.inf if edge == low else -math.inf))
    yield from (n for _, n in sorted(found, key=lambda each: each[0]))
    yield from next_to


def widen(change: Change, values: tuple[Any, ...], old: Node, new: Node) -> Iterator[Widening]:
    """NEW's minimum and maximum, each where NEW accepts more by it."""
    a, b = node_at(old, change.path), node_at(new, change.path)
    if a is None or b is None:
        return
    before, after = range_of(a, BOUNDS), range_of(b, BOUNDS)
    ends = (
        (BOUNDS[0::2], min, (before.low, before.open_low), (after.low, after.open_low)),
        (BOUNDS[1::2], max, (-before.high, before.open_high), (-after.high, after.open_high)),
    )
    for (limit, flag), pick, mine, theirs in ends:
        if theirs < mine:
            yield Widening(schema_pointer(change.path), limit, b.raw.get(limit, ABSENT), pick)
            if a.raw.get(flag) != b.raw.get(flag):
                yield Widening(schema_pointer(change.path), flag, b.raw.get(flag, ABSENT))


FACET = limit_facet("bounds", BOUNDS, trials, widen)
