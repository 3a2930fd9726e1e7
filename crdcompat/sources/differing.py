"""The names of files that differ according to git, without listing a side or reading a file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crdcompat.errors import SourceError
from crdcompat.sources.naming import display_path

if TYPE_CHECKING:
    from crdcompat.sources.repository import Repository

#: A record of ``ls-tree -z`` and ``ls-files -s -z`` that is a symbolic link.
_LINK = re.compile(rb"(?:^|\0)120000 ")
_HOW = ("-z", "--no-ext-diff", "--ignore-submodules")


def between_commits(repo: Repository, old: str, new: str) -> list[str]:
    """The files that differ between two commits. Both are full ids: git could read a name as a path or an option.

    Paths are from the top of the repository. Raises SourceError.
    """
    return _names(repo.run("diff-tree", "-r", "--name-only", *_HOW, old, new).stdout)


def since_commit(repo: Repository, commit: str) -> list[str]:
    """The files that differ between a commit and the index, regardless of the working tree.

    Raises SourceError, also for an index with conflicts, which cannot be committed.
    """
    fields = repo.run("diff-index", "--cached", "--name-status", *_HOW, commit).stdout.split(b"\0")
    if b"U" in fields[::2]:
        raise SourceError(f"paths are in conflict in the index of {repo.where}: finish the merge first")
    return [display_path(path) for path in fields[1::2]]


def unstaged(repo: Repository) -> list[str]:
    """The tracked files that may differ from the index. Raises SourceError, also in a bare repository."""
    return _names(repo.run("diff-files", "--name-only", *_HOW).stdout)


def has_links(repo: Repository, commit: str | None) -> bool:
    """Whether a commit (a full id), or for None the index, has a symbolic link. Raises SourceError."""
    listing = ("ls-files", "-s", "-z", ":/") if commit is None else ("ls-tree", "-r", "-z", "--full-tree", commit)
    return _LINK.search(repo.run(*listing).stdout) is not None


def _names(listing: bytes) -> list[str]:
    return [display_path(path) for path in listing.split(b"\0") if path]
