"""Enums: values added or removed, an enum introduced or dropped.

The facet compares effective sets: a node's own enum, intersected with the enums of its junctors and with CEL rules that
only list values. So it does not matter which of them states the set (docs/semantics.md#enums).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from crdcompat.apiserver.enums import is_member
from crdcompat.apiserver.keywords import Keyword
from crdcompat.candidates import languages
from crdcompat.candidates.local import NodeJudge
from crdcompat.candidates.mentions import literals_for
from crdcompat.candidates.sample import number, values
from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Differing, Effects, Facet, Reaction, WaivedBy, Widening, breaks
from crdcompat.compare.site import Site, Trial, Trials, WriterReader
from crdcompat.compare.union import either, listing
from crdcompat.schema.listed import with_values
from crdcompat.schema.listed_values import enum_members, member_key
from crdcompat.schema.paths import Pointer, node_at, schema_pointer
from crdcompat.schema.structural import ABSENT, RULES, Node
from crdcompat.vocabulary import Direction, Effect

KEYWORDS = frozenset({"enum"})
EFFECTS = {
    "enum.value-added": Effects(rollback=(Effect.WRITE_REJECTED,)),
    "enum.value-removed": Effects(upgrade=(Effect.WRITE_REJECTED,)),
    "enum.introduced": Effects(upgrade=(Effect.WRITE_REJECTED,)),
    "enum.dropped": Effects(rollback=(Effect.WRITE_REJECTED,)),
}

#: Values outside an enum that are tried at most; each needs a search for a valid object.
_MAX_OUTSIDE = 6


def changes(site: Site) -> Iterator[Change]:
    both = site.old.nullable and site.new.nullable  # else the facet ``nullable`` judges the null
    old, new = (_members_of(side, null=both, rules=site.lists_count) for side in (site.old, site.new))
    old_at, new_at = _keyword(site.old, site.old_at), _keyword(site.new, site.new_at)
    if old is None and new is None:
        return
    if old is None or new is None:
        if (
            languages.is_string(site.old)
            and languages.is_string(site.new)
            and not (site.old.nullable and site.new.nullable)  # no enum allows null
            and languages.relation(site.old, site.new).kind == "equal"
        ):
            return  # a pattern allows the same values
        kind = "enum.introduced" if old is None else "enum.dropped"
        yield Change(kind, site.path, _listed(old), _listed(new), old_at=old_at, new_at=new_at)
        return
    added, removed = _without(new, old), _without(old, new)
    if added:
        at = _member(site.new, site.new_at, added[0])
        yield Change("enum.value-added", site.path, list(old), list(new), added=added, old_at=old_at, new_at=at)
    if removed:
        at = _member(site.old, site.old_at, removed[0])
        yield Change("enum.value-removed", site.path, list(old), list(new), removed=removed, old_at=at, new_at=new_at)


def trials(change: Change, direction: Direction, pair: WriterReader) -> Trials:
    """The added or removed values; for a field without enum, values outside the other side's enum."""
    if change.added or change.removed:
        moved = change.added or change.removed
        return Trials(tuple(Trial(value, change.path, value) for value in moved), complete=True)
    closed = change.old if direction == Direction.ROLLBACK else change.new
    known = {member_key(member) for member in closed or ()}
    node = node_at(pair.writer.node, change.path)
    if node is None:
        return Trials((), complete=False)
    other = node_at(pair.reader.node, change.path)
    accepts = NodeJudge(node, pair.writer.server).accepts
    both = other is not None and languages.is_string(node) and languages.is_string(other)
    if both and other is not None and not node.nullable and languages.strings_outside(node, other, accepts)[1]:
        return Trials((), complete=True)
    outside: dict[Any, Any] = {}
    # The empty string comes last, because it is the least instructive example.
    named = sorted(literals_for(pair.writer.node, change.path), key=lambda value: value == "")
    near = (value for value in _neighbours(node, closed or ()) if accepts(value))
    for value in (*named, *values(node), *near):
        if member_key(value) not in known:
            outside.setdefault(member_key(value), value)
        if len(outside) >= _MAX_OUTSIDE:
            break
    nulls = (None,) if node.nullable else ()
    return Trials(tuple(Trial(value, change.path, value) for value in (*outside.values(), *nulls)), complete=False)


def _neighbours(node: Node, members: Sequence[Any]) -> Iterator[Any]:
    """Numbers next to the members, because most plain numbers are members themselves."""
    numbers = [member for member in members if isinstance(member, (int, float)) and not isinstance(member, bool)]
    step = number(node.raw.get("multipleOf"), 1) or 1
    if node.type in ("integer", "number") or node.int_or_string:
        yield from (value for member in numbers for value in (member + step, member - step))


