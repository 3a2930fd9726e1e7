"""The moves of a search for a valid object: objects that differ at one place from one that is rejected.

They follow the errors and the members and values that rules and junctors mention: add a missing member, set a member to
a mentioned value, remove an optional member.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any

from crdcompat.apiserver.field_errors import REQUIRED, FieldError
from crdcompat.apiserver.keywords import JUNCTORS, Keyword
from crdcompat.candidates.mentions import Mention, item_mentions, mentions
from crdcompat.candidates.sample import is_of_type, list_of_size, values
from crdcompat.candidates.unique_items import with_stated_type
from crdcompat.cel.asked_items import Members, Same, asked_items
from crdcompat.schema.listed_values import enum_members
from crdcompat.schema.paths import (
    ITEM,
    Object,
    Pointer,
    is_within,
    node_at,
    schema_path_of,
    value_at,
    value_or_none,
    with_value,
)
from crdcompat.schema.structural import ABSENT, RULES, Node, Schema

#: Members that are tried where an object has too few, and items of a list that a rule judges one by one.
_MAX_ADDED, _MAX_ITEMS = 6, 4
#: Values of one field that are tried, and members of one enum.
_MAX_VALUES, _MAX_LISTED = 12, 8
#: Characters of strings that are made for a length in a rule, and items of lists.
_MAX_LENGTH, _MAX_SIZE = 512, 32
#: Makes a value for a node, ABSENT if it finds none.
Made = Callable[[Node], Any]
#: A place in an object, and the value to set there.
_Edit = tuple[Pointer, Any]


def moves(
    obj: Object, errors: tuple[FieldError, ...], keep: Pointer, root: Node, made: Made, *, inside: bool
) -> Iterator[Object]:
    """Objects that differ from ``obj`` at one place, first those that may mend one of the ``errors`` by itself.

    The value at ``keep`` stays; ``inside``: but for its parts. ``root`` is the schema to take values from.
    """
    placed = [error for error in errors if not error.is_marker]
    edits = (edit for edit_by in (_of_rule, _edits) for error in placed for edit in edit_by(obj, error, root, made))
    for pointer, value in edits:
        within = pointer[: len(keep)] == keep and not (inside and len(pointer) > len(keep))
        if within or pointer == keep[: len(pointer)]:
            continue
        try:
            yield with_value(obj, pointer, value)
        except LookupError:
            continue


def _of_rule(obj: Object, error: FieldError, root: Node, made: Made) -> Iterator[_Edit]:
    """Edits of what the rule that fails mentions. A fieldPath moves its error below the node that has the rule."""
    pointer = error.pointer[: error.base]
    if error.keyword is not Keyword.RULE or not is_within(obj, pointer):
        return
    node = node_at(root, schema_path_of(root, pointer))
    if node is None:
        return
    rule = Node({RULES: [{"rule": error.demand}]})
    if node.type == "string":
        yield pointer, made(node)  # of several rules each may ask for something else of the text
    yield from _of_asked(obj, pointer, node, str(error.demand), made)
    yield from _of_mentions(obj, pointer, node, mentions(rule), made)
    for member, named in item_mentions(rule):
        at, held = (*pointer, *member), node_at(node, (*member, ITEM))
        items = value_or_none(obj, at)
        if isinstance(items, list) and held is not None:
            for index in range(min(len(items), _MAX_ITEMS)):
                yield from _of_mentions(obj, (*at, index), held, named, made)


def _of_asked(obj: Object, pointer: Pointer, node: Node, rule: str, made: Made) -> Iterator[_Edit]:
    """Edits that put items for which a rule asks into their list: all as the last ones, or one of them."""
    found: dict[Pointer, list[list[Any]]] = {}
    for asked in asked_items(rule):
        held = node_at(node, (*asked.holder, ITEM))
        narrow = (_narrowed(held, obj, pointer, members) for members in asked.ways if held is not None)
        items = [item for each in narrow if each is not None and (item := made(each)) is not ABSENT]
        found.setdefault((*pointer, *asked.holder), []).append(items)
    for at, asked_for in found.items():
        items = value_or_none(obj, at)
        held_items = items if isinstance(items, list) else []
        if len(asked_for) > 1:
            last = [ways[0] for ways in asked_for if ways]
            yield at, [*held_items[: max(len(held_items) - len(last), 0)], *last]
        for item in chain.from_iterable(asked_for):
            yield from (((*at, index), item) for index in reversed(range(min(len(held_items), _MAX_ITEMS))))
            yield at, [*held_items, item]


def _narrowed(node: Node, obj: Object, pointer: Pointer, members: Members) -> Node | None:
    """The node with these members alone; None if it does not allow one. ``pointer``: the value that has the rule."""
    for place, wanted in members:
        value = value_or_none(obj, (*pointer, *wanted.place)) if isinstance(wanted, Same) else wanted
        below, is_scalar = node_at(node, place), isinstance(value, (str, int, float))
        if below is None or below.type == "array" or not (is_scalar and _is_value_for(value, below)):
            return None
        narrow: Schema = {**below.raw, "enum": [value]}
        for length in reversed(range(len(place))):
            holder = node_at(node, place[:length])
            assert holder is not None
            properties, needed = {**holder.raw["properties"], place[length]: narrow}, (*holder.required, place[length])
            narrow = {**holder.raw, "properties": properties, "required": [*dict.fromkeys(needed)]}
        node = Node(narrow)
    return node


def _edits(obj: Object, error: FieldError, root: Node, made: Made) -> Iterator[_Edit]:
    pointer = error.pointer
    if not is_within(obj, pointer):
        return
    node = node_at(root, schema_path_of(root, pointer))
    if error.type == REQUIRED and node is not None:
        yield pointer, made(node)
        return
    if node is None:
        return
    if error.keyword in (Keyword.MIN_PROPERTIES, Keyword.MAX_PROPERTIES):
        value = value_or_none(obj, pointer)  # a default of the server is not part of the object
        yield from _other_members(value, pointer, node, made, more=error.keyword is Keyword.MIN_PROPERTIES)
    yield from _of_mentions(obj, pointer, node, mentions(node), made)
    if pointer:
        for kind in _branches(node) if error.keyword in JUNCTORS else (node,):
            yield from ((pointer, value) for value in islice(values(kind), _MAX_VALUES))


def _branches(node: Node) -> Iterator[Node]:
    """A scalar of each of the branches of which it has to match one."""
    if node.type not in ("object", "array"):
        yield from (Node({**node.raw, **branch.raw}) for branch in (*node.any_of, *node.one_of))


def _of_mentions(obj: Object, pointer: Pointer, node: Node, named: list[Mention], made: Made) -> Iterator[_Edit]:
    for mention in named:
        yield from _mentioned(obj, pointer, node, mention, made)
    # A rule may compare two members with each other.
    here = [value for mention in named if mention.member for value in _value(obj, (*pointer, *mention.member))]
    for mention in named:
        below = mention.at(node)
        if mention.member and below is not None and below.type != "array":
            yield from (((*pointer, *mention.member), value) for value in here if _is_value_for(value, below))


def _other_members(value: Any, pointer: Pointer, node: Node, made: Made, *, more: bool) -> Iterator[_Edit]:
    """Edits of an object with too few members, or too many: one member added or removed."""
    held = value if isinstance(value, dict) else {}
    if not more:
        yield from (((*pointer, name), ABSENT) for name in held if name not in node.required)
        return
    for name in islice((name for name in node.properties if name not in held), _MAX_ADDED):
        if (member := made(node.properties[name])) is not ABSENT:
            yield (*pointer, name), member
    if isinstance(node.additional, Node) and (member := made(node.additional)) is not ABSENT:
        yield (*pointer, f"key{len(held)}"), member


def _mentioned(obj: Object, pointer: Pointer, node: Node, mention: Mention, made: Made) -> Iterator[_Edit]:
    at = (*pointer, *mention.member)
    if at == ("metadata", "name"):
        # metadata.name always exists, whether the schema declares it or not.
        yield from ((at, value) for value in mention.values if isinstance(value, str))
        return
    below = mention.at(node)
    if below is None:
        return
    held = value_or_none(obj, at)
    may_go = bool(mention.member) and not _is_required(node, mention.member)
    found = (
        _added_or_removed(obj, at, below, made, may_go=may_go),
        () if held else _with_one_part(below, made),
        _compared(obj, below, mention),
        _of_type(held, below, mention, made),
    )
    yield from ((at, value) for value in chain(*found))
    if isinstance(below.additional, Node):
        for key in mention.values:
            if isinstance(key, str):
                yield from (((*at, key), value) for value in mention.values if _is_value_for(value, below.additional))


def _added_or_removed(obj: Object, at: Pointer, node: Node, made: Made, *, may_go: bool) -> Iterator[Any]:
    """A value for what is not there, ABSENT for what may go."""
    try:
        value_at(obj, at)
    except LookupError:
        if (value := made(node)) is not ABSENT:
            yield value
        return
    if may_go:
        yield ABSENT


def _with_one_part(node: Node, made: Made) -> Iterator[Any]:
    """A list of one item, a map of one entry: a rule may ask for it."""
    if node.items is not None and (item := made(node.items)) is not ABSENT:
        yield [item]
    if isinstance(node.additional, Node) and (entry := made(node.additional)) is not ABSENT:
        yield {"key": entry}


def _compared(obj: Object, node: Node, mention: Mention) -> Iterator[Any]:
    """The values that a rule may compare a member with; often that is the object's own name."""
    for value in (*mention.values, *_value(obj, ("metadata", "name"))):
        if _is_value_for(value, node):
            yield [value] if node.type == "array" else value


