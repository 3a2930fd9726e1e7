"""Limits on numbers, lengths and counts: loosened ones hurt on rollback, tightened ones on upgrade (rows 14 to 22)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

from crdcompat.compare import strings
from crdcompat.compare.changes import Change
from crdcompat.compare.local import Alone
from crdcompat.compare.site import WRITE_REJECTED, Effects, Meeting, Seen, Site, Trial, Trials
from crdcompat.records import dataclass
from crdcompat.schema.numerals import numbers_between, whole_number
from crdcompat.schema.paths import node_at
from crdcompat.schema.sample import list_of_size, object_of_size, values
from crdcompat.schema.structural import ABSENT, Node

_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_KEYWORDS = {
    "bounds": _BOUNDS,
    "length": ("minLength", "maxLength"),
    "item-count": ("minItems", "maxItems"),
    "property-count": ("minProperties", "maxProperties"),
}
KEYWORDS = frozenset(keyword for keywords in _KEYWORDS.values() for keyword in keywords) | {"multipleOf"}
_LOOSENED, _TIGHTENED = Effects(rollback=(WRITE_REJECTED,)), Effects(upgrade=(WRITE_REJECTED,))
EFFECTS = {
    **{f"{what}.loosened": _LOOSENED for what in _KEYWORDS},
    **{f"{what}.tightened": _TIGHTENED for what in _KEYWORDS},
    "multiple-of.changed": Effects(rollback=(WRITE_REJECTED,), upgrade=(WRITE_REJECTED,)),
}
_MOST = 3
_LONGEST = 10_000


@dataclass(frozen=True, slots=True)
class _Range:
    """From ``low`` to ``high``, ends included unless said otherwise."""

    low: float
    high: float
    open_low: bool = False
    open_high: bool = False

    def holds_all_of(self, other: _Range) -> bool:
        low = self.low < other.low or (self.low == other.low and (not self.open_low or other.open_low))
        high = self.high > other.high or (self.high == other.high and (not self.open_high or other.open_high))
        return low and high


def changes(site: Site) -> Iterator[Change]:
    if site.in_junctor:
        return
    said = site.old.raw.keys() | site.new.raw.keys()
    for what, keywords in _KEYWORDS.items():
        if said.isdisjoint(keywords):
            continue
        old, new = _range(site.old, what), _range(site.new, what)
        if old == new:
            continue
        before, after = (_given(side, keywords) for side in (site.old, site.new))
        if not old.holds_all_of(new):
            yield site.change(f"{what}.loosened", before, after, *keywords)
        if not new.holds_all_of(old):
            yield site.change(f"{what}.tightened", before, after, *keywords)
    old_factor, new_factor = site.old.raw.get("multipleOf"), site.new.raw.get("multipleOf")
    if old_factor != new_factor:
        yield site.change("multiple-of.changed", old_factor, new_factor, "multipleOf")


def _given(node: Node, keywords: tuple[str, ...]) -> dict[str, Any] | None:
    return {key: node.raw[key] for key in keywords if key in node.raw} or None


def trials(change: Change, direction: str, meeting: Meeting) -> Trials:
    """Values just outside the reader's limits that the writer's allow."""
    writer, reader = node_at(meeting.writer.node, change.path), node_at(meeting.reader.node, change.path)
    if writer is None or reader is None:
        return Trials(())
    what = change.kind.partition(".")[0]
    if what == "length":
        texts, complete = strings.strings_outside(writer, reader, Alone(writer, meeting.writer.server).takes)
        return Trials(tuple(Trial(text, change.path) for text in texts), complete=complete)
    makers = {"bounds": _numbers, "item-count": _lists, "property-count": _objects, "multiple-of": _multiples}
    made = {repr(value): value for value in islice(makers[what](writer, reader), 2 * _MOST) if value is not ABSENT}
    return Trials(tuple(Trial(value, change.path) for value in made.values()))


def shows(effect: str, seen: Seen) -> bool:
    return seen.rejects()


def _range(node: Node, what: str) -> _Range:
    low, high, *exclusive = _KEYWORDS[what]
    flags = [node.raw.get(keyword) is True for keyword in exclusive]
    return _Range(_number(node.raw.get(low), -math.inf), _number(node.raw.get(high), math.inf), *flags)


def _number(value: Any, otherwise: float) -> float:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else otherwise


def _numbers(writer: Node, reader: Node) -> Iterator[Any]:
    mine, theirs = _range(writer, "bounds"), _range(reader, "bounds")
    whole = writer.type == "integer" or writer.int_or_string
    above = (theirs.high, min(mine.high, theirs.high + 1_000_000))
    below = (max(mine.low, theirs.low - 1_000_000), theirs.low)
    for (low, high), edge in ((above, theirs.high), (below, theirs.low)):
        if math.isfinite(low) and math.isfinite(high) and low <= high:
            # What is only just outside comes first: it says where the limit is.
            found = list(numbers_between(low, high, writer, whole=whole))
            yield from sorted(found, key=lambda value: abs(value - edge))


def _multiples(writer: Node, reader: Node) -> Iterator[Any]:
    """Numbers within the writer's bounds that are multiples of its factor and not of the reader's."""
    mine, factor = _range(writer, "bounds"), _number(reader.raw.get("multipleOf"), 1) or 1
    step = _number(writer.raw.get("multipleOf"), 0.5 if writer.type == "number" else 1) or 1
    for edge in (0, mine.low, mine.high):
        start = math.ceil(edge / step) if math.isfinite(edge) else 0
        near = (count * step for count in range(start - 4, start + 8))
        for value in sorted(near, key=lambda value: (abs(value - start * step), value < 0)):
            if mine.low <= value <= mine.high and value % factor:
                yield whole_number(value) if value == int(value) else value
    yield from values(writer)


def _lists(writer: Node, reader: Node) -> Iterator[Any]:
    theirs = _range(reader, "item-count")
    for size in _sizes(theirs, _range(writer, "item-count")):
        yield list_of_size(writer, size)


def _objects(writer: Node, reader: Node) -> Iterator[Any]:
    theirs = _range(reader, "property-count")
    for size in _sizes(theirs, _range(writer, "property-count")):
        yield object_of_size(writer, size)


def _sizes(theirs: _Range, mine: _Range) -> Iterator[int]:
    if math.isfinite(theirs.high) and theirs.high < mine.high and theirs.high < _LONGEST:
        yield int(theirs.high) + 1
    if math.isfinite(theirs.low) and theirs.low <= _LONGEST:
        # Defaults add members: what is one too few may not stay so.
        yield from range(int(theirs.low) - 1, int(max(mine.low, 0)) - 1, -1)
