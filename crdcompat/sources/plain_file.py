"""Read the small files that decide how a tree is judged: the configuration, the waivers, recordings that it names.

The tree can come from a stranger. A file counts only if it is a regular file inside of the repository: a device or a
pipe would never end, and a link that leads elsewhere would show lines of other files in messages.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from crdcompat.errors import ConfigError
from crdcompat.program import typed
from crdcompat.sources.naming import reason_of

if TYPE_CHECKING:
    from crdcompat.sources.repository import Repository

MAX_BYTES = 4 << 20
"""Limit for one of these files: some 10,000 waivers."""

OUTSIDE = "outside of the repository, or a link that leads out of it: not read; put the file itself into the repository"
NOT_REGULAR = "no regular file: put a file there, or take it away"


def read_plain(path: Path, folder: Path | None) -> bytes | None:
    """The bytes of a file; None if there is nothing of this name.

    The file has to be in the repository around ``folder``; None: a person named it, and it may be anywhere. Raises
    ConfigError for what is no regular file, is outside of the repository, is larger than ``MAX_BYTES``, or cannot be
    read.
    """
    if not os.path.lexists(path):
        return None
    found = path.resolve() if folder is None else inside(path, folder)
    try:
        # A pipe without a writer must not block.
        file = os.open(found, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: {reason_of(error)}") from None
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise ConfigError(f"{path}: {NOT_REGULAR}")
    with os.fdopen(file, "rb") as opened:
        return checked_size(path, opened.read(MAX_BYTES + 1))


def checked_size(path: Path | str, data: bytes) -> bytes:
    """The bytes. Raises ConfigError for more than ``MAX_BYTES``."""
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{path}: larger than {MAX_BYTES >> 20} MB: not read")
    return data


def inside(path: Path, folder: Path) -> Path:
    """The file or folder that a path leads to. Raises ConfigError if it is outside of the repository around ``folder``.

    Without a repository any place is right.
    """
    try:
        found = path.resolve()
    except (OSError, RuntimeError) as error:  # a loop of links
        raise ConfigError(f"{path}: {error}") from None
    top = top_of(folder)
    if top is None:
        return found
    real = top.resolve()
    if not found.is_relative_to(real):
        raise ConfigError(f"{path}: {OUTSIDE}")
    if _is_of_git(folder.resolve(), real):
        raise ConfigError(f"{folder.absolute()} is inside of .git, and no working tree: run {typed()} in {top}")
    if _is_of_git(found, real):
        raise ConfigError(f"{path}: a file of git itself: not read")
    return found


def _is_of_git(path: Path, top: Path) -> bool:
    """Whether a path is below ``.git`` in a working tree; some disks know no case."""
    return path.is_relative_to(top) and ".git" in map(str.lower, path.relative_to(top).parts)


def top_of(folder: Path) -> Path | None:
    """The top of the working tree around a folder; None without one."""
    whole = folder.absolute()
    return next((each for each in (whole, *whole.parents) if (each / ".git").exists()), None)


def path_in(file: Path, repo: Repository) -> str | None:
    """The path of a file from the top of a repository's working tree; None outside of it."""
    top = top_of(Path(repo.path or "."))
    whole = file.parent.resolve() / file.name
    if top is None or not whole.is_relative_to(top.resolve()):
        return None
    return whole.relative_to(top.resolve()).as_posix()
