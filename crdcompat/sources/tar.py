"""Read tar archives as streams: in one pass, with one member in memory, without trust in the input.

The standard library parses the headers; the iteration over them is our own. `tarfile` treats any damaged header after
the first one as the end of the archive, and reads extended headers of any size into memory.
"""

from __future__ import annotations

import io
import tarfile
from typing import IO, TYPE_CHECKING

from msgspec import Struct

from crdcompat.sources.unpack import CutShortError, PartReader, UnpackError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.sources.unpack import Unpacked

MAX_MEMBERS = 500_000
"""Headers of one archive; the largest must-gathers have a tenth of this."""

MAX_HEADER_BYTES = 1 << 20
"""Bytes of one extended header, which contains a name and a few attributes."""

BLOCK = 512
"""Bytes of a block: a header is one block, and content is padded to whole blocks."""

FILE, DIRECTORY, SYMBOLIC_LINK, HARD_LINK = "file", "directory", "symbolic link", "hard link"
SPARSE = "sparse file"

_KINDS = {
    tarfile.REGTYPE: FILE,
    tarfile.AREGTYPE: FILE,
    tarfile.CONTTYPE: FILE,
    tarfile.DIRTYPE: DIRECTORY,
    tarfile.SYMTYPE: SYMBOLIC_LINK,
    tarfile.LNKTYPE: HARD_LINK,
    tarfile.CHRTYPE: "character device",
    tarfile.BLKTYPE: "block device",
    tarfile.FIFOTYPE: "named pipe",
    tarfile.GNUTYPE_SPARSE: SPARSE,
    b"D": DIRECTORY,  # GNU tar's incremental dumps, with a list of names as content
    b"V": DIRECTORY,  # a volume's label
}
_WITHOUT_CONTENT = frozenset(b"123456")
_LONG = {tarfile.GNUTYPE_LONGNAME: "path", tarfile.GNUTYPE_LONGLINK: "linkpath"}
_PAX, _PAX_GLOBAL = (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE), tarfile.XGLTYPE
_AttributeMap = dict[str, bytes]


class Member(Struct, frozen=True):
    """One member: its unchanged name, its kind, the size of its content, and the target of a link."""

    name: str
    kind: str
    size: int
    link: str


