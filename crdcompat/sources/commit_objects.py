"""Recordings as a commit has them: evidence that a change cannot take away from its own check."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from crdcompat.sources.archive import ArchiveTree, starts_archive
from crdcompat.sources.git import GitTree
from crdcompat.sources.memory import Held, MemoryTree

if TYPE_CHECKING:
    from crdcompat.sources.repository import Repository
    from crdcompat.sources.tree import Tree


def objects_at(repo: Repository, commit: str, path: str, name: str) -> Tree | None:
    """The recording at a path (from the top of the repository) of a commit, called ``name``; None if it has none.

    Raises SourceError.
    """
    tree = GitTree(repo, name, commit)
    entries = [entry for entry in tree.entries() if entry.path == path or entry.path.startswith(f"{path}/")]
    if not entries:
        return None
    held = Held(name)
    for entry, data in tree.read(entries):
        held.add(entry.path, data)
    if path in held.files and starts_archive(io.BytesIO(held.files[path])):
        return ArchiveTree(name, path, file=io.BufferedReader(io.BytesIO(held.files[path])))
    below = {(file[len(path) + 1 :] or file.rpartition("/")[2]): data for file, data in held.files.items()}
    return MemoryTree(name, below, tree.problems)


def path_differs(repo: Repository, path: str, one: str, other: str) -> bool:
    """Whether two commits have other content at a path (from the top of the repository). Raises SourceError."""
    names = (f"{commit}:{path}" for commit in (one, other))
    ids = [repo.run("rev-parse", "--verify", "--quiet", name, ok=(0, 1, 128)).stdout for name in names]
    return ids[0] != ids[1]
