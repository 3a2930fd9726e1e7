"""Answers of earlier runs: what a pure function gave, by a digest of everything that its answer depends on.

The answers are in one SQLite file of the user's cache directory for each state of the program. A file of another user
or a damaged answer is as good as none: without an answer a run is slower and has the same result. Each answer has its
steps of work, so that a budget ends at the same place with and without it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec
import orjson

from crdcompat.package_data import PACKAGE
from crdcompat.schema.work import WORK
from crdcompat.user_cache import cache_file, is_trusted, make_folder, tidy
from crdcompat.version import __version__

if TYPE_CHECKING:
    from sqlite3 import Connection

_T = TypeVar("_T")
#: Bytes of the file; a larger one is not read any more, so that the next run starts a new one.
_MAX_BYTES = 1 << 27
#: Bytes of an answer that is kept: of a function, of the documents of a file.
_MAX_ANSWER = 1 << 16
_MAX_DOCUMENTS = 1 << 20
#: New answers of a comparison, and bytes of their inputs, after which no more are looked for: real releases need
#: a third of them, and hostile ones have no use for them.
_MAX_NEW, _MAX_INPUTS = 6_000, 1 << 28
_TABLE = "CREATE TABLE IF NOT EXISTS answers (question BLOB PRIMARY KEY, answer BLOB NOT NULL) WITHOUT ROWID"
_SELECT, _INSERT = "SELECT answer FROM answers WHERE question = ?", "INSERT OR REPLACE INTO answers VALUES (?, ?)"
#: Bytes of new answers that are held before they are written.
_MAX_HELD = 1 << 22
#: SQLite's code of errors in what is asked.
_NO_TABLE = 1
#: Bytes of the digest before each answer.
_SEAL = 8


class _Kept(msgspec.Struct, Generic[_T], array_like=True, frozen=True):
    """An answer, and the steps of work that it took."""

    steps: int
    answer: _T


class Answers:
    """The answers of the current process; none are kept outside of a block of ``kept``."""

    def __init__(self) -> None:
        self._store: _Store | None = None

    def of(self, topic: str, inputs: Callable[[], bytes], kind: Any, make: Callable[[], _T]) -> _T:
        """``make()``, or what it gave in an earlier run for equal ``inputs`` of the same topic.

        ``inputs`` must contain everything that the answer depends on. ``kind`` is the type of the answer, which msgspec
        can read from JSON; what is not equal after that is not kept. Nothing is, where ``inputs`` raises TypeError.
        """
        if self._store is None or self._store.is_full:
            return make()
        try:
            given = inputs()
        except TypeError:  # integers of more than 64 bits, for example
            return make()
        found = self._found(topic, given, kind)
        if found is not None and WORK.done + found.steps <= WORK.end:
            WORK.done += found.steps
            return found.answer  # type: ignore[no-any-return]
        before = WORK.done
        made = make()
        if WORK.done <= WORK.end:  # beyond the end, the answer is cut short
            self._keep(topic, given, _Kept(WORK.done - before, made), kind, _MAX_ANSWER)
        return made

    @property
    def are_kept(self) -> bool:
        """Whether this is inside a block of ``kept``, with room for more."""
        return self._store is not None and not self._store.is_full

    def known(self, topic: str, inputs: bytes, kind: type[_T]) -> _T | None:
        """What `keep` got for these inputs, in this run or an earlier one; None if it is not there."""
        found = self._found(topic, inputs, kind)
        return found.answer if found is not None else None

    def keep(self, topic: str, inputs: bytes, answer: _T, kind: type[_T]) -> None:
        """Keep an answer that cost no steps of work, of up to a megabyte. Raises nothing."""
        self._keep(topic, inputs, _Kept(0, answer), kind, _MAX_DOCUMENTS)

    def _found(self, topic: str, inputs: bytes, kind: Any) -> _Kept[Any] | None:
        if self._store is None:
            return None
        with suppress(msgspec.MsgspecError):
            known = self._store.get(_question(topic, inputs))
            if known is not None:
                found: _Kept[Any] = _form(kind).decode(known)
                return found
        self._store.looked_for(inputs)
        return None

    def _keep(self, topic: str, inputs: bytes, kept: _Kept[Any], kind: Any, most: int) -> None:
        if self._store is None:
            return
        with suppress(msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError):
            answer = msgspec.json.encode(kept)
            if len(answer) <= most and _form(kind).decode(answer) == kept:
                self._store.put(_question(topic, inputs), answer)

    @contextmanager
    def kept(self, *, wanted: bool = True, comparisons: int = 1) -> Iterator[None]:
        """A block of ``comparisons`` that reads the answers of earlier runs, and keeps its own, however it ends."""
        file = _file() if wanted and self._store is None else None
        if file is None:
            yield
            return
        self._store = _Store(file, comparisons)
        try:
            yield
        finally:
            store, self._store = self._store, None
            store.close()


ANSWERS = Answers()


def json_of(*inputs: Any) -> bytes:
    """JSON values as the input of an answer. Raises TypeError for what is not JSON: integers of more than 64 bits."""
    return orjson.dumps(inputs, option=orjson.OPT_PASSTHROUGH_SUBCLASS)  # a number out of range is a kind of str


@cache
def _form(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(_Kept[kind])


class _Store:
    """The file with the answers. An error of the file ends its use, and nothing else."""

    def __init__(self, file: Path, comparisons: int) -> None:
        self._file = file
        self._most = _MAX_NEW * comparisons, _MAX_INPUTS * comparisons
        self._new: dict[bytes, bytes] = {}
        self._held = self._made = self._inputs = 0
        self._rows = _opened(file) if is_trusted(file, _MAX_BYTES) else None
        #: What is in a file that this run began; None for a file of an earlier run.
        self._written: set[bytes] | None = None
        self._is_lost = False

    @property
    def is_full(self) -> bool:
        """Whether this run has asked enough."""
        return self._made >= self._most[0] or self._inputs > self._most[1]

    def looked_for(self, inputs: bytes) -> None:
        """Count the inputs of a question without an answer."""
        self._inputs += len(inputs)

    def get(self, question: bytes) -> bytes | None:
        """The answer as it was put; None if there is none, or another one."""
        if question in self._new:
            return self._new[question]
        if self._written is not None and question not in self._written:
            return None
        found = self._ask(lambda rows: rows.execute(_SELECT, (question,)).fetchone())
        sealed = found[0] if found is not None else None
        if not isinstance(sealed, bytes):
            return None
        seal, answer = sealed[:_SEAL], sealed[_SEAL:]
        return answer if seal == _seal(question, answer) else None

    def put(self, question: bytes, answer: bytes) -> None:
        """Keep an answer."""
        self._new[question] = answer
        self._made += 1
        self._held += len(answer)
        if self._held > _MAX_HELD:
            self._write()

    def close(self) -> None:
        """Add the new answers to the file."""
        self._write()
        if self._rows is not None:
            self._rows.close()

    def _write(self) -> None:
        """Add what is held to the file, all or nothing. What cannot be written is kept no more."""
        if self._new and not self._is_lost and (self._rows is not None or self._begin()):
            self._ask(self._insert)
        self._new.clear()
        self._held = 0

    def _insert(self, rows: Connection) -> None:
        sealed = [(question, _seal(question, answer) + answer) for question, answer in self._new.items()]
        with rows:
            rows.execute("BEGIN IMMEDIATE")
            rows.execute(_TABLE)
            rows.executemany(_INSERT, sealed)
        if self._written is not None:
            self._written.update(self._new)

    def _begin(self) -> bool:
        """Make the file anew. Whether that was possible."""
        try:
            if not make_folder(self._file.parent):
                return False
            self._file.unlink(missing_ok=True)
            os.close(os.open(self._file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except OSError:
            return False
        tidy(self._file.parent)
        self._written = set()
        self._rows = _opened(self._file)
        return self._rows is not None

    def _ask(self, question: Callable[[Connection], _T]) -> _T | None:
        """What the file answers; None, and no more questions, after an error."""
        if self._rows is None:
            return None
        import sqlite3

        try:
            return question(self._rows)
        except sqlite3.Error as error:
            self._rows.close()
            self._rows = None
            # It is busy, or the disk is full. A damaged file, or one without the table, is made anew.
            code = getattr(error, "sqlite_errorcode", _NO_TABLE)  # an error of Python's module has none
            self._is_lost = isinstance(error, sqlite3.OperationalError) and code != _NO_TABLE
            return None


def _opened(file: Path) -> Connection | None:
    """The connection to a file; None without SQLite. A busy file is not waited for."""
    try:
        import sqlite3
    except ImportError:  # Python can be built without it
        return None
    try:
        return sqlite3.connect(file, timeout=0.2, isolation_level=None)
    except sqlite3.Error:
        return None


def _file() -> Path | None:
    """The file of this state of the program; None without one, or for a program inside of an archive."""
    with suppress(OSError):
        return cache_file(f"answers-{_code()}.db")
    return None


def _question(topic: str, inputs: bytes) -> bytes:
    return blake2b(topic.encode() + b"\0" + inputs, digest_size=20).digest()


def _seal(question: bytes, answer: bytes) -> bytes:
    return blake2b(question + answer, digest_size=_SEAL).digest()


@cache
def _code() -> str:
    """A digest of what the answers of this program depend on: its modules by size and times, and what is installed."""
    seen = [__version__, sys.version]
    folders = [str(PACKAGE)]
    for folder in folders:  # grows in the loop
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir():
                    folders.append(entry.path)
                elif entry.name.endswith((".py", ".json")):
                    facts = entry.stat()
                    seen.append(f"{entry.path} {facts.st_size} {facts.st_mtime_ns} {facts.st_ctime_ns}")
    for path in sys.path:
        with suppress(OSError):
            seen += [entry.name for entry in os.scandir(path or ".") if entry.name.endswith(".dist-info")]
    return blake2b("\n".join(sorted(seen)).encode(), digest_size=8).hexdigest()
