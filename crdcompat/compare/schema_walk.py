"""Compare two schemas: every difference becomes a change, a counted text change, or undecided.

The walk skips equal subtrees. A keyword belongs to a facet, is text, or is reported as undecided, so that no difference
is silently skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from crdcompat.apiserver.crd_validation.decoded_keywords import KNOWN
from crdcompat.compare.changes import Change, Undecided
from crdcompat.compare.junctor_branches import BRANCHES, branch_sites, compared_by_branch
from crdcompat.compare.registry import all_facets, module_of
from crdcompat.compare.site import Site
from crdcompat.schema.answers import json_of
from crdcompat.schema.equality import digest, identical
from crdcompat.schema.paths import ITEM, VALUE, render
from crdcompat.schema.structural import ABSENT, Node
from crdcompat.schema.work import WORK, Budget, OverBudgetError

#: Keywords that admission ignores.
TEXT = frozenset({"title", "description", "example", "externalDocs", "$schema"})
#: Changes of two schemas that are judged: almost three times as many as ten years of a project's releases had.
MAX_CHANGES = 1_000
_CONTAINERS = frozenset({"properties", "items", "additionalProperties"})


class SchemaDiff(Struct):
    """All differences between two schemas: changes, undecided ones, and text-only ones as ``path: keyword``."""

    changes: list[Change] = field(default_factory=list)
    undecided: list[Undecided] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        """Whether there are more differences than are judged."""
        return len(self.changes) + len(self.undecided) > MAX_CHANGES


#: What the facets found at pairs of nodes, and the steps that it took.
AtNodes = dict[tuple[Any, ...], tuple[int, list[Change | Undecided]]]


def diff_schemas(old: Node, new: Node, budget: Budget, known: AtNodes | None = None) -> SchemaDiff:
    """Compare two schemas of the same version of a CRD.

    What the budget does not suffice for is undecided, and so is what follows the first MAX_CHANGES. ``known`` is what
    other comparisons found at equal nodes of the same place; this one adds to it.
    """
    found = SchemaDiff()
    _Walk(found, budget, {} if known is None else known).walk(Site(old, new, (), (), ()))
    reason = f"more than {MAX_CHANGES:,} changes: this one and those after it are not judged"
    if len(found.changes) > MAX_CHANGES:
        first = found.changes[MAX_CHANGES]
        del found.changes[MAX_CHANGES:]
        found.undecided.append(
            Undecided(first.path, first.kind, first.old, first.new, reason, old_at=first.old_at, new_at=first.new_at)
        )
    elif found.is_full:
        found.undecided[-1] = replace(found.undecided[-1], reason=reason)
    return found


@cache
def _owned() -> frozenset[str]:
    return frozenset(keyword for facet in all_facets() for keyword in facet.keywords)


def _changes(site: Site, *, below: bool) -> Iterator[Change | Undecided]:
    """What the facets find at one node; ``below``: only nodes below it differ."""
    for facet in all_facets():
        if (facet.in_branches or not site.in_junctor) and (facet.looks_below or not below):
            yield from facet.changes(site)


class _Walk:
    """One walk: what it ``found``, the budget, and what is ``known`` of equal nodes."""

    def __init__(self, found: SchemaDiff, budget: Budget, known: AtNodes) -> None:
        self._found, self._budget, self._known = found, budget, known

    def walk(self, site: Site) -> None:
        """Compare two nodes, and those below them."""
        found = self._found
        differing = _differing(site)
        if not differing or found.is_full:
            return
        self._compare_node(site, differing)
        if site.reshaped:
            return
        for keyword in differing:
            if keyword in TEXT:
                found.texts.append(f"{render(site.path) or 'the object'}: {keyword}")
            elif keyword in BRANCHES:
                self._junctor(site, keyword)
            elif keyword in _CONTAINERS:
                self._container(site, keyword)
            elif keyword in _owned():
                continue
            elif _may_be_read(keyword):
                found.undecided.append(site.undecided(keyword, "no rule of this version judges this keyword"))
            else:
                found.texts.append(f"{render(site.path) or 'the object'}: {keyword}, which no server reads")

    def _compare_node(self, site: Site, differing: list[str]) -> None:
        """What the facets find at a node where these keywords differ."""
        try:
            with self._budget.spending():
                for item in self._at_node(site, below=not any(_is_of_node(keyword, site) for keyword in differing)):
                    if isinstance(item, Change):
                        self._found.changes.append(item)
                    else:
                        self._found.undecided.append(item)
        except OverBudgetError:
            reason = f"the work of this comparison ({self._budget.steps:,} steps) did not suffice"
            keyword = next((key for key in differing if key in _owned()), "")
            self._found.undecided.append(site.undecided(keyword, reason))

    def _at_node(self, site: Site, *, below: bool) -> Iterator[Change | Undecided]:
        """``_changes``, looked for once at equal nodes: other releases mostly differ elsewhere.

        What is found before the budget ends counts.
        """
        try:
            texts = [digest(json_of(side.raw)) for side in (site.old, site.new)]
        except TypeError:  # integers of more than 64 bits, for example
            yield from _changes(site, below=below)
            return
        key = (*texts, site.path, site.old_at, site.new_at, site.in_junctor)
        if key in self._known:
            steps, known = self._known[key]
            yield from known
            WORK.spend(steps)
            return
        before, made = WORK.done, list[Change | Undecided]()
        for item in _changes(site, below=below):
            made.append(item)
            yield item
        self._known[key] = WORK.done - before, made

    def _container(self, site: Site, keyword: str) -> None:
        if keyword == "properties":
            old, new = site.old.members, site.new.members
            for name in sorted(old.keys() & new.keys()):
                below = Site(
                    old[name],
                    new[name],
                    (*site.path, name),
                    (*site.old_at, "properties", name),
                    (*site.new_at, "properties", name),
                    site.in_junctor,
                )
                self.walk(below)
            return
        step = ITEM if keyword == "items" else VALUE
        old_below, new_below = (side.items if step is ITEM else side.additional for side in (site.old, site.new))
        if isinstance(old_below, Node) and isinstance(new_below, Node):
            at = (*site.old_at, keyword), (*site.new_at, keyword)
            self.walk(Site(old_below, new_below, (*site.path, step), *at, site.in_junctor))

    def _junctor(self, site: Site, keyword: str) -> None:
        """Walk the branches of a junctor if only their enums differ; the facet of junctors judges other differences."""
        if not compared_by_branch(site, keyword):
            return
        found, inside = self._found, SchemaDiff()
        walk = _Walk(inside, self._budget, self._known)
        for branch in branch_sites(site, keyword):
            walk.walk(branch)
        # Changes of the node's effective enum already include those of its branches: do not report them twice.
        known = {module_of(change.kind) for change in found.changes if change.path == site.path}
        found.changes += [
            change for change in inside.changes if change.path != site.path or module_of(change.kind) not in known
        ]
        found.undecided += inside.undecided
        found.texts += inside.texts


def _may_be_read(keyword: str) -> bool:
    """Whether a server may read a keyword: it drops one that it does not know. Newer ones may know more extensions."""
    return keyword in KNOWN or keyword.startswith("x-")


def _is_of_node(keyword: str, site: Site) -> bool:
    """Whether a keyword that differs says something of the node itself, and not only of nodes below or of texts."""
    if keyword not in _CONTAINERS:
        return keyword not in TEXT
    old, new = site.old.raw.get(keyword), site.new.raw.get(keyword)
    if not isinstance(old, dict) or not isinstance(new, dict):
        return True
    return keyword == "properties" and old.keys() != new.keys()


def _differing(site: Site) -> list[str]:
    """The keywords that differ at a node."""
    old, new = site.old.raw, site.new.raw
    if old is new:
        return []
    return [key for key in sorted(old.keys() | new.keys()) if not identical(old.get(key, ABSENT), new.get(key, ABSENT))]
