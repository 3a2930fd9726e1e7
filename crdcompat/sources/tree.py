"""The one shape in which every source hands over its bytes: a named tree of files.

Nothing to the right of this room knows whether a tree is a git commit, the index, a directory or an
archive; every byte keeps where it came from (the tree's name and the path below it).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crdcompat.errors import Problem, Skipped


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a tree: its path below the source, with ``/`` between parts, and a content id.

    ``oid`` is equal for equal bytes within one run where the source knows it cheaply (git blob id),
    else ``None``.
    """

    path: str
    oid: str | None = None


class Tree(Protocol):
    """A tree of files under one name.

    ``name`` is what the user wrote, ``commit`` the full commit id where there is one, ``notes`` what the
    user should know about how the name was read ("release-4.13 read as origin/release-4.13"). ``problems``
    and ``skipped`` fill up as entries are listed and read: one unreadable file does not hide the others.
    """

    name: str
    commit: str | None
    notes: tuple[str, ...]
    problems: list[Problem]
    skipped: list[Skipped]

    @property
    def label(self) -> str:
        """What the report says before the path of a recorded object; empty where the path tells enough."""
        ...

    @property
    def is_one_file(self) -> bool:
        """Whether the user named the one file itself, and so holds it to be whole."""
        ...

    def entries(self) -> Iterable[Entry]:
        """List all files, in path order, without reading them."""
        ...

    def read(self, entries: Iterable[Entry]) -> Iterator[tuple[Entry, bytes]]:
        """Read these files, in the order given; each is read once. Raises SourceError."""
        ...

    def stream(self, wanted: Callable[[str], bool]) -> Iterator[tuple[Entry, bytes]]:
        """Read the files whose path is ``wanted``, in one pass and in the source's own order.

        ``wanted`` is asked once for each file. Raises SourceError.
        """
        ...


class Listed:
    """What trees share that are listed before they are read."""

    __slots__ = ()

    @property
    def label(self: Tree) -> str:
        """What the user wrote."""
        return self.name

    @property
    def is_one_file(self) -> bool:
        """A tree has any number of files."""
        return False

    def stream(self: Tree, wanted: Callable[[str], bool]) -> Iterator[tuple[Entry, bytes]]:
        """Read the files wanted, in path order."""
        return self.read([entry for entry in self.entries() if wanted(entry.path)])


class EmptyTree(Listed):
    """A tree without files: what came before the first commit."""

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
