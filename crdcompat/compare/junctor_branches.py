"""Branches are the schemas in allOf, anyOf and oneOf: compared one by one where they differ only in their enums."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crdcompat.compare.site import Site
from crdcompat.schema.equality import identical
from crdcompat.schema.listed_values import member_key
from crdcompat.schema.structural import Node

#: Junctors with branches, by the attribute of a node that lists them.
BRANCHES = {"allOf": "all_of", "anyOf": "any_of", "oneOf": "one_of"}


def compared_by_branch(site: Site, keyword: str) -> bool:
    """Whether a junctor differs only in the enums of its branches, so that they can be compared one by one.

    oneOf rejects a value that two branches accept: a member added to one branch can remove a value from the union.
    So its branches are compared one by one only where no two of them share a value.
    """
    old, new = (side.raw.get(keyword) for side in (site.old, site.new))
    if keyword == "not" or not identical(without_enums(old), without_enums(new)):
        return False
    if keyword == "allOf":
        return True
    # A branch with other keywords beside its enum accepts fewer values than the enum lists.
    branches = (*site.old.any_of, *site.new.any_of, *site.old.one_of, *site.new.one_of)
    if any(branch.enum and len(branch.raw) > 1 for branch in branches):
        return False
    return keyword == "anyOf" or (_are_disjoint(site.old) and _are_disjoint(site.new))


def lists_values(site: Site, keyword: str) -> bool:
    """Whether a junctor only lists values on each side that has it: the facet ``enum`` compares all that it says.

    A oneOf rejects what two of its branches list, so it counts only where no two share a value.
    """
    if keyword not in ("anyOf", "oneOf"):
        return False
    sides = [getattr(side, BRANCHES[keyword]) for side in (site.old, site.new)]
    only_lists = all(branch.raw.keys() == {"enum"} and branch.enum for side in sides for branch in side)
    return only_lists and (
        keyword != "oneOf" or all(not node.one_of or _are_disjoint(node) for node in (site.old, site.new))
    )


def is_of_node(branch: Node) -> bool:
    """Whether the facets ``enum`` and ``pattern`` compare all that a branch of allOf says, with the node's own."""
    return bool(branch.raw) and branch.raw.keys() <= {"enum", "pattern"}


def branch_sites(site: Site, keyword: str) -> Iterator[Site]:
    """The branches of both sides in pairs. Both sides have the same number of branches."""
    pairs = zip(getattr(site.old, BRANCHES[keyword]), getattr(site.new, BRANCHES[keyword]), strict=True)
    for index, (old, new) in enumerate(pairs):
        yield Site(old, new, site.path, (*site.old_at, keyword, index), (*site.new_at, keyword, index), True)


def _are_disjoint(node: Node) -> bool:
    """Whether the enums of the value, or of one member (a discriminator), are disjoint across all branches of oneOf."""
    lists = [enums_of(branch) for branch in node.one_of]
    return any(
        all(name in found for found in lists) and _share_nothing([found[name] for found in lists])
        for name in (lists[0] if lists else ())
    )


def enums_of(branch: Node) -> dict[str, set[tuple[str, str]]]:
    """The enum of a branch (key "") and the enums of its members, by member name."""
    found = {"": branch.enum, **{name: member.enum for name, member in branch.properties.items()}}
    return {name: set(map(member_key, members)) for name, members in found.items() if members}


def _share_nothing(sets: list[set[tuple[str, str]]]) -> bool:
    return len(set().union(*sets)) == sum(map(len, sets))


def without_enums(value: Any) -> Any:
    """A junctor without the members of its enums. Below ``not`` an enum forbids its members, so it is kept."""
    if isinstance(value, list):
        return [without_enums(item) for item in value]
    if isinstance(value, dict):
        return {
            key: item if key == "not" else (None if key == "enum" else without_enums(item))
            for key, item in value.items()
        }
    return value
