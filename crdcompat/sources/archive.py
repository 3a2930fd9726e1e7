"""Archives as trees: read as a stream, never unpacked to disk, with limits against hostile archives."""

from __future__ import annotations

import io
import stat
from collections import Counter, deque
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar

from msgspec import Struct, field

from crdcompat.errors import Problem, Skipped, SourceError
from crdcompat.sources.files import MAX_FILE_BYTES, open_file
from crdcompat.sources.naming import display_path
from crdcompat.sources.tar import BLOCK, DIRECTORY, FILE, HARD_LINK, SYMBOLIC_LINK, Member, Tar, begins_tar
from crdcompat.sources.tree import Entry
from crdcompat.sources.unpack import MAX_TOTAL_BYTES, Unpacked, UnpackError
from crdcompat.sources.urls import file_name
from crdcompat.sources.zip import Zip, begins_zip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

MAX_PROBLEMS = 100
"""Problems of one archive in the report; further ones are only counted."""

NAMED = ".tar, .tar.gz, .tgz, .tar.zst, .tar.bz2, .tar.xz or .zip"
ARCHIVE_NAMES = (".tar", ".tgz", ".tbz2", ".txz", ".tar.gz", ".tar.bz2", ".tar.xz", ".tar.zst", ".tzst", ".zip")
_COMPRESSION_NAMES = {
    "gzip": (".tgz", ".gz"),
    "bzip2": (".tbz2", ".bz2"),
    "xz": (".txz", ".xz"),
    "zstd": (".tzst", ".zst"),
    "zip": (".zip",),
}
_Content = TypeVar("_Content")


class ArchiveTree(Struct):
    """The files of a zip archive, or of a tar archive, plain or compressed by gzip, bzip2, xz or zstd.

    Only regular files are read: links, devices and members with paths outside of the archive are listed in ``problems``
    or ``skipped``. Files before a damaged place are read. ``file`` is standard input, which can be read only once.
    """

    name: str
    path: str
    commit: str | None = None
    notes: tuple[str, ...] = ()
    problems: list[Problem] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    file: io.BufferedReader | None = None
    _read_before: bool = False

    @property
    def label(self) -> str:
        """The archive's file name."""
        return file_name(self.path) if self.path != "-" else "stdin"

    @property
    def is_one_file(self) -> bool:
        """False: the user named the files in the archive."""
        return False

    def entries(self) -> list[Entry]:
        """List the regular files in path order, by a pass over the archive."""
        paths: set[str] = set()

        def note(path: str) -> bool:
            paths.add(path)
            return False

        deque(self.stream(note), maxlen=0)
        return [Entry(path) for path in sorted(paths)]

    def read(self, entries: Iterable[Entry]) -> Iterator[tuple[Entry, bytes]]:
        """Read these files in one pass over the archive; files before their turn wait in memory."""
        waiting = deque(entries)
        uses = Counter(entry.path for entry in waiting)
        early: dict[str, bytes] = {}
        for found, data in self.stream(uses.__contains__):
            if uses[found.path]:
                early.setdefault(found.path, data)
            while waiting and waiting[0].path in early:
                entry = waiting.popleft()
                uses[entry.path] -= 1
                yield entry, early[entry.path] if uses[entry.path] else early.pop(entry.path)
        yield from ((entry, early[entry.path]) for entry in waiting if entry.path in early)

    def stream(self, wanted: Callable[[str], bool]) -> Iterator[tuple[Entry, bytes]]:
        """Read the wanted files in one pass, one at a time."""
        found = self._each(wanted, MAX_FILE_BYTES, lambda members: members.content())
        return ((Entry(path), data) for path, data in found)

    def streams(self, wanted: Callable[[str], bool]) -> Iterator[tuple[str, IO[bytes]]]:
        """The wanted files of any size as streams in one pass, each to be read before the next one.

        Reading a stream raises UnpackError.
        """
        return self._each(wanted, MAX_TOTAL_BYTES, lambda members: members.opened())

    def _each(
        self, wanted: Callable[[str], bool], limit: int, read: Callable[[Tar | Zip], _Content]
    ) -> Iterator[tuple[str, _Content]]:
        """The path of each wanted file of up to ``limit`` bytes, and what ``read`` gives for it."""
        refused = _Refused(self)
        with self._opened() as file:
            unpacked = None if begins_zip(file.peek(4)) else Unpacked(file)
            members = Zip(file) if unpacked is None else Tar(unpacked)
            try:
                for member in members:
                    path = inside(member.name)
                    if path is None:
                        refused.problem(member.name, "leads out of the archive: not read")
                    elif member.kind == FILE:
                        if not wanted(path):
                            continue
                        if member.size > limit:
                            refused.problem(path, f"larger than {limit} bytes: not read")
                            continue
                        yield path, read(members)
                    elif member.kind != DIRECTORY:
                        refused.member(path, member, wanted)
            except UnpackError as error:
                refused.archive(self._misnamed(unpacked) or str(error))
            finally:
                refused.end()

    def _misnamed(self, unpacked: Unpacked | None) -> str:
        """A message if the compression in the file's name is not that of its content; "" after the first block."""
        if unpacked is None or unpacked.packing or unpacked.position > BLOCK:
            return ""
        formats = (name for name, endings in _COMPRESSION_NAMES.items() if self.path.lower().endswith(endings))
        return next((f"no {name} archive: its first bytes are not those of one" for name in formats), "")

    @contextmanager
    def _opened(self) -> Iterator[io.BufferedReader]:
        if self.file is not None:
            if self._read_before:
                raise SourceError("standard input holds an archive, which can be read only once: save it to a file")
            self._read_before = True
            yield self.file
            return
        with open_file(self.name, self.path) as file:
            yield file


