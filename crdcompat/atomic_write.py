"""Write a file whole or not at all: a full disk must not cut a report or a waiver file short.

A link that came with a repository never decides what is written: ``report.html`` may be one to a hook of git.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from crdcompat.errors import UsageError


def write_file(path: Path, data: bytes) -> None:
    """Write ``data`` to ``path``, as ``replacing`` does. Raises OSError."""
    with replacing(path) as written:
        written.write(data)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file beside ``path`` that is renamed to ``path`` if the block ends well; an existing file keeps its mode.

    A link is kept, its target is replaced; one inside of a repository is refused. Raises OSError; then, and if the
    block raises, an existing file is unchanged, and no other file is left.
    """
    refuse_links(path)
    target = path.resolve() if path.is_symlink() else path
    own = target.with_name(f".{os.getpid()}-{time.monotonic_ns()}")
    try:
        with own.open("xb") as written:
            yield written
        with suppress(FileNotFoundError):
            own.chmod(target.stat().st_mode & 0o7777)
        own.replace(target)
    finally:
        own.unlink(missing_ok=True)


@contextmanager
def packed(path: Path, file: BinaryIO) -> Iterator[BinaryIO]:
    """The file to write ``path`` to: what is written is packed if the name ends in ``.gz``."""
    if not path.name.lower().endswith(".gz"):
        yield file
        return
    import gzip

    with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as made:
        yield made  # type: ignore[misc, unused-ignore]


def refuse_links(path: Path) -> None:
    """Raises OSError if a part of a path is a symbolic link inside of a git repository."""
    whole = path.absolute()
    for part in (whole, *whole.parents):
        if part.is_symlink() and _is_in_repository(part.parent.resolve()):
            raise OSError(errno.ELOOP, f"{part} is a link of the repository: name a place without links")


def _is_in_repository(folder: Path) -> bool:
    return any((each / ".git").exists() for each in (folder, *folder.parents))


@contextmanager
def temporary_folder() -> Iterator[str]:
    """A folder for one run, which is removed at the end. Raises UsageError if no disk takes one."""
    from tempfile import TemporaryDirectory

    try:
        folder = TemporaryDirectory(prefix="crdcompat-")
    except OSError as error:
        reason = error.strerror or "no folder can be written"
        raise UsageError(
            f"no temporary folder can be made: {reason[:1].lower()}{reason[1:]}; TMPDIR names one"
        ) from None
    with folder as path:
        yield path
