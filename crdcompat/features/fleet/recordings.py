"""The recordings of many clusters: which entries of a folder are one, and whether one has changed since."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from crdcompat.errors import Skipped, SourceError
from crdcompat.sources.archive import is_archive
from crdcompat.sources.naming import display_path, reason_of
from crdcompat.sources.recording import OBJECT_EXTENSIONS

_ARCHIVES = (".tar", ".tar.gz", ".tgz")
_UNREAD = (".zip", ".7z", ".rar", ".zst")
#: What stands at the top of a must-gather, an inspect tree or an insights archive; gather-extra lists in one file.
_TOPS = frozenset({"cluster-scoped-resources", "namespaces", "insights-operator", "clusterversion.json"})
_GATHERED = ("must-gather.local.", "inspect.local.")
_IMAGE = "-sha256-"


@dataclass(frozen=True, slots=True)
class Fleet:
    """``recordings`` are paths, each that of one cluster; ``unread`` what is one and cannot be opened, and why."""

    recordings: tuple[str, ...]
    unread: tuple[tuple[str, str], ...]
    left_out: tuple[Skipped, ...]


def find_fleet(names: Sequence[str]) -> Fleet:
    """The recordings that these names mean; ``-`` is a list of paths on standard input, one to a line.

    A path is a recording itself (an archive, an unpacked one, a file of objects), or a folder of recordings: each
    archive, unpacked recording or file of objects in it is one cluster's, and so is each archive or unpacked
    recording one level below, in the folder of a case. A folder there that holds no other recording than files of
    objects is one cluster's. Links are followed in the folder that was named only. Raises SourceError.
    """
    found = _Found()
    for path in (path for name in names for path in (_listed() if name == "-" else (name,))):
        try:
            is_folder = stat.S_ISDIR(Path(path).stat().st_mode)
        except (OSError, ValueError) as error:
            raise SourceError(f"{display_path(path)}: {reason_of(error)}") from None
        if is_folder and not _is_recording(path):
            found.of_folder(path)
        else:
            found.recordings[path] = None
    return Fleet(tuple(found.recordings), tuple(found.unread), tuple(found.left_out))


class _Found:
    """What was found so far, each path once."""

    def __init__(self) -> None:
        self.recordings: dict[str, None] = {}
        self.unread: list[tuple[str, str]] = []
        self.left_out: list[Skipped] = []

    def of_folder(self, folder: str) -> None:
        """Take the recordings of a folder, and of the folders of cases in it."""
        for entry in _children(folder):
            if entry.is_dir() and not _is_recording(entry.path):
                try:
                    self._of_case(entry.path)
                except SourceError as error:
                    self.unread.append((entry.path, str(error)))
            elif _holds_objects(entry):
                self.recordings[entry.path] = None
            else:
                self._take(entry, follow=True)

    def _of_case(self, folder: str) -> None:
        children = _children(folder)
        taken = [self._take(entry, follow=False) for entry in children if not _holds_objects(entry)]
        files = [entry.path for entry in children if _holds_objects(entry)]
        if files and not any(taken):
            self.recordings[folder] = None
        elif not any(taken):
            self.left_out.append(Skipped(display_path(folder), "no recording in it"))
        else:
            self.left_out += [Skipped(display_path(path), "beside the recordings of a case") for path in files]

    def _take(self, entry: os.DirEntry[str], *, follow: bool) -> bool:
        """Take one entry if it is a recording; False for what is none."""
        path = entry.path
        if entry.is_dir(follow_symlinks=follow):
            is_one = _is_recording(path)
        else:
            is_one = entry.is_file(follow_symlinks=follow) and (path.lower().endswith(_ARCHIVES) or is_archive(path))
        if is_one:
            self.recordings[path] = None
        elif entry.is_symlink() and not Path(path).exists():
            self.unread.append((path, "a link to nothing"))
        elif path.lower().endswith(_UNREAD):
            self.unread.append((path, f"{Path(path).suffix} archives are not read: unpack it"))
        else:
            self.left_out.append(Skipped(display_path(path), "no recording"))
            return False
        return True


def signature(path: str) -> str:
    """What changes when a recording has another size or time, or one of its files has."""
    digest = hashlib.blake2b(digest_size=16)
    pending = [path]
    while pending:
        here = pending.pop()
        try:
            status = Path(here).stat() if here == path else Path(here).lstat()
            told = f"{here.removeprefix(path)} {status.st_mode} {status.st_size} {status.st_mtime_ns}"
            if stat.S_ISDIR(status.st_mode):
                pending += [entry.path for entry in _children(here, hidden=True)]
        except (OSError, ValueError, SourceError) as error:
            told = f"{here.removeprefix(path)} {type(error).__name__}"  # said when it is read
        digest.update(os.fsencode(told) + b"\0")
    return digest.hexdigest()


def _is_recording(folder: str) -> bool:
    """Whether a folder is one cluster's recording, by its name and by what stands at its top."""
    if Path(folder).name.startswith(_GATHERED):
        return True
    try:
        children = _children(folder)
    except SourceError:
        return False
    images = [entry.path for entry in children if _IMAGE in entry.name]
    return any(entry.name in _TOPS for entry in children) or any(
        (Path(image) / top).exists() for image in images for top in _TOPS
    )


def _holds_objects(entry: os.DirEntry[str]) -> bool:
    return entry.name.lower().removesuffix(".gz").endswith(OBJECT_EXTENSIONS) and entry.is_file()


def _children(folder: str, *, hidden: bool = False) -> list[os.DirEntry[str]]:
    """In order of names; what is hidden (``.DS_Store``, ``._x.tar.gz``) is no recording of anybody."""
    try:
        with os.scandir(folder) as scan:
            return sorted((entry for entry in scan if hidden or not entry.name.startswith(".")), key=lambda e: e.name)
    except OSError as error:
        raise SourceError(f"{display_path(folder)}: {reason_of(error)}") from None


def _listed() -> Iterator[str]:
    text = sys.stdin.buffer.read()
    for line in text.split(b"\0" if b"\0" in text else b"\n"):
        if line.strip():
            yield os.fsdecode(line.removesuffix(b"\r"))
