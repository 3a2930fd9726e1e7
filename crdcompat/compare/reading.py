"""Compare how two sides read the members of an object, as far as constraints on the object depend on it.

A reader drops members that it does not know and nulls that it does not allow, and adds defaults; rules see only members
with a type. Where a reader reads the members as the writer does, a constraint of both accepts what the writer accepts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from crdcompat.apiserver.cel.views import View
from crdcompat.cel.rule import ITEM, ITEMS, PRESENCE, SIZE, VALUE, Place
from crdcompat.cel.uses import rule_of
from crdcompat.schema.equality import identical
from crdcompat.schema.structural import ABSENT, PRESERVE, RULES, Node, mapping_of

#: Whether two nodes are read alike.
_Alike = Callable[[Node, Node], bool]
COUNTS = ("minProperties", "maxProperties")
#: Keywords that decide what a server removes.
_OF_KEEPING = ("nullable", PRESERVE)
#: Keywords that ``takes_all`` covers, or that restrict no value.
_OF_SHAPE = frozenset(
    {
        "additionalProperties",
        "default",
        "description",
        "items",
        "nullable",
        "properties",
        "type",
        "x-kubernetes-int-or-string",
        PRESERVE,
    }
)


def reads_alike(keyword: str, value: Any, writer: Node, reader: Node, *, shows_bare: bool = False) -> bool:
    """Whether a constraint means the same for each object of ``writer``, as ``reader`` reads it; False if not known.

    ``shows_bare``: whether both servers show rules an object without declared members.
    """
    if writer.embedded != reader.embedded:
        return False
    if keyword == "required":
        # Each object of the writer has these members. The facet ``nullable`` judges a required null.
        return not any(_holds(writer, name) and not _holds(reader, name) for name in writer.required)
    if writer.preserve and not reader.preserve:
        return False
    if keyword == RULES:
        return _rules_alike(value, writer, reader, shows_bare=shows_bare)
    if keyword == COUNTS[1]:  # only a default adds a member
        named = reader.properties.items()
        return not any(_adds(writer.properties.get(name), each) and name not in writer.required for name, each in named)
    constraint = Node({keyword: value})
    if constraint.anywhere(lambda schema: not schema.keys().isdisjoint(COUNTS)):  # branches may have limits, too
        # A null in a map is dropped, or counts.
        names = dict.fromkeys((*writer.properties, *reader.properties))
        counted = (_member_alike(writer, reader, (name,), _counted_alike) for name in names)
        return _elements_alike(writer, reader, _counted_alike) and all(counted)
    return all(_member_alike(writer, reader, place, _held_alike) for place in _places(constraint, ()))


def _holds(side: Node, name: str) -> bool:
    """Whether a side keeps a member that an object has: it declares the member, or keeps what it does not declare."""
    return side.child(name) is not None or side.preserve or side.additional is True


def _places(branch: Node, at: Place) -> Iterator[Place]:
    """The places that the branches of a junctor are about."""
    yield from ((*at, name) for name in branch.required)
    for name, member in branch.properties.items():
        yield (*at, name)
        yield from _places(member, (*at, name))
    element = _element(branch)
    if element is not None:
        yield from _places(element, (*at, ITEM))
    for below in branch.junctor_branches():
        yield from _places(below, at)


def _rules_alike(rules: Iterable[Any], writer: Node, reader: Node, *, shows_bare: bool) -> bool:
    """Whether rules see the same in each object; False for rules that cannot be read."""
    alike, sized = (partial(each, shows_bare=shows_bare) for each in (_alike, _sized_alike))
    if not _seen_alike(writer, reader, shows_bare=shows_bare) or not _elements_alike(writer, reader, alike):
        return False
    read = [rule_of(rule.get("rule")) for rule in rules]
    how = {
        PRESENCE: partial(_shown_alike, shows_bare=shows_bare),
        SIZE: sized,
        ITEMS: alike,
        VALUE: partial(_wholly_alike, shows_bare=shows_bare),
    }
    return all(
        rule is not None and all(_member_alike(writer, reader, use.place, how[use.how], sized) for use in rule.uses)
        for rule in read
    )


def _member_alike(writer: Node, reader: Node, place: Place, alike: _Alike, on_way: _Alike | None = None) -> bool:
    """Whether the reader reads a member as the writer does, and, by ``on_way``, those that it is in."""
    for index, step in enumerate(place, 1):
        mine, theirs = (_element(side) if step == ITEM else side.child(step) for side in (writer, reader))
        if mine is None and (writer.preserve or writer.additional is not None):
            return theirs is None
        if mine is None:  # no object of the writer has it
            return theirs is None or theirs.default is ABSENT
        if theirs is None:
            return reader.preserve
        if step in writer.required:  # each object of the writer has it: no default is added
            theirs = Node({key: value for key, value in theirs.raw.items() if key != "default"})
        if not (on_way or alike if index < len(place) else alike)(mine, theirs):
            return False
        writer, reader = mine, theirs
    return True


def _elements_alike(writer: Node, reader: Node, alike: _Alike) -> bool:
    """Whether both have items, or values of a map, that are read alike, or neither has any."""
    mine, theirs = _element(writer), _element(reader)
    return mine is theirs if mine is None or theirs is None else alike(mine, theirs)


def _alike(writer: Node, reader: Node, *, shows_bare: bool) -> bool:
    """Whether rules see the same values of both."""
    return _held_alike(writer, reader) and _seen_alike(writer, reader, shows_bare=shows_bare)


def _wholly_alike(writer: Node, reader: Node, *, shows_bare: bool) -> bool:
    """Whether rules see the same values of both, with all that is in them."""
    alike = partial(_wholly_alike, shows_bare=shows_bare)
    names = dict.fromkeys((*writer.properties, *reader.properties))
    return (
        _alike(writer, reader, shows_bare=shows_bare)
        and _elements_alike(writer, reader, alike)
        and all(_member_alike(writer, reader, (name,), alike) for name in names)
    )


def _held_alike(writer: Node, reader: Node) -> bool:
    """Whether both hold the same values; unions see them as JSON, whatever type they have for rules."""
    flags = [(side.preserve, side.embedded, side.additional is not None, side.types) for side in (writer, reader)]
    return flags[0] == flags[1] and _counted_alike(writer, reader)


def _shown_alike(writer: Node, reader: Node, *, shows_bare: bool) -> bool:
    """Whether rules see a member, of whatever value, in both or in none.

    Servers read the value for ``has``, too, but find no fault that the type or the format of the reader does not have.
    """
    kinds = (_kinds(View(side), shows_bare=shows_bare) for side in (writer, reader))
    shown = (kind != "unseen" and readable for kind, readable, *_ in kinds)
    return _counted_alike(writer, reader) and next(shown) == next(shown)


def _sized_alike(writer: Node, reader: Node, *, shows_bare: bool) -> bool:
    """Whether rules see as many items or members in both, of whatever type."""
    kinds = (_kinds(View(side), shows_bare=shows_bare)[:2] for side in (writer, reader))
    return _held_alike(writer, reader) and next(kinds) == next(kinds)


def _seen_alike(writer: Node, reader: Node, *, shows_bare: bool) -> bool:
    """Whether rules see values of both as the same type: format byte makes bytes, and date-time a timestamp."""
    seen = ((_kinds(View(side), shows_bare=shows_bare), side.types) for side in (writer, reader))
    return next(seen) == next(seen)


def _counted_alike(writer: Node, reader: Node) -> bool:
    """Whether a member is there on both sides or on none."""
    dropped = writer.nullable and not reader.nullable
    return not (_adds(writer, reader) or dropped)


def _adds(writer: Node | None, reader: Node) -> bool:
    """Whether the reader adds a member by default; the writer stores its own default."""
    return reader.default is not ABSENT and (writer is None or writer.default is ABSENT)


def _kinds(view: View | None, *, shows_bare: bool) -> tuple[Any, ...]:
    """The CEL type of a view and of its elements.

    CEL does not see a map whose values have no type. Before 1.29 rules cannot read an object that nothing describes.
    """
    if view is None:
        return ()
    readable = shows_bare or view.kind != "object" or view.described
    return (view.kind, readable, *_kinds(view.element, shows_bare=shows_bare))


def _element(node: Node) -> Node | None:
    return node.additional if isinstance(node.additional, Node) else node.items


def as_kept(writer: Node, reader: Node) -> Node:
    """The node of a reader that prunes nothing, as it reads what ``writer`` accepts: with all that the writer declares.

    Servers neither prune nor drop nulls for a CRD with ``preserveUnknownFields: true`` (docs/semantics.md#decoding).
    """
    raw = {key: value for key, value in reader.raw.items() if key not in _OF_KEEPING}
    raw |= {key: writer.raw[key] for key in _OF_KEEPING if key in writer.raw}
    for key in ("additionalProperties", "items"):
        if key in writer.raw:
            raw[key] = _kept(writer.raw[key], raw.get(key))
    if writer.properties:
        theirs = mapping_of(reader.raw.get("properties"))
        mine = {name: _kept(member.raw, theirs.get(name)) for name, member in writer.properties.items()}
        raw["properties"] = {**theirs, **mine}
    return Node(raw, reader.name)


def _kept(writer: Any, reader: Any) -> Any:
    return as_kept(Node(writer), Node(reader)).raw if isinstance(writer, dict) and isinstance(reader, dict) else writer


def takes_all(writer: Node, reader: Node, *, prunes: bool) -> bool:
    """Whether ``reader`` has a type and members for each value of ``writer``; False if not known.

    Then it neither prunes a value nor rejects its type, whatever other keywords of the two nodes say. ``prunes``:
    whether the reader's server removes unknown members.
    """
    if reader.types and not (writer.types and all(_is_of(kind, reader) for kind in writer.types)):
        return False
    if (writer.nullable and not reader.nullable) or writer.embedded != reader.embedded:
        return False
    scalar = writer.types and not {"object", "array"} & set(writer.types)
    return bool(scalar) or _keeps_members(writer, reader, prunes=prunes)


def _is_of(kind: str, reader: Node) -> bool:
    return kind in reader.types or (kind == "integer" and "number" in reader.types)


def _keeps_members(writer: Node, reader: Node, *, prunes: bool) -> bool:
    """Whether the reader takes all items and members of ``writer``'s values."""
    if not (reader.properties or reader.items or reader.additional is not None) and (reader.preserve or not prunes):
        return True  # any members and items
    if not writer.types or writer.preserve or writer.additional is True or reader.additional is False:
        return False
    if writer.type == "array":
        return writer.items is not None and _takes_part(writer.items, reader.items, prunes=prunes)
    parts = [(member, reader.child(name)) for name, member in writer.properties.items()]
    if isinstance(writer.additional, Node):
        named = (member for name, member in reader.properties.items() if name not in writer.properties)
        others = reader.additional if isinstance(reader.additional, Node) else None
        parts += [(writer.additional, each) for each in (*named, others)]
    keeps = reader.preserve or reader.additional is True
    return all(_takes_part(mine, theirs, prunes=prunes) or (keeps and theirs is None) for mine, theirs in parts)


def _takes_part(writer: Node, reader: Node | None, *, prunes: bool) -> bool:
    """``takes_all`` for an item or a member, whose other keywords count, too."""
    if reader is None:
        return not prunes
    if identical(writer.raw, reader.raw):
        return True
    return reader.raw.keys() <= _OF_SHAPE and takes_all(writer, reader, prunes=prunes)
