"""Go packages: the API group and version of a folder of Go files, and its types by name."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from crdcompat.golang.source import GoDeclaration

MAX_FILE_BYTES = 2 << 20
"""Limit for Go files: the largest one of k8s.io/api has 0.4 MB."""

_REGISTERS = frozenset({"doc.go", "register.go", "groupversion_info.go"})
_TYPES = re.compile(r"types.*\.go|.*_types\.go")
_IGNORED_ENDINGS = ("_test.go", "generated.go")
_GROUP_MARKER = re.compile(rb"^[ \t]*//[ \t]*\+groupName=(\S*)", re.MULTILINE)
_VERSION_MARKER = re.compile(rb"^[ \t]*//[ \t]*\+versionName=(\S+)", re.MULTILINE)
_GROUP = re.compile(rb'\b(?:Group|GroupName)\b(?:\s*:|(?:[ \t]+string)?\s*=)\s*"([^"\n]*)"')
_VERSION = re.compile(rb'\bVersion:[ \t]*"([^"\n]*)"')
_VERSION_FOLDER = re.compile(r"v[0-9]+(?:(?:alpha|beta)[0-9]+)?")


class Package(Struct, frozen=True, dict=True):
    """The Go files of one folder that may declare types, as (path, content)."""

    files: tuple[tuple[str, bytes], ...]

    @cached_property
    def types(self) -> Mapping[str, tuple[str, GoDeclaration]]:
        """The types by name, as (file, declaration); the first of two with the same name."""
        from crdcompat.golang.source import read_declarations  # imports the parser, which few runs need

        found: dict[str, tuple[str, GoDeclaration]] = {}
        for file, data in self.files:
            for declared in read_declarations(data.decode("utf-8-sig", "replace")):
                found.setdefault(declared.name, (file, declared))
        return found

    @cached_property
    def constants(self) -> Mapping[str, tuple[str, ...]]:
        """The values of text constants by the name of their type, in the order of the files."""
        from crdcompat.golang.source import read_constants

        found: dict[str, dict[str, None]] = {}
        for _, data in self.files:
            for constant in read_constants(data.decode("utf-8-sig", "replace")):
                found.setdefault(constant.type, {})[constant.value] = None
        return {name: tuple(values) for name, values in found.items()}


def is_go_types(path: str) -> bool:
    """Whether a file may declare the types of an API or the name of its group, by its path."""
    name = path.rpartition("/")[2]
    return name in _REGISTERS or bool(_TYPES.fullmatch(name) and not name.endswith(_IGNORED_ENDINGS))


def packages_of(files: Iterable[tuple[str, bytes]]) -> dict[tuple[str, str], list[Package]]:
    """Packages by (API group, version) from Go files (path, content); those below ``vendor`` come last.

    Other files, files above ``MAX_FILE_BYTES``, and packages without the name of a group are left out.
    """
    folders: dict[str, dict[str, bytes]] = defaultdict(dict)
    for path, data in files:
        if is_go_types(path) and len(data) <= MAX_FILE_BYTES:
            folder, _, name = path.rpartition("/")
            folders[folder][name] = data
    found: dict[tuple[str, str], list[Package]] = defaultdict(list)
    for folder in sorted(folders, key=lambda each: ("vendor" in each.split("/"), each)):
        of_folder = folders[folder]
        prefix = f"{folder}/" if folder else ""
        package = Package(tuple((prefix + name, of_folder[name]) for name in sorted(of_folder)))
        for group in _groups(folders, folder):
            found[group, _version(of_folder, folder)].append(package)
    return found


def _groups(folders: Mapping[str, Mapping[str, bytes]], folder: str) -> Iterable[str]:
    """The groups of a folder: from a marker, else from its constants, else from those of the parent folder."""
    files = folders[folder]
    marked = _found(_GROUP_MARKER, files.values())
    if marked:
        return [marked[0].strip("\"'`")]
    above = folders.get(folder.rpartition("/")[0], {})
    return dict.fromkeys(_found(_GROUP, _registers(files)) or _found(_GROUP, _registers(above)))


def _version(files: Mapping[str, bytes], folder: str) -> str:
    """The version of a package: from a marker, else from its folder's name, else from a constant."""
    marked = _found(_VERSION_MARKER, files.values())
    name = folder.rpartition("/")[2]
    if marked or _VERSION_FOLDER.fullmatch(name):
        return marked[0] if marked else name
    return next(iter(_found(_VERSION, _registers(files))), name)


def _registers(files: Mapping[str, bytes]) -> Iterator[bytes]:
    return (files[name] for name in sorted(_REGISTERS & files.keys()))


def _found(pattern: re.Pattern[bytes], texts: Iterable[bytes]) -> list[str]:
    return [match[1].decode("utf-8", "replace") for text in texts for match in pattern.finditer(text)]
