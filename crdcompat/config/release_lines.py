"""Where a commit stands among the releases of its repository: its branch, and the releases that came before it.

Releases are branches (``release-1.2``), else tags; ``release_trains`` tells which, where they have several names.
Where the newest branch has a tag of its minor, tags are of the same numbers: a minor without a branch has its newest
tag, and where tags go on from the newest branch (1.9.0 after ``release-1.7``), the project makes releases without
branches, and tags alone count. Other tags are of other numbers, as in a fork that keeps the tags of its origin.

The main branch has no version: the releases before one of its commits are those that left it up to there. A release
that left it later is none of them, whatever its version.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.config.release_trains import Train, may_be_release_branch, release_branches, train_of
from crdcompat.config.releases import is_release, minor_of, newest_patches, version_of
from crdcompat.errors import MissingObjectsError, SourceError
from crdcompat.prefilter.candidates import EXCLUDED_FOLDERS
from crdcompat.sources.branches import Names, grown_from, having, is_release_branch, merged
from crdcompat.sources.git import has_word
from crdcompat.sources.refs import merge_base
from crdcompat.sources.repository import Repository


class Line(Struct, frozen=True):
    """The line of development of a commit.

    ``branch`` is a release branch (``is_release``) or the main branch, "" if unknown. ``before`` are the releases
    before the commit, newest first; ``are_tags``: the repository has them as tags alone.
    """

    branch: str = ""
    before: tuple[str, ...] = ()
    is_release: bool = False
    are_tags: bool = False


def line_of(repo: Repository, names: Names, commit: str, main: str, branch: str = "") -> Line:
    """The line of a commit. ``main`` is the main branch, ``branch`` the one that the commit is known to be of.

    Else it is of the main branch, if that has it, else of the oldest release branch with it. A commit that no such
    branch has is of the branch that it is based on. Raises SourceError.
    """
    train = train_of(repo, names, main, branch)
    releases = releases_of(train)
    if branch in train.branches or is_release_branch(branch):
        found = Line(branch, older(branch, releases)) if releases else _tagged(repo, names, commit, branch, train)
        return replace(found, is_release=True)
    if not releases:
        return _tagged(repo, names, commit, main, train)
    known = {**{name: f"refs/tags/{name}" for name in names.tags}, **names.refs}
    refs = {name: known[name] for name in (*releases, main) if name in known}
    there = having(repo, commit, refs)
    ended = {name: names.refs[name] for name in reversed(release_branches(names.refs)) if name not in refs}
    if not there and (of_ended := having(repo, commit, ended)):
        return line_of(repo, names, commit, main, next(name for name in ended if name in of_ended))
    if not there:
        commit = grown_from(repo, commit, refs.values()) or commit
        there = having(repo, commit, refs)
    later = [name for name in reversed(releases) if name in there]
    main = "" if main in train.branches or is_release_branch(main) else main
    if later and main not in there:
        is_branch = later[0] in train.branches
        return Line(later[0] if is_branch else "", older(later[0], releases), is_branch)
    left = _left_at(repo, names, commit, main, later)
    return Line(main, tuple(name for name in releases if name not in there or name in left))


def releases_of(train: Train) -> tuple[str, ...]:
    """The releases, newest first, one for each minor: its branch, else its newest tag; () where tags alone count."""
    newest = minor_of(train.branches[0]) if train.branches else None
    tags = {minor_of(tag): tag for tag in newest_patches(train.tags)}
    if newest is None or newest not in tags:
        return train.branches
    if any(minor > newest for minor in tags if minor):
        return ()
    chosen = {**tags, **{minor_of(branch): branch for branch in train.branches}}
    return tuple(sorted(chosen.values(), key=_age, reverse=True))


def of_module(repo: Repository, names: Names, commit: str, line: Line) -> Line:
    """The line, by the tags of a module (``operator/v1.2.0``) where its newest release has no CRD, and they have.

    Such a repository has several projects, and the releases of another one say nothing of the module's CRDs. Where two
    modules have CRDs, nothing tells which counts. Raises SourceError.
    """
    modules: dict[str, list[str]] = {}
    for tag in names.tags:
        folder, _, name = tag.rpartition("/")
        if folder and is_release(name):
            modules.setdefault(folder, []).append(tag)
    if line.is_release or not line.before or not modules:
        return line
    last = names.commit(line.before[0]) or names.tags.get(line.before[0], "")
    newest = {folder: newest_patches(tags)[-1] for folder, tags in modules.items()}
    try:
        if not last or has_crds(repo, last):
            return line
        found = [folder for folder, tag in newest.items() if has_crds(repo, names.tags[tag], folder)]
    except MissingObjectsError:  # a partial clone has the files of what is checked out alone
        return line
    if len(found) != 1:
        return line
    return _tagged(repo, names, commit, line.branch, Train(tags=tuple(modules[found[0]])))


def has_crds(repo: Repository, commit: str, folder: str = "") -> bool:
    """Whether a manifest of a commit, in a folder, may have a CRD. Raises SourceError."""
    return has_word(repo, commit, "CustomResourceDefinition", folder=folder, excluded_folders=EXCLUDED_FOLDERS)


def nouns_of(releases: Iterable[str]) -> tuple[str, str]:
    """What releases are called, one and several: branches, or releases where some are tags."""
    return ("branch", "branches") if all(map(may_be_release_branch, releases)) else ("release", "releases")


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


def _tagged(repo: Repository, names: Names, commit: str, branch: str, train: Train) -> Line:
    """The line of a commit in a repository that has releases as tags alone."""
    tags = {name: f"refs/tags/{name}" for name in train.tags}
    if not tags:
        return Line(branch)
    main = {branch: names.refs[branch]} if branch in names.refs else {}
    there = having(repo, commit, tags | main)
    before = {name: ref for name, ref in tags.items() if name not in there or names.tags[name] == commit}
    if main and branch not in there:  # a maintenance branch: releases of the main branch are later ones
        before = _up_to_newest(before, merged(repo, commit, before))
    return Line(branch, tuple(reversed(newest_patches(before))), are_tags=True)


def _up_to_newest(tags: Mapping[str, str], own: frozenset[str]) -> dict[str, str]:
    newest = max((minor_of(name) or () for name in own), default=())
    return {name: ref for name, ref in tags.items() if (minor_of(name) or ()) <= newest}


def _age(name: str) -> tuple[object, ...]:
    return version_of(name) or ((), 0, 0)
