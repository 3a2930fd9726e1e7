"""The names of files that differ between commits, the index and the working tree.

A file of a tree can be called ``HEAD``, or as the id of a commit: ``--`` says what git has to read as a commit.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.sources.blobs import blob_id
from crdcompat.sources.files import MAX_FILE_BYTES
from crdcompat.sources.naming import KUSTOMIZATIONS, display_path, is_manifest_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from crdcompat.sources.repository import Repository

_LINK_MODE = "120000"
_STAGED_LINK = _LINK_MODE.encode()
_SUBMODULE_MODE = "160000"
#: A record of ``ls-files -s --debug -z``. Its time and size may be missing: git does not promise their format.
_STAGED = re.compile(
    rb"(\d{6}) ([0-9a-f]{40,64}) \d\t([^\0]+)\0"
    rb"(?:  ctime: [\d:]+\n  mtime: (\d+):(\d+)\n  dev:.*\n  uid:.*\n  size: (\d+)\tflags:.*\n)?"
)
#: A record of ``ls-tree -z`` that is a symbolic link, a kustomization or a chart.
_NAMING = re.compile(rb"(?:^|\0)120000 |[\t/](?:kustomization\.ya?ml|Kustomization|Chart\.yaml)(?=\0)")
_NAMING_FILES = (*KUSTOMIZATIONS, "Chart.yaml")
_RAW = ("--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff", "--ignore-submodules=none")
_NO_MODE = "000000"


class Difference(Struct, frozen=True):
    """A path (from the top of the repository) that differs: on both sides the mode, and the id of the content.

    A side that does not have the path has zeros. ``is_conflict``: the index has no content for it before a merge ends.
    """

    path: str
    modes: tuple[str, str]
    ids: tuple[str, str]
    is_conflict: bool

    @property
    def is_submodule(self) -> bool:
        """Whether the path is nothing but a submodule, on each side that has it."""
        return {*self.modes} - {_NO_MODE} == {_SUBMODULE_MODE}

    @property
    def names_files(self) -> bool:
        """Whether the path became, or was edited as, a link, a kustomization or a chart."""
        name = self.path[self.path.rfind("/") + 1 :]
        return self.modes[1] == _LINK_MODE or (self.modes[1] != _NO_MODE and name in _NAMING_FILES)

    @property
    def commits(self) -> tuple[str, str] | None:
        """The commits of a submodule that moved, "" on a side where the path is none; None for other paths."""
        if _SUBMODULE_MODE not in self.modes:
            return None
        old, new = (
            commit if mode == _SUBMODULE_MODE else "" for mode, commit in zip(self.modes, self.ids, strict=True)
        )
        return old, new


def differences(repo: Repository, old: str, new: str = "") -> list[Difference]:
    """What differs between two commits; ``new`` "" is the index, regardless of the working tree.

    Both are full ids: git could read a name as a path or an option. Raises SourceError.
    """
    args = ("diff-tree", "-r", *_RAW, old, new) if new else ("diff-index", "--cached", *_RAW, old)
    fields = repo.run(*args, "--").stdout.split(b"\0")
    return [_difference(record, path) for record, path in zip(fields[::2], fields[1::2], strict=False)]


def _difference(record: bytes, path: bytes) -> Difference:
    """A record of ``--raw``: ``:100644 100644 ID ID M``."""
    old_mode, new_mode, old, new, status = record.lstrip(b":").decode("ascii", "replace").split(" ")
    return Difference(display_path(path), (old_mode, new_mode), (old, new), status == "U")


def has_staged(repo: Repository) -> bool:
    """Whether the index differs from HEAD. Raises SourceError, also if there is no commit yet."""
    return repo.run("diff-index", "--cached", "--quiet", "HEAD", "--", ok=(0, 1)).returncode == 1


class Staged(Struct, frozen=True):
    """The index: its records, the top of its working tree, and when it was written (ns)."""

    top: Path
    written: int
    records: tuple[tuple[bytes, ...], ...]

    @property
    def has_links(self) -> bool:
        """Whether a file of the index is a symbolic link."""
        return any(mode == _STAGED_LINK for mode, *_ in self.records)

    def changed(self, wants: Callable[[str], bool] = is_manifest_name) -> list[str]:
        """The tracked files, of those that ``wants`` includes, that differ on disk, also deleted ones."""
        return [
            name
            for mode, oid, path, seconds, fraction, size in self.records
            if wants(name := display_path(path))
            and _differs(Path(self.top, os.fsdecode(path)), mode, oid.decode(), self._known(seconds, fraction, size))
        ]

    def _known(self, seconds: bytes, fraction: bytes, size: bytes) -> tuple[int, int] | None:
        """The time (ns) and size of the file that is staged; None if a later change can have the same."""
        stamp = int(seconds or 0) * 1_000_000_000 + int(fraction or 0)
        return (stamp, int(size)) if size and stamp < self.written else None


def read_index(repo: Repository) -> Staged:
    """The index, to compare it with the working tree.

    ``git diff-files`` is not used: it believes the flags assume-unchanged and skip-worktree, and it runs the filters of
    the repository. Raises SourceError, also in a bare repository.
    """
    top, index = repo.run("rev-parse", "--show-toplevel", "--git-path", "index").stdout.split(b"\n")[:2]
    listing = repo.run("ls-files", "-s", "--debug", "-z", "--full-name", ":/").stdout
    written = _written(Path(repo.path or ".", os.fsdecode(index)))
    return Staged(Path(os.fsdecode(top)), written, tuple(_STAGED.findall(listing)))


def _written(index: Path) -> int:
    """The time when the index was written, in ns; a file that changed later may have the size and time of its entry."""
    try:
        return index.stat().st_mtime_ns
    except OSError:
        return 0


def _differs(file: Path, mode: bytes, oid: str, known: tuple[int, int] | None) -> bool:
    """Whether a file differs from its blob; ``known`` are the time (ns) and size that the index has for the blob."""
    try:
        status = file.lstat()
        was_link = mode == _STAGED_LINK
        if stat.S_ISLNK(status.st_mode) or was_link:
            is_link = stat.S_ISLNK(status.st_mode) and was_link
            return not is_link or blob_id(os.fsencode(file.readlink()), like=oid) != oid
        if known == (status.st_mtime_ns, status.st_size):
            return False
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_FILE_BYTES:
            return True
        return blob_id(file.read_bytes(), like=oid) != oid
    except OSError:
        return True


def names_files(repo: Repository, commit: str) -> bool:
    """Whether a commit (a full id) has a link, a kustomization or a chart: what these name counts, whatever its name.

    Raises SourceError.
    """
    return _NAMING.search(repo.run("ls-tree", "-r", "-z", "--full-tree", commit).stdout) is not None
