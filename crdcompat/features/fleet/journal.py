"""The journal of a fleet run: a file from which an interrupted run continues.

The first line of JSON describes the run (code of the program, releases, options). One line follows for each recording
that was read: its path, signature and outcome, and a digest of them and of the first line. Lines are only appended. An
incomplete last line is cut off. A line that cannot be read, was edited, or is of another run is ignored: the recording
is read again. The digest finds mistakes; who can write the file can forge it. Failures are not written, so they are
tried again, too.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import orjson

from crdcompat.atomic_write import temporary_folder
from crdcompat.errors import UsageError
from crdcompat.features.fleet.code import code_id
from crdcompat.features.fleet.recording_outcome import Outcome, from_data
from crdcompat.features.fleet.spill import Spill
from crdcompat.sources.naming import failing_as

_FORMAT = "crdcompat fleet journal 2"
_BEGINS = b'{"journal":"crdcompat'
_SECONDS_BETWEEN_SYNCS = 1.0
_MAX_HEAD_BYTES = 1 << 16
_LINES = "lines (recording TEXT, signature TEXT, offset INTEGER, PRIMARY KEY (recording, signature))"
_LINE = "WHERE recording = ? AND signature = ?"


class Journal:
    """An open journal. A table on disk has the offsets of the outcomes.

    ``refused`` counts the requested lines without an outcome of this run.
    """

    def __init__(self, path: str, run: Mapping[str, Any], targets: int) -> None:
        """Open or create the journal of a ``run`` (releases and options) whose outcomes have ``targets`` targets each.

        Raises UsageError for a file that is not a journal, belongs to another run, is in use, or cannot be written.
        """
        self._path = path
        self._targets = targets
        self._head = orjson.dumps({"journal": _FORMAT, "code": code_id(), **run})
        self.refused = 0
        self._offsets = Spill(_LINES)
        self._synced = time.monotonic()
        with failing_as(UsageError, self._path):
            self._file = self._opened()
        try:
            with failing_as(UsageError, self._path):
                self._begin()
        except BaseException:
            self._close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            with failing_as(UsageError, self._path):
                os.fsync(self._file.fileno())
        finally:
            self._close()

    def find(self, recording: str, signature: str) -> tuple[int, Outcome] | None:
        """The outcome of an unchanged recording and its place; None if the journal has none."""
        offset = self._offsets.one(f"SELECT offset FROM lines {_LINE}", recording, signature)
        if offset is None:
            return None
        with suppress(ValueError):
            return offset, self.at(offset)
        self.refused += 1
        self._offsets.write(f"DELETE FROM lines {_LINE}", recording, signature)
        return None

    def at(self, offset: int) -> Outcome:
        """The outcome at a place. Raises ValueError if the line has none of this run."""
        self._file.seek(offset)
        entry = _entry(self._file.readline())
        if entry.get("digest") != self._digest(entry):
            raise ValueError("no line that this run wrote")
        outcome = from_data(entry.get("outcome"))
        if len(outcome.targets) != self._targets:
            raise ValueError("no outcome: other targets")
        return outcome

    def add(self, recording: str, signature: str, outcome: bytes) -> int:
        """Append an encoded outcome; returns its place.

        Raises UsageError if it cannot be written; then the file has no part of it.
        """
        entry = {"recording": recording, "signature": signature, "outcome": orjson.loads(outcome)}
        line = orjson.dumps({**entry, "digest": self._digest(entry)})
        with failing_as(UsageError, self._path):
            offset = self._file.seek(0, os.SEEK_END)
            self._write(offset, line + b"\n")
            if time.monotonic() - self._synced > _SECONDS_BETWEEN_SYNCS:
                os.fsync(self._file.fileno())
                self._synced = time.monotonic()
        return offset

    def _digest(self, entry: Mapping[str, Any]) -> str:
        """The digest of a line of this run."""
        parts = [entry.get(key) for key in ("recording", "signature", "outcome")]
        data = orjson.dumps([self._head.decode(), *parts], option=orjson.OPT_SORT_KEYS)
        return hashlib.blake2b(data, digest_size=16).hexdigest()

    def _write(self, offset: int, data: bytes) -> None:
        """Write at the end of the file, whole or not at all. Raises OSError."""
        descriptor, left = self._file.fileno(), memoryview(data)
        try:
            while left:
                left = left[os.pwrite(descriptor, left, offset + len(data) - len(left)) :]
        except OSError:
            os.ftruncate(descriptor, offset)
            raise

    def _close(self) -> None:
        """Close the file. The error of a write has already named what a full disk did not take."""
        with suppress(OSError):
            self._file.close()

    def _opened(self) -> BinaryIO:
        self._is_new = not Path(self._path).exists()
        file = os.fdopen(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666), "r+b")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise UsageError(f"{self._path}: another run is writing to it") from None
        except OSError:
            pass  # the file system has no locks
        return file

    def _begin(self) -> None:
        """Index the existing lines and cut off an incomplete last line; write the first line of a new file."""
        head = self._head
        first = self._file.readline(_MAX_HEAD_BYTES)
        if not first.endswith(b"\n"):
            if first and not (first.startswith(_BEGINS) and head.startswith(first)):
                raise UsageError(f"{self._path} is no journal of crdcompat: it is left as it is")
            try:
                self._write(0, head + b"\n")
            except OSError:
                if self._is_new:
                    Path(self._path).unlink()
                raise
            return
        self._check(first, orjson.loads(head))
        while line := self._file.readline():
            offset = self._file.tell() - len(line)
            if not line.endswith(b"\n"):
                self._file.truncate(offset)
                return
            with suppress(ValueError):
                entry = _entry(line)
                row = (entry["recording"], entry["signature"], offset)
                self._offsets.write("INSERT OR REPLACE INTO lines VALUES (?, ?, ?)", *row)

    def _check(self, first: bytes, run: dict[str, Any]) -> None:
        """Raises UsageError unless the first line describes this run."""
        try:
            begun = orjson.loads(first)
        except ValueError:
            begun = None
        if not isinstance(begun, dict) or begun.get("journal") != _FORMAT:
            raise UsageError(f"{self._path} is no journal of crdcompat: it is left as it is")
        if begun != run:
            keys = [key for key in {**begun, **run} if begun.get(key) != run.get(key)]
            differences = "; ".join(f"{key}: {_shown(begun, key)} then, {_shown(run, key)} now" for key in keys)
            raise UsageError(f"{self._path} is the journal of another run ({differences}): name another file")


@contextmanager
def temporary_journal(targets: int) -> Iterator[Journal]:
    """A journal for one run: outcomes wait there until all are known."""
    with temporary_folder() as folder, Journal(f"{folder}/journal", {}, targets) as journal:
        yield journal


def _shown(run: Mapping[str, Any], key: str) -> str:
    return str(run.get(key, "")) or "none"


def _entry(line: bytes) -> dict[str, Any]:
    """The parsed line of one recording. Raises ValueError."""
    entry = orjson.loads(line)
    if not isinstance(entry, dict) or not all(isinstance(entry.get(key), str) for key in ("recording", "signature")):
        raise ValueError("no line of a journal")
    return entry
