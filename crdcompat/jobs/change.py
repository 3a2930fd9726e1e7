"""Which two states a change lies between: what it is compared with (its base), and what it has come to (its head)."""

from __future__ import annotations

import os
from collections.abc import Mapping

from crdcompat.errors import RefNotFoundError, SourceError, UsageError
from crdcompat.records import dataclass
from crdcompat.sources.naming import display_path
from crdcompat.sources.refs import merge_base, resolve
from crdcompat.sources.repository import Repository

#: Before the first commit, and where nothing tells what a new branch left from, there is nothing.
EMPTY = "empty:"


_PUSHED = "PRE_COMMIT_FROM_REF"
_NO_BASE = (
    "and nothing tells what to compare with: give --base, set `base` in the configuration, or let git know the "
    "remote's default branch (git remote set-head origin --auto)"
)


@dataclass(frozen=True, slots=True)
class Change:
    """The sources before and after a change.

    ``release`` is the branch the change is meant for, as far as anything tells (``release-4.14``); ``why`` says what
    chose the base.
    """

    old: str
    new: str
    release: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class _Base:
    """A candidate for the base: the ref, the branch it stands for, and where it came from."""

    ref: str
    release: str
    why: str


def find_change(
    base: str | None = None,
    head: str | None = None,
    *,
    configured: str | None = None,
    repo: str | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Change | None:
    """The change to look at; None where there is nothing to compare (a branch is being deleted).

    The base is the first of: ``base``, pre-commit's range, Prow's, GitHub's and GitLab's target branch, the
    ``configured`` one, the remote's default branch, HEAD; compared is with where the change left it. ``head`` is a
    commit, ``index:`` or ``worktree:``; without it the end of pre-commit's range, else the index. Hooks name a new
    branch by an all-zero id on the left, a deleted one by an all-zero id on the right.

    Raises SourceError, for a history too short to know where the change left its base too, and UsageError.
    """
    repository = Repository(repo)
    if base == "":
        raise UsageError("--base is empty: name a branch, a tag or a commit")
    told = head or environment.get("PRE_COMMIT_TO_REF") or "index:"
    if _is_zero(told):
        return None
    new = told if told in ("index:", "worktree:") else f"git:{told}"
    tip = "HEAD" if new != f"git:{told}" else told
    found = _base(repository, base, configured, environment)
    if found is None:
        if tip == "HEAD" and not _exists(repository, "HEAD"):
            return Change(EMPTY, new)
        if new == "index:" and "PRE_COMMIT" not in environment and _is_clean_clone(repository):
            raise SourceError(f"nothing is staged in {repository.where}, {_NO_BASE}")
        return Change("git:HEAD", new, why="HEAD, for nothing tells another base")
    if _is_zero(found.ref):
        return Change(EMPTY, new, found.release, found.why)
    return Change(f"git:{_fork(repository, found, tip)}", new, found.release, found.why)


def _base(
    repository: Repository, base: str | None, configured: str | None, environment: Mapping[str, str]
) -> _Base | None:
    if base:
        return _Base(base, _branch(base), f"--base {base}")
    pushed = environment.get("PRE_COMMIT_FROM_REF")
    if pushed:
        default = _default_branch(repository) if _is_zero(pushed) else None
        return default or _Base(pushed, "", _PUSHED)
    prow = environment.get("PULL_BASE_SHA")
    if prow:
        return _Base(prow, environment.get("PULL_BASE_REF", ""), "PULL_BASE_SHA")
    for variable in ("GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"):
        branch = environment.get(variable)
        if branch:
            remote = f"refs/remotes/origin/{branch}"
            return _Base(remote if _exists(repository, remote) else branch, branch, f"{variable}={branch}")
    if configured:
        return _Base(configured, _branch(configured), f"the configured base {configured}")
    return _default_branch(repository)


def _default_branch(repository: Repository) -> _Base | None:
    """The remote's default branch, where it is known and there is something to compare with it."""
    name = "refs/remotes/origin/HEAD"
    done = repository.run("rev-parse", "--symbolic-full-name", name, "HEAD", ok=(0, 128))
    if done.returncode != 0:
        return None
    told = display_path(done.stdout).splitlines()
    branch = told[0].removeprefix("refs/remotes/origin/") if len(told) == 2 else ""  # git is silent on ambiguous names
    if branch == "HEAD":  # a ref of its own
        branch = ""
    return _Base(name, branch, f"the remote's default branch {branch}".rstrip())


def _branch(ref: str) -> str:
    for prefix in ("refs/heads/", "refs/remotes/", "origin/"):
        ref = ref.removeprefix(prefix)
    return ref


def _fork(repository: Repository, base: _Base, tip: str) -> str:
    """Where the change left what it is compared with: what came there later is not this change's doing."""
    try:
        return merge_base(repository, base.ref, tip)
    except RefNotFoundError:
        raise
    except SourceError:
        if base.why != _PUSHED:
            raise
        return resolve(repository, base.ref).commit  # a push that throws the old history away


def _is_clean_clone(repository: Repository) -> bool:
    """Whether there is a remote, and nothing staged: as CI makes a clone."""
    if not repository.run("remote").stdout.strip():
        return False
    return repository.run("diff-index", "--cached", "--quiet", "HEAD", ok=(0, 1)).returncode == 0


def _is_zero(ref: str) -> bool:
    return len(ref) >= 40 and not ref.strip("0")


def _exists(repository: Repository, ref: str) -> bool:
    try:
        resolve(repository, ref)
    except (RefNotFoundError, SourceError):
        return False
    return True
