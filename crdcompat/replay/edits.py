"""The smallest edits that represent the writes of controllers and people after a rollback."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from msgspec import Struct

from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.validate import SchemaValidator
from crdcompat.candidates.sample import sample
from crdcompat.schema.listed_values import enum_members
from crdcompat.schema.paths import (
    ITEM,
    VALUE,
    Object,
    Pointer,
    SchemaPath,
    field_of,
    node_at,
    schema_path_of,
    value_at,
    with_value,
)
from crdcompat.schema.structural import ABSENT, Node
from crdcompat.schema.work import WORK

_SCALARS = frozenset({"string", "integer", "number", "boolean"})


class Edit(Struct, frozen=True):
    """An edited object and the place of the edit. ``replaces``: the value was there before."""

    object: Object
    pointer: Pointer
    replaces: bool = False

    @property
    def what(self) -> str:
        """The place, as messages write it."""
        return field_of(self.pointer)

    def is_unnoticed(self, root: Node) -> bool:
        """Whether no rule and no junctor at or above the place reads it, so that only its own keywords constrain it.

        False for anything but a plain member: a rule on a map or a list may read every value in it.
        """
        member = self.pointer[-1]
        steps = schema_path_of(root, self.pointer)
        if not isinstance(member, str) or not member.isalnum() or steps[-1] is VALUE:
            return False
        node = node_at(root, steps)
        return (node is None or not node.rules) and member not in _mentioned(root, steps)


@lru_cache(maxsize=4096)
def _mentioned(root: Node, steps: SchemaPath) -> str:
    """The text of the rules and junctors above a place. A name that it contains may be that of a member they judge."""
    above = [node for length in range(len(steps)) if (node := node_at(root, steps[:length])) is not None]
    return repr([part for node in above for part in (node.rules, *(branch.raw for branch in node.junctor_branches()))])


@lru_cache(maxsize=4096)
def _validator(node: Node, server: Server) -> SchemaValidator:
    return SchemaValidator(node, server)


def unrelated(obj: Object, root: Node, part: str, bad: list[Pointer], server: Server) -> Iterator[Edit]:
    """Edits in ``part`` (``status`` or ``spec``) that leave the ``bad`` places alone.

    First the fields that controllers change most: observedGeneration, a condition's message. Then any scalar for
    which the schema allows another value. Then the members of an object that breaks a constraint as a whole: where
    that is all of ``part``, every write changes it. Last scalars that ``part`` does not have yet.
    """
    if not isinstance(obj.get(part), dict):
        return
    wholes = [place for place in bad if _is_object(obj, place)]
    near_whole = _Places(wholes, root)
    near_value = _Places((place for place in bad if place not in near_whole), root)
    allowed: dict[Node, tuple[Any, ...] | None] = {}
    scalars = (
        (inside, *each) for inside in (False, True)[: 1 + bool(wholes)] for each in _common_first(obj[part], part)
    )
    for inside, pointer, value in scalars:
        if near_value.touches(pointer) or near_whole.touches(pointer) != inside:
            continue
        WORK.spend()
        node = node_at(root, schema_path_of(root, pointer))
        if node is None or _is_list_key(pointer, root):
            continue
        if node not in allowed:
            allowed[node] = enum_members(node)
        members = allowed[node]
        others = [other for other in _others(value) if members is None or other in members]
        # Most scalars of an object can be enums: a validator is made where it has something to judge.
        is_allowed = _validator(node, server).accepts if others else None
        other = next(filter(is_allowed, others), None)
        if other is not None:
            yield Edit(with_value(obj, pointer, other), pointer, replaces=True)
    generation = node_at(root, (part, "observedGeneration"))
    if generation is not None and "observedGeneration" not in obj[part]:
        yield Edit(with_value(obj, (part, "observedGeneration"), 1), (part, "observedGeneration"))
    yield from _added(obj, root, part, bad, server)


def _added(obj: Object, root: Node, part: str, bad: list[Pointer], server: Server) -> Iterator[Edit]:
    """Edits that add a scalar to ``part``."""
    holder = node_at(root, (part,))
    for name, node in holder.properties.items() if holder is not None else ():
        pointer = (part, name)
        if name in obj[part] or name == "observedGeneration" or node.type not in _SCALARS or pointer in bad:
            continue
        value = sample(node)
        if value is not ABSENT and _validator(node, server).accepts(value):
            yield Edit(with_value(obj, pointer, value), pointer)


def touching(obj: Object, old: Object, root: Node, bad: list[Pointer]) -> tuple[Object, Object, str] | None:
    """Write the first bad value together with a change to its parent: (new, old, description), or None.

    An atomic list or a set loses its last valid item, because ratcheting compares it as one value. In a keyed list
    (``listType: map``), or without a list, the value itself counts as new. A missing member is new with its object.
    """
    if not bad:
        return None
    target = bad[0]
    if len(target) > 1 and not _is_there(obj, target):
        target = target[:-1]
    for depth in range(len(target), 0, -1):
        if not isinstance(target[depth - 1], int):
            continue
        at = target[: depth - 1]
        items = value_at(obj, at)
        node = node_at(root, schema_path_of(root, at))
        if node is not None and node.list_type == "map" and len(target) > depth:
            break
        bad_items = {pointer[depth - 1] for pointer in bad if len(pointer) >= depth and pointer[: depth - 1] == at}
        valid = [index for index in range(len(items)) if index not in bad_items]
        if valid:
            rest = [item for index, item in enumerate(items) if index != valid[-1]]
            return with_value(obj, at, rest), old, f"{field_of(at)} without its last valid item"
        if len(items) > 1:
            return with_value(obj, at, items[::-1]), old, f"{field_of(at)} in another order"
        return obj, with_value(old, at, []), f"{field_of(at)} written anew"
    without = _without_member(old, target)
    return (obj, without, f"{field_of(target)} written anew") if without is not None else None


def _without_member(obj: Object, target: Pointer) -> Object | None:
    try:
        removed: Object = with_value(obj, target, ABSENT)
    except LookupError:
        return None
    return removed


def _scalars(value: Any, at: Pointer) -> Iterator[tuple[Pointer, Any]]:
    if isinstance(value, dict):
        for name in sorted(value):
            yield from _scalars(value[name], (*at, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _scalars(item, (*at, index))
    elif value is not None:
        yield at, value


def _common_first(value: Object, part: str) -> Iterator[tuple[Pointer, Any]]:
    """The scalars of ``part`` in path order; those that controllers change most come first."""
    common: list[tuple[Pointer, Any]] = []
    if "observedGeneration" in value:
        common.append(((part, "observedGeneration"), value["observedGeneration"]))
    conditions = value.get("conditions")
    for index, condition in enumerate(conditions if isinstance(conditions, list) else ()):
        if isinstance(condition, dict) and isinstance(condition.get("message"), str):
            common.append(((part, "conditions", index, "message"), condition["message"]))
    yield from common
    known = {pointer for pointer, _ in common}
    yield from ((pointer, scalar) for pointer, scalar in _scalars(value, (part,)) if pointer not in known)


class _Places:
    """Bad places, looked up by their pointers and by those above them: an object may have thousands."""

    def __init__(self, places: Iterable[Pointer], root: Node) -> None:
        self._root = root
        self._places = frozenset(places)
        self._above = frozenset(place[:depth] for place in self._places for depth in range(len(place)))

    def __contains__(self, place: Pointer) -> bool:
        return place in self._places

    def touches(self, pointer: Pointer) -> bool:
        """Whether a change at the pointer touches one of them: the same field, or a list that counts as one value."""
        if pointer in self._above or any(pointer[:depth] in self._places for depth in range(len(pointer) + 1)):
            return True
        for depth, step in enumerate(pointer):
            if isinstance(step, int) and pointer[:depth] in self._above:
                node = node_at(self._root, schema_path_of(self._root, pointer[:depth]))
                if node is None or node.list_type != "map" or pointer[: depth + 1] in self._above:
                    return True
        return False


def _is_object(obj: Object, place: Pointer) -> bool:
    """Whether a place is an object that is no part of a list: a list may count as one value."""
    if any(isinstance(step, int) for step in place):
        return False
    return _is_there(obj, place) and isinstance(value_at(obj, place), dict)


def _is_there(obj: Object, place: Pointer) -> bool:
    try:
        value_at(obj, place)
    except LookupError:
        return False
    return True


def _is_list_key(pointer: Pointer, root: Node) -> bool:
    if len(pointer) < 2 or not isinstance(pointer[-2], int):
        return False
    path = schema_path_of(root, pointer[:-1])
    holder = node_at(root, path[:-1]) if path[-1] is ITEM else None
    return holder is not None and pointer[-1] in holder.list_keys


def _others(value: Any) -> Iterator[Any]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, (int, float)):
        yield value + 1
        yield value - 1
    elif isinstance(value, str):
        yield f"{value} " if value.endswith("(changed)") else f"{value} (changed)"
        yield value + "x"
        yield value[:-1]
        yield from ("2006-01-02T15:04:05Z", "x")
