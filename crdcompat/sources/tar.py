"""Tar archives as streams: one pass, one member in memory, nothing trusted.

The headers are read by the standard library, the walk from header to header is our own: `tarfile` takes any
damaged header after the first for the end of the archive, and reads extended headers of any size into memory.
"""

from __future__ import annotations

import tarfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crdcompat.sources.unpack import CutShortError, UnpackError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.sources.unpack import Unpacked

MAX_MEMBERS = 500_000
"""Headers of one archive; the largest must-gathers have a tenth."""

MAX_HEADER_BYTES = 1 << 20
"""Of one extended header, which is a name and a few attributes."""

BLOCK = 512
"""Every header is one, and content is padded to whole ones."""

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


@dataclass(frozen=True, slots=True)
class Member:
    """One member: its name as it stands in the archive, what it is, the size of its content, where a link leads."""

    name: str
    kind: str
    size: int
    link: str


class Tar:
    """The members of an archive, in its order; between two of them, the content of the last one can be read."""

    def __init__(self, source: Unpacked) -> None:
        self._source = source
        self._size = 0
        self._left = 0  # of the present member's content, with its padding
        self._headers = 0

    def __iter__(self) -> Iterator[Member]:
        """Give the members. Raises UnpackError where the archive is damaged, or ends without its mark."""
        everywhere: _AttributeMap = {}
        while (found := self._next(everywhere)) is not None:
            yield found
        self._end()

    def content(self) -> bytes:
        """Read the present member's content, once. Raises CutShortError."""
        size, self._size = self._size, 0
        data = self._read(size)
        self._left -= size
        return data

    def _next(self, everywhere: _AttributeMap) -> Member | None:
        own: _AttributeMap = {}
        while (header := self._header()) is not None:
            info, block = header
            if info.type in _LONG:
                own[_LONG[info.type]] = self._extended(info.size).rstrip(b"\0")
            elif info.type in _PAX:
                own.update(_attributes(self._extended(info.size)))
            elif info.type == _PAX_GLOBAL:
                everywhere.update(_attributes(self._extended(info.size)))
            else:
                return self._member(info, block, {**everywhere, **own})
        if own:
            raise CutShortError
        return None

    def _header(self) -> tuple[tarfile.TarInfo, bytes] | None:
        """Read the next header and its block; None at the mark that ends the archive."""
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
            attributes[key].decode("utf-8", "surrogateescape") if key in attributes else told
            for key, told in (("path", info.name), ("linkpath", info.linkname))
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
        """Read on to the end: only there a compressed stream tells whether it was whole."""
        while data := self._source.read(1 << 18):
            if data.count(0) != len(data):
                raise UnpackError("has more bytes after the mark that ends it: they are not read")


def begins_tar(block: bytes) -> bool:
    """Whether the first bytes of a file are a tar archive's; one without members begins with the mark of its end."""
    block = block[:BLOCK]
    return len(block) == BLOCK and (block.count(0) == BLOCK or read_header(block) is not None)


def read_header(block: bytes) -> tarfile.TarInfo | None:
    """Read a block of 512 bytes as a header, None if it is none."""
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
