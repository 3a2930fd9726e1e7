"""The values that a schema lists: enums, its junctors' and rules' lists, and what makes two of them the same."""

from __future__ import annotations

from typing import Any

from crdcompat.schema.structural import Node


def enum_members(node: Node, *, rules: bool = True) -> tuple[Any, ...] | None:
    """The finite set of values that ``node`` allows by its enum, its junctors' and rules that are lists, else None.

    An allOf enum intersects; anyOf and oneOf restrict only if every branch is finite, to their union. The
    set is never too small: it may hold values that other keywords or rules forbid. ``rules``: lists in CEL count.
    """
    sets = [*([node.enum] if node.enum else []), *(values for _, values in node.listed if rules)]
    sets.extend(found for branch in node.all_of if (found := enum_members(branch)) is not None)
    for branches in (node.any_of, node.one_of):
        found_all = [enum_members(branch) for branch in branches]
        if branches and all(found is not None for found in found_all):
            sets.append(tuple(member for found in found_all if found is not None for member in found))
    if not sets:
        return None
    first, *others = sets
    kept: dict[tuple[str, str], Any] = {}
    for member in first:
        if all(any(member_key(member) == member_key(candidate) for candidate in other) for other in others):
            kept.setdefault(member_key(member), member)
    return tuple(kept.values())


def member_key(value: Any) -> tuple[str, str]:
    """What makes two enum members the same value."""
    # repr tells 1 from true and "1"; 1 and 1.0 are one number to the schema.
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return type(value).__name__, repr(value)
