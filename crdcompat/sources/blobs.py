"""The contents of blobs, through one git process for as many as are wanted."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from crdcompat.errors import SourceError
from crdcompat.problems import Problem
from crdcompat.sources.files import MAX_FILE_BYTES

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from crdcompat.sources.repository import Repository
    from crdcompat.sources.tree import Entry

_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_TOO_LARGE = f"larger than {MAX_FILE_BYTES} bytes: not read"
# Requests in flight: so few bytes that writing them never waits, whatever git is still sending.
_WINDOW = 64


def read_blobs(repo: Repository, entries: Iterable[Entry], problems: list[Problem]) -> Iterator[tuple[Entry, bytes]]:
    """Read blobs in the order of ``entries``, each id once, through one git process.

    A blob that several entries share is kept until the last of them. Raises SourceError for a blob that
    is not in the repository.
    """
    wanted = list(entries)
    uses = Counter(_oid(entry) for entry in wanted)
    kept: dict[str, bytes | None] = {}
    blobs = _blobs(repo, list(uses))  # a Counter keeps first-come order: the order in which we meet them
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


def _blobs(repo: Repository, oids: list[str]) -> Generator[bytes | None]:
    """Give the content of each blob in turn, None for one that is too large."""
    if not oids:
        return
    process = subprocess.Popen(
        repo.command("cat-file", "--batch"),
        env=repo.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    requests, answers = process.stdin, process.stdout
    assert requests is not None and answers is not None
    try:
        for start in range(0, len(oids), _WINDOW):
            window = oids[start : start + _WINDOW]
            with suppress(BrokenPipeError):  # git has died: the first answer that is not there says so
                requests.write("".join(f"{oid}\n" for oid in window).encode())
                requests.flush()
            for oid in window:
                yield _answer(repo, answers, oid)
    finally:
        process.kill()
        answers.close()
        with suppress(BrokenPipeError):
            requests.close()
        process.wait()


def _answer(repo: Repository, answers: IO[bytes], oid: str) -> bytes | None:
    header = answers.readline().split()
    if len(header) != 3 or header[1] != b"blob":
        reason = "missing" if header[-1:] == [b"missing"] else "unreadable"
        raise SourceError(
            f"git object {oid} is {reason} in {repo.where}: a partial or damaged clone? "
            "`git fetch --refetch` brings missing objects; crdcompat never fetches"
        )
    size = int(header[2])
    if size > MAX_FILE_BYTES:
        left = size + 1
        while left and (chunk := answers.read(min(left, 1 << 20))):
            left -= len(chunk)
        return None
    data = answers.read(size + 1)
    if len(data) != size + 1:
        raise SourceError(f"git stopped while sending object {oid} of {repo.where}: a damaged clone?")
    return data[:-1]


def _oid(entry: Entry) -> str:
    if entry.oid is None or not _OID.fullmatch(entry.oid):
        raise SourceError(f"{entry.path}: not a file of this git tree")
    return entry.oid
