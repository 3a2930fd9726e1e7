"""Tables on disk for one run, so that memory does not grow with the number of recordings and clusters.

SQLite keeps a few MiB of them in memory. Its private database has no name, and disappears with its connection.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from crdcompat.errors import UsageError


class Spill:
    """A private database on disk, for one thread at a time. Its methods raise UsageError if the disk takes no more."""

    def __init__(self, *tables: str) -> None:
        """Create the tables, each given as in ``CREATE TABLE``."""
        # Closed in any thread: a garbage collection may run in another one.
        self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        for pragma in ("journal_mode = OFF", "synchronous = OFF", "temp_store = FILE"):
            self._database.execute(f"PRAGMA {pragma}")
        for table in tables:
            self._database.execute(f"CREATE TABLE {table}")

    def __del__(self) -> None:
        self._database.close()  # Python warns of others since 3.13

    def write(self, statement: str, *values: Any) -> int:
        """Run a statement that changes rows; returns their number."""
        with _named():
            return self._database.execute(statement, values).rowcount

    def write_all(self, statement: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Run a statement for each row."""
        with _named():
            self._database.executemany(statement, rows)

    def rows(self, query: str, *values: Any) -> Iterator[Any]:
        """The rows of a query, one at a time."""
        return iter(self._database.execute(query, values))

    def one(self, query: str, *values: Any) -> Any:
        """The only value of the first row of a query; None if there is no row."""
        row = self._database.execute(query, values).fetchone()
        return row[0] if row is not None else None


@contextmanager
def _named() -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        raise UsageError(f"the temporary files of this run (TMPDIR) cannot be written: {error}") from None
