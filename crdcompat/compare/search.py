"""Search for an object that the writer accepts, from a minimal one that it rejects: a small best-first search.

The moves follow the writer's errors and the members and values that its rules and junctors mention: add a missing
member, set a member to a mentioned value, remove an optional member. The value under trial never changes.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from itertools import count, islice
from typing import Any

from crdcompat.apiserver.admission import Verdict
from crdcompat.apiserver.errors import DUPLICATE, REQUIRED, FieldError
from crdcompat.apiserver.keywords import JUNCTORS
from crdcompat.compare.changes import canonical
from crdcompat.schema.mentions import Mention, mentions
from crdcompat.schema.paths import Object, Pointer, is_within, node_at, schema_path_of, value_at, with_value
from crdcompat.schema.sample import sample, values
from crdcompat.schema.structural import ABSENT, Node

#: Objects that one search judges at most; each costs about a millisecond.
_MAX_JUDGED = 160

Judge = Callable[[Object], Verdict]


def find_valid(
    start: Object, first: Verdict, keep: Pointer, root: Node, judge: Judge, most: int = _MAX_JUDGED
) -> tuple[Object | None, Verdict]:
    """An object that ``judge`` accepts, derived from ``start`` without changing the value at ``keep``.

    ``first`` is the verdict on ``start``; ``root`` is the schema that new values are made from; ``most`` limits the
    objects judged. Returns the object with its verdict, or None with ``first``. If ``first`` is unknown, there is no
    search, because an object that cannot be judged proves nothing.
    """
    if first.accepted is not False:
        return (start if first.accepted else None), first
    ticket = count()
    queue = [(len(first.errors), 0, next(ticket), start, first)]
    seen = {canonical(start)}
    judged = 1
    while queue and judged < most:
        _, steps, _, obj, verdict = heapq.heappop(queue)
        for candidate in _moves(obj, verdict, keep, root):
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
            if judged >= most:
                break
    return None, first


def shrink(obj: Object, keep: Pointer, still: Callable[[Object], bool]) -> Object:
    """Remove each member without which ``still`` remains true, except the value at ``keep`` and its parents."""
    for pointer in sorted(_members(obj, ()), key=len):
        if pointer == keep[: len(pointer)] or pointer[0] in ("apiVersion", "kind", "metadata"):
            continue
        try:
            value_at(obj, pointer)
            smaller = with_value(obj, pointer, ABSENT)
        except LookupError:
            continue  # removed with its parent
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


def _moves(obj: Object, verdict: Verdict, keep: Pointer, root: Node) -> Iterator[Object]:
    for error in verdict.errors:
        if error.is_marker:
            continue
        for pointer, value in _edits(obj, error, root):
            if pointer == keep[: len(pointer)] or pointer[: len(keep)] == keep:
                continue
            try:
                yield with_value(obj, pointer, value)
            except LookupError:
                continue


def _edits(obj: Object, error: FieldError, root: Node) -> Iterator[tuple[Pointer, Any]]:
    pointer = error.pointer
    if not is_within(obj, pointer):
        return
    node = node_at(root, schema_path_of(root, pointer))
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
        # metadata.name always exists, whether the schema declares it or not.
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
    # Rules often compare a member with the object's own name.
    named = (*mention.values, value_at(obj, ("metadata", "name")))
    for value in named:
        if _has_type_of(value, below):
            yield at, [value] if below.type == "array" else value
    if isinstance(below.additional, Node):
        for key in mention.values:
            if isinstance(key, str):
                yield from (((*at, key), value) for value in mention.values if _has_type_of(value, below.additional))


def _value(obj: Object, pointer: Pointer) -> list[Any]:
    """The scalar at a pointer as a list of one; empty if there is none."""
    try:
        value = value_at(obj, pointer)
    except LookupError:
        return []
    return [] if isinstance(value, (dict, list)) else [value]


def _has_type_of(value: Any, node: Node) -> bool:
    kind = node.items if node.type == "array" and node.items is not None else node
    if isinstance(value, str):
        return kind.type == "string" or kind.int_or_string
    return kind.type in ("integer", "number") or kind.int_or_string