def explains(difference: Differing, reaction: Reaction) -> bool:
    """Only the change of the value itself explains an unsupported value."""
    moved, error = difference.added or difference.removed, reaction.error
    if not reaction.at or not moved or error is None or error.keyword is not Keyword.ENUM:
        return reaction.at
    return any(error.value is None if member is None else is_member(error.value, member) for member in moved)


def widen(change: Change, values: tuple[Any, ...], old: Node, new: Node) -> Iterator[Widening]:
    """For added values, each enum or listing rule with these values; for a dropped enum, no enum and no such rules."""
    node = node_at(old, change.path)
    if node is None or node_at(new, change.path) is None:
        return
    at = schema_pointer(change.path)
    if change.added:
        for pointer, members in _own_enums(node, at):
            if missing := _without(values, members):
                yield Widening(pointer, "enum", [*members, *missing])
        for index, members in node.listed:
            if missing := _without(values, members):
                rule = with_values(node.rules[index]["rule"], missing)
                yield Widening((*at, RULES, index), "rule", rule)
        return
    if node.listed:
        lists = {index for index, _ in node.listed}
        rest = [rule for index, rule in enumerate(node.rules) if index not in lists]
        yield Widening(at, RULES, rest or ABSENT)
    yield from either(KEYWORDS, listing)(change, values, old, new)


def _own_enums(node: Node, at: Pointer) -> Iterator[tuple[Pointer, tuple[Any, ...]]]:
    """The enums that a value must all satisfy: the node's own and those of its allOf branches."""
    if node.enum:
        yield at, node.enum
    for index, branch in enumerate(node.all_of):
        yield from _own_enums(branch, (*at, "allOf", index))


def _members_of(node: Node, *, null: bool, rules: bool) -> tuple[Any, ...] | None:
    """The values that a node lists and its own pattern and lengths allow; None if it lists none.

    With ``null``, null is one of them unless the node has an enum of its own: enums reject null, but servers do not
    apply junctors to it.
    """
    members = enum_members(node, rules=rules)
    if members is None:
        return None
    members = tuple(member for member in members if member is not None)
    if languages.is_string(node) and languages.is_limited(node):
        from crdcompat.schema.regex.open_questions import Unsupported

        allowed = languages.language(node, with_enum=False).judge()
        with suppress(Unsupported):  # such a pattern allows no value, or any: the judgement of the example shows which
            members = tuple(member for member in members if not isinstance(member, str) or allowed(member))
    return (*members, None) if null and not node.enum else members


def _listed(members: tuple[Any, ...] | None) -> list[Any] | None:
    return None if members is None else list(members)


def _without(members: tuple[Any, ...], others: tuple[Any, ...]) -> tuple[Any, ...]:
    known = {member_key(member) for member in others}
    return tuple(member for member in members if member_key(member) not in known)


def _keyword(node: Node, at: Pointer) -> Pointer:
    """The pointer of the enum: at the node, else in the first junctor branch with one, else the node's pointer."""
    return next((pointer for _, pointer in _enums(node, at)), at)


def _member(node: Node, at: Pointer, value: Any) -> Pointer:
    for members, pointer in _enums(node, at):
        for index, member in enumerate(members):
            if member_key(member) == member_key(value):
                return (*pointer, index)
    return _keyword(node, at)


def _enums(node: Node, at: Pointer) -> Iterator[tuple[tuple[Any, ...], Pointer]]:
    """The lists of values of a node with their pointers; a rule counts as an empty list: values in it have none."""
    if node.enum:
        yield node.enum, (*at, "enum")
    for index, _ in node.listed:
        yield (), (*at, RULES, index, "rule")
    for keyword, branches in (("allOf", node.all_of), ("anyOf", node.any_of), ("oneOf", node.one_of)):
        for index, branch in enumerate(branches):
            yield from _enums(branch, (*at, keyword, index))


FACET = Facet(
    KEYWORDS,
    EFFECTS,
    changes,
    trials,
    # A pattern or rule of the reader may reject a value that its enum lists.
    breaks(Keyword.ENUM, Keyword.PATTERN, Keyword.RULE),
    in_branches=True,
    looks_above=True,
    waived_by=dict.fromkeys(("enum.value-added", "enum.value-removed"), WaivedBy.VALUES),
    widen=widen,
    explains=explains,
)
