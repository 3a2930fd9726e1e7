"""Read the contents of blobs, with one ``git cat-file --batch`` process for many requests."""

from __future__ import annotations

import atexit
import re
import subprocess
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from crdcompat.errors import MissingObjectsError, Problem, SourceError
from crdcompat.sources.files import MAX_FILE_BYTES

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping

    from crdcompat.sources.repository import Repository
    from crdcompat.sources.tree import Entry

_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_TOO_LARGE = f"larger than {MAX_FILE_BYTES} bytes: not read"
# Requests in flight: few enough that writing them never blocks while git still sends answers.
_WINDOW = 64


def read_blobs(repo: Repository, entries: Iterable[Entry], problems: list[Problem]) -> Iterator[tuple[Entry, bytes]]:
    """Read blobs in the order of ``entries``, each id once.

    A blob of several entries stays in memory until the last of them. A blob above ``MAX_FILE_BYTES`` becomes one of
    ``problems``. Raises SourceError for a blob that the repository lacks.
    """
    wanted = list(entries)
    uses = Counter(_oid(entry) for entry in wanted)
    kept: dict[str, bytes | None] = {}
    blobs = _blobs(repo, {_oid(entry): entry.path for entry in wanted})
    try:
        for entry in wanted:
            oid = _oid(entry)
            data = kept[oid] if oid in kept else next(blobs)
            uses[oid] -= 1
            if uses[oid]:
                kept[oid] = data
            else:
                kept.pop(oid, None)
            if data is not None:
                yield entry, data
            elif (large := Problem(entry.path, None, _TOO_LARGE)) not in problems:
                problems.append(large)
    finally:
        blobs.close()


def _blobs(repo: Repository, paths: Mapping[str, str]) -> Generator[bytes | None]:
    """The content of each blob in order, None for one that is too large; ``paths`` are files by their blob."""
    oids = list(paths)
    if not oids:
        return
    process = _idle.take(repo)
    requests, answers = process.stdin, process.stdout
    assert requests is not None and answers is not None
    outstanding = 0
    try:
        for start in range(0, len(oids), _WINDOW):
            window = oids[start : start + _WINDOW]
            outstanding = len(window)
            with suppress(BrokenPipeError):  # git has died: the first missing answer raises
                requests.write("".join(f"{oid}\n" for oid in window).encode())
                requests.flush()
            for oid in window:
                found = _answer(repo, answers, oid, paths[oid])
                outstanding -= 1
                yield found
    finally:
        if outstanding:
            _end(process)
        else:
            _idle.give_back(repo, process)


class _Idle:
    """Keeps the last git process for reuse: a check reads a few files many times."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[Any, ...], subprocess.Popen[bytes]] = {}
        atexit.register(self.end)

    def take(self, repo: Repository) -> subprocess.Popen[bytes]:
        """Remove and return the idle process of this repository, else start a new one."""
        waiting = self._waiting.pop(_place(repo), None)
        if waiting is not None:
            if waiting.poll() is None:
                return waiting
            _end(waiting)  # it died, or it belongs to the parent of this forked process, which may use it
        return subprocess.Popen(
            repo.command("cat-file", "--batch"),
            env=repo.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def give_back(self, repo: Repository, process: subprocess.Popen[bytes]) -> None:
        """Keep a process without outstanding answers, and end the one kept before."""
        self.end()
        self._waiting[_place(repo)] = process

    def end(self) -> None:
        """End the idle process."""
        while self._waiting:
            _, process = self._waiting.popitem()
            _end(process)


_idle = _Idle()


def _place(repo: Repository) -> tuple[Any, ...]:
    """The key of a process: its directory by inode (another one may get its name), and its environment."""
    directory = Path(repo.path or ".").stat()
    return directory.st_dev, directory.st_ino, frozenset(repo.environment().items())


def _end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None and process.stdout is not None
    process.kill()
    process.stdout.close()
    with suppress(BrokenPipeError):
        process.stdin.close()
    process.wait()


def _answer(repo: Repository, answers: IO[bytes], oid: str, path: str) -> bytes | None:
    header = answers.readline().split()
    if len(header) != 3 or header[1] != b"blob":
        reason = "missing" if header[-1:] == [b"missing"] else "unreadable"
        from crdcompat.sources.fetching import fetch_commands

        what = f"{path}: git object {oid} is {reason} in {repo.where}"
        problem = f"{what}: a partial or damaged clone? crdcompat never fetches"
        line = fetch_commands(repo, whole=True)
        raise MissingObjectsError(problem, f"to get all objects: {line}" if line else "")
    size = int(header[2])
    if size > MAX_FILE_BYTES:
        left = size + 1
        while left and (chunk := answers.read(min(left, 1 << 20))):
            left -= len(chunk)
        return None
    data = answers.read(size + 1)
    if len(data) != size + 1:
        raise SourceError(f"{path}: git stopped while sending object {oid} of {repo.where}: a damaged clone?")
    return data[:-1]


def is_blob_id(text: str) -> bool:
    """Whether a content id is one of git's, and so the same in each run."""
    return _OID.fullmatch(text) is not None


def blob_id(data: bytes, like: str) -> str:
    """The id that git gives these bytes, with the hash function of the id ``like``."""
    import hashlib

    made = hashlib.sha1 if len(like) == 40 else hashlib.sha256
    return made(b"blob %d\0%s" % (len(data), data), usedforsecurity=False).hexdigest()


def _oid(entry: Entry) -> str:
    if entry.oid is None or not is_blob_id(entry.oid):
        raise SourceError(f"{entry.path}: not a file of this git tree")
    return entry.oid
