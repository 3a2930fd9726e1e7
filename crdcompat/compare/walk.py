"""Two schemas side by side: every difference becomes a change, a counted text change, or undecided.

Equal subtrees are not entered. Each keyword is some facet's, or text, or undecided: none is passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import orjson

from crdcompat.compare.changes import Change, Undecided
from crdcompat.compare.facets import all_facets
from crdcompat.compare.site import Site
from crdcompat.schema.paths import ITEM, VALUE
from crdcompat.schema.structural import ABSENT, Node

#: Keywords that no server looks at when it judges an object.
TEXT = frozenset({"title", "description", "example", "externalDocs", "$schema"})
_JUNCTORS = ("allOf", "anyOf", "oneOf")
_CONTAINERS = frozenset({"properties", "items", "additionalProperties"})


@dataclass(slots=True)
class SchemaDiff:
    """All differences between two schemas: changes, undecided ones, and the number of text-only ones."""

    changes: list[Change] = field(default_factory=list)
    undecided: list[Undecided] = field(default_factory=list)
    text_only: int = 0


def diff_schemas(old: Node, new: Node) -> SchemaDiff:
    """Compare two schemas of the same version of a CRD."""
    found = SchemaDiff()
    _walk(Site(old, new, (), (), ()), found)
    return found


def identical(a: Any, b: Any) -> bool:
    """Equal as JSON: Python takes 1 for true and 1.0 for 1, so what looks equal is compared as text too."""
    return a is b or (a == b and _canonical(a) == _canonical(b))


def _canonical(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)


@cache
def _owned() -> frozenset[str]:
    return frozenset(keyword for facet in all_facets() for keyword in facet.KEYWORDS)


def _walk(site: Site, found: SchemaDiff) -> None:
    old, new = site.old.raw, site.new.raw
    if identical(old, new):
        return
    differing = [
        key for key in sorted(old.keys() | new.keys()) if not identical(old.get(key, ABSENT), new.get(key, ABSENT))
    ]
    for facet in all_facets():
        found.changes.extend(facet.changes(site))
    for keyword in differing:
        if keyword in TEXT:
            found.text_only += 1
        elif keyword in _JUNCTORS:
            _junctor(site, keyword, found)
        elif keyword in _CONTAINERS:
            _container(site, keyword, found)
        elif keyword not in _owned():
            found.undecided.append(_undecided(site, keyword, "no rule of this version judges this keyword"))


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
    step, a, b = (
        (ITEM, site.old.items, site.new.items)
        if keyword == "items"
        else (VALUE, site.old.additional, site.new.additional)
    )
    if isinstance(a, Node) and isinstance(b, Node):
        _walk(
            Site(a, b, (*site.path, step), (*site.old_at, keyword), (*site.new_at, keyword), site.in_junctor),
            found,
        )
    else:
        found.undecided.append(_undecided(site, keyword, "the shape of the value changed"))


def _junctor(site: Site, keyword: str, found: SchemaDiff) -> None:
    """Branches that differ in enums alone are compared branch by branch; what else they hold is undecided."""
    old, new = site.old.raw.get(keyword), site.new.raw.get(keyword)
    if not identical(_without_enums(old), _without_enums(new)):
        found.undecided.append(_undecided(site, keyword, "the branches changed in more than their enums"))
        return
    inside = SchemaDiff()
    for branch in _branch_sites(site, keyword):
        _walk(branch, inside)
    # What the effective set at the node itself says already is not said again by the branch it came from.
    known = {change.kind.partition(".")[0] for change in found.changes if change.path == site.path}
    found.changes += [
        change for change in inside.changes if change.path != site.path or change.kind.partition(".")[0] not in known
    ]
    found.undecided += inside.undecided
    found.text_only += inside.text_only


def _branch_sites(site: Site, keyword: str) -> Iterator[Site]:
    attribute = {"allOf": "all_of", "anyOf": "any_of", "oneOf": "one_of"}[keyword]
    pairs = zip(getattr(site.old, attribute), getattr(site.new, attribute), strict=True)
    for index, (old, new) in enumerate(pairs):
        yield Site(old, new, site.path, (*site.old_at, keyword, index), (*site.new_at, keyword, index), True)


def _without_enums(value: Any) -> Any:
    """A junctor with its enums' members taken out; below ``not`` an enum means the opposite and stays."""
    if isinstance(value, list):
        return [_without_enums(item) for item in value]
    if isinstance(value, dict):
        return {
            key: item if key == "not" else (None if key == "enum" else _without_enums(item))
            for key, item in value.items()
        }
    return value


def _undecided(site: Site, keyword: str, reason: str) -> Undecided:
    old, new = site.old.raw.get(keyword), site.new.raw.get(keyword)
    return Undecided(
        site.path,
        keyword,
        _short(old),
        _short(new),
        reason,
        old_at=(*site.old_at, keyword) if keyword in site.old.raw else site.old_at,
        new_at=(*site.new_at, keyword) if keyword in site.new.raw else site.new_at,
    )


def _short(value: Any) -> Any:
    """A whole subtree is no help to a reader: of a schema only its type is shown."""
    if isinstance(value, dict) and ("properties" in value or "items" in value or "additionalProperties" in value):
        return {key: value[key] for key in ("type",) if key in value}
    return value
