"""Finds the recordings of a fleet in folders and stores, and computes signatures to detect changed recordings."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from urllib.parse import urljoin, urlsplit
from uuid import uuid4

from msgspec import Struct

from crdcompat.errors import Skipped, SourceError
from crdcompat.features.fleet.spill import Spill
from crdcompat.sources.archive import ARCHIVE_NAMES, is_archive
from crdcompat.sources.naming import display_path, failing_as, reason_of
from crdcompat.sources.recording import OBJECT_EXTENSIONS
from crdcompat.sources.remote import RemoteFile, is_remote_folder, list_remote, open_remote
from crdcompat.sources.urls import file_name, is_remote, public_name

_UNSUPPORTED = (".7z", ".rar")
#: Names at the top of a must-gather, an inspect tree, an insights archive, or the lists of gather-extra.
_TOPS = frozenset({"cluster-scoped-resources", "namespaces", "insights-operator", "clusterversion.json"})
_GATHERED = ("must-gather.local.", "inspect.local.")
_IMAGE = "-sha256-"
_INDEX = ".txt"
_MAX_INDEX_BYTES = 64 << 20


class Fleet(Struct, frozen=True):
    """The recordings of a fleet, one cluster each.

    ``unread`` are (path, reason) of recordings that cannot be opened, ``left_out`` the entries that are no recordings.
    """

    recordings: Listing
    unread: tuple[tuple[str, str], ...] = ()
    left_out: tuple[Skipped, ...] = ()


def find_fleet(names: Sequence[str]) -> Fleet:
    """Find the recordings at the given paths; ``-`` reads paths from standard input, one per line.

    A path is a recording itself (an archive, an unpacked archive, a file of objects) or a folder of recordings. In
    such a folder each archive, unpacked recording or file of objects is one cluster. Each archive or unpacked
    recording one level below, in the folder of a support case, is one cluster, too. A case folder with only files of
    objects is one cluster. Links are followed only in the named folder itself.

    A URL is a recording itself, the prefix of a store, or an index: a text file of names, one per line. Below a prefix
    each archive or file of objects is one cluster. Raises SourceError.
    """
    found = _Found()
    for path in (path for name in names for path in (_listed() if name == "-" else (name,))):
        if is_remote(path):
            found.add_url(path)
            continue
        try:
            is_folder = stat.S_ISDIR(Path(path).stat().st_mode)
        except (OSError, ValueError) as error:
            raise SourceError(f"{display_path(path)}: {reason_of(error)}") from None
        if is_folder and not _is_recording(path):
            found.add_folder(path)
        else:
            found.recordings.add(path)
    return Fleet(found.recordings, tuple(found.unread), tuple(found.left_out))


class _Found:
    """Collects recordings, each path once."""

    def __init__(self) -> None:
        self.recordings = Listing()
        self.unread: list[tuple[str, str]] = []
        self.left_out: list[Skipped] = []

    def add_url(self, url: str) -> None:
        """Add the recordings of a URL: those that an index names, those below a prefix, or the file itself."""
        if file_name(url).lower().endswith(_INDEX):
            for named in _index(url):
                self.recordings.add(named)
        elif is_remote_folder(url):
            self.recordings.begin_group()
            for file in list_remote(url):
                self._add_file(file)
        else:
            self.recordings.add(url)

    def _add_file(self, file: RemoteFile) -> None:
        name = file_name(file.url).lower()
        if name.endswith(ARCHIVE_NAMES) or name.removesuffix(".gz").endswith(OBJECT_EXTENSIONS):
            version = f"{file.version} {file.size}" if file.version else None
            self.recordings.add(file.url, version, in_group=True)
        elif name.endswith(_UNSUPPORTED):
            self.unread.append((file.url, _not_read(file.url)))
        else:
            self.left_out.append(Skipped(public_name(file.url), "no recording"))

    def add_folder(self, folder: str) -> None:
        """Add the recordings of a folder, and of the case folders in it."""
        for entry in _children(folder):
            if entry.is_dir() and not _is_recording(entry.path):
                try:
                    self._add_case(entry.path)
                except SourceError as error:
                    self.unread.append((entry.path, str(error)))
            elif _holds_objects(entry):
                self.recordings.add(entry.path)
            else:
                self._add_entry(entry, follow=True)

    def _add_case(self, folder: str) -> None:
        children = _children(folder)
        added = [self._add_entry(entry, follow=False) for entry in children if not _holds_objects(entry)]
        files = [entry.path for entry in children if _holds_objects(entry)]
        if files and not any(added):
            self.recordings.add(folder)
        elif not any(added):
            self.left_out.append(Skipped(display_path(folder), "no recording in it"))
        else:
            self.left_out += [Skipped(display_path(path), "beside the recordings of a case") for path in files]

    def _add_entry(self, entry: os.DirEntry[str], *, follow: bool) -> bool:
        """Add one entry; False if it is no recording. One that cannot be opened counts as a recording."""
        path = entry.path
        if entry.is_dir(follow_symlinks=follow):
            is_one = _is_recording(path)
        else:
            is_one = entry.is_file(follow_symlinks=follow) and (
                path.lower().endswith(ARCHIVE_NAMES) or is_archive(path)
            )
        if is_one:
            self.recordings.add(path)
        elif entry.is_symlink() and not Path(path).exists():
            self.unread.append((path, "a link to nothing"))
        elif path.lower().endswith(_UNSUPPORTED):
            self.unread.append((path, _not_read(path)))
        else:
            self.left_out.append(Skipped(display_path(path), "no recording"))
            return False
        return True


def shown_name(path: str) -> str:
    """The name of a recording for people: without the credentials of a URL."""
    return display_path(public_name(path) if is_remote(path) else path)


def _not_read(path: str) -> str:
    return f"{Path(path).suffix} archives are not read: unpack it"


def _index(url: str) -> Iterator[str]:
    """The recordings that an index names; names without a scheme are relative to it. Raises SourceError."""
    with open_remote(url) as file:
        text = file.read(_MAX_INDEX_BYTES + 1)
    if len(text) > _MAX_INDEX_BYTES:
        raise SourceError(f"{public_name(url)}: more than {_MAX_INDEX_BYTES} bytes: not read")
    for line in text.decode("utf-8", "replace").splitlines():
        if name := line.strip():
            named = urljoin(url, name)
            if urlsplit(named)[:2] != urlsplit(url)[:2]:
                raise SourceError(f"{public_name(url)}: names {public_name(named)}: an index names only its own server")
            yield named


def signature(path: str, version: str | None = None) -> str:
    """A digest that changes when the recording changes: of the sizes and times of its files, or the version of a URL.

    A URL without a version counts as changed each time.
    """
    if is_remote(path):
        return version or uuid4().hex
    digest = hashlib.blake2b(digest_size=16)
    pending = [path]
    while pending:
        here = pending.pop()
        try:
            status = Path(here).stat() if here == path else Path(here).lstat()
            state = f"{here.removeprefix(path)} {status.st_mode} {status.st_size} {status.st_mtime_ns}"
            if stat.S_ISREG(status.st_mode):
                state = f"{state} {status.st_ctime_ns}"  # whoever keeps size and time does not keep this one
            if stat.S_ISDIR(status.st_mode):
                pending += [entry.path for entry in _children(here, hidden=True)]
        except (OSError, ValueError, SourceError) as error:
            state = f"{here.removeprefix(path)} {type(error).__name__}"  # reading reports the error
        digest.update(os.fsencode(state) + b"\0")
    return digest.hexdigest()


def _is_recording(folder: str) -> bool:
    """Whether a folder is one cluster's recording, by its name and the names in it."""
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
    """The entries by name, without hidden ones (``.DS_Store``, ``._x.tar.gz``): these are no recordings."""
    with failing_as(SourceError, display_path(folder)), os.scandir(folder) as scan:
        return sorted((entry for entry in scan if hidden or not entry.name.startswith(".")), key=lambda e: e.name)


