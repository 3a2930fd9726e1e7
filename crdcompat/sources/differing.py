"""Which files git holds to differ, by name alone: neither side is listed, and no file is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.errors import SourceError
from crdcompat.sources.naming import display_path

if TYPE_CHECKING:
    from crdcompat.sources.repository import Repository

_HOW = ("-z", "--no-ext-diff", "--ignore-submodules")


def between_commits(repo: Repository, old: str, new: str) -> list[str]:
    """The files that differ between two commits, told by their ids: git takes another name for a path or an option.

    Paths are from the top of the repository. Raises SourceError.
    """
    return _names(repo.run("diff-tree", "-r", "--name-only", *_HOW, old, new).stdout)


def since_commit(repo: Repository, commit: str) -> list[str]:
    """The files that differ in the index from a commit, whatever is on disk.

    Raises SourceError, for an index with paths in conflict too: it is no state that there could be a commit of.
    """
    told = repo.run("diff-index", "--cached", "--name-status", *_HOW, commit).stdout.split(b"\0")
    if b"U" in told[::2]:
        raise SourceError(f"paths are in conflict in the index of {repo.where}: finish the merge first")
    return [display_path(path) for path in told[1::2]]


def unstaged(repo: Repository) -> list[str]:
    """The tracked files that differ from the index, or may. Raises SourceError, in a bare repository too."""
    return _names(repo.run("diff-files", "--name-only", *_HOW).stdout)


def _names(listing: bytes) -> list[str]:
    return [display_path(path) for path in listing.split(b"\0") if path]
