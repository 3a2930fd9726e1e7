"""Find the Go marker or field from which controller-gen generates a path of a CRD's schema.

Types are followed only inside their package. Where a path continues in a type of another package
(``metav1.ObjectMeta``), the result is the deepest known field on the path.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from crdcompat.golang.markers import Marker, read_markers
from crdcompat.golang.packages import Package, packages_of
from crdcompat.golang.walking import Above, Site, declarations, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

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
        package = self.package(group, version, kind)
        return _place(package, kind, path, keyword, value) if package is not None else None

    def member(self, group: str, version: str, kind: str, path: SchemaPath) -> GoMember | None:
        """What the Go type says about the field at ``path``; None if the files do not declare it."""
        package = self.package(group, version, kind)
        if package is None:
            return None
        site, found = walk(package, kind, path)
        return _member(package, site) if found else None

    def package(self, group: str, version: str, kind: str) -> Package | None:
        """The package that declares a kind; None if the files do not."""
        return next((each for each in self._packages.get((group, version), ()) if kind in each.types), None)


def _member(package: Package, site: Site) -> GoMember:
    names = [site.type.name, *(declared.type.name for _, declared in declarations(package, site.type))]
    # A constant of type string can be meant for any field.
    own = [name for name in names if name in package.types and not site.type.foreign]
    constants = dict.fromkeys(value for name in own for value in package.constants.get(name, ()))
    return GoMember(site.may_be_left_out, names[-1] == "string", tuple(constants))


def _place(package: Package, kind: str, path: SchemaPath, keyword: str, value: Any) -> GoPlace:
    site, found = walk(package, kind, path)
    if not found:
        return GoPlace(site.file, *site.place, "above")
    return _on_marker(package, site, keyword, value) or GoPlace(site.file, *site.place, "field")


def _on_marker(package: Package, site: Site, keyword: str, value: Any) -> GoPlace | None:
    """The place of the value on a marker, else of the first marker; None without a marker."""
    of_type = (Above(file, declared.comments) for file, declared in declarations(package, site.type))
    markers = [found for above in (*site.above, *of_type) for found in _markers(above, keyword)]
    if value is not None:
        wanted, argument = written(value), _ARGUMENTS.get(keyword, "value")
        for file, name, marker in markers:
            for text, place in marker.values(name, argument):
                if text == wanted:
                    return GoPlace(file, *place, "value")
    for file, _, marker in markers:
        return GoPlace(file, *marker.place, "marker")
    return None


def _markers(above: Above, keyword: str) -> Iterator[tuple[str, str, Marker]]:
    """The markers of a keyword among comments, as (file, name, marker)."""
    names = _MARKERS.get(keyword, (f"{_VALIDATION}{keyword[:1].upper()}{keyword[1:]}",))
    if above.items:
        names = tuple(_ITEMS + name.removeprefix(_VALIDATION) for name in names if name.startswith(_VALIDATION))
    for marker in read_markers(above.comments):
        for name in names:
            if marker.is_called(name):
                yield above.file, name, marker


def written(value: Any) -> str:
    """A value in the spelling of markers, without quotes."""
    return value if isinstance(value, str) else json.dumps(value)
