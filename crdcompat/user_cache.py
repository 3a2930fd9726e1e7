"""The user's cache directory: where it is, and which files in it this program may trust.

Only this user may have written them: a pull request that brings a cache along must decide nothing.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

#: Files in the cache; beyond, the oldest are deleted: those of former versions and of interrupted runs.
_MAX_FILES = 8


def cache_file(name: str) -> Path | None:
    """A file below XDG_CACHE_HOME or ~/.cache; None without either, or in a git checkout.

    Links are followed first: one may lead into a checkout.
    """
    named, home = (Path(os.environ.get(variable, "")) for variable in ("XDG_CACHE_HOME", "HOME"))
    folder = named if named.is_absolute() else home / ".cache"
    if not folder.is_absolute():
        return None
    folder = Path(os.path.realpath(folder / "crdcompat"))
    if any((parent / ".git").exists() for parent in (folder, *folder.parents)):
        return None
    return folder / name


def is_trusted(file: Path, most: int) -> bool:
    """Whether a cache file is there, of at most so many bytes, and written by nobody else."""
    try:
        facts = file.lstat()
        own = is_own(file.parent) and is_own(file)
    except OSError:
        return False
    return own and stat.S_ISREG(facts.st_mode) and facts.st_size <= most


def is_own(path: Path) -> bool:
    """Whether this user owns a file or folder, and nobody else may write to it. Raises OSError."""
    facts = path.lstat()
    return facts.st_uid == os.getuid() and not facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def make_folder(folder: Path) -> bool:
    """Make the folder of the cache, if it is not there. Whether nobody else may write to it. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return is_own(folder)


def tidy(folder: Path) -> None:
    """Delete the oldest files of the cache, if there are many."""
    with suppress(OSError):
        for old in sorted(folder.iterdir(), key=lambda path: -path.stat().st_mtime)[_MAX_FILES:]:
            old.unlink(missing_ok=True)
