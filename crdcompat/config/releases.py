"""Which releases a matrix is about, and their order: as versions, 4.9 before 4.10, else as they were named."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from crdcompat.errors import UsageError
from crdcompat.records import dataclass

_VERSION = re.compile(r"(?<![\d.])v?(\d+(?:\.\d+)+)(?:[-.]?(alpha|beta|rc|pre|ec|fc)[-.]?(\d*))?(?!\d)", re.IGNORECASE)
_WHERE = re.compile(r"^(?:refs/heads/|(?:refs/)?remotes/)")
_MAX_NAMES = 4
#: Before the release itself, in this order.
_EARLIER = ("alpha", "ec", "pre", "beta", "fc", "rc")

Version = tuple[tuple[int, ...], int, int]


@dataclass(frozen=True, slots=True)
class ReleaseList:
    """The names of the releases, oldest first, and what was taken for granted."""

    names: tuple[str, ...]
    notes: tuple[str, ...] = ()


def choose(named: Sequence[str], globs: Sequence[str], repo: str | None) -> ReleaseList:
    """The releases named, and the branches that match a glob, in order.

    Where a name tells no version, those named come in the order given, after the branches. Raises UsageError for
    fewer than two releases, for one named twice, for a glob that matches nothing or a branch without a version.
    """
    matched = _sorted(_matching(globs, repo)) if globs else ()
    names = (*matched, *(name for name in named if name not in matched))
    twice = next((name for index, name in enumerate(named) if name in named[:index]), None)
    if twice is not None:
        raise UsageError(f"{twice} is named twice")
    if len(names) < 2:
        raise UsageError(f"a matrix needs two releases or more, and there is {names[0] if names else 'none'}")
    silent = [name for name in names if version_of(name) is None]
    if not silent:
        return ReleaseList(_sorted(names))
    told = f"the releases are in the order given, oldest first: {silent[0]} tells no version"
    return ReleaseList(names, (told,))


def version_of(name: str) -> Version | None:
    """What a name tells of its place among versions: ``release-4.13``, ``v1.2.0-rc.1``, ``path:crds/4.9``; else None.

    Only the last part of a path counts. A release comes after its candidates.
    """
    found = _VERSION.findall(name.rstrip("/").rpartition("/")[2])
    if not found:
        return None
    numbers, stage, number = found[-1]
    parts = [int(part) for part in numbers.split(".")]
    while parts and not parts[-1]:
        parts.pop()  # 1.2 and 1.2.0 are one
    return tuple(parts), _EARLIER.index(stage.lower()) if stage else len(_EARLIER), int(number or 0)


def minor_of(name: str) -> tuple[int, int] | None:
    """The first two numbers of a version: what releases of one minor have in common."""
    version = version_of(name)
    if version is None:
        return None
    major, minor = (*version[0], 0, 0)[:2]
    return major, minor


def _sorted(names: Sequence[str]) -> tuple[str, ...]:
    """By version; those that tell the same stay as they are."""
    return tuple(sorted(names, key=lambda name: version_of(name) or ((), 0, 0)))


def _matching(globs: Sequence[str], repo: str | None) -> tuple[str, ...]:
    """The branches that match, each once; a remote's counts where there is no local one of its name.

    A glob is held against the names as git takes and prints them: ``release-4.13``, ``origin/release-4.13``,
    ``remotes/origin/release-4.13``. What matches without its remote's name is not named with it once more.
    """
    from crdcompat.sources.refs import branch_spellings
    from crdcompat.sources.repository import Repository

    spelled = branch_spellings(Repository(repo))
    found: dict[str, None] = {}
    for glob in globs:
        plain = _WHERE.sub("", glob)
        own = {branch for branch in spelled.values() if fnmatchcase(branch, plain)}
        met = [
            name for name, branch in spelled.items() if fnmatchcase(name, plain) and (name in own or branch not in own)
        ]
        if not met:
            raise UsageError(f"no branch matches {glob!r}; {_there_are(plain, spelled)}")
        silent = next((name for name in met if version_of(name) is None), None)
        if silent is not None:
            raise UsageError(
                f"{silent} matches {glob!r} and tells no version: name the releases one by one, oldest first"
            )
        found.update(dict.fromkeys(met))
    return tuple(found)


def _there_are(glob: str, spelled: Mapping[str, str]) -> str:
    """What could have been meant: the names most like a glob, else the first of all."""
    from difflib import get_close_matches

    names = sorted({name if "/" in glob else branch for name, branch in spelled.items()})
    if not names:
        return "the repository has no branch"
    near = get_close_matches(glob.strip("*"), names, n=_MAX_NAMES, cutoff=0.4)
    if near:
        return f"there are {', '.join(near)}"
    rest = len(names) - _MAX_NAMES
    return f"there are {', '.join(names[:_MAX_NAMES])}{f' and {rest} more' if rest > 0 else ''}"
