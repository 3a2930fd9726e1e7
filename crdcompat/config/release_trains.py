"""Which branches or tags of a repository are its current releases, where their names follow several schemes.

Versions of two schemes do not compare: NetObserv has ``release-4.18``, named after its platform, which left the main
branch two years before ``release-1.11``. Of the usual names, those up to the major whose newest branch left the main
branch last are the current releases. A tag whose major leaps counts only if it is the newest release.

Other names count in their place if several, which differ in the version alone, left the main branch after the last
release of a usual name: the branches ``backplane-2.9`` and ``backplane-2.10``, the tags ``version-2.15`` of a project
that began with ``stable-2.1``. So do tags of other numbers than the branches: ``v1.6.0`` of an operator that had
``release-4.8``. So topics (``prepare-release-0.9``) do not count beside releases. What begins with what people do
(``feature-1.2``), or is named after what a project is built with (``go-1.22``), branches with the version of a patch
(``update-linter-v2.11.4``) and tags of charts never do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, reduce

from msgspec import Struct

from crdcompat.config.releases import is_release, minor_of, newest_patches, prefix_of, series_of, version_of
from crdcompat.sources.branches import Names, behind, committed, is_release_branch
from crdcompat.sources.repository import Repository

#: The fewest minors of an unusual name that are releases.
_FEWEST_BRANCHES, _FEWEST_TAGS = 3, 5
#: The minor of branches for tests.
_NO_RELEASE = 999
_WITH_PATCH = re.compile(r"\d+\.\d+\.\d")
_OF_CHARTS = ("chart", "helm")
_TOPIC = re.compile(
    r"(?:add|backport|bug|bugfix|bump|cherry|chore|ci|deps|dev|docs?|experiment|feat|feature|fix|hotfix|poc|prepare|rebase"
    r"|refactor|remove|revert|tests?|topic|update|upgrade|use|wip)-.*|(?:go|golang|kube|kubernetes)-"
)


class Train(Struct, frozen=True):
    """The releases of a repository: branches, one for each minor, newest first, and tags; either may have none.

    Where there are branches, the tags may have other numbers.
    """

    branches: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


def train_of(repo: Repository, names: Names, main: str, branch: str = "") -> Train:
    """The releases of the scheme of ``branch``, else the current ones of the main branch. Raises SourceError."""
    tags = tuple(filter(is_release, names.tags))
    usual, usual_tags = release_branches(names.refs), _without_strays(repo, names, main, series_of(tags))
    own = [*_own(names.refs, _FEWEST_BRANCHES, _may_be_own)]
    own_tags = [*_own(tags, _FEWEST_TAGS, lambda name: name not in usual_tags and not _is_of_chart(name))]
    if of_branch := next((each for each in (usual, *own) if branch in each), ()):
        return Train(of_branch, usual_tags)
    up_to_majors = [*_up_to_majors(usual)]
    renumbered = _of_other_numbers(usual_tags, usual)
    if not names.commit(main) or not (len(up_to_majors) > 1 or own or own_tags or renumbered):
        return Train(usual, usual_tags)
    is_later = _later_ones(repo, names, main)
    newest = reduce(lambda a, b: b if is_later(b[0], a[0]) else a, up_to_majors, usual)
    last = (*newest[:1], *newest_patches(usual_tags)[-1:])
    least = [
        *((each, each[_FEWEST_BRANCHES - 1]) for each in own),
        *((each, each[_FEWEST_TAGS - 1]) for each in own_tags),
    ]
    found = [each for each, first in least if all(is_later(first, other) for other in last)]
    chosen = reduce(lambda a, b: b if is_later(b[0], a[0]) else a, found) if found else newest
    if chosen is newest and renumbered and is_later(renumbered[_FEWEST_TAGS - 1], newest[0]):
        return Train(tags=usual_tags)
    if chosen not in own_tags:
        return Train(chosen, usual_tags)
    return Train(tags=tuple(tag for tag in tags if prefix_of(tag) == prefix_of(chosen[0])))


def _without_strays(repo: Repository, names: Names, main: str, tags: tuple[str, ...]) -> tuple[str, ...]:
    """The tags without majors that nothing leads to, and that left the main branch before the newest one below them.

    A tag of another name than the releases, such as a build or a bug (``608.3`` beside ``v0.86.0``), has any number.
    """
    newest = newest_patches(tags)[::-1]
    leaps = [each for each in _up_to_majors(newest) if len(each) == len(newest) or _leaps(newest, len(each))]
    if len(leaps) < 2 or not names.commit(main):
        return tags
    is_later = _later_ones(repo, names, main)
    last = _major(reduce(lambda a, b: b if is_later(b[0], a[0]) else a, leaps)[0])
    return tuple(tag for tag in tags if _major(tag) <= last)


def _leaps(newest: tuple[str, ...], count: int) -> bool:
    """Whether more than one major lies between the last ``count`` names and the one before them."""
    return _major(newest[-count - 1]) > _major(newest[-count]) + 1


def _later_ones(repo: Repository, names: Names, main: str) -> Callable[[str, str], bool]:
    """The function that tells whether a branch or tag left the main branch after another one.

    The dates of the commits mostly tell that it did not, and git needs long to tell when: only an older release that is
    maintained has newer commits.
    """
    commits = {**names.tags, **{name: names.commit(name) for name in names.refs}}
    date = cache(lambda name: committed(repo, commits[name]))
    left = cache(lambda name: behind(repo, commits[name], names.commit(main)))
    return lambda name, other: date(name) >= date(other) and left(name) < left(other)


def release_branches(branches: Iterable[str]) -> tuple[str, ...]:
    """The release branches of usual names among these, newest first, one for each minor."""
    return _newest_first(name for name in branches if is_release_branch(name) and _NO_RELEASE not in _numbers(name))


def _numbers(name: str) -> tuple[int, ...]:
    return minor_of(name) or ()


def _major(name: str) -> int:
    return (minor_of(name) or (0,))[0]


def may_be_release_branch(name: str) -> bool:
    """Whether a branch of this name can be a release: by a usual name, or by words and a version."""
    return is_release_branch(name) or (bool(prefix_of(name)) and _may_be_own(name))


def _newest_first(names: Iterable[str]) -> tuple[str, ...]:
    """The names of one scheme, newest first, one for each minor: its own branch before those of its patches."""

    def age(name: str) -> tuple[object, ...]:
        return _numbers(name), _WITH_PATCH.search(name) is None, version_of(name) or ()

    return tuple(reversed({minor_of(name): name for name in sorted(names, key=age)}.values()))


def _up_to_majors(names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """For each major, the names up to it, the newest major first; the names are newest first."""
    majors = [_major(name) for name in names]
    yield from (names[at:] for at, major in enumerate(majors) if at == 0 or major != majors[at - 1])


def _own(names: Iterable[str], fewest: int, wanted: Callable[[str], bool]) -> Iterator[tuple[str, ...]]:
    """Groups of names that differ in the version alone, each newest first, with that many minors or more."""
    by_prefix: dict[str, list[str]] = {}
    for name in filter(wanted, names):
        if prefix := prefix_of(name):
            by_prefix.setdefault(prefix, []).append(name)
    yield from (each for each in map(_newest_first, by_prefix.values()) if len(each) >= fewest)


def _of_other_numbers(tags: tuple[str, ...], branches: tuple[str, ...]) -> tuple[str, ...]:
    """The newest tags of each minor, newest first, if branches have other numbers and the minors are many; else ()."""
    found = newest_patches(tags)[::-1]
    is_other = bool(branches) and minor_of(branches[0]) not in map(minor_of, found)
    return found if is_other and len(found) >= _FEWEST_TAGS else ()


def _may_be_own(name: str) -> bool:
    is_topic = _TOPIC.fullmatch(prefix_of(name)) is not None
    return not is_topic and not is_release_branch(name) and _WITH_PATCH.search(name) is None


def _is_of_chart(name: str) -> bool:
    return any(word in name for word in _OF_CHARTS)