class _Refused:
    """Records the members that are not read, each once, even if the archive is read several times."""

    def __init__(self, tree: ArchiveTree) -> None:
        self._tree = tree
        self._count = 0

    def member(self, path: str, member: Member, wanted: Callable[[str], bool]) -> None:
        """Record a member that is not a file: a problem if its path is wanted or its link leaves the archive."""
        if member.kind not in (SYMBOLIC_LINK, HARD_LINK):
            self.problem(path, f"{member.kind}: not read")
            return
        reason = f"{member.kind} to {display_path(member.link.encode('utf-8', 'surrogateescape'))}: not followed"
        base = path if member.kind == SYMBOLIC_LINK else ""
        if wanted(path) or inside(member.link, base) is None:
            self.problem(path, reason)
        elif (skipped := Skipped(path, reason)) not in self._tree.skipped:
            self._tree.skipped.append(skipped)

    def problem(self, name: str, message: str) -> None:
        self._count += 1
        if self._count <= MAX_PROBLEMS:
            self._add(Problem(display_path(name.encode("utf-8", "surrogateescape")), None, message))

    def archive(self, message: str) -> None:
        """Record a problem of the archive as a whole."""
        self._add(Problem(self._tree.label, None, message))

    def end(self) -> None:
        if self._count > MAX_PROBLEMS:
            self.archive(f"{self._count - MAX_PROBLEMS} more members are not read, for reasons like these")

    def _add(self, problem: Problem) -> None:
        if problem not in self._tree.problems:
            self._tree.problems.append(problem)


def is_archive(path: str) -> bool:
    """Whether a path is an archive: by its content, or by its name if the content is damaged."""
    try:
        status = Path(path).stat()
        # Reading from a pipe consumes its data, and an empty file is not a recording.
        if not stat.S_ISREG(status.st_mode) or not status.st_size:
            return False
        with Path(path).open("rb") as file:
            return starts_archive(file) or path.lower().endswith(ARCHIVE_NAMES)
    except (OSError, ValueError):
        return False


def starts_archive(file: IO[bytes]) -> bool:
    """Whether a file begins like a zip archive, or, plain or compressed, like a tar archive."""
    try:
        start = Unpacked(file).read(512)
        return begins_tar(start) or begins_zip(start)
    except UnpackError:
        return False


def inside(name: str, base: str = "") -> str | None:
    """The path of a name inside the archive, None if it is outside; ``base`` is the path of the link to resolve."""
    if name.startswith("/") or "\0" in name:
        return None
    parts = base.split("/")[:-1]
    for part in name.split("/"):
        if part == ".." and (not base or not parts):
            return None
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return display_path("/".join(parts).encode("utf-8", "surrogateescape"))
