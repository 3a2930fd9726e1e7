"""The files that a check compares: the files of the base, of the head and of the rollback targets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from crdcompat.errors import RefNotFoundError
from crdcompat.sources.git import GitTree
from crdcompat.sources.named_refs import named_commit, typed_commit
from crdcompat.sources.naming import is_commit_id
from crdcompat.sources.repository import Repository

if TYPE_CHECKING:
    from crdcompat.features.check.base import Change
    from crdcompat.features.check.check_options import Targets
    from crdcompat.sources.tree import Tree


def open_sides(change: Change, repo: str | None) -> tuple[Tree, Tree]:
    """The files of the base and of the head. Raises SourceError and RefNotFoundError."""
    from crdcompat.sources import open_source

    base = change.old.removeprefix("git:")
    if is_commit_id(base):  # git has resolved it already
        return GitTree(Repository(repo), change.old, base), open_source(change.new, repo=repo)
    return open_source(change.old, repo=repo), open_source(change.new, repo=repo)


def open_targets(targets: Targets, repo: str | None) -> list[Tree]:
    """The files of the rollback targets.

    Raises SourceError, RefNotFoundError, and UsageError for a name of several refs that differ.
    """
    repository = Repository(repo)
    if not targets.typed:
        found = ((name, named_commit(repository, name, "rollback_targets: [{}]")) for name in targets.names)
        return [GitTree(repository, name, each.commit, each.notes) for name, each in found]
    return [_typed_target(repository, name, repo) for name in targets.names]


def _typed_target(repository: Repository, name: str, repo: str | None) -> Tree:
    """The files of a target that a person typed. A bare word is a ref alone.

    The change can bring a folder that is called as a release which CI did not fetch.
    """
    from crdcompat.sources import open_source
    from crdcompat.sources.kinds import named_source

    source = named_source(name)
    if not source.can_be_ref:
        return open_source(name, repo=repo)
    ref = source.rest
    try:
        found = typed_commit(repository, ref, "--target {}")
    except RefNotFoundError as error:
        if not Path(repository.path or ".", ref).exists():
            raise
        problem = f"{error.problem}\nand a path of the change is no release: path:{ref} names it all the same"
        raise RefNotFoundError(error.ref, problem, error.near, error.advice) from None
    return GitTree(repository, source.name, found.commit, found.notes)
