"""The values that a schema lists in enums, junctors and CEL rules, and the equality of such values."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from crdcompat.schema.structural import Node
from crdcompat.schema.work import WORK

#: Members of an enum that cost as much as a step.
_MEMBERS_OF_A_STEP = 4


def enum_members(node: Node, *, rules: bool = True) -> tuple[Any, ...] | None:
    """The values that the enums of ``node``, of its junctors and its listing rules allow together; None if unlimited.

    Enums of allOf intersect. anyOf and oneOf restrict to the union of their branches, if every branch has an enum. The
    set is never too small: it may include values that other keywords or rules reject. ``rules``: whether CEL rules that
    only list values count.
    """
    sets = [*([node.enum] if node.enum else []), *(values for _, values in node.listed if rules)]
    sets.extend(found for branch in node.all_of if (found := enum_members(branch)) is not None)
    for branches in (node.any_of, node.one_of):
        found_all = [enum_members(branch) for branch in branches]
        if branches and all(found is not None for found in found_all):
            sets.append(tuple(member for found in found_all if found is not None for member in found))
    if not sets:
        return None
    WORK.done += 1 + sum(map(len, sets)) // _MEMBERS_OF_A_STEP
    first, *others = ({member_key(member): member for member in reversed(each)} for each in sets)
    return tuple(member for key, member in reversed(first.items()) if all(key in other for other in others))


@lru_cache(maxsize=1024)
def member_keys(node: Node) -> frozenset[tuple[str, str]]:
    """The keys of `enum_members`; none if the values are unlimited. Kept, because each error of each object asks."""
    return frozenset(map(member_key, enum_members(node) or ()))


def member_key(value: Any) -> tuple[str, str]:
    """A key that is equal for equal enum members."""
    # repr distinguishes 1, true and "1"; 1 and 1.0 are the same number in a schema.
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return type(value).__name__, repr(value)
