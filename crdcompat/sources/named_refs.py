"""Branches and tags by their plain names, as full refs: never what git guesses, which prefers tags and local branches.

Whoever opens a pull request chooses the name of its branch, and some checkouts make that a local branch: it can have
the name of a release, or be called ``origin/main``. A branch that was fetched from a remote is the project's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.errors import UsageError
from crdcompat.sources.branches import PROJECT
from crdcompat.sources.naming import display_path, is_commit_id, without_suffix
from crdcompat.sources.refs import Resolved, not_found, resolve

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crdcompat.sources.repository import Repository

_FORM = "--format=%(refname)%00%(objectname)%00%(*objectname)"
_HEADS, _TAGS, _REMOTES = "refs/heads/", "refs/tags/", "refs/remotes/"
_ID_BEGUN = re.compile(r"[0-9a-fA-F]{4,}")
_ORIGIN = "origin"
#: Where checkouts of CI keep pull requests beside the branches of remotes.
_PULL_REQUESTS = "pull"


class AmbiguousRefError(UsageError):
    """A name of several refs that differ."""


class NamedRef(Struct, frozen=True):
    """A branch or a tag: its full ref, its commit, and notes for the user on how its name was read.

    ``hidden`` is the branch of a remote with this name and another commit, if the ref is a local branch.
    """

    ref: str
    commit: str
    notes: tuple[str, ...] = ()
    hidden: str = ""


def find_ref(repo: Repository, name: str, option: str, *, typed: bool) -> NamedRef | None:
    """The branch or tag of a name: plain, with its remote, or in full. None if there is none.

    A branch of a remote counts before a local one, also before ``refs/heads/…``; for a name that a person ``typed``,
    the local one does. ``option`` is how to name one of several: ``--base {}``. Raises AmbiguousRefError if a branch
    and a tag have the name and differ, or a local branch has the name of a remote's branch with its remote;
    SourceError.
    """
    if name == "HEAD" or is_commit_id(name):
        return None
    found = _plain(repo, name, option, typed=typed)
    return found or (_with_suffix(repo, name, option) if typed else None)


def _plain(repo: Repository, name: str, option: str, *, typed: bool) -> NamedRef | None:
    """The branch or tag of a name, as ``find_ref``."""
    is_branch = name.startswith(_HEADS) and not typed
    if name.startswith("refs/") and not is_branch:
        found = _having(repo, name)
        return NamedRef(name, found[name]) if name in found else None
    name = name.removeprefix(_HEADS) if is_branch else name
    spelled, local, tag = f"{_REMOTES}{name}", f"{_HEADS}{name}", f"{_TAGS}{name}"
    found = {ref: commit for ref, commit in _having(repo, name).items() if not (is_branch and ref in (spelled, tag))}
    if typed and f"refs/{name}" in found:  # heads/main, remotes/origin/main
        spelled = f"refs/{name}"
    remote = _of_remotes(found, name, (spelled, local, tag))
    if spelled in found:
        chosen = spelled
    elif typed or not remote:
        chosen = local if local in found else remote
    else:
        chosen = remote
    chosen = chosen or (tag if tag in found else "")
    if not chosen:
        return None
    rivals = [each for each in (local, tag) if each in found and found[each] != found[chosen]]
    clashing = rivals if chosen == spelled else [each for each in rivals if each == tag]
    clashing += _begun_with(repo, name, found[chosen])
    if clashing:
        raise ambiguous(name, (chosen, *clashing), option)
    hidden = remote if chosen == local and remote and found[remote] != found[local] else ""
    return NamedRef(chosen, found[chosen], _notes(name, chosen, rivals, local in found), hidden)


def ambiguous(name: str, refs: Sequence[str], option: str) -> AmbiguousRefError:
    """The error for a name of several refs that differ, with the words to give instead."""
    ways = " or ".join(option.format(ref) for ref in refs)
    return AmbiguousRefError(f"{name} is the name of {' and '.join(refs)}, which differ: say which one: {ways}")


def named_commit(repo: Repository, name: str, option: str) -> Resolved:
    """The commit of a branch or tag that a configuration names, or of a full commit id.

    Raises as ``find_ref``, and RefNotFoundError.
    """
    name = name.removeprefix("git:")
    if is_commit_id(name):
        done = repo.run("rev-parse", "--verify", f"{name}^{{commit}}", ok=(0, 1, 128))
        if done.returncode == 0:
            return Resolved(name)
        raise not_found(repo, name)
    found = find_ref(repo, name, option, typed=False)
    if found is None:
        raise not_found(repo, name)
    return Resolved(found.commit, found.notes)


def _with_suffix(repo: Repository, name: str, option: str) -> NamedRef | None:
    """The commit that a suffix selects from a branch or tag (``main~1``), as ``find_ref``."""
    plain = without_suffix(name)
    suffix = name[len(plain) :]
    if not (plain and suffix) or plain == "HEAD" or is_commit_id(plain):
        return None
    quoted = suffix.replace("{", "{{").replace("}", "}}")
    found = _plain(repo, plain, option.replace("{}", f"{{}}{quoted}"), typed=True)
    if found is None:
        return None
    ref = f"{found.ref}{suffix}"
    hidden = f"{found.hidden}{suffix}" if found.hidden else ""
    return NamedRef(ref, resolve(repo, ref).commit, found.notes, hidden)


def typed_commit(repo: Repository, name: str, option: str) -> Resolved:
    """The commit of a branch, a tag or whatever else git reads as a commit, which a person typed.

    Raises as ``find_ref``, RefNotFoundError, and AmbiguousRefError for a local branch that hides one of the remote.
    """
    found = find_ref(repo, name, option, typed=True)
    if found is None:
        return resolve(repo, name)
    if found.hidden:
        raise ambiguous(name, (found.ref, found.hidden), option)
    return Resolved(found.commit, found.notes)


def _having(repo: Repository, name: str) -> dict[str, str]:
    """The refs with a name, by full ref, each with its commit."""
    if name.startswith("refs/"):
        patterns = [name]
    else:
        patterns = [f"{each}{name}" for each in ("refs/", _HEADS, _TAGS, _REMOTES, f"{_REMOTES}**/")]
    if any(char in name for char in "*?[\\") or name.startswith("-"):
        return {}
    lines = display_path(repo.run("for-each-ref", _FORM, *patterns).stdout).splitlines()
    found = {ref: peeled or own for ref, own, peeled in (line.split("\0") for line in lines)}
    return {ref: commit for ref, commit in found.items() if ref.endswith(name)}


def _begun_with(repo: Repository, name: str, commit: str) -> tuple[str, ...]:
    """The other commits whose ids begin with a name: git would take the branch or tag, without a word."""
    if _ID_BEGUN.fullmatch(name) is None:
        return ()
    listed = repo.run("rev-parse", f"--disambiguate={name.lower()}", ok=(0, 128)).stdout.decode().split()
    types = repo.run("cat-file", "--batch-check", stdin="".join(f"{oid}\n" for oid in listed).encode()).stdout
    return tuple(
        oid for oid, line in zip(listed, types.splitlines(), strict=True) if b" commit " in line and oid != commit
    )


def _of_remotes(found: Mapping[str, str], name: str, others: Sequence[str]) -> str:
    """The branch of a remote: ``upstream``, else ``origin``, else the only one; "" without one, or if they differ."""
    ends = {ref: ref[len(_REMOTES) : -len(name) - 1] for ref in found if ref.startswith(_REMOTES) and ref not in others}
    by_remote = {remote: ref for ref, remote in ends.items() if "/" not in remote and remote != _PULL_REQUESTS}
    for preferred in (PROJECT, _ORIGIN):  # CI may fetch the fork of a pull request as a further remote
        if preferred in by_remote:
            return by_remote[preferred]
    return next(iter(by_remote.values()), "") if len({found[ref] for ref in by_remote.values()}) == 1 else ""


def _notes(name: str, chosen: str, rivals: Sequence[str], has_local: bool) -> tuple[str, ...]:
    if not chosen.startswith(_REMOTES) or chosen == f"{_REMOTES}{name}" or (has_local and not rivals):
        return ()
    differ = ", not as the local branch, which differs" if rivals else ""
    return (f"{name} is read as {chosen.removeprefix(_REMOTES)}{differ}",)
