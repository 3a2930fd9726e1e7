"""Branches of allOf, anyOf and oneOf that differ in their enums alone: compared one by one, as values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crdcompat.compare.changes import identical
from crdcompat.compare.site import Site
from crdcompat.schema.enums import member_key
from crdcompat.schema.structural import Node

#: The junctors that have branches, with the attribute of a node that holds them.
BRANCHES = {"allOf": "all_of", "anyOf": "any_of", "oneOf": "one_of"}


def compared_by_branch(site: Site, keyword: str) -> bool:
    """Whether a junctor differs in the enums of its branches alone, which are then compared branch by branch.

    oneOf takes nothing that two branches take: there a member more in one branch can be a value less. Its branches
    are compared one by one only where no value is of two.
    """
    old, new = (side.raw.get(keyword) for side in (site.old, site.new))
    if keyword == "not" or not identical(without_enums(old), without_enums(new)):
        return False
    if keyword == "allOf":
        return True
    # A branch that demands more than its enum says takes fewer values than that lists.
    branches = (*site.old.any_of, *site.new.any_of, *site.old.one_of, *site.new.one_of)
    if any(branch.enum and len(branch.raw) > 1 for branch in branches):
        return False
    return keyword == "anyOf" or (_are_disjoint(site.old) and _are_disjoint(site.new))


def branch_sites(site: Site, keyword: str) -> Iterator[Site]:
    """The branches of both sides in pairs; they are of the same number."""
    pairs = zip(getattr(site.old, BRANCHES[keyword]), getattr(site.new, BRANCHES[keyword]), strict=True)
    for index, (old, new) in enumerate(pairs):
        yield Site(old, new, site.path, (*site.old_at, keyword, index), (*site.new_at, keyword, index), True)


def _are_disjoint(node: Node) -> bool:
    """Whether one enum keeps all branches of a oneOf apart: of the value itself, or of a member (a discriminator)."""
    lists = [enums_of(branch) for branch in node.one_of]
    return any(
        all(name in found for found in lists) and _share_nothing([found[name] for found in lists])
        for name in (lists[0] if lists else ())
    )


def enums_of(branch: Node) -> dict[str, set[tuple[str, str]]]:
    """The enum of a branch ("") and those of its members, by name."""
    found = {"": branch.enum, **{name: member.enum for name, member in branch.properties.items()}}
    return {name: set(map(member_key, members)) for name, members in found.items() if members}


def _share_nothing(sets: list[set[tuple[str, str]]]) -> bool:
    return len(set().union(*sets)) == sum(map(len, sets))


def without_enums(value: Any) -> Any:
    """A junctor with its enums' members taken out; below ``not`` an enum means the opposite and stays."""
    if isinstance(value, list):
        return [without_enums(item) for item in value]
    if isinstance(value, dict):
        return {
            key: item if key == "not" else (None if key == "enum" else without_enums(item))
            for key, item in value.items()
        }
    return value
