"""Shared parts of the facets of limits on numbers, lengths and counts (docs/semantics.md#limits)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

from msgspec import Struct

from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.limits import misfits
from crdcompat.apiserver.sending import MAX_BODY
from crdcompat.apiserver.server_versions import NEWEST_SERVER, Server
from crdcompat.apiserver.strategy import Resource
from crdcompat.candidates.local import NodeJudge
from crdcompat.candidates.sample import number
from crdcompat.candidates.small_values import distinct
from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Effects, Facet, Proving, Widen, breaks
from crdcompat.compare.site import Site, Trial, Trials
from crdcompat.schema.structural import ABSENT, Node
from crdcompat.vocabulary import Effect

#: The lower and the upper limit, then the flags that exclude them.
BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_COUNTS_FROM_0 = frozenset({"minItems", "minProperties", "minLength"})
_MAX_TRIALS, _MAX_COMPLETE = 3, 16
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


def _limit_effects(name: str) -> dict[str, Effects]:
    """The kinds of change of a limit: a loosened one rejects on rollback, a tightened one on upgrade."""
    return {
        f"{name}.loosened": Effects(rollback=(Effect.WRITE_REJECTED,)),
        f"{name}.tightened": Effects(upgrade=(Effect.WRITE_REJECTED,)),
    }


def limit_facet(name: str, limits: tuple[str, ...], trials: Proving, widen: Widen) -> Facet:
    """The facet of a pair of limits; ``trials`` gives values outside the reader's."""
    changes, shows = partial(_limit_changes, name=name, keywords=limits), breaks(*map(Keyword, limits))
    return Facet(frozenset(limits), _limit_effects(name), changes, trials, shows, widen=widen)


def _limit_changes(site: Site, name: str, keywords: Sequence[str]) -> Iterator[Change]:
    """The changes of the range that ``keywords`` describe: loosened, tightened, or both."""
    if (site.old.raw.keys() | site.new.raw.keys()).isdisjoint(keywords):
        return
    old, new = range_of(site.old, keywords), range_of(site.new, keywords)
    if old == new:
        return
    before, after = (_given(side, keywords) for side in (site.old, site.new))
    if not old.contains(new):
        yield site.change(f"{name}.loosened", before, after, *_moved(old, new, keywords))
    if not new.contains(old):
        yield site.change(f"{name}.tightened", before, after, *_moved(new, old, keywords))


def may_be(node: Node, *types: str) -> bool:
    """Whether values of a node may have one of these types. Servers apply a limit only to values of its own types."""
    return not node.types or not set(types).isdisjoint(node.types)


def changes_range(old: Node, new: Node) -> bool:
    """Whether servers that check ranges accept no number by one of two nodes of the same type."""
    return old.types == new.types and bool(misfits(old, NEWEST_SERVER)) != bool(misfits(new, NEWEST_SERVER))


def without_numbers(node: Node, side: Resource) -> bool:
    """Whether the server of a side accepts no number by a node of it; ``facets/number_range.py`` says what follows."""
    return bool(misfits(node, side.server))


def _moved(narrow: Range, wide: Range, keywords: Sequence[str]) -> list[str]:
    """The keywords of the ends at which ``wide`` goes beyond ``narrow``: the report shows their lines."""
    low, high, *flags = keywords
    ends = (
        (low, flags[:1], narrow.low - wide.low, narrow.open_low and not wide.open_low),
        (high, flags[1:], wide.high - narrow.high, narrow.open_high and not wide.open_high),
    )
    found: list[str] = []
    for limit, flag, beyond, opened in ends:
        if beyond > 0:
            found.append(limit)
        elif beyond == 0 and opened:
            found += [*flag, limit]
    return found


def limit_trials(change: Change, values: Iterable[Any], *, complete: bool = False) -> Trials:
    """Trials of the first distinct ``values``, which are outside the reader's limits.

    ``complete``: whether ``values`` are all such values.
    """
    most = _MAX_COMPLETE if complete else _MAX_TRIALS
    made = list(islice(distinct(value for value in values if value is not ABSENT), most + 1))
    return Trials(tuple(Trial(value, change.path) for value in made[:most]), complete=complete and len(made) <= most)


def breaks_limits(node: Node, keywords: Iterable[str], server: Server) -> Callable[[Any], bool]:
    """Whether the ``keywords`` of a node alone reject a value."""
    kept = {key: node.raw[key] for key in ("type", "x-kubernetes-int-or-string", *keywords) if key in node.raw}
    judge = NodeJudge(Node(kept), server)
    return lambda value: not judge.accepts(value)


def range_of(node: Node, keywords: Sequence[str]) -> Range:
    """The range that a node's ``keywords`` describe; infinite on a side without a limit.

    Counts begin at 0. A limit that no request reaches is none: each character, item and member has a byte.
    """
    low, high, *exclusive = keywords
    flags = [node.raw.get(keyword) is True for keyword in exclusive]
    least, most = (0, MAX_BODY) if low in _COUNTS_FROM_0 else (-math.inf, math.inf)
    limit = number(node.raw.get(high), math.inf)
    return Range(max(number(node.raw.get(low), least), least), limit if limit < most else math.inf, *flags)


def sizes_outside(reader: Node, writer: Node, keywords: Sequence[str], *, added: int = 0) -> Iterator[int]:
    """Sizes just outside the reader's limits and inside the writer's; the reader may add up to ``added`` by default."""
    theirs, mine = range_of(reader, keywords), range_of(writer, keywords)
    if math.isfinite(theirs.high) and theirs.high - added < mine.high and theirs.high <= _MAX_SIZE:
        most = max(int(theirs.high), -1)  # a negative limit rejects no items, too
        yield from (size for size in range(most + 1, most - added, -1) if 0 <= size <= mine.high)
    if math.isfinite(theirs.low) and theirs.low <= _MAX_SIZE:
        # Defaults add members, so an object with one member too few may become valid: try smaller ones, too.
        yield from range(int(theirs.low) - 1, int(max(mine.low, 0)) - 1, -1)


def _given(node: Node, keywords: Sequence[str]) -> dict[str, Any] | None:
    return {key: node.raw[key] for key in keywords if key in node.raw} or None