def _listed() -> Iterator[str]:
    text = sys.stdin.buffer.read()
    for line in text.split(b"\0" if b"\0" in text else b"\n"):
        if line.strip():
            yield os.fsdecode(line.removesuffix(b"\r"))


# The names of recordings, each once, in order. They are on disk, because a store may list any number of them.


class Listing:
    """Paths and URLs of recordings; URLs of a store have versions, which change with their content.

    Iteration yields the groups in the order in which they began, and the recordings of a group by name.
    """

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self._spill = Spill(
            'recordings ("group" INTEGER, path BLOB UNIQUE, version TEXT, PRIMARY KEY ("group", path)) WITHOUT ROWID'
        )
        self._groups = self._count = 0
        for path in paths:
            self.add(path)

    def add(self, path: str, version: str | None = None, *, in_group: bool = False) -> None:
        """Add a recording if it is not listed yet: to the last group if ``in_group``, else to a group of its own."""
        self._groups += not in_group
        row = (self._groups, os.fsencode(path), version)
        self._count += self._spill.write("INSERT OR IGNORE INTO recordings VALUES (?, ?, ?)", *row)

    def begin_group(self) -> None:
        """Begin a group. Iteration yields its recordings by name, not in the order in which they were added."""
        self._groups += 1

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[str]:
        return (path for path, _ in self.versions())

    def versions(self) -> Iterator[tuple[str, str | None]]:
        """Each recording and its version, None if it has none."""
        for path, version in self._spill.rows('SELECT path, version FROM recordings ORDER BY "group", path'):
            yield os.fsdecode(path), version
