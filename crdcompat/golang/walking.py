"""Walks from a kind through the Go types of its package, along a path of the CRD's schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.schema.paths import ITEM, SchemaPath, Wild

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.golang.packages import Package
    from crdcompat.golang.source import Comment, GoDeclaration, GoField, GoType, Place


class Above(Struct, frozen=True):
    """The comments above a field or a declaration; with ``items``, only their markers for list items count."""

    file: str
    comments: tuple[Comment, ...]
    items: bool = False


class Site(Struct, frozen=True):
    """The target of a path: a field or declaration, the comments that may contain its markers, and its type.

    ``within`` is the file of the type: for the items of a named list type, it can differ from the file of the field.
    """

    file: str
    place: Place
    above: tuple[Above, ...]
    type: GoType
    within: str
    may_be_left_out: bool = False


def walk(package: Package, kind: str, path: SchemaPath) -> tuple[Site, bool]:
    """The site at ``path``, or the deepest known one above it, and whether it is that at the path."""
    file, declared = package.types[kind]
    site = Site(file, declared.place, (Above(file, declared.comments),), declared.type, file)
    for each in path:
        following = step(package, site, each)
        if following is None:
            return site, False
        site = following
    return site, True


def step(package: Package, site: Site, to: str | Wild) -> Site | None:
    """One step down the path; None if the types of the package have no such step."""
    names = list(declarations(package, site.type))
    within, type_ = (names[-1][0], names[-1][1].type) if names else (site.within, site.type)
    if not isinstance(to, Wild):
        found = _field(package, within, type_, to)
        if found is None:
            return None
        file, field = found
        return Site(file, field.place, (Above(file, field.comments),), field.type, file, field.may_be_left_out)
    inner = type_.list_of if to is ITEM else type_.map_of
    if inner is None:
        return None
    of_list = (*site.above, *(Above(file, declared.comments) for file, declared in names))
    above = tuple(Above(each.file, each.comments, items=True) for each in of_list if not each.items)
    return Site(site.file, site.place, above if to is ITEM else (), inner, within, may_be_left_out=True)


def declarations(package: Package, type_: GoType) -> Iterator[tuple[str, GoDeclaration]]:
    """The declarations of a type's name, then of the name that this declares, and so on, inside the package."""
    seen = set()
    while type_.name in package.types and not type_.foreign and type_.name not in seen:
        seen.add(type_.name)
        file, declared = package.types[type_.name]
        yield file, declared
        type_ = declared.type


def _field(package: Package, within: str, type_: GoType, name: str) -> tuple[str, GoField] | None:
    """The (file, field) of a JSON name: a struct's own fields precede those of its embedded structs."""
    structs, seen = [(within, type_)], set()
    for within, type_ in structs:
        for field in type_.fields:
            if field.json == name:
                return within, field
            if not field.json and field.type.name not in seen:
                seen.update({field.type.name} - {""})
                names = list(declarations(package, field.type))
                structs.append((names[-1][0], names[-1][1].type) if names else (within, field.type))
    return None
