"""The releases of a matrix in order: by version, 4.9 before 4.10, else in the order given."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from msgspec import Struct

from crdcompat.errors import UsageError

_VERSION = re.compile(r"(?<![\d.])v?(\d+(?:\.\d+)+)(?:[-.]?(alpha|beta|rc|pre|ec|fc)[-.]?(\d*))?(?!\d)", re.IGNORECASE)
_WHERE = re.compile(r"^(?:refs/heads/|(?:refs/)?remotes/)")
_MAX_NAMES = 4
#: Stages of a pre-release, in order; each precedes the release itself.
_STAGES = ("alpha", "ec", "pre", "beta", "fc", "rc")

Version = tuple[tuple[int, ...], int, int]


class ReleaseList(Struct, frozen=True):
    """The names of the releases, oldest first, and notes on assumptions about their order."""

    names: tuple[str, ...]
    notes: tuple[str, ...] = ()


def choose(named: Sequence[str], globs: Sequence[str], repo: str | None) -> ReleaseList:
    """The releases of ``named`` and the branches that match ``globs``, oldest first.

    If a name has no version, the branches come first and then ``named`` in the order given. Raises UsageError for
    fewer than two releases, a duplicate name, a glob without a match, and a matching branch without a version.
    """
    matched = _sorted(_matching(globs, repo)) if globs else ()
    names = (*matched, *(name for name in named if name not in matched))
    duplicate = next((name for index, name in enumerate(named) if name in named[:index]), None)
    if duplicate is not None:
        raise UsageError(f"{duplicate} is named twice")
    if len(names) < 2:
        raise UsageError(f"a matrix needs two releases or more, and there is {names[0] if names else 'none'}")
    unversioned = [name for name in names if version_of(name) is None]
    if not unversioned:
        return ReleaseList(_sorted(names))
    note = f"the releases are in the order given, oldest first: {unversioned[0]} tells no version"
    return ReleaseList(names, (note,))


def version_of(name: str) -> Version | None:
    """The version in a name (``release-4.13``, ``v1.2.0-rc.1``, ``path:crds/4.9``) as a sort key; None without one.

    The key is (numbers, index of the stage, number of the stage): a release comes after its pre-releases. Only the last
    part of a path counts.
    """
    found = _VERSION.findall(name.rstrip("/").rpartition("/")[2])
    if not found:
        return None
    numbers, stage, number = found[-1]
    parts = [int(part) for part in numbers.split(".")]
    while parts and not parts[-1]:
        parts.pop()  # 1.2 and 1.2.0 are the same version
    return tuple(parts), _STAGES.index(stage.lower()) if stage else len(_STAGES), int(number or 0)


def minor_of(name: str) -> tuple[int, int] | None:
    """Major and minor of the version in a name; None without a version."""
    version = version_of(name)
    if version is None:
        return None
    major, minor = (*version[0], 0, 0)[:2]
    return major, minor


def _sorted(names: Sequence[str]) -> tuple[str, ...]:
    """Sort by version; equal versions keep their order."""
    return tuple(sorted(names, key=lambda name: version_of(name) or ((), 0, 0)))


def _matching(globs: Sequence[str], repo: str | None) -> tuple[str, ...]:
    """The branches that match, each once; a remote branch counts only without a local branch of its name.

    A glob is compared with the names that git accepts and prints: ``release-4.13``, ``origin/release-4.13``,
    ``remotes/origin/release-4.13``. A branch that matches without its remote is not listed with its remote again.
    """
    from crdcompat.sources.refs import branch_spellings
    from crdcompat.sources.repository import Repository

    spelled = branch_spellings(Repository(repo))
    found: dict[str, None] = {}
    for glob in globs:
        plain = _WHERE.sub("", glob)
        own = {branch for branch in spelled.values() if fnmatchcase(branch, plain)}
        matches = [
            name for name, branch in spelled.items() if fnmatchcase(name, plain) and (name in own or branch not in own)
        ]
        if not matches:
            raise UsageError(f"no branch matches {glob!r}; {_available(plain, spelled)}")
        unversioned = next((name for name in matches if version_of(name) is None), None)
        if unversioned is not None:
            raise UsageError(
                f"{unversioned} matches {glob!r} and tells no version: name the releases one by one, oldest first"
            )
        found.update(dict.fromkeys(matches))
    return tuple(found)


def _available(glob: str, spelled: Mapping[str, str]) -> str:
    """A hint for a glob without a match: the most similar names, else the first of all names."""
    from difflib import get_close_matches

    names = sorted({name if "/" in glob else branch for name, branch in spelled.items()})
    if not names:
        return "the repository has no branch"
    near = get_close_matches(glob.strip("*"), names, n=_MAX_NAMES, cutoff=0.4)
    if near:
        return f"there are {', '.join(near)}"
    rest = len(names) - _MAX_NAMES
    return f"there are {', '.join(names[:_MAX_NAMES])}{f' and {rest} more' if rest > 0 else ''}"
