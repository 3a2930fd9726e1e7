"""Search for an object that a judge accepts, from a minimal one that it rejects: a small best-first search.

The value under trial never changes as a whole.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from msgspec import Struct

from crdcompat.apiserver.field_errors import FieldError
from crdcompat.candidates.moves import Made, moves
from crdcompat.candidates.sample import sample
from crdcompat.schema.equality import canonical
from crdcompat.schema.paths import Object, Pointer, value_at, with_value
from crdcompat.schema.structural import ABSENT, Node

#: Objects that one search judges at most; each costs about a millisecond.
MAX_JUDGED = 160
#: Objects that are judged in a row without a better one: of 766 searches of real releases that found an object none
#: needed more than 16, and the others judge four fifths of all objects.
_PATIENCE = 24
#: Moves for each object that may be judged: many moves lead to one that was judged before.
_MAX_TRIED = 8
#: Steps from the start to an object.
_MAX_STEPS = 9
#: The number of similar members that have to stay after which the others are kept untried.
_MAX_STAYED = 12


class Answer(Struct, frozen=True):
    """The judgement on one object: whether it ends the search, or else the errors to remove.

    Without errors an object that is not ``found`` is a dead end: it cannot be judged, or shows nothing.
    """

    found: bool
    errors: tuple[FieldError, ...] = ()

    @property
    def rank(self) -> tuple[bool, int]:
        """The sort key of objects to go on from: behind the others those whose rules were not checked; few errors."""
        return any(error.is_marker for error in self.errors), len(self.errors)


#: The judgement on an object.
Judge = Callable[[Object], Answer]
#: Rank, steps from the start, ticket, and the objects one step further that were not judged yet.
_Entry = tuple[tuple[bool, int], int, int, Iterator[Object]]


def find(
    start: Object,
    first: Answer,
    keep: Pointer,
    root: Node,
    judge: Judge,
    *,
    limit: int = MAX_JUDGED,
    inside: bool = False,
    made: Made = sample,
) -> Object | None:
    """An object that ``judge`` accepts, derived from ``start`` without changing the value at ``keep``; else None.

    ``first`` is the judgement on ``start``, ``root`` the schema to take values from, ``limit`` the number of objects
    to judge. ``inside``: whether parts of the value at ``keep`` may change. ``made`` makes the values of added members.
    A better object is followed at once; the other moves from the object before it wait. The search ends, too, after
    many objects of which none is better than the best before.
    """
    if first.found or not first.errors:
        return start if first.found else None
    ticket = count()

    def entry(obj: Object, answer: Answer, steps: int) -> _Entry:
        return answer.rank, steps, next(ticket), moves(obj, answer.errors, keep, root, made, inside=inside)

    queue = [entry(start, first, 0)]
    seen = {canonical(start)}
    judged = tried = better = 1
    best = first.rank
    while queue and judged < min(limit, better + _PATIENCE) and tried < limit * _MAX_TRIED:
        _, steps, _, following = queue[0]
        candidate = next(following, None)
        tried += 1
        if candidate is None:
            heapq.heappop(queue)
            continue
        key = canonical(candidate)
        if key in seen:
            continue
        seen.add(key)
        judged += 1
        answer = judge(candidate)
        if answer.found:
            return candidate
        if answer.errors and answer.rank < best:
            best, better = answer.rank, judged
        if answer.errors and steps < _MAX_STEPS:
            heapq.heappush(queue, entry(candidate, answer, steps + 1))
    return None


def shrink(obj: Object, keep: Pointer, still: Callable[[Object], bool]) -> Object:
    """Remove each member without which ``still`` remains true, except the value at ``keep`` and its parents.

    Where many members of one map, or of the items of one list, have to stay, the others are not tried.
    """
    stayed: Counter[tuple[str, ...]] = Counter()
    for pointer in sorted(_members(obj, ()), key=len):
        alike = _alike(obj, pointer)
        fixed = pointer == keep[: len(pointer)] or pointer[0] in ("apiVersion", "kind", "metadata")
        if fixed or stayed[alike] == _MAX_STAYED:
            continue
        try:
            value_at(obj, pointer)
            smaller = with_value(obj, pointer, ABSENT)
        except LookupError:
            continue  # removed with its parent
        if still(smaller):
            obj = smaller
        else:
            stayed[alike] += 1
    return obj


def _alike(obj: Object, pointer: Pointer) -> tuple[str, ...]:
    """The pointer without the parts that distinguish items of a list, or members of a large object."""
    *above, last = ("*" if isinstance(step, int) else step for step in pointer)
    try:
        many = len(value_at(obj, pointer[:-1])) > _MAX_STAYED
    except LookupError:
        many = False  # removed with its parent
    return (*above, "*" if many else last)


def _members(value: Any, at: Pointer) -> Iterator[Pointer]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield (*at, name)
            yield from _members(member, (*at, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _members(item, (*at, index))