def _of_type(held: Any, node: Node, mention: Mention, made: Made) -> Iterator[Any]:
    """The few values of a type, and those of a length or a size that a rule may compare with a number."""
    if node.type == "boolean":
        yield from (True, False)
    yield from islice(enum_members(node) or (), _MAX_LISTED)
    if node.type == "string" and not node.enum:
        lengths = (value for value in mention.values if isinstance(value, int) and 0 < value < _MAX_LENGTH)
        yield from ("a" * size for length in lengths for size in (length, length + 1))
    if node.type == "array":
        yield from _longer(held, node, mention, made)


def _longer(items: Any, node: Node, mention: Mention, made: Made) -> Iterator[list[Any]]:
    """The items with more behind them: a rule may compare the size of a list with a number."""
    held = items if isinstance(items, list) else []
    named = (value for value in mention.values if type(value) is int and 0 < value < _MAX_SIZE)
    for size in dict.fromkeys(size for value in named for size in (value, value + 1) if size > len(held)):
        typed = with_stated_type(node)
        item = made(node.items) if typed.list_type == "atomic" and node.items is not None else ABSENT
        longer = [item] * size if item is not ABSENT else list_of_size(typed, size)
        if longer is not ABSENT:
            yield [*held, *longer[len(held) :]]


def _is_required(node: Node, member: tuple[str, ...]) -> bool:
    parent = node_at(node, member[:-1])
    return parent is not None and member[-1] in parent.required


def _value(obj: Object, pointer: Pointer) -> list[Any]:
    """The scalar at a pointer as a list of one; empty if there is none."""
    try:
        value = value_at(obj, pointer)
    except LookupError:
        return []
    return [] if isinstance(value, (dict, list)) else [value]


def _is_value_for(value: Any, node: Node) -> bool:
    """Whether a scalar is of the type of a node, or of its items, and in its enum."""
    kind = node.items if node.type == "array" and node.items is not None else node
    return is_of_type(value, kind) and (not kind.enum or value in kind.enum)
