"""Read zip archives member by member, with limits.

The list of members is at the end of the file. A stream (standard input, a URL) is first copied to a temporary file.
"""

from __future__ import annotations

import io
import shutil
import stat
import tempfile
import zipfile
import zlib
from typing import IO, TYPE_CHECKING

from crdcompat.sources.tar import DIRECTORY, FILE, MAX_MEMBERS, SYMBOLIC_LINK, Member
from crdcompat.sources.unpack import CutShortError, UnpackError, check_unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
_END = b"PK\x05\x06"
_END_BYTES = 22  # of the record at the end, without its comment of up to 64 KiB
_MAX_DIRECTORY = 256 << 20
_MAX_LINK = 4096
_IN_MEMORY = 64 << 20
_ENCRYPTED = "encrypted file"
#: The errors of a damaged member. An unknown kind of compression raises NotImplementedError.
_FAULTS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError, RuntimeError)


class Zip:
    """The members of an archive in its own order. During iteration, ``content`` reads the current member."""

    def __init__(self, file: IO[bytes]) -> None:
        self._copy = None if file.seekable() else _copied(file)
        self._file = self._copy or file
        self._size = self._file.seek(0, 2)
        self._archive: zipfile.ZipFile | None = None
        self._current: zipfile.ZipInfo | None = None
        self._read = 0

    def __iter__(self) -> Iterator[Member]:
        """Yield the members. Raises UnpackError if the archive is damaged."""
        try:
            yield from self._members()
        finally:
            if self._copy is not None:
                self._copy.close()

    def _members(self) -> Iterator[Member]:
        self._check_directory()
        try:
            self._archive = zipfile.ZipFile(self._file)
        except _FAULTS as error:
            raise UnpackError(f"damaged: {error}") from None
        members = self._archive.infolist()
        if len(members) > MAX_MEMBERS:
            raise UnpackError(f"more than {MAX_MEMBERS} members: not read")
        for self._current in members:
            yield self._member(self._current)

    def content(self) -> bytes:
        """Read the current member's content. Raises UnpackError for damage or too much content."""
        if self._archive is None or self._current is None:
            raise UnpackError("damaged: no member")
        self._read += self._current.file_size
        check_unpacked(self._read, self._size)
        try:
            with self._archive.open(self._current) as file:
                data = file.read(self._current.file_size + 1)
        except _FAULTS as error:
            raise UnpackError(f"damaged: {error}") from None
        if len(data) != self._current.file_size:
            raise CutShortError
        return data

    def opened(self) -> IO[bytes]:
        """The current member's content as a stream. It is read into memory: zip archives do not contain images."""
        return io.BytesIO(self.content())

    def _member(self, info: zipfile.ZipInfo) -> Member:
        kind, link = FILE, ""
        if info.is_dir():
            kind = DIRECTORY
        elif info.flag_bits & 1:
            kind = _ENCRYPTED
        elif stat.S_ISLNK(info.external_attr >> 16):
            kind = SYMBOLIC_LINK
            link = self.content().decode("utf-8", "surrogateescape") if info.file_size <= _MAX_LINK else "/"
        return Member(info.filename, kind, info.file_size, link)

    def _check_directory(self) -> None:
        """Raises UnpackError if the list of members is too large for memory; zipfile would read all of it."""
        start = max(0, self._size - _END_BYTES - (1 << 16))
        self._file.seek(start)
        end = self._file.read(self._size - start)
        at = end.rfind(_END)
        if at < 0 or len(end) < at + _END_BYTES:
            raise CutShortError
        if int.from_bytes(end[at + 12 : at + 16], "little") > _MAX_DIRECTORY:
            raise UnpackError(f"a list of members of more than {_MAX_DIRECTORY} bytes: not read")


def begins_zip(start: bytes) -> bool:
    """Whether a file with these first bytes is a zip archive."""
    return start.startswith(_MAGIC)


def _copied(file: IO[bytes]) -> IO[bytes]:
    spooled = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - the caller reads it
    shutil.copyfileobj(file, spooled)
    return spooled  # type: ignore[return-value, unused-ignore]
