"""Which two states a change lies between: HEAD and the index, or the commits that a hook names."""

from __future__ import annotations

from dataclasses import dataclass

from crdcompat.errors import RefNotFoundError, SourceError
from crdcompat.sources.git import Repository
from crdcompat.sources.refs import merge_base, resolve

#: Before the first commit, and where nothing tells what a new branch left from, there is nothing.
EMPTY = "empty:"


@dataclass(frozen=True, slots=True)
class Change:
    """The sources before and after a change."""

    old: str
    new: str


def find_change(from_ref: str | None, to_ref: str | None, repo: str | None = None) -> Change | None:
    """The change to look at; None where there is nothing to compare (a branch is being deleted).

    Hooks name a new branch by an all-zero id on the left (compare from where it left the remote's default
    branch, if that is known), a deleted one by an all-zero id on the right. Raises SourceError.
    """
    repository = Repository(repo)
    if to_ref is not None and _is_zero(to_ref):
        return None
    new = f"git:{to_ref}" if to_ref else "index:"
    if from_ref is None:
        if to_ref is None and not _exists(repository, "HEAD"):
            return Change(EMPTY, new)  # the very first commit
        return Change("git:HEAD", new)
    tip = to_ref or "HEAD"
    if not _is_zero(from_ref):
        return Change(f"git:{_fork(repository, from_ref, tip)}", new)
    if _exists(repository, "refs/remotes/origin/HEAD"):
        return Change(f"git:{merge_base(repository, 'refs/remotes/origin/HEAD', tip)}", new)
    return Change(EMPTY, new)


def _fork(repository: Repository, from_ref: str, tip: str) -> str:
    """Where the change left what it is compared with: what came there later is not this change's doing."""
    try:
        return merge_base(repository, from_ref, tip)
    except RefNotFoundError:
        raise
    except SourceError:
        return from_ref  # histories without a common commit, or a shallow clone


def _is_zero(ref: str) -> bool:
    return len(ref) >= 40 and not ref.strip("0")


def _exists(repository: Repository, ref: str) -> bool:
    try:
        resolve(repository, ref)
    except (RefNotFoundError, SourceError):
        return False
    return True
