"""Sources of CRDs and objects: git refs, the index, the working tree, directories, files, recordings, clusters."""

from __future__ import annotations

import io
import sys
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from crdcompat.errors import RefNotFoundError, SourceError, UsageError

if TYPE_CHECKING:
    from crdcompat.sources.archive import ArchiveTree
    from crdcompat.sources.cluster import ClusterTree
    from crdcompat.sources.files import PathTree
    from crdcompat.sources.tree import Tree

_WITHOUT_NAME = ("index", "worktree", "empty")
_SCHEMES = ("git", "path", "recording", "cluster", *_WITHOUT_NAME)
_EXAMPLES = {"git": "release-4.13", "path": "config", "recording": "must-gather.tar.gz"}


#: Seconds for a connection to a cluster and for the next bytes of its answer, as the command line has them.
_timeouts: ContextVar[tuple[float, float] | None] = ContextVar("timeouts", default=None)


def limit_requests(connect: float, read: float) -> None:
    """Set how long the clusters opened from now on may take to connect, and to send more of an answer; in seconds."""
    _timeouts.set((connect, read))


def open_source(text: str, *, repo: str | None = None) -> Tree:
    """Open the source of a set of CRDs.

    ``text`` is ``git:REF``, ``index:``, ``worktree:``, ``path:P``, ``recording:P``, ``cluster:CONTEXT``, ``empty:``, or
    a bare word. A bare word is a ref if ``repo`` (else the current directory's repository) has it, else a path; if both
    exist, it is the ref, and the tree has a note. Raises UsageError, RefNotFoundError, SourceError.
    """
    scheme, rest = _split(text)
    if scheme == "git":
        return _git_tree(text, rest, repo)
    if scheme == "path":
        return _path_tree(text, rest)
    if scheme == "recording":
        return _crds_of(_recording(text, rest))
    if scheme == "cluster":
        return _crds_of(_cluster(text, rest))
    if scheme == "empty":
        from crdcompat.sources.tree import EmptyTree

        return EmptyTree(text)
    return _from_repository(scheme, text, repo) if scheme else _bare_word(text, repo)


def open_objects(text: str, *, repo: str | None = None) -> Tree:
    """Open the source of recorded objects: a path, ``-``, or any form of `open_source` with its scheme.

    Raises UsageError, RefNotFoundError, SourceError.
    """
    scheme, rest = _split(text)
    if scheme == "git":
        return _git_tree(text, rest, repo)
    if scheme == "cluster":
        return _cluster(text, rest)
    if scheme in ("path", "recording"):
        return _recording(text, rest)
    return open_source(text, repo=repo) if scheme else _recording(text, text)


def _split(text: str) -> tuple[str, str]:
    """Split into scheme and rest; the scheme of a bare word is empty."""
    if not text:
        raise UsageError("an empty source: name a git ref, a directory or a file")
    scheme, colon, rest = text.partition(":")
    if not colon or scheme not in _SCHEMES:
        return "", text
    if scheme in _WITHOUT_NAME and rest:
        raise UsageError(f"{text}: {scheme}: takes nothing after the colon")
    if scheme in _EXAMPLES and not rest:
        raise UsageError(f"{text}: say what, as in {scheme}:{_EXAMPLES[scheme]}")
    return scheme, rest


def _bare_word(text: str, repo: str | None) -> Tree:
    if text in ("-", ".", "..") or text.startswith(("/", "./", "../")):
        return _path_tree(text, text)
    is_path = _exists(text)
    try:
        tree = _git_tree(text, text, repo)
    except RefNotFoundError as error:
        if is_path:
            return _path_tree(text, text)
        raise RefNotFoundError(error.ref, f"{error}\nand there is no such path either", error.near) from None
    except SourceError as error:
        if is_path and repo is None:
            return _path_tree(text, text)
        raise SourceError(f"{text} is no path, and as a git ref: {error}" if not is_path else str(error)) from None
    if is_path:
        tree.notes = (
            *tree.notes,
            f"{text} is a git ref and a path: read as the ref (path:{text} is the path)",
        )
    return tree


def _git_tree(name: str, ref: str, repo: str | None) -> Tree:
    from crdcompat.sources.git import GitTree
    from crdcompat.sources.refs import resolve
    from crdcompat.sources.repository import Repository

    repository = Repository(repo)
    resolved = resolve(repository, ref)
    return GitTree(repository, name, resolved.commit, resolved.notes)


def _from_repository(scheme: str, name: str, repo: str | None) -> Tree:
    from crdcompat.sources.git import IndexTree, WorktreeTree
    from crdcompat.sources.repository import Repository

    tree: IndexTree | WorktreeTree
    tree = IndexTree(Repository(repo), name) if scheme == "index" else WorktreeTree(Repository(repo), name)
    tree.entries()  # raises at once if there is no repository
    return tree


def _path_tree(name: str, path: str) -> Tree:
    """Open a path for CRDs: all files of a directory, those with CRDs of an archive."""
    from crdcompat.sources.archive import ArchiveTree

    tree = _recording(name, path)
    return _crds_of(tree) if isinstance(tree, ArchiveTree) else tree


def _recording(name: str, path: str) -> ArchiveTree | PathTree:
    """Open a path with all its files: an archive, a directory, a file, or standard input."""
    from crdcompat.sources.archive import ArchiveTree, is_archive, starts_archive
    from crdcompat.sources.files import PathTree
    from crdcompat.sources.unpack import peekable

    if path == "-":
        file = peekable(sys.stdin.buffer)
        is_tar = starts_archive(io.BytesIO(file.peek()))
        return ArchiveTree(name, path, file=file) if is_tar else PathTree(name, path, file=file)
    if is_archive(path):
        return ArchiveTree(name, path)
    tree = PathTree(name, path)
    tree.entries()
    return tree


def _crds_of(recording: ArchiveTree | PathTree | ClusterTree) -> Tree:
    from crdcompat.sources.cluster import ClusterTree
    from crdcompat.sources.recording import CrdTree, holds_crds, may_hold_crds

    return CrdTree(recording, holds_crds if isinstance(recording, ClusterTree) else may_hold_crds)


def _cluster(name: str, context: str) -> ClusterTree:
    from crdcompat.sources.cluster import ClusterTree
    from crdcompat.sources.cluster_client import Timeouts

    return ClusterTree(name, context, Timeouts(*(_timeouts.get() or ())))


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False
