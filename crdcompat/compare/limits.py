"""Shared parts of the facets of limits on numbers, lengths and counts (rows 14 to 22 of reference section 13)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from msgspec import Struct

from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Effects
from crdcompat.compare.site import Site, Trial, Trials
from crdcompat.schema.sample import number
from crdcompat.schema.structural import ABSENT, Node
from crdcompat.vocabulary import Effect

#: The lower and the upper limit, then the flags that exclude them.
BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_MAX_TRIALS = 3
_MAX_SIZE = 10_000


class Range(Struct, frozen=True):
    """The values from ``low`` to ``high``; an open end is excluded."""

    low: float
    high: float
    open_low: bool = False
    open_high: bool = False

    def contains(self, other: Range) -> bool:
        low = self.low < other.low or (self.low == other.low and (not self.open_low or other.open_low))
        high = self.high > other.high or (self.high == other.high and (not self.open_high or other.open_high))
        return low and high


def limit_effects(name: str) -> dict[str, Effects]:
    """The kinds of change of a limit: a loosened one rejects on rollback, a tightened one on upgrade."""
    return {
        f"{name}.loosened": Effects(rollback=(Effect.WRITE_REJECTED,)),
        f"{name}.tightened": Effects(upgrade=(Effect.WRITE_REJECTED,)),
    }


def limit_changes(site: Site, name: str, keywords: Sequence[str]) -> Iterator[Change]:
    """The changes of the range that ``keywords`` describe: loosened, tightened, or both."""
    if (site.old.raw.keys() | site.new.raw.keys()).isdisjoint(keywords):
        return
    old, new = range_of(site.old, keywords), range_of(site.new, keywords)
    if old == new:
        return
    before, after = (_given(side, keywords) for side in (site.old, site.new))
    if not old.contains(new):
        yield site.change(f"{name}.loosened", before, after, *keywords)
    if not new.contains(old):
        yield site.change(f"{name}.tightened", before, after, *keywords)


def limit_trials(change: Change, values: Iterable[Any]) -> Trials:
    """Trials of the first distinct ``values``, which the caller chooses just outside the reader's limits."""
    made = {repr(value): value for value in islice(values, 2 * _MAX_TRIALS) if value is not ABSENT}
    return Trials(tuple(Trial(value, change.path) for value in made.values()))


def range_of(node: Node, keywords: Sequence[str]) -> Range:
    """The range that a node's ``keywords`` describe; infinite on a side without a limit."""
    low, high, *exclusive = keywords
    flags = [node.raw.get(keyword) is True for keyword in exclusive]
    return Range(number(node.raw.get(low), -math.inf), number(node.raw.get(high), math.inf), *flags)


def sizes_outside(reader: Node, writer: Node, keywords: Sequence[str]) -> Iterator[int]:
    """Sizes just outside the reader's limits and inside the writer's."""
    theirs, mine = range_of(reader, keywords), range_of(writer, keywords)
    if math.isfinite(theirs.high) and theirs.high < mine.high and theirs.high < _MAX_SIZE:
        yield int(theirs.high) + 1
    if math.isfinite(theirs.low) and theirs.low <= _MAX_SIZE:
        # Defaults add members, so an object with one member too few may become valid: try smaller ones, too.
        yield from range(int(theirs.low) - 1, int(max(mine.low, 0)) - 1, -1)


def _given(node: Node, keywords: Sequence[str]) -> dict[str, Any] | None:
    return {key: node.raw[key] for key in keywords if key in node.raw} or None
