"""The names of recordings, each once, in order. They are on disk, because a store may list any number of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from crdcompat.features.fleet.spill import Spill


class Listing:
    """Paths and URLs of recordings; those of a store have versions, which change with their content.

    Iteration yields the groups in the order in which they began, and the recordings of a group by name.
    """

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self._spill = Spill(
            'recordings ("group" INTEGER, path BLOB UNIQUE, version TEXT, PRIMARY KEY ("group", path)) WITHOUT ROWID'
        )
        self._groups = self._count = 0
        for path in paths:
            self.add(path)

    def add(self, path: str, version: str | None = None, *, in_group: bool = False) -> None:
        """Add a recording if it is not listed yet: to the last group if ``in_group``, else to a group of its own."""
        self._groups += not in_group
        row = (self._groups, os.fsencode(path), version)
        self._count += self._spill.write("INSERT OR IGNORE INTO recordings VALUES (?, ?, ?)", *row)

    def begin_group(self) -> None:
        """Begin a group. Iteration yields its recordings by name, not in the order in which they were added."""
        self._groups += 1

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[str]:
        return (path for path, _ in self.versions())

    def versions(self) -> Iterator[tuple[str, str | None]]:
        """Each recording and its version, None if it has none."""
        for path, version in self._spill.rows('SELECT path, version FROM recordings ORDER BY "group", path'):
            yield os.fsdecode(path), version
