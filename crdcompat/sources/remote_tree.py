"""A URL as a tree: one remote file, or the files of a remote folder."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct, field

from crdcompat.errors import Problem, Skipped, SourceError
from crdcompat.sources.archive import ARCHIVE_NAMES, starts_archive
from crdcompat.sources.files import MAX_FILE_BYTES
from crdcompat.sources.naming import is_manifest_name
from crdcompat.sources.remote import is_remote_folder, list_remote, open_remote
from crdcompat.sources.tree import Entry, Listed
from crdcompat.sources.urls import file_name, public_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

MAX_LISTED = 200_000
"""Files of one remote folder; of a larger folder, the user names the folders below it one by one."""


class RemoteTree(Listed, Struct):
    """The files below a remote folder, or one remote file, whose path in the tree is its name.

    ``stream`` reads the files in the order of the store, without a list of all names in memory. A file that cannot be
    read ends the run, because it may contain a CRD.
    """

    name: str
    url: str
    commit: str | None = None
    notes: tuple[str, ...] = ()
    problems: list[Problem] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    _is_folder: bool | None = None
    _urls: dict[str, str] | None = None

    @property
    def label(self) -> str:
        """Empty: the path is sufficient."""
        return ""

    @property
    def is_one_file(self) -> bool:
        """Whether the URL names a file, not a folder. Raises SourceError."""
        if self._is_folder is None:
            self._is_folder = is_remote_folder(self.url)
        return not self._is_folder

    def entries(self) -> list[Entry]:
        """List the files. Raises SourceError."""
        if self._urls is None:
            self._urls = dict(self._list())
        return [Entry(path) for path in sorted(self._urls)]

    def read(self, entries: Iterable[Entry]) -> Iterator[tuple[Entry, bytes]]:
        """Read these files in the given order. Adds files that are too large to ``problems``. Raises SourceError."""
        self.entries()
        urls = self._urls or {}
        for entry in entries:
            yield from self._read(entry, urls[entry.path])

    def stream(self, wanted: Callable[[str], bool]) -> Iterator[tuple[Entry, bytes]]:
        """Read the wanted files in the order of the store. Raises SourceError."""
        for path, url in self._list():
            if wanted(path):
                yield from self._read(Entry(path), url)

    def _list(self) -> Iterator[tuple[str, str]]:
        """The path and the URL of each file."""
        if self.is_one_file:
            yield file_name(self.url), self.url
            return
        top = f"{_address(self.url).rstrip('/')}/"
        for count, file in enumerate(islice(list_remote(self.url), MAX_LISTED + 1)):
            if count == MAX_LISTED:
                raise SourceError(f"{self.name}: more than {MAX_LISTED} files: name the folders below it one by one")
            yield _address(file.url).removeprefix(top), file.url

    def _read(self, entry: Entry, url: str) -> Iterator[tuple[Entry, bytes]]:
        with open_remote(url) as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) <= MAX_FILE_BYTES:
            yield entry, data
            return
        problem = Problem(entry.path, None, f"larger than {MAX_FILE_BYTES} bytes: not read")
        if problem not in self.problems:
            self.problems.append(problem)


def _address(url: str) -> str:
    """A URL without its scheme: libraries list ``gcs://`` as ``gs://``, and ``s3a://`` as ``s3://``."""
    return url.partition("://")[2]


def is_remote_archive(url: str) -> bool:
    """Whether the file at a URL is an archive, by its first bytes or its name. Raises SourceError, also if empty."""
    name = file_name(url)
    if is_remote_folder(url) or is_manifest_name(name):
        return False
    with open_remote(url) as file:
        if not file.peek(1):
            raise SourceError(f"{public_name(url)}: empty: a manifest or an archive is expected")
        return starts_archive(file) or name.lower().endswith(ARCHIVE_NAMES)
