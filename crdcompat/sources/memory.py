"""Files in memory as a tree: the manifests of a chart, a bundle, a catalog or an image."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.errors import Problem, Skipped, SourceError
from crdcompat.sources.tree import Entry, Listed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from crdcompat.sources.tree import Tree

MAX_HELD_BYTES = 512 << 20
"""Bytes of the manifests of one source that are kept in memory; the largest operators have a hundredth of this."""


class MemoryTree(Listed):
    """Files by path, already read, with the problems and notes from reading them."""

    commit: str | None = None

    def __init__(
        self,
        name: str,
        files: Mapping[str, bytes],
        problems: Sequence[Problem] = (),
        skipped: Sequence[Skipped] = (),
        notes: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.notes = tuple(notes)
        self.problems = list(problems)
        self.skipped = list(skipped)
        self._files = files

    def entries(self) -> list[Entry]:
        """List the files."""
        return [Entry(path) for path in sorted(self._files)]

    def read(self, entries: Iterable[Entry]) -> Iterator[tuple[Entry, bytes]]:
        """The content of these files."""
        return ((entry, self._files[entry.path]) for entry in entries)


class Held:
    """Collects files up to `MAX_HELD_BYTES`. Raises SourceError beyond."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._bytes = 0
        self.files: dict[str, bytes] = {}

    def add(self, path: str, data: bytes) -> None:
        """Keep a file; a later one at the same path replaces it."""
        self._bytes += len(data) - len(self.files.get(path, b""))
        if self._bytes > MAX_HELD_BYTES:
            raise SourceError(f"{self._name}: more than {MAX_HELD_BYTES} bytes of manifests: not read")
        self.files[path] = data


def held_files(tree: Tree, wanted: Callable[[str], bool]) -> dict[str, bytes]:
    """The wanted files of a tree, read in one pass. Raises SourceError for too many bytes."""
    held = Held(tree.name)
    for entry, data in tree.stream(wanted):
        held.add(entry.path, data)
    return held.files


def only_folder(name: str, tree: Tree, folders: Collection[str], what: str, expected: str) -> str:
    """The only one of ``folders``, the places of a ``what`` such as a chart. Raises SourceError for none or several."""
    if not folders:
        found = "".join(f" ({problem.message})" for problem in tree.problems[:1])
        raise SourceError(f"{name}: no {what}{found}: {expected}")
    if len(folders) > 1:
        named = ", ".join(folder.rstrip("/") for folder in sorted(folders))
        raise SourceError(f"{name}: {len(folders)} {what}s ({named}): name one of them")
    return next(iter(folders))
