"""What a run over many recordings has done so far, in a file from which it can go on.

A line of JSON for the run (program, releases, options), then one for each recording that was read: its path, its
signature and its outcome. Lines are appended only. A last line that is torn is cut off, one that cannot be read, or is
not in front of this run's targets, counts for nothing: that recording is read again. What failed is not written: it is
tried again, too.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, BinaryIO, Self

import orjson

from crdcompat.errors import UsageError
from crdcompat.features.fleet.outcome import Outcome, from_data
from crdcompat.sources.naming import reason_of
from crdcompat.version import __version__

_FORMAT = "crdcompat fleet journal 1"
_BEGINS = b'{"journal":"crdcompat'
_SECONDS_BETWEEN_SYNCS = 1.0
_MAX_HEAD_BYTES = 1 << 16


class Journal:
    """An open journal; of what it holds, only where each outcome stands is in memory.

    ``refused`` counts the lines asked for that hold no outcome of this run.
    """

    def __init__(self, path: str, run: Mapping[str, Any], targets: int) -> None:
        """Open or begin it for a run of these releases and options, each outcome of which is in front of ``targets``.

        Raises UsageError for a file that is no journal, is one of another run, is in use, or cannot be written.
        """
        self._path = path
        self._targets = targets
        self.refused = 0
        self._places: dict[tuple[str, str], int] = {}
        self._synced = time.monotonic()
        try:
            self._file = self._opened()
        except OSError as error:
            raise UsageError(f"{path}: {reason_of(error)}") from None
        try:
            self._begin({"journal": _FORMAT, "version": __version__, **run})
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.fsync(self._file.fileno())
        self._file.close()

    def get(self, recording: str, signature: str) -> Outcome | None:
        """The outcome of a recording that has not changed since, if it is known."""
        place = self._places.get((recording, signature))
        if place is None:
            return None
        self._file.seek(place)
        with suppress(ValueError):
            outcome = from_data(_entry(self._file.readline()).get("outcome"))
            if len(outcome.targets) == self._targets:
                return outcome
        self.refused += 1
        del self._places[recording, signature]
        return None

    def add(self, recording: str, signature: str, outcome: bytes) -> None:
        """Append the outcome of a recording, as `encode` gives it. Raises UsageError where there is no room."""
        line = orjson.dumps({"recording": recording, "signature": signature, "outcome": orjson.Fragment(outcome)})
        try:
            self._file.seek(0, os.SEEK_END)
            self._file.write(line + b"\n")
            self._file.flush()
            if time.monotonic() - self._synced > _SECONDS_BETWEEN_SYNCS:
                os.fsync(self._file.fileno())
                self._synced = time.monotonic()
        except OSError as error:
            raise UsageError(f"{self._path}: {reason_of(error)}") from None

    def _opened(self) -> BinaryIO:
        file = os.fdopen(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666), "r+b")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise UsageError(f"{self._path}: another run is writing to it") from None
        except OSError:
            pass  # a file system that knows no locks
        return file

    def _begin(self, run: dict[str, Any]) -> None:
        """Read what is there and make the file end with a whole line; a new one gets its first."""
        head = orjson.dumps(run)
        first = self._file.readline(_MAX_HEAD_BYTES)
        if not first.endswith(b"\n"):
            if first and not (first.startswith(_BEGINS) and head.startswith(first)):
                raise UsageError(f"{self._path} is no journal of crdcompat: it is left as it is")
            self._file.seek(0)
            self._file.write(head + b"\n")
            self._file.flush()
            return
        self._check(first, orjson.loads(head))
        while line := self._file.readline():
            place = self._file.tell() - len(line)
            if not line.endswith(b"\n"):
                self._file.truncate(place)
                return
            with suppress(ValueError):
                entry = _entry(line)
                self._places[entry["recording"], entry["signature"]] = place

    def _check(self, first: bytes, run: dict[str, Any]) -> None:
        """Raises UsageError unless the first line is of this run."""
        try:
            begun = orjson.loads(first)
        except ValueError:
            begun = None
        if not isinstance(begun, dict) or begun.get("journal") != _FORMAT:
            raise UsageError(f"{self._path} is no journal of crdcompat: it is left as it is")
        if begun != run:
            keys = [key for key in {**begun, **run} if begun.get(key) != run.get(key)]
            told = "; ".join(f"{key}: {_shown(begun, key)} then, {_shown(run, key)} now" for key in keys)
            raise UsageError(f"{self._path} is the journal of another run ({told}): name another file")


def _shown(run: Mapping[str, Any], key: str) -> str:
    return str(run.get(key, "")) or "none"


def _entry(line: bytes) -> dict[str, Any]:
    """What a line says of one recording. Raises ValueError."""
    entry = orjson.loads(line)
    if not isinstance(entry, dict) or not all(isinstance(entry.get(key), str) for key in ("recording", "signature")):
        raise ValueError("no line of a journal")
    return entry
