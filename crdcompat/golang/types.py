"""Find the Go marker or field from which controller-gen generates a path of a CRD's schema.

Types are followed only inside their package. Where a path continues in a type of another package
(``metav1.ObjectMeta``), the result is the deepest known field on the path.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from crdcompat.golang.markers import read_markers
from crdcompat.golang.packages import packages_of
from crdcompat.schema.paths import ITEM, Wild

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from crdcompat.golang.markers import Marker
    from crdcompat.golang.packages import Package
    from crdcompat.golang.source import Comment, GoDeclaration, GoField, GoType, Place
    from crdcompat.schema.paths import SchemaPath

_VALIDATION = "kubebuilder:validation:"
_ITEMS = f"{_VALIDATION}items:"
_GATED = "openshift:validation:FeatureGateAware"

#: The markers of a schema keyword; the marker of any other keyword is ``+kubebuilder:validation:`` and its name.
_MARKERS: Mapping[str, tuple[str, ...]] = {
    "enum": (f"{_VALIDATION}Enum", f"{_GATED}Enum"),
    "default": ("kubebuilder:default", "default"),
    "required": (
        *(f"{prefix}{name}" for name in ("required", "optional") for prefix in ("", "k8s:")),
        *(f"{_VALIDATION}{name}" for name in ("Required", "Optional")),
    ),
    "nullable": ("nullable", f"{_VALIDATION}Nullable"),
    "maxItems": (f"{_VALIDATION}MaxItems", f"{_GATED}MaxItems"),
    "x-kubernetes-validations": (f"{_VALIDATION}XValidation", f"{_GATED}XValidation"),
    "x-kubernetes-list-type": ("listType",),
    "x-kubernetes-list-map-keys": ("listMapKey",),
    "x-kubernetes-map-type": ("mapType", "structType"),
    "x-kubernetes-preserve-unknown-fields": (
        "kubebuilder:pruning:PreserveUnknownFields",
        f"{_VALIDATION}XPreserveUnknownFields",
    ),
    "x-kubernetes-embedded-resource": (f"{_VALIDATION}EmbeddedResource", f"{_VALIDATION}XEmbeddedResource"),
    "x-kubernetes-int-or-string": (f"{_VALIDATION}XIntOrString",),
}
#: The argument with a marker's values, for markers with named arguments.
_ARGUMENTS = {"enum": "enum", "x-kubernetes-validations": "rule"}


class GoPlace(Struct, frozen=True):
    """A place in a Go file: line and column count from 1.

    ``of`` is what is there: the enum's ``value`` on a marker, the ``marker``, the ``field`` of the path (or the type of
    the kind), or the deepest known field ``above`` it.
    """

    file: str
    line: int
    column: int
    of: Literal["value", "marker", "field", "above"]


class GoMember(Struct, frozen=True):
    """What a Go type says about the values of a field.

    ``may_be_left_out``: a Go program that does not set the field writes no value for it. ``is_text``: else it writes
    "". ``constants`` are the values of the constants of the field's type.
    """

    may_be_left_out: bool
    is_text: bool
    constants: tuple[str, ...]


class GoTypes:
    """The Go types of APIs in files; a package is parsed at its first use."""

    def __init__(self, files: Iterable[tuple[str, bytes]]) -> None:
        """``files`` are (path, content); large files and those that are not ``is_go_types`` are left out."""
        self._packages = packages_of(files)

    def place(
        self, group: str, version: str, kind: str, path: SchemaPath, keyword: str, value: Any = None
    ) -> GoPlace | None:
        """Find the source of a keyword of the schema at ``path``; None if the files lack the type of the kind.

        ``keyword`` is a schema keyword (``enum``, ``maxLength``, ``x-kubernetes-validations``). ``value`` is a value of
        the enum or a rule of the validations: a marker that contains it precedes one that does not. For ``required``,
        ``path`` is the path of the required field.
        """
        for package in self._packages.get((group, version), ()):
            if kind in package.types:
                return _place(package, kind, path, keyword, value)
        return None

    def member(self, group: str, version: str, kind: str, path: SchemaPath) -> GoMember | None:
        """What the Go type says about the field at ``path``; None if the files do not declare it."""
        for package in self._packages.get((group, version), ()):
            if kind in package.types:
                site, found = _walk(package, kind, path)
                return _member(package, site) if found else None
        return None


class _Above(Struct, frozen=True):
    """The comments above a field or a declaration; with ``items``, only their markers for list items count."""

    file: str
    comments: tuple[Comment, ...]
    items: bool = False


class _Site(Struct, frozen=True):
    """The target of a path: a field or declaration, the comments that may contain its markers, and its type.

    ``within`` is the file of the type: for the items of a named list type, it can differ from the file of the field.
    """

    file: str
    place: Place
    above: tuple[_Above, ...]
    type: GoType
    within: str
    may_be_left_out: bool = False


def _walk(package: Package, kind: str, path: SchemaPath) -> tuple[_Site, bool]:
    """The site at ``path``, or the deepest known one above it, and whether it is that at the path."""
    file, declared = package.types[kind]
    site = _Site(file, declared.place, (_Above(file, declared.comments),), declared.type, file)
    for step in path:
        following = _step(package, site, step)
        if following is None:
            return site, False
        site = following
    return site, True


def _member(package: Package, site: _Site) -> GoMember:
    names = [site.type.name, *(declared.type.name for _, declared in _declarations(package, site.type))]
    # A constant of type string can be meant for any field.
    own = [name for name in names if name in package.types and not site.type.foreign]
    constants = dict.fromkeys(value for name in own for value in package.constants.get(name, ()))
    return GoMember(site.may_be_left_out, names[-1] == "string", tuple(constants))


def _place(package: Package, kind: str, path: SchemaPath, keyword: str, value: Any) -> GoPlace:
    site, found = _walk(package, kind, path)
    if not found:
        return GoPlace(site.file, *site.place, "above")
    return _on_marker(package, site, keyword, value) or GoPlace(site.file, *site.place, "field")


def _step(package: Package, site: _Site, step: str | Wild) -> _Site | None:
    """One step down the path; None if the types of the package have no such step."""
    names = list(_declarations(package, site.type))
    within, type_ = (names[-1][0], names[-1][1].type) if names else (site.within, site.type)
    if not isinstance(step, Wild):
        found = _field(package, within, type_, step)
        if found is None:
            return None
        file, field = found
        return _Site(file, field.place, (_Above(file, field.comments),), field.type, file, field.may_be_left_out)
    inner = type_.list_of if step is ITEM else type_.map_of
    if inner is None:
        return None
    of_list = (*site.above, *(_Above(file, declared.comments) for file, declared in names))
    above = tuple(_Above(each.file, each.comments, items=True) for each in of_list if not each.items)
    return _Site(site.file, site.place, above if step is ITEM else (), inner, within, may_be_left_out=True)


def _declarations(package: Package, type_: GoType) -> Iterator[tuple[str, GoDeclaration]]:
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
                names = list(_declarations(package, field.type))
                structs.append((names[-1][0], names[-1][1].type) if names else (within, field.type))
    return None


def _on_marker(package: Package, site: _Site, keyword: str, value: Any) -> GoPlace | None:
    """The place of the value on a marker, else of the first marker; None without a marker."""
    of_type = (_Above(file, declared.comments) for file, declared in _declarations(package, site.type))
    markers = [found for above in (*site.above, *of_type) for found in _markers(above, keyword)]
    if value is not None:
        wanted, argument = _written(value), _ARGUMENTS.get(keyword, "value")
        for file, name, marker in markers:
            for text, place in marker.values(name, argument):
                if text == wanted:
                    return GoPlace(file, *place, "value")
    for file, _, marker in markers:
        return GoPlace(file, *marker.place, "marker")
    return None


def _markers(above: _Above, keyword: str) -> Iterator[tuple[str, str, Marker]]:
    """The markers of a keyword among comments, as (file, name, marker)."""
    names = _MARKERS.get(keyword, (f"{_VALIDATION}{keyword[:1].upper()}{keyword[1:]}",))
    if above.items:
        names = tuple(_ITEMS + name.removeprefix(_VALIDATION) for name in names if name.startswith(_VALIDATION))
    for marker in read_markers(above.comments):
        for name in names:
            if marker.is_called(name):
                yield above.file, name, marker


def _written(value: Any) -> str:
    """A value in the spelling of markers, without quotes."""
    return value if isinstance(value, str) else json.dumps(value)
