"""The markers ``+crdcompat:…`` of people, on the fields and types that schemas are generated from.

controller-gen reads none of them: they stay in the Go source, and no manifest has them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.golang.markers import Marker, read_markers
from crdcompat.golang.packages import Package
from crdcompat.golang.walking import Above, declarations, step, walk
from crdcompat.schema.paths import SchemaPath, Wild

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crdcompat.golang.go_fields import GoTypes
    from crdcompat.golang.source import GoType

#: The beginning of their names.
PREFIX = "crdcompat:"
#: Lines that are meant as such a marker, and those that are written as one.
_LINE = re.compile(rb"(?://|/\*|^)[ \t*]*\+[ \t]*crd-?compat", re.IGNORECASE | re.MULTILINE)
_WELL = re.compile(rb"//[ \t]*\+crdcompat:")
#: Every such line has one of these words, in letters of any case.
_WORDS = (b"crdcompat", b"crd-compat")


class Note(Struct, frozen=True):
    """A marker of a person, the Go file that has it, and what it stands above: ``Type`` or ``Type.field``."""

    file: str
    marker: Marker
    above: str

    @property
    def line(self) -> int:
        return self.marker.place[0]


def has_notes(data: bytes) -> bool:
    """Whether a Go file may have such a marker; most files have none, and are not parsed for it."""
    lowered = data.lower()  # a search for words takes a tenth of the time of one for lines
    return any(word in lowered for word in _WORDS) and _LINE.search(data) is not None


def notes_at(types: GoTypes, group: str, version: str, kind: str, path: SchemaPath) -> tuple[Note, ...]:
    """The markers above the field at a path, and above its type.

    Where the types of the package have no such field, as after it was removed, those above the deepest known one.
    """
    package = types.package(group, version, kind)
    if package is None or not _has_notes(package):
        return ()
    return tuple(_notes(_nearest(package, kind, path)))


def known_steps(types: GoTypes, group: str, version: str, kind: str, path: SchemaPath) -> int:
    """The number of steps of a path, from its beginning, that the types of the package have."""
    package = types.package(group, version, kind)
    if package is None:
        return 0
    return next((count for count in range(len(path), 0, -1) if walk(package, kind, path[:count])[1]), 0)


def notes_of(types: GoTypes, group: str, version: str, kind: str) -> tuple[Note, ...]:
    """The markers above the type of a kind, and above all fields and types of its package that it consists of."""
    package = types.package(group, version, kind)
    if package is None or not _has_notes(package):
        return ()
    return tuple(_notes(_reached(package, [kind])))


def notes_in(file: str, data: bytes) -> tuple[Note, ...]:
    """The markers above the fields and types of one file."""
    package = Package(((file, data),))
    return tuple(_notes(_reached(package, package.types)))


def strays_of(types: GoTypes, group: str, version: str, kind: str) -> Iterator[tuple[str, int, bool]]:
    """The (file, line) of lines in the package of a kind that are meant as a marker, and are none of a field or type.

    With each, whether it is written as one, so that only its place is wrong.
    """
    package = types.package(group, version, kind)
    if package is None or not _has_notes(package):
        return
    placed = {(note.file, note.line) for note in _notes(_reached(package, package.types))}
    for file, data in package.files:
        for found in _LINE.finditer(data):
            line = data.count(b"\n", 0, found.end()) + 1
            if (file, line) not in placed:
                yield file, line, _WELL.match(data, found.start()) is not None


def _has_notes(package: Package) -> bool:
    return any(has_notes(data) for _, data in package.files)


_Named = tuple[str, Above]
"""Comments, and what they stand above."""


def _nearest(package: Package, kind: str, path: SchemaPath) -> Iterator[_Named]:
    """The comments above the last field on a path, above its type, and above those between its items."""
    site, _ = walk(package, kind, ())
    near: list[_Named] = [(kind, each) for each in site.above]
    for to in path:
        following = step(package, site, to)
        if following is None:
            break
        if isinstance(to, Wild):
            near += _above(package, site.type)
        else:
            near = [(to, each) for each in following.above]
        site = following
    yield from near
    yield from _above(package, site.type)


def _above(package: Package, type_: GoType) -> Iterator[_Named]:
    return ((declared.name, Above(file, declared.comments)) for file, declared in declarations(package, type_))


def _reached(package: Package, names: Iterable[str]) -> Iterator[_Named]:
    """The comments above declarations of types with these names, above their fields, and so on."""
    pending, seen = list(names), set[str]()
    while pending:
        name = pending.pop()
        if name in seen or name not in package.types:
            continue
        seen.add(name)
        file, declared = package.types[name]
        yield name, Above(file, declared.comments)
        types = [(name, declared.type)]
        while types:
            above, type_ = types.pop()
            if type_.name and not type_.foreign:
                pending.append(type_.name)
            types += [(above, each) for each in (type_.list_of, type_.map_of) if each is not None]
            for field in type_.fields:
                yield f"{above}.{field.json}", Above(file, field.comments)
                types.append((f"{above}.{field.json}", field.type))


def _notes(named: Iterable[_Named]) -> Iterator[Note]:
    """The markers among comments, each once."""
    found = {
        (each.file, marker.place): Note(each.file, marker, name)
        for name, each in named
        for marker in read_markers(each.comments)
        if marker.head.lower().replace("-", "").startswith(PREFIX.rstrip(":"))
    }
    return iter(found.values())
