"""From a minimal object that the writer rejects to one that it accepts: a small best-first search.

The moves come from what the writer said and from what its rules and junctors mention: add a missing member,
set one to a value that is named, take an optional one away. The value under trial is never touched.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from itertools import count, islice
from typing import Any

from crdcompat.apiserver.admission import Verdict
from crdcompat.apiserver.errors import DUPLICATE, REQUIRED, FieldError
from crdcompat.apiserver.keywords import JUNCTORS
from crdcompat.apiserver.strategy import Resource
from crdcompat.compare.changes import canonical
from crdcompat.schema.mentions import Mention, mentions
from crdcompat.schema.paths import Object, Pointer, is_within, node_at, schema_path_of, value_at, with_value
from crdcompat.schema.sample import sample, values
from crdcompat.schema.structural import ABSENT, Node

#: How many objects are judged before the search gives up; at about a millisecond each.
BUDGET = 160

Judge = Callable[[Object], Verdict]


def find_valid(
    start: Object, first: Verdict, keep: Pointer, resource: Resource, judge: Judge
) -> tuple[Object | None, Verdict]:
    """An object that ``judge`` accepts, reached from ``start`` without changing what is at ``keep``.

    ``first`` is the verdict on ``start``. Returns the object with its verdict, or None with the first one. A
    verdict that is unknown ends the search: what cannot be judged proves nothing.
    """
    if first.accepted is not False:
        return (start if first.accepted else None), first
    ticket = count()
    queue = [(len(first.errors), 0, next(ticket), start, first)]
    seen = {canonical(start)}
    judged = 1
    while queue and judged < BUDGET:
        _, steps, _, obj, verdict = heapq.heappop(queue)
        for candidate in _moves(obj, verdict, keep, resource):
            key = canonical(candidate)
            if key in seen:
                continue
            seen.add(key)
            judged += 1
            answer = judge(candidate)
            if answer.accepted:
                return candidate, answer
            if answer.errors and steps < 8:
                heapq.heappush(queue, (len(answer.errors), steps + 1, next(ticket), candidate, answer))
            if judged >= BUDGET:
                break
    return None, first


def shrink(obj: Object, keep: Pointer, still: Callable[[Object], bool]) -> Object:
    """Take away every optional member that ``still`` can do without, the value at ``keep`` and its parents apart."""
    for pointer in sorted(_members(obj, ()), key=len):
        if pointer == keep[: len(pointer)] or pointer[0] in ("apiVersion", "kind", "metadata"):
            continue
        try:
            value_at(obj, pointer)
            smaller = with_value(obj, pointer, ABSENT)
        except LookupError:
            continue  # it went with its parent
        if still(smaller):
            obj = smaller
    return obj


def _members(value: Any, at: Pointer) -> Iterator[Pointer]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield (*at, name)
            yield from _members(member, (*at, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _members(item, (*at, index))


def _moves(obj: Object, verdict: Verdict, keep: Pointer, resource: Resource) -> Iterator[Object]:
    for error in verdict.errors:
        if error.is_marker:
            continue
        for pointer, value in _edits(obj, error, resource):
            touches = pointer == keep[: len(pointer)] or pointer[: len(keep)] == keep
            if touches:
                continue
            try:
                yield with_value(obj, pointer, value)
            except LookupError:
                continue


def _edits(obj: Object, error: FieldError, resource: Resource) -> Iterator[tuple[Pointer, Any]]:
    pointer = error.pointer
    if not is_within(obj, pointer):
        return
    node = node_at(resource.node, schema_path_of(resource.node, pointer))
    if error.type == REQUIRED and node is not None:
        yield pointer, sample(node)
        return
    if error.type == DUPLICATE and isinstance(pointer[-1], int):
        items = value_at(obj, pointer[:-1])
        yield pointer[:-1], [item for index, item in enumerate(items) if index != pointer[-1]]
        return
    if node is None:
        return
    named = mentions(node)
    for mention in named:
        yield from _mentioned(obj, pointer, node, mention)
    # A rule may compare two members with each other.
    here = [value for mention in named if mention.member for value in _value(obj, (*pointer, *mention.member))]
    for mention in named:
        if mention.member:
            yield from (((*pointer, *mention.member), value) for value in here)
    if pointer and error.keyword not in JUNCTORS:
        for value in islice(values(node), 12):
            yield pointer, value


def _mentioned(obj: Object, pointer: Pointer, node: Node, mention: Mention) -> Iterator[tuple[Pointer, Any]]:
    at = (*pointer, *mention.member)
    if at == ("metadata", "name"):
        # The root's name is always there, declared or not.
        yield from ((at, value) for value in mention.values if isinstance(value, str))
        return
    below: Node | None = node
    for name in mention.member:
        below = below.child(name) if below is not None else None
    if below is None:
        return
    try:
        value_at(obj, at)
        if mention.member:
            yield at, ABSENT
    except LookupError:
        made = sample(below)
        if made is not ABSENT:
            yield at, made
    # Names that a rule compares are often the object's own.
    named = (*mention.values, value_at(obj, ("metadata", "name")))
    for value in named:
        if _fits(value, below):
            yield at, [value] if below.type == "array" else value
    if isinstance(below.additional, Node):
        for key in mention.values:
            if isinstance(key, str):
                yield from (((*at, key), value) for value in mention.values if _fits(value, below.additional))


def _value(obj: Object, pointer: Pointer) -> list[Any]:
    """The scalar at a place, as a list of one, or nothing."""
    try:
        value = value_at(obj, pointer)
    except LookupError:
        return []
    return [] if isinstance(value, (dict, list)) else [value]


def _fits(value: Any, node: Node) -> bool:
    kind = node.items if node.type == "array" and node.items is not None else node
    if isinstance(value, str):
        return kind.type == "string" or kind.int_or_string
    return kind.type in ("integer", "number") or kind.int_or_string
