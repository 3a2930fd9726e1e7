"""The releases of a matrix in order: by version, 4.9 before 4.10, else in the order given."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from msgspec import Struct

from crdcompat.config.configuration import Config
from crdcompat.errors import UsageError
from crdcompat.sources.urls import public_name
from crdcompat.vocabulary.texts import some

#: Stages of a pre-release, in order; each precedes the release itself.
_OF_BUILDS = ("main", "dev", "nightly", "snapshot", "canary", "edge", "test")
_STAGES = (*_OF_BUILDS, "alpha", "ec", "ea", "pre", "beta", "fc", "rc")
_VERSION = re.compile(
    rf"(?<![\d.])v?(\d+(?:\.\d+)+)(?:[-.]?(?!maint)({'|'.join(_STAGES)})[-.]?(\d*))?(?!\d)", re.IGNORECASE
)
_WHERE = re.compile(r"^(?:refs/heads/|(?:refs/)?remotes/)")
#: A name of words with a version at its end.
_NAMED = re.compile(r"([A-Za-z]+(?:-[A-Za-z]+)*-)v?\d+(?:\.\d+)+(?:\.x)?")
_MAX_NAMES = 4

Version = tuple[tuple[int, ...], int, int]


class ReleaseList(Struct, frozen=True):
    """The names of the releases, oldest first, and notes on assumptions about their order."""

    names: tuple[str, ...]
    notes: tuple[str, ...] = ()


def choose(
    named: Sequence[str], globs: Sequence[str], repo: str | None, tag_globs: Sequence[str] = (), least: int = 2
) -> ReleaseList:
    """The releases of ``named``, the branches that match ``globs`` and the tags for ``tag_globs``, oldest first.

    Of the tags that match, the newest patch of each minor counts. If a name has no version, the branches and tags come
    first and then ``named`` in the order given. Raises UsageError for fewer than the ``least`` number of releases, a
    duplicate name, a glob without a match, and a matching branch without a version.
    """
    matched = _sorted((*(_matching(globs, repo) if globs else ()), *_matching_tags(tag_globs, repo)))
    names = (*matched, *(name for name in named if name not in matched))
    duplicate = next((name for index, name in enumerate(named) if name in named[:index]), None)
    if duplicate is not None:
        raise UsageError(f"{public_name(duplicate)} is named twice")
    if len(names) < least:
        raise UsageError(
            f"a matrix needs two releases or more, and there is {public_name(names[0]) if names else 'none'}"
        )
    unversioned = [name for name in names if version_of(name) is None]
    if not unversioned:
        return ReleaseList(_sorted(names))
    note = f"the releases are in the order given, oldest first: {public_name(unversioned[0])} names no version"
    return ReleaseList(names, (note,))


def version_of(name: str) -> Version | None:
    """The version in a name (``release-4.13``, ``v1.2.0-rc.1``, ``path:crds/4.9``) as a sort key; None without one.

    The key is (numbers, index of the stage, number of the stage): a release comes after its pre-releases. Only the last
    part of a path counts. A name that begins with a version has that one (``v0.8.1-2023.03.14``), another its last one.
    """
    last = name.rstrip("/").rpartition("/")[2]
    found = _VERSION.findall(last)
    if not found:
        return None
    numbers, stage, number = found[0 if _VERSION.match(last) else -1]
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


def accepting_release(name: str, config: Config) -> str | None:
    """The name of a release as a declaration of growth has it: ``release-4.16``; None for one without a version."""
    from crdcompat.findings.growth import is_release

    minor = openshift_minor(name, config)
    return None if minor is None else name if is_release(name) else f"release-{minor[0]}.{minor[1]}"


def openshift_minor(name: str, config: Config) -> tuple[int, int] | None:
    """Major and minor of a release, by the version in its name, else by the OpenShift server that it has to run.

    None if neither tells. A main branch has no version in its name.
    """
    found = minor_of(name)
    if found is not None:
        return found
    runs = config.runs(name)
    return minor_of(runs) if runs.startswith("openshift-") else None


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
                f"{unversioned} matches {glob!r} and names no version: name the releases one by one, oldest first"
            )
        found.update(dict.fromkeys(matches))
    return tuple(found)


def _matching_tags(globs: Sequence[str], repo: str | None) -> Iterator[str]:
    """The tags that match, the newest patch of each minor alone. Raises UsageError."""
    from crdcompat.sources.refs import tags
    from crdcompat.sources.repository import Repository

    names = tags(Repository(repo)) if globs else ()
    for glob in globs:
        found = newest_patches(name for name in names if fnmatchcase(name, glob.removeprefix("refs/tags/")))
        if not found:
            available = _available(glob, {name: name for name in names}, "tag")
            raise UsageError(f"no tag with a version matches {glob!r}; {available}")
        yield from found


def newest_patches(names: Iterable[str]) -> tuple[str, ...]:
    """The newest release of each minor, oldest first; a pre-release only where the minor has no release yet.

    Names that differ before the version (``v1.2.3``, ``api/v1.2.3``) are of different projects. A name that ends with
    the version counts before others of it (``v1.2.3-fips``).
    """
    newest: dict[tuple[str, tuple[int, int]], str] = {}
    versions = [name for name in names if version_of(name) is not None]
    for name in _sorted(sorted(versions, key=lambda name: not _VERSION.split(name, maxsplit=1)[-1])):
        minor = minor_of(name)
        if minor is None:
            continue
        key = _VERSION.split(name, maxsplit=1)[0], minor
        known = newest.get(key)
        if known is None or is_release(name) or not is_release(known):
            newest[key] = name
    return _sorted(list(newest.values()))


def series_of(tags: Iterable[str]) -> tuple[str, ...]:
    """The tags of the releases of a project: ``v1.2.3`` and ``1.2.3``, else the tags of the name that has most.

    A tag with a slash is of another module of the repository, or of another project.
    """
    by_name: dict[str, list[str]] = {}
    for tag in tags:
        if "/" not in tag and version_of(tag) is not None:
            by_name.setdefault(_VERSION.split(tag, maxsplit=1)[0], []).append(tag)
    most = max(by_name.values(), key=len, default=[])
    return tuple(by_name.get("", most))


def prefix_of(name: str) -> str:
    """What a name has before its version, if that is words and the version is the rest: ``mce-`` of ``mce-2.9``."""
    found = _NAMED.fullmatch(name)
    return found[1] if found else ""


def is_release(name: str) -> bool:
    """Whether a name contains the version of a release, not of a pre-release."""
    version = version_of(name)
    return version is not None and version[1] == len(_STAGES)


def _available(glob: str, spelled: Mapping[str, str], what: str = "branch") -> str:
    """A hint for a glob without a match: the most similar names, else the first of all names."""
    from difflib import get_close_matches

    names = sorted({name if "/" in glob else branch for name, branch in spelled.items()})
    if not names:
        return f"the repository has no {what}"
    near = get_close_matches(glob.strip("*"), names, n=_MAX_NAMES, cutoff=0.4)
    return f"there are {some(near or names, _MAX_NAMES)}"
