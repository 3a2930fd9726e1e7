"""Directories, single files and standard input as trees."""

from __future__ import annotations

import io
import os
import stat
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING

from msgspec import Struct, field

from crdcompat.errors import Problem, Skipped, SourceError
from crdcompat.sources.links import NOTHING, OUT, READ_ANYWAY, Unfollowed
from crdcompat.sources.naming import display_path, reason_of
from crdcompat.sources.tree import Entry, Listed
from crdcompat.sources.urls import is_remote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_FILE_BYTES = 64 << 20
"""Limit for one file, far above any manifest; a larger file is a Problem and is not read."""

_STDIN_PATH = "stdin"
_DIRECTORY = "directory"


class PathTree(Listed, Struct):
    """The files below a directory, one file (its path is its name), or ``-``, standard input.

    Symbolic links are followed only inside the directory, and each linked directory only once. ``problems`` are files
    that could not be listed or read, ``skipped`` files that were left out on purpose; both grow as entries are listed
    and read. ``file`` is standard input if the caller has already peeked into it.
    """

    name: str
    path: str
    commit: str | None = None
    notes: tuple[str, ...] = ()
    problems: list[Problem] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    file: IO[bytes] | None = None
    _is_directory: bool = False
    _entries: list[Entry] | None = None
    _on_disk: dict[str, str] = field(default_factory=dict)
    _unfollowed: dict[str, Unfollowed] = field(default_factory=dict)
    _stdin: bytes | None = None

    @property
    def label(self) -> str:
        """Empty: paths are relative to what the user named."""
        return ""

    @property
    def is_one_file(self) -> bool:
        """Whether the path is not a directory."""
        self.entries()
        return not self._is_directory

    def entries(self) -> list[Entry]:
        """List all regular files in path order. Raises SourceError if the path itself is not readable."""
        if self._entries is None:
            self._entries = self._list()
        return self._entries

    def read(self, entries: Iterable[Entry]) -> Iterator[tuple[Entry, bytes]]:
        """Read these files in the order given; one that cannot be read goes to ``problems`` instead.

        Raises SourceError if standard input cannot be read, or the path cannot be listed.
        """
        self.entries()
        for entry in entries:
            if (link := self._unfollowed.get(entry.path)) is not None:
                self._add_problem(link.problem)
                continue
            if self.path == "-":
                data = self._read_stdin()
            else:
                data = read_file(self._on_disk[entry.path], entry.path, self.problems)
            if data is not None:
                yield entry, data

    def _list(self) -> list[Entry]:
        if self.path == "-":
            return [Entry(_STDIN_PATH)]
        try:
            self._is_directory = stat.S_ISDIR(Path(self.path).stat().st_mode)
        except (OSError, ValueError) as error:
            raise SourceError(f"{self.name}: {reason_of(error)}") from None
        if not self._is_directory:
            return [self._single_file()]
        found: dict[str, tuple[str, str]] = {}
        for below, on_disk, oid in self._walk(self.path.rstrip("/") or "/"):
            found[display_path(below)] = on_disk, oid
        self._on_disk = {path: on_disk for path, (on_disk, _) in found.items()}
        return [Entry(path, oid) for path, (_, oid) in sorted(found.items())]

    def _single_file(self) -> Entry:
        if not os.access(self.path, os.R_OK):
            raise SourceError(f"{self.name}: cannot be read (permission denied)")
        entry = Entry(display_path(Path(self.path).name))
        self._on_disk[entry.path] = self.path
        return entry

    def _walk(self, root: str) -> Iterator[tuple[str, str, str]]:
        """Walk without recursion: (path below the root, path on disk, content id) of each regular file."""
        real_root = os.path.realpath(root)
        linked: set[str] = set()
        pending = [""]
        while pending:
            below = pending.pop()
            try:
                with os.scandir(f"{root}/{below}") as scan:
                    children = sorted(scan, key=lambda child: child.name)
            except OSError as error:
                if not below:
                    raise SourceError(f"{self.name}: {reason_of(error)}") from None
                self._add_problem(Problem(display_path(below), None, f"cannot be listed: {reason_of(error)}"))
                continue
            for child in children:
                path = f"{below}/{child.name}" if below else child.name
                kind = self._kind(child, path, real_root, linked)
                if kind == _DIRECTORY:
                    pending.append(path)
                elif kind is not None:
                    yield path, child.path, kind

    def _kind(self, child: os.DirEntry[str], path: str, real_root: str, linked: set[str]) -> str | None:
        """`_DIRECTORY` for a directory to walk, the content id of a regular file, None for anything else."""
        try:
            if child.is_symlink():
                return self._linked_kind(child, path, real_root, linked)
            if child.is_dir():
                return _DIRECTORY if child.name != ".git" else None
            return _content_id(child.stat())
        except OSError as error:
            self._add_problem(Problem(display_path(path), None, f"cannot be read: {reason_of(error)}"))
            return None

    def _linked_kind(self, link: os.DirEntry[str], path: str, real_root: str, linked: set[str]) -> str | None:
        target = os.path.realpath(link.path)
        if not _is_within(target, real_root) or ".git" in target[len(real_root) :].split("/"):
            return self._unfollowed_kind(Unfollowed(display_path(path), OUT))
        try:
            status = link.stat()
        except OSError:
            return self._unfollowed_kind(Unfollowed(display_path(path), NOTHING))
        if not stat.S_ISDIR(status.st_mode):
            return _content_id(status)
        # A link to a parent directory would be walked without end, and a second link to a directory would list its
        # files once more.
        if target in linked or _is_within(os.path.realpath(Path(link.path).parent), target):
            self._add_skipped(Skipped(display_path(path), READ_ANYWAY))
            return None
        linked.add(target)
        return _DIRECTORY

    def _unfollowed_kind(self, link: Unfollowed) -> str | None:
        if link.is_manifest:
            self._unfollowed[link.path] = link
            return link.entry.oid
        self._add_skipped(Skipped(link.path, link.reason))
        return None

    def _read_stdin(self) -> bytes | None:
        if self._stdin is None:
            try:
                self._stdin = (self.file or sys.stdin.buffer).read(MAX_FILE_BYTES + 1)
            except OSError as error:
                raise SourceError(f"standard input: {reason_of(error)}") from None
        if len(self._stdin) > MAX_FILE_BYTES:
            self._add_problem(Problem(_STDIN_PATH, None, f"larger than {MAX_FILE_BYTES} bytes: not read"))
            return None
        return self._stdin

    def _add_problem(self, problem: Problem) -> None:
        if problem not in self.problems:
            self.problems.append(problem)

    def _add_skipped(self, skipped: Skipped) -> None:
        if skipped not in self.skipped:
            self.skipped.append(skipped)


def open_file(name: str, path: str) -> io.BufferedReader:
    """Open a file or a URL as a stream; ``name`` is the name of the source. Raises SourceError."""
    if is_remote(path):
        from crdcompat.sources.remote import open_remote

        return open_remote(path)
    try:
        return Path(path).open("rb")
    except (OSError, ValueError) as error:
        raise SourceError(f"{name}: {reason_of(error)}") from None


def read_file(on_disk: str, path: str, problems: list[Problem]) -> bytes | None:
    """Read one file of at most `MAX_FILE_BYTES`; else add a Problem to ``problems`` and return None."""
    try:
        with Path(on_disk).open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        reason = f"larger than {MAX_FILE_BYTES} bytes: not read" if len(data) > MAX_FILE_BYTES else None
    except OSError as error:
        reason = f"cannot be read: {reason_of(error)}"
    if reason is None:
        return data
    problem = Problem(path, None, reason)
    if problem not in problems:
        problems.append(problem)
    return None


def _is_within(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def _content_id(status: os.stat_result) -> str | None:
    """The inode of a regular file as a content id, so that a file and links to it are parsed once; else None."""
    return f"inode:{status.st_dev}:{status.st_ino}" if stat.S_ISREG(status.st_mode) else None
