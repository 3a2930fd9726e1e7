"""Compare two schemas: every difference becomes a change, a counted text change, or undecided.

The walk skips equal subtrees. A keyword belongs to a facet, is text, or is reported as undecided, so that no difference
is silently skipped.
"""

from __future__ import annotations

from functools import cache

from msgspec import Struct, field

from crdcompat.compare.branches import BRANCHES, branch_sites, compared_by_branch
from crdcompat.compare.changes import Change, Undecided, identical
from crdcompat.compare.registry import all_facets, module_of
from crdcompat.compare.site import Site
from crdcompat.schema.paths import ITEM, VALUE, render
from crdcompat.schema.structural import ABSENT, Node

#: Keywords that admission ignores.
TEXT = frozenset({"title", "description", "example", "externalDocs", "$schema"})
_CONTAINERS = frozenset({"properties", "items", "additionalProperties"})


class SchemaDiff(Struct):
    """All differences between two schemas: changes, undecided ones, and text-only ones as ``path: keyword``."""

    changes: list[Change] = field(default_factory=list)
    undecided: list[Undecided] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)


def diff_schemas(old: Node, new: Node) -> SchemaDiff:
    """Compare two schemas of the same version of a CRD."""
    found = SchemaDiff()
    _walk(Site(old, new, (), (), ()), found)
    return found


@cache
def _owned() -> frozenset[str]:
    return frozenset(keyword for facet in all_facets() for keyword in facet.keywords)


def _walk(site: Site, found: SchemaDiff) -> None:
    old, new = site.old.raw, site.new.raw
    if identical(old, new):
        return
    for facet in all_facets():
        if site.in_junctor and not facet.in_branches:
            continue
        for item in facet.changes(site):
            if isinstance(item, Change):
                found.changes.append(item)
            else:
                found.undecided.append(item)
    if site.reshaped:
        return
    differing = [
        key for key in sorted(old.keys() | new.keys()) if not identical(old.get(key, ABSENT), new.get(key, ABSENT))
    ]
    for keyword in differing:
        if keyword in TEXT:
            found.texts.append(f"{render(site.path) or 'the object'}: {keyword}")
        elif keyword in BRANCHES:
            _junctor(site, keyword, found)
        elif keyword in _CONTAINERS:
            _container(site, keyword, found)
        elif keyword not in _owned():
            found.undecided.append(site.undecided(keyword, "no rule of this version judges this keyword"))


def _container(site: Site, keyword: str, found: SchemaDiff) -> None:
    if keyword == "properties":
        old, new = site.old.properties, site.new.properties
        for name in sorted(old.keys() & new.keys()):
            below = Site(
                old[name],
                new[name],
                (*site.path, name),
                (*site.old_at, "properties", name),
                (*site.new_at, "properties", name),
                site.in_junctor,
            )
            _walk(below, found)
        return
    step = ITEM if keyword == "items" else VALUE
    old_below, new_below = (side.items if step is ITEM else side.additional for side in (site.old, site.new))
    if isinstance(old_below, Node) and isinstance(new_below, Node):
        at = (*site.old_at, keyword), (*site.new_at, keyword)
        _walk(Site(old_below, new_below, (*site.path, step), *at, site.in_junctor), found)


def _junctor(site: Site, keyword: str, found: SchemaDiff) -> None:
    """Walk the branches of a junctor if only their enums differ; the facet of junctors judges other differences."""
    if not compared_by_branch(site, keyword):
        return
    inside = SchemaDiff()
    for branch in branch_sites(site, keyword):
        _walk(branch, inside)
    # Changes of the node's effective enum already include those of its branches: do not report them twice.
    known = {module_of(change.kind) for change in found.changes if change.path == site.path}
    found.changes += [
        change for change in inside.changes if change.path != site.path or module_of(change.kind) not in known
    ]
    found.undecided += inside.undecided
    found.texts += inside.texts
