"""Decompress gzip, bzip2, xz and zstd with limits; the content determines the format, not the file name."""

from __future__ import annotations

import bz2
import io
import lzma
import zlib
from abc import abstractmethod
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MAX_TOTAL_BYTES = 16 << 30
"""Uncompressed bytes of one archive, above those of a large must-gather with logs and audit logs."""

MAX_RATIO = 500
"""Limit of uncompressed to compressed size (YAML: 30; many copies of one small file: 200)."""

_RATIO_APPLIES_FROM = 256 << 20  # bytes; the ratio of a smaller archive does not matter
_XZ_MEMORY = 256 << 20
_CHUNK = 1 << 18
_ZSTD_MEMORY = 128 << 20
_GZIP, _BZIP2, _XZ, _ZSTD = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"
_PACKINGS = {"gzip": _GZIP, "bzip2": _BZIP2, "xz": _XZ, "zstd": _ZSTD}


class UnpackError(Exception):
    """Bytes that cannot be decompressed; ``str()`` is the reason."""


class CutShortError(UnpackError):
    """The bytes are truncated."""

    def __init__(self) -> None:
        super().__init__("cut short: it ends in the middle")


class Unpacked:
    """The decompressed content of a compressed or plain stream, read in order.

    ``read`` and ``skip`` raise UnpackError for damage, and beyond `MAX_TOTAL_BYTES` or `MAX_RATIO`.
    ``packing`` is ``gzip``, ``bzip2``, ``xz`` or ``zstd``, empty for a plain stream.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._packed = _Counted(file)
        packed: io.BufferedReader = io.BufferedReader(self._packed, _CHUNK)
        start = packed.peek(len(_XZ))
        self.packing = next((name for name, magic in _PACKINGS.items() if start.startswith(magic)), "")
        self._unpacked = _open(packed, self.packing)
        self.position = 0

    def read(self, size: int) -> bytes:
        """Read ``size`` bytes; fewer only at the end."""
        try:
            data = self._unpacked.read(size)
        except _FAULTS as error:
            raise _as_unpack_error(error) from None
        self.position += len(data)
        check_unpacked(self.position, self._packed.count)
        return data

    def skip(self, size: int) -> int:
        """Skip ``size`` bytes; the result is smaller only at the end."""
        left = size
        while left and (data := self.read(min(left, _CHUNK))):
            left -= len(data)
        return size - left


def check_unpacked(unpacked: int, packed: int) -> None:
    """Raises UnpackError if so many unpacked bytes are too many, at all or for so many packed ones."""
    if unpacked > MAX_TOTAL_BYTES:
        raise UnpackError(f"unpacks to more than {MAX_TOTAL_BYTES} bytes: the rest is not read")
    if unpacked > _RATIO_APPLIES_FROM and unpacked > MAX_RATIO * packed:
        raise UnpackError(f"unpacks to more than {MAX_RATIO} times its size: the rest is not read")


def peekable(file: IO[bytes]) -> io.BufferedReader:
    """A reader with ``peek`` for a file; closing the reader does not close the file."""
    return io.BufferedReader(_Counted(file), _CHUNK)


def is_gzip(data: bytes) -> bool:
    """Whether these bytes are gzip data."""
    return data.startswith(_GZIP)


def gunzip(data: bytes, limit: int) -> bytes:
    """Unpack one gzip file. Raises CutShortError, and UnpackError for damage or more than ``limit`` bytes."""
    parts: list[bytes] = []
    left = limit
    while data:
        part = zlib.decompressobj(wbits=31)
        try:
            parts.append(part.decompress(data, left + 1))
        except zlib.error as error:
            raise UnpackError(f"damaged: {error}") from None
        left -= len(parts[-1])
        if left < 0:
            raise UnpackError(f"unpacks to more than {limit} bytes: not read")
        if not part.eof:
            raise CutShortError
        data = part.unused_data.lstrip(b"\0")  # padding after the last part is valid
    return b"".join(parts)


class PartReader(io.RawIOBase):
    """A stream of parts."""

    @abstractmethod
    def read_part(self, size: int) -> bytes:
        """The next bytes, at most ``size``; none at the end."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        data = self.read_part(len(view))
        view[: len(data)] = data
        return len(data)


class _Counted(PartReader):
    """A file that counts the bytes read from it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.count = 0

    def read_part(self, size: int) -> bytes:
        data = self._file.read(size)
        self.count += len(data)
        return data


class _Xz(PartReader):
    """An xz stream with a memory limit, which `lzma.LZMAFile` lacks."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file
        self._part = lzma.LZMADecompressor(memlimit=_XZ_MEMORY)

    def read_part(self, size: int) -> bytes:
        while True:
            if self._part.eof:
                rest = (self._part.unused_data or self._file.read(_CHUNK)).lstrip(b"\0")
                if not rest:
                    return b""
                self._part = lzma.LZMADecompressor(memlimit=_XZ_MEMORY)
            else:
                rest = self._file.read(_CHUNK) if self._part.needs_input else b""
                if self._part.needs_input and not rest:
                    raise EOFError
            if data := self._part.decompress(rest, size):
                return data


class _Zstd(io.RawIOBase):
    """A zstd stream with a memory limit. It ends early without an error: the format inside has a mark at its end."""

    def __init__(self, file: io.BufferedReader) -> None:
        import zstandard  # most runs meet no zstd

        self._fault = zstandard.ZstdError
        self._reader = zstandard.ZstdDecompressor(max_window_size=_ZSTD_MEMORY).stream_reader(
            file, read_across_frames=True, closefd=False
        )

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        try:
            return int(self._reader.readinto(buffer))
        except self._fault as error:
            raise zlib.error(str(error)) from None


def _open(packed: io.BufferedReader, packing: str) -> io.BufferedReader:
    if packing == "gzip":
        import gzip

        return io.BufferedReader(gzip.GzipFile(fileobj=packed), _CHUNK)  # type: ignore[arg-type, unused-ignore]
    if packing == "bzip2":
        return io.BufferedReader(bz2.BZ2File(packed), _CHUNK)  # type: ignore[arg-type, unused-ignore]
    if packing == "zstd":
        return io.BufferedReader(_Zstd(packed), _CHUNK)
    return io.BufferedReader(_Xz(packed), _CHUNK) if packing == "xz" else packed


_FAULTS = (EOFError, OSError, zlib.error, lzma.LZMAError)


def _as_unpack_error(error: Exception) -> UnpackError:
    return CutShortError() if isinstance(error, EOFError) else UnpackError(f"damaged: {error}")
