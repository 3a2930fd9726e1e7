"""Where a commit stands among the releases of its repository: its branch, and the releases that came before it.

Releases are branches (``release-1.2``), else tags. Where the newest branch has a tag of its minor, tags are of the same
numbers: a minor without a branch has its newest tag, and where tags go on from the newest branch (1.9.0 after
``release-1.7``), the project makes releases without branches, and tags alone count. Other tags are of other numbers, as
in a fork that keeps the tags of its origin.

The main branch has no version: the releases before one of its commits are those that left it up to there. A release
that left it later is none of them, whatever its version.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from crdcompat.config.releases import is_release, minor_of, newest_patches, series_of, version_of
from crdcompat.errors import SourceError
from crdcompat.sources.branches import Names, grown_from, having, is_release_branch, merged
from crdcompat.sources.refs import merge_base
from crdcompat.sources.repository import Repository


class Line(Struct, frozen=True):
    """The line of development of a commit.

    ``branch`` is a release branch or the main branch, "" if unknown. ``before`` are the releases before the commit,
    newest first; ``are_tags``: the repository has them as tags alone.
    """

    branch: str = ""
    before: tuple[str, ...] = ()
    are_tags: bool = False

    @property
    def is_release(self) -> bool:
        """Whether the branch belongs to a release."""
        return is_release_branch(self.branch)


def line_of(repo: Repository, names: Names, commit: str, main: str, branch: str = "") -> Line:
    """The line of a commit. ``main`` is the main branch, ``branch`` the one that the commit is known to be of.

    Else it is of the main branch, if that has it, else of the oldest release branch with it. A commit that no such
    branch has is of the branch that it is based on. Raises SourceError.
    """
    releases = releases_of(names)
    if is_release_branch(branch):
        return Line(branch, older(branch, releases)) if releases else _tagged(repo, names, commit, branch)
    if not releases:
        return _tagged(repo, names, commit, main)
    known = {**{name: f"refs/tags/{name}" for name in names.tags}, **names.refs}
    refs = {name: known[name] for name in (*releases, main) if name in known}
    there = having(repo, commit, refs)
    if not there:
        commit = grown_from(repo, commit, refs.values()) or commit
        there = having(repo, commit, refs)
    later = [name for name in reversed(releases) if name in there]
    main = "" if is_release_branch(main) else main
    if later and main not in there:
        return Line(later[0] if is_release_branch(later[0]) else "", older(later[0], releases))
    left = _left_at(repo, names, commit, main, later)
    return Line(main, tuple(name for name in releases if name not in there or name in left))


def releases_of(names: Names) -> tuple[str, ...]:
    """The releases, newest first, one for each minor: its branch, else its newest tag; () where tags alone count."""
    branches = release_branches(names.refs)
    newest = minor_of(branches[0]) if branches else None
    tags = {minor_of(tag): tag for tag in newest_patches(_release_tags(names))}
    if newest is None or newest not in tags:
        return branches
    if any(minor > newest for minor in tags if minor):
        return ()
    chosen = {**tags, **{minor_of(branch): branch for branch in branches}}
    return tuple(sorted(chosen.values(), key=_age, reverse=True))


def nouns_of(releases: Iterable[str]) -> tuple[str, str]:
    """What releases are called, one and several: branches, or releases where some are tags."""
    return ("branch", "branches") if all(map(is_release_branch, releases)) else ("release", "releases")


def release_branches(branches: Iterable[str]) -> tuple[str, ...]:
    """The release branches among these, newest first, one for each minor."""
    found: dict[tuple[int, int] | None, str] = {}
    for name in sorted(filter(is_release_branch, branches), key=_age):
        found[minor_of(name)] = name
    return tuple(reversed(found.values()))


def older(branch: str, releases: Sequence[str]) -> tuple[str, ...]:
    """Those of the releases whose minor comes before that of a release."""
    return tuple(name for name in releases if (minor_of(name) or ()) < (minor_of(branch) or ()))


def _left_at(repo: Repository, names: Names, commit: str, main: str, later: Sequence[str]) -> list[str]:
    """Those of the releases ``later`` (oldest first), all of which have a commit of ``main``, that left it right there.

    A release that ends where the main branch does has not left it: the main branch is that release.
    """
    tip = names.commit(main) or commit
    found = []
    for name in later:
        end = names.commit(name) or names.tags[name]
        if end == tip and name == later[-1]:
            break
        try:
            left = merge_base(repo, end, tip)
        except SourceError:
            break
        if left != commit:
            break
        found.append(name)
    return found


def _tagged(repo: Repository, names: Names, commit: str, branch: str) -> Line:
    """The line of a commit in a repository that has releases as tags alone."""
    tags = {name: f"refs/tags/{name}" for name in _release_tags(names)}
    if not tags:
        return Line(branch)
    main = {branch: names.refs[branch]} if branch in names.refs else {}
    there = having(repo, commit, tags | main)
    before = {name: ref for name, ref in tags.items() if name not in there or names.tags[name] == commit}
    if main and branch not in there:  # a maintenance branch: releases of the main branch are later ones
        before = _up_to_newest(before, merged(repo, commit, before))
    return Line(branch, tuple(reversed(newest_patches(before))), are_tags=True)


def _release_tags(names: Names) -> tuple[str, ...]:
    return series_of(filter(is_release, names.tags))


def _up_to_newest(tags: Mapping[str, str], own: frozenset[str]) -> dict[str, str]:
    newest = max((minor_of(name) or () for name in own), default=())
    return {name: ref for name, ref in tags.items() if (minor_of(name) or ()) <= newest}


def _age(name: str) -> tuple[object, ...]:
    return version_of(name) or ((), 0, 0)
