"""The change that a check judges: its head, and its base, which an option, CI, the configuration or git names."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.errors import RefNotFoundError, SourceError, UsageError
from crdcompat.sources.branches import names_of_remotes, read_names
from crdcompat.sources.differing import has_staged
from crdcompat.sources.fetching import fetched_from
from crdcompat.sources.named_refs import ambiguous, find_ref, named_commit
from crdcompat.sources.naming import display_path, is_commit_id
from crdcompat.sources.refs import merge_base, resolve
from crdcompat.sources.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Mapping


#: The base before the first commit, and of a new branch without a known origin: no files.
EMPTY = "empty:"

_PUSHED = "PRE_COMMIT_FROM_REF"
#: The variables of CI that name the branch that a change will be merged into.
TARGET_BRANCHES = ("GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME")
_LONG_ID = re.compile(r"\b[0-9a-f]{40,64}\b")
_NO_BASE = (
    "and no base is known: give --base, set `base` in the configuration, or let git know the "
    "remote's default branch (git remote set-head origin --auto)"
)


class Change(Struct, frozen=True):
    """The sources before (``old``) and after (``new``) a change.

    ``release`` is the target branch of the change (``release-4.14``), "" if unknown; ``why`` is the reason for the
    choice of the base. ``head`` is the id of the commit ``new``, "" for the index and the working tree.
    """

    old: str
    new: str
    release: str = ""
    why: str = ""
    head: str = ""

    def compared_with(self, base: str | None) -> str:
        """The note on the merge base (a commit or None) and the reason for its choice."""
        why = _LONG_ID.sub(lambda found: short(found[0]), self.why)
        return f"compared with {short(base)}" + (f", the merge base with {why}" if why else "")


class Base(Struct, frozen=True):
    """A candidate for the base: the ref, its branch, and the reason for the choice.

    ``hidden`` is a branch of a remote with the same name that differs. ``is_told``: an option or CI named the base.
    """

    ref: str
    release: str
    why: str
    hidden: str = ""
    is_told: bool = True


def find_change(
    base: str | None = None,
    head: str | None = None,
    *,
    configured: str | None = None,
    repo: str | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Change | None:
    """The change to check; None where a branch is being deleted.

    The base is the merge base with the first of: ``base``, pre-commit's range, Prow's, GitHub's and GitLab's target
    branch, the ``configured`` one, the remote's default branch, HEAD. ``head`` is a commit, ``index:`` or
    ``worktree:``; without it the end of pre-commit's range, else the index. Hooks name a new branch by an all-zero id
    on the left, a deleted one by an all-zero id on the right.

    Raises UsageError, and SourceError also for a history too short to have the merge base.
    """
    repository = Repository(repo)
    is_deleted = _is_zero(_named_head(head, environment))  # then nothing may fail that only the base needs
    found = None if is_deleted else chosen_base(repository, base, configured, environment)
    return change_since(found, head, repository, environment)


def change_since(
    found: Base | None, head: str | None, repository: Repository, environment: Mapping[str, str] = os.environ
) -> Change | None:
    """The change from the base that was ``found`` to ``head``, as ``find_change`` explains. Raises as it does."""
    named = _named_head(head, environment)
    if _is_zero(named):
        return None
    new = named if named in ("index:", "worktree:") else f"git:{named}"
    tip = "HEAD" if new != f"git:{named}" else named
    if tip != environment.get("PRE_COMMIT_TO_REF"):
        find_ref(repository, tip, "--head {}", typed=True)  # raises for a name of several refs
    if found is None:
        if tip == "HEAD" and not exists(repository, "HEAD"):
            return Change(EMPTY, new)
        if new == "index:" and "PRE_COMMIT" not in environment and _is_clean_clone(repository):
            raise SourceError(f"nothing is staged in {repository.where}, {_NO_BASE}")
        why, release, old = "HEAD, since no other base is known", "", "git:HEAD"
    else:
        why, release = found.why, found.release
        old = EMPTY if _is_zero(found.ref) else f"git:{_merge_base(repository, found, tip)}"
    return Change(old, new, release, why, resolve(repository, named).commit if new == f"git:{named}" else "")


def _named_head(head: str | None, environment: Mapping[str, str]) -> str:
    return head or environment.get("PRE_COMMIT_TO_REF") or "index:"


def chosen_base(
    repository: Repository, base: str | None, configured: str | None, environment: Mapping[str, str] = os.environ
) -> Base | None:
    """The first candidate for the base, in the order that ``find_change`` gives; None if there is no candidate.

    Raises SourceError, and UsageError for a name of several refs that differ.
    """
    if base == "":
        raise UsageError("--base is empty: name a branch, a tag or a commit")
    if base is not None:
        return _typed(repository, base)
    pushed = environment.get(_PUSHED)
    if pushed:
        default = _default_branch(repository) if _is_zero(pushed) else None
        return default or Base(pushed, "", _PUSHED)
    prow = environment.get("PULL_BASE_SHA")
    if prow:
        return Base(prow, environment.get("PULL_BASE_REF", ""), "PULL_BASE_SHA")
    for variable in TARGET_BRANCHES:
        branch = environment.get(variable)
        if branch:
            remote = f"refs/remotes/origin/{branch}"
            ref = remote if exists(repository, remote) else _full(repository, branch, "--base {}")
            return Base(ref, branch, f"{variable}={branch}")
    if configured:
        ref = _full(repository, configured, "base: {}")
        return Base(ref, _branch(repository, configured), f"the configured base {configured}", is_told=False)
    return _default_branch(repository)


def _typed(repository: Repository, base: str) -> Base:
    """The base that a person named: a branch, a tag, or another name that git reads as a commit."""
    found = find_ref(repository, base, "--base {}", typed=True)
    ref, hidden = (found.ref, found.hidden) if found is not None else (base, "")
    return Base(ref, _branch(repository, base), f"--base {base}", hidden)


def _full(repository: Repository, name: str, option: str) -> str:
    """The full ref of a branch or tag; the name itself if there is no such ref: the error and its advice quote it."""
    found = find_ref(repository, name, option, typed=False)
    return found.ref if found is not None else name


def base_commit(change: Change, repository: Repository) -> str:
    """The id of the commit that a change begins at; "" before the first commit. Raises SourceError."""
    base = change.old.removeprefix("git:")
    return "" if change.old == EMPTY else base if is_commit_id(base) else resolve(repository, base).commit


def short(commit: str | None) -> str:
    """A commit id, shortened; "nothing" before the first commit."""
    return commit[:12] if commit else "nothing"


def _default_branch(repository: Repository) -> Base | None:
    """The remote's default branch, if git knows it and there is a HEAD to compare with it."""
    name = "refs/remotes/origin/HEAD"
    done = repository.run("rev-parse", "--symbolic-full-name", name, "HEAD", ok=(0, 128))
    if done.returncode != 0:
        return _remote_default(repository)
    names = display_path(done.stdout).splitlines()
    branch = names[0].removeprefix("refs/remotes/origin/") if len(names) == 2 else ""  # git omits ambiguous names
    if branch == "HEAD":  # a ref of its own
        branch = ""
    return Base(name, branch, f"the remote's default branch {branch}".rstrip(), is_told=False)


