"""Where bytes come from: git refs, the index, the working tree, directories, files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from crdcompat.errors import RefNotFoundError, SourceError, UsageError
from crdcompat.sources.tree import EmptyTree

if TYPE_CHECKING:
    from crdcompat.sources.tree import Tree

_LATER = ("recording", "cluster")


def open_source(text: str, *, repo: str | None = None) -> Tree:
    """Open what the user named: ``git:REF``, ``index:``, ``worktree:``, ``path:P``, ``empty:``, or a bare word.

    A bare word is a ref if ``repo`` (else the current directory's repository) has it, else a path; if it
    could be both it is the ref, and the tree's notes say so. Raises UsageError, RefNotFoundError,
    SourceError.
    """
    scheme, colon, rest = text.partition(":")
    if not text:
        raise UsageError("an empty source: name a git ref, a directory or a file")
    if not colon or scheme not in ("git", "index", "worktree", "path", "empty", *_LATER):
        return _bare_word(text, repo)
    if scheme in _LATER:
        raise UsageError(f"{text}: {scheme}: sources are not supported yet in this version")
    if scheme in ("index", "worktree", "empty"):
        if rest:
            raise UsageError(f"{text}: {scheme}: takes nothing after the colon")
        if scheme == "empty":
            return EmptyTree(text)
        return _from_repository(scheme, text, repo)
    if not rest:
        raise UsageError(f"{text}: say what, as in {scheme}:{'release-4.13' if scheme == 'git' else 'config'}")
    return _git_tree(text, rest, repo) if scheme == "git" else _path_tree(text, rest)


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
    from crdcompat.sources.git import GitTree, Repository
    from crdcompat.sources.refs import resolve

    repository = Repository(repo)
    resolved = resolve(repository, ref)
    return GitTree(repository, name, resolved.commit, resolved.notes)


def _from_repository(scheme: str, name: str, repo: str | None) -> Tree:
    from crdcompat.sources.git import IndexTree, Repository, WorktreeTree

    tree: IndexTree | WorktreeTree
    tree = IndexTree(Repository(repo), name) if scheme == "index" else WorktreeTree(Repository(repo), name)
    tree.entries()  # listing tells at once whether there is a repository
    return tree


def _path_tree(name: str, path: str) -> Tree:
    from crdcompat.sources.files import PathTree

    tree = PathTree(name, path)
    tree.entries()
    return tree


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False
