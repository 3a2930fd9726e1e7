"""The common interface of all sources: a named tree of files.

Other packages do not distinguish git commits, the index, directories and archives. The origin of a file is the name of
its tree and its path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crdcompat.errors import Problem, Skipped


class Entry(Struct, frozen=True):
    """One file of a tree: its path below the source, with ``/`` between parts, and a content id.

    Within one run, equal ``oid`` means equal bytes (git blob id, inode); None if the source has no cheap id.
    """

    path: str
    oid: str | None = None


class Tree(Protocol):
    """A tree of files under one name.

    ``name`` is the user's text, ``commit`` the full commit id or None, ``notes`` explain to the user how the name was
    resolved ("release-4.13 read as origin/release-4.13"). ``problems`` and ``skipped`` grow as entries are listed and
    read: an unreadable file does not hide the others.
    """

    name: str
    commit: str | None
    notes: tuple[str, ...]
    problems: list[Problem]
    skipped: list[Skipped]

    @property
    def label(self) -> str:
        """The prefix of a recorded object's path in the report; empty if the path is sufficient."""
        ...

    @property
    def is_one_file(self) -> bool:
        """Whether the user named a single file, which is then expected to be complete."""
        ...

    def entries(self) -> Iterable[Entry]:
        """List all files in path order."""
        ...

    def read(self, entries: Iterable[Entry]) -> Iterator[tuple[Entry, bytes]]:
        """Read these files in the order given, each once. Raises SourceError."""
        ...

    def stream(self, wanted: Callable[[str], bool]) -> Iterator[tuple[Entry, bytes]]:
        """Read the files whose path is ``wanted``, in one pass and in the source's own order.

        It calls ``wanted`` once for each file. Raises SourceError.
        """
        ...


class Listed:
    """Defaults for trees that can list their files without reading them."""

    __slots__ = ()

    @property
    def label(self: Tree) -> str:
        """The name of the tree."""
        return self.name

    @property
    def is_one_file(self) -> bool:
        """False: a tree has any number of files."""
        return False

    def stream(self: Tree, wanted: Callable[[str], bool]) -> Iterator[tuple[Entry, bytes]]:
        """Read the wanted files in path order."""
        return self.read([entry for entry in self.entries() if wanted(entry.path)])


class EmptyTree(Listed):
    """A tree without files: the state before the first commit."""

    commit: str | None = None

    def __init__(self, name: str) -> None:
        self.name = name
        self.notes: tuple[str, ...] = ()
        self.problems: list[Problem] = []
        self.skipped: list[Skipped] = []

    def entries(self) -> Iterable[Entry]:
        """List nothing."""
        return ()

    def read(self, entries: Iterable[Entry]) -> Iterator[tuple[Entry, bytes]]:
        """Read nothing."""
        return iter(())