class Tar:
    """The members of an archive in order; during iteration, ``content`` reads the current one."""

    def __init__(self, source: Unpacked) -> None:
        self._source = source
        self._size = 0
        self._left = 0  # unread bytes of the current member's content and padding
        self._headers = 0

    def __iter__(self) -> Iterator[Member]:
        """Yield the members. Raises UnpackError if the archive is damaged or has no end mark."""
        global_attributes: _AttributeMap = {}
        while (found := self._next(global_attributes)) is not None:
            yield found
        self._end()

    def content(self) -> bytes:
        """Read the current member's content, once. Raises CutShortError."""
        size, self._size = self._size, 0
        data = self._read(size)
        self._left -= size
        return data

    def opened(self) -> IO[bytes]:
        """The current member's content as a stream, to be read before the next member."""
        return io.BufferedReader(_Content(self), BLOCK)

    def read_part(self, size: int) -> bytes:
        """Read up to ``size`` bytes of the current member's content. Raises CutShortError."""
        data = self._read(min(size, self._size))
        self._size -= len(data)
        self._left -= len(data)
        return data

    def _next(self, global_attributes: _AttributeMap) -> Member | None:
        own: _AttributeMap = {}
        while (header := self._header()) is not None:
            info, block = header
            if info.type in _LONG:
                own[_LONG[info.type]] = self._extended(info.size).rstrip(b"\0")
            elif info.type in _PAX:
                own.update(_attributes(self._extended(info.size)))
            elif info.type == _PAX_GLOBAL:
                global_attributes.update(_attributes(self._extended(info.size)))
            else:
                return self._member(info, block, {**global_attributes, **own})
        if own:
            raise CutShortError
        return None

    def _header(self) -> tuple[tarfile.TarInfo, bytes] | None:
        """Read the next header and its block; None at the end mark of the archive."""
        if self._source.skip(self._left) != self._left:
            raise CutShortError
        self._left = 0
        block = self._source.read(BLOCK)
        if not block:
            raise UnpackError("ends without the mark that ends an archive: cut short?")
        self._headers += 1
        if self._headers > MAX_MEMBERS:
            raise UnpackError(f"more than {MAX_MEMBERS} members: the rest is not read")
        if len(block) < BLOCK:
            raise CutShortError
        if block.count(0) == BLOCK:
            return None
        info = read_header(block)
        if info is None:
            raise UnpackError(f"damaged: no header at byte {self._source.position - BLOCK} of the archive")
        return info, block

    def _member(self, info: tarfile.TarInfo, block: bytes, attributes: _AttributeMap) -> Member:
        size = info.size
        if "size" in attributes:
            if not attributes["size"].isdigit() or len(attributes["size"]) > 20:
                raise UnpackError("damaged: a member whose size is no number")
            size = int(attributes["size"])
        kind = _KINDS.get(info.type, f"member of unknown type {info.type!r}")
        if any(name.startswith("GNU.sparse.") for name in attributes):
            kind = SPARSE
        if info.type == tarfile.GNUTYPE_SPARSE:
            self._skip_sparse_map(block)
        self._size = 0 if info.type[0] in _WITHOUT_CONTENT else size
        self._left = -(-self._size // BLOCK) * BLOCK
        name, link = (
            attributes[key].decode("utf-8", "surrogateescape") if key in attributes else default
            for key, default in (("path", info.name), ("linkpath", info.linkname))
        )
        return Member(name, kind, self._size, link)

    def _skip_sparse_map(self, block: bytes) -> None:
        more = block[482]
        while more:
            more = self._read(BLOCK)[504]

    def _extended(self, size: int) -> bytes:
        if size > MAX_HEADER_BYTES:
            raise UnpackError(f"damaged: an extended header of {size} bytes")
        return self._read(-(-size // BLOCK) * BLOCK)[:size]

    def _read(self, size: int) -> bytes:
        data = self._source.read(size)
        if len(data) != size:
            raise CutShortError
        return data

    def _end(self) -> None:
        """Read to the end: only there, decompression detects a truncated stream."""
        while data := self._source.read(1 << 18):
            if data.count(0) != len(data):
                raise UnpackError("has more bytes after the mark that ends it: they are not read")


class _Content(PartReader):
    """The content of the member at which an archive is."""

    def __init__(self, tar: Tar) -> None:
        self._tar = tar

    def read_part(self, size: int) -> bytes:
        return self._tar.read_part(size)


def begins_tar(block: bytes) -> bool:
    """Whether a file with these first bytes is a tar archive; an empty archive begins with its end mark."""
    block = block[:BLOCK]
    return len(block) == BLOCK and (block.count(0) == BLOCK or read_header(block) is not None)


def read_header(block: bytes) -> tarfile.TarInfo | None:
    """Parse a block of 512 bytes as a header; None if it is not a header."""
    try:
        info = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except (tarfile.HeaderError, ValueError):
        return None
    return info if info.size >= 0 else None


def _attributes(data: bytes) -> _AttributeMap:
    """Read the records ``LENGTH KEY=VALUE\\n`` of an extended header."""
    found: _AttributeMap = {}
    at = 0
    while at < len(data) and data[at]:
        digits, _, _ = data[at : at + 20].partition(b" ")
        length = int(digits) if digits.isdigit() else 0
        key, equals, value = data[at + len(digits) + 1 : at + length - 1].partition(b"=")
        if not equals or length <= len(digits) + 1 or at + length > len(data):
            raise UnpackError("damaged: an extended header that is none")
        found[key.decode("utf-8", "replace")] = value
        at += length
    return found