def _remote_default(repository: Repository) -> Base | None:
    """The default branch of a remote that is not called origin, or whose HEAD git does not know."""
    found = read_names(repository).remote_default if exists(repository, "HEAD") else None
    if found is None:
        return None
    remote, branch = found
    return Base(f"refs/remotes/{remote}/{branch}", branch, f"{remote}/{branch}", is_told=False)


def _branch(repository: Repository, ref: str) -> str:
    """The branch that a ref names, without its remote."""
    for prefix in ("refs/heads/", "refs/remotes/"):
        ref = ref.removeprefix(prefix)
    return (read_names(repository).branch(ref) if "/" in ref else "") or ref.removeprefix("origin/")


def _merge_base(repository: Repository, base: Base, tip: str) -> str:
    """The merge base: what the base branch gained later is not part of this change.

    A local branch may differ from the branch of the remote, as long as both have the same merge base.
    """
    if not base.is_told and not base.ref.startswith("refs/"):
        named_commit(repository, base.ref, "base: {}")  # raises for what is no branch, tag or full commit id
    try:
        found = merge_base(repository, base.ref, tip)
        if base.hidden and merge_base(repository, base.hidden, tip) != found:
            raise ambiguous(base.why.removeprefix("--base "), (base.ref, base.hidden), "--base {}")
        return found
    except RefNotFoundError:
        raise
    except SourceError:
        if base.why != _PUSHED:
            raise
        return resolve(repository, base.ref).commit  # a forced push onto an unrelated history


def _is_clean_clone(repository: Repository) -> bool:
    """Whether the commits come from elsewhere and nothing is staged, as in a clone that CI makes."""
    if not names_of_remotes(repository) and not fetched_from(repository):
        return False
    return not has_staged(repository)


def _is_zero(ref: str) -> bool:
    return len(ref) >= 40 and not ref.strip("0")


def exists(repository: Repository, ref: str) -> bool:
    """Whether a ref has a commit; False without a repository."""
    try:
        resolve(repository, ref)
    except (RefNotFoundError, SourceError):
        return False
    return True
