"""Search for an object that a judge accepts, from a minimal one that it rejects: a small best-first search.

The moves follow the errors and the members and values that rules and junctors mention: add a missing member, set a
member to a mentioned value, remove an optional member. The value under trial never changes as a whole.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count, islice
from typing import Any

from msgspec import Struct

from crdcompat.apiserver.errors import DUPLICATE, REQUIRED, FieldError
from crdcompat.apiserver.keywords import JUNCTORS, Keyword
from crdcompat.compare.changes import canonical
from crdcompat.schema.mentions import Mention, mentions
from crdcompat.schema.paths import Object, Pointer, is_within, node_at, schema_path_of, value_at, with_value
from crdcompat.schema.sample import sample, values
from crdcompat.schema.structural import ABSENT, Node

#: Objects that one search judges at most; each costs about a millisecond.
MAX_JUDGED = 160
#: Members that are tried where an object has too few.
_MAX_ADDED = 6
#: Members like each other that have to stay before the rest of them is taken to have to stay, too.
_MAX_STAYED = 12
#: Characters of strings that are made for a length in a rule.
_MAX_LENGTH = 512


class Answer(Struct, frozen=True):
    """The judgement on one object: whether the search has found it, and else the errors to get rid of.

    Without errors an object that is not ``found`` is a dead end: it cannot be judged, or shows nothing.
    """

    found: bool
    errors: tuple[FieldError, ...] = ()


def find(
    start: Object,
    first: Answer,
    keep: Pointer,
    root: Node,
    judge: Callable[[Object], Answer],
    *,
    limit: int = MAX_JUDGED,
    inside: bool = False,
) -> Object | None:
    """An object that ``judge`` accepts, derived from ``start`` without changing the value at ``keep``; else None.

    ``first`` is the judgement on ``start``, ``root`` the schema to take values from, ``limit`` the number of objects
    to judge. ``inside``: whether parts of the value at ``keep`` may change.
    """
    if first.found or not first.errors:
        return start if first.found else None
    ticket = count()
    queue = [(len(first.errors), 0, next(ticket), start, first)]
    seen = {canonical(start)}
    judged = 1
    while queue and judged < limit:
        _, steps, _, obj, answer = heapq.heappop(queue)
        for candidate in _moves(obj, answer.errors, keep, root, inside=inside):
            key = canonical(candidate)
            if key in seen:
                continue
            seen.add(key)
            judged += 1
            answer = judge(candidate)
            if answer.found:
                return candidate
            if answer.errors and steps < 8:
                heapq.heappush(queue, (len(answer.errors), steps + 1, next(ticket), candidate, answer))
            if judged >= limit:
                break
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
    """The pointer without what tells items of a list from each other, or members of a large object."""
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


def _moves(obj: Object, errors: tuple[FieldError, ...], keep: Pointer, root: Node, *, inside: bool) -> Iterator[Object]:
    for error in errors:
        if error.is_marker:
            continue
        for pointer, value in _edits(obj, error, root):
            within = pointer[: len(keep)] == keep and not (inside and len(pointer) > len(keep))
            if within or pointer == keep[: len(pointer)]:
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
    if error.keyword in (Keyword.MIN_PROPERTIES, Keyword.MAX_PROPERTIES):
        yield from _other_members(value_at(obj, pointer), pointer, node, more=error.keyword is Keyword.MIN_PROPERTIES)
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


def _other_members(value: Any, pointer: Pointer, node: Node, *, more: bool) -> Iterator[tuple[Pointer, Any]]:
    """Edits of an object with too few members, or too many: one member added or removed."""
    held = value if isinstance(value, dict) else {}
    if not more:
        yield from (((*pointer, name), ABSENT) for name in held if name not in node.required)
        return
    for name in islice((name for name in node.properties if name not in held), _MAX_ADDED):
        if (made := sample(node.properties[name])) is not ABSENT:
            yield (*pointer, name), made
    if isinstance(node.additional, Node) and (made := sample(node.additional)) is not ABSENT:
        yield (*pointer, f"key{len(held)}"), made


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
    if below.type == "string":  # a rule may compare the length with a number
        lengths = (value for value in mention.values if isinstance(value, int) and 0 < value < _MAX_LENGTH)
        yield from ((at, "a" * size) for length in lengths for size in (length, length + 1))
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
