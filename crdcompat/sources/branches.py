"""The branches and tags of a repository: their commits, the default branch, and which of them have a commit."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.sources.naming import display_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crdcompat.sources.repository import Repository

_RELEASE = re.compile(r"(?:releases?|stable|openshift|enterprise)[-/]v?\d+\.\d+(?:\.(?:\d+|x))?|v?\d+\.\d+\.x")
#: By convention the remote that is the project, in a clone of a fork; GitHub's own command line prefers it, too.
PROJECT = "upstream"
_USUAL = ("main", "master")
_FORM = "--format=%(refname)%00%(objectname)%00%(*objectname)%00%(symref)%00%(HEAD)"


class Names(Struct, frozen=True):
    """The commits of branches and tags by short name; remote branches by (remote, branch).

    ``remote_heads`` are the default branches of remotes as far as git knows them, ``checked_out`` is HEAD's branch
    ("" if it is detached or has no commit).
    """

    local: dict[str, str]
    tags: dict[str, str]
    remote: dict[tuple[str, str], str]
    remote_heads: dict[str, str]
    checked_out: str

    @property
    def refs(self) -> dict[str, str]:
        """The full ref of each branch by its name: the local branch, else that of ``upstream`` or the only remote."""
        times = Counter(branch for _, branch in self.remote)
        found = {
            branch: f"refs/remotes/{remote}/{branch}"
            for remote, branch in self.remote
            if times[branch] == 1 or remote == PROJECT
        }
        return found | {branch: f"refs/heads/{branch}" for branch in self.local}

    @property
    def doubtful(self) -> tuple[str, ...]:
        """The branches that several remotes have, and neither the repository itself nor ``upstream``."""
        times = Counter(branch for _, branch in self.remote if branch not in self.refs)
        return tuple(branch for branch, count in times.items() if count > 1)

    def commit(self, branch: str) -> str:
        """The commit of a branch of ``refs``; "" for other names."""
        there = {remote: commit for (remote, name), commit in self.remote.items() if name == branch}
        return self.local.get(branch) or there.get(PROJECT) or next(iter(there.values()), "")

    def unambiguous(self, name: str, *, is_tag: bool) -> str:
        """The name of a tag or a branch, or its full ref where the other one has the name and another commit."""
        if self.tags.get(name, "") == self.commit(name) or not (name in self.tags and name in self.refs):
            return name
        return f"refs/tags/{name}" if is_tag else self.refs[name]

    def branch(self, name: str) -> str:
        """The branch that a name spells, with or without its remote or ``refs/``; "" if it spells none."""
        plain = re.sub(r"^(?:refs/heads/|(?:refs/)?remotes/)", "", name.removeprefix("git:"))
        if plain in self.local or any(branch == plain for _, branch in self.remote):
            return plain
        return next((branch for remote, branch in self.remote if f"{remote}/{branch}" == plain), "")

    @property
    def remote_default(self) -> tuple[str, str] | None:
        """Remote and name of the default branch of a remote: as git knows it, else its main or master.

        None if git knows none, or several of them.
        """
        known = [(remote, branch) for remote, branch in self.remote_heads.items() if (remote, branch) in self.remote]
        usual = [pair for pair in self.remote if pair[1] in _USUAL]
        for found in (known, usual):
            own = [pair for pair in found if pair[0] == "origin"] or found
            if found:
                return own[0] if len(own) == 1 else None
        return None

    @property
    def default(self) -> str:
        """The branch that changes are made for: the remote's default, else main or master, else HEAD's; "" for none."""
        remote = self.remote_default
        if remote is not None:
            return remote[1]
        usual = [name for name in _USUAL if name in self.refs]
        return self.checked_out if self.checked_out in usual or not usual else usual[0]


def is_release_branch(name: str) -> bool:
    """Whether a branch has the name of a release: ``release-1.2``, ``stable-1.2``, ``release/v1.2.x``, ``v1.2.x``, …"""
    return _RELEASE.fullmatch(name) is not None


def read_names(repo: Repository, *options: str) -> Names:
    """All branches and tags, or those that ``options`` of ``git for-each-ref`` select. Raises SourceError."""
    listed = repo.run("for-each-ref", *options, _FORM, "refs/heads", "refs/remotes", "refs/tags")
    lines = listed.stdout.decode("utf-8", "replace").splitlines()
    configured = names_of_remotes(repo) if any(line.startswith("refs/remotes/") for line in lines) else ()
    local: dict[str, str] = {}
    tags: dict[str, str] = {}
    remote: dict[tuple[str, str], str] = {}
    heads: dict[str, str] = {}
    checked_out = ""
    for line in lines:
        ref, own, peeled, symbolic, head = line.split("\0")
        if ref.startswith("refs/heads/"):
            local[ref.removeprefix("refs/heads/")] = own
            checked_out = ref.removeprefix("refs/heads/") if head == "*" else checked_out
        elif ref.startswith("refs/tags/"):
            tags[ref.removeprefix("refs/tags/")] = peeled or own
        else:
            at, branch = _split_remote(ref.removeprefix("refs/remotes/"), configured)
            if branch == "HEAD" and symbolic:
                heads[at] = symbolic.removeprefix(f"refs/remotes/{at}/")
            elif branch not in ("", "HEAD"):
                remote[at, branch] = own
    return Names(local, tags, remote, heads, checked_out)


def names_of_remotes(repo: Repository) -> tuple[str, ...]:
    """The names of the remotes; in a partial clone of a URL the URL is one. Raises SourceError."""
    return tuple(repo.run("remote").stdout.decode("utf-8", "replace").split())


def _split_remote(name: str, configured: Iterable[str]) -> tuple[str, str]:
    """Split ``origin/release-4.13``. A remote's name can contain slashes, and a mirror may have no remotes."""
    for remote in configured:
        if name.startswith(f"{remote}/"):
            return remote, name.removeprefix(f"{remote}/")
    remote, _, branch = name.partition("/")
    return remote, branch


def having(repo: Repository, commit: str, refs: Mapping[str, str]) -> frozenset[str]:
    """The ``refs`` (full refs by name) whose history has ``commit``. Raises SourceError."""
    return _listed(repo, f"--contains={commit}", refs)


def merged(repo: Repository, commit: str, refs: Mapping[str, str]) -> frozenset[str]:
    """The ``refs`` (full refs by name) that are in the history of ``commit``. Raises SourceError."""
    return _listed(repo, f"--merged={commit}", refs)


def committed(repo: Repository, commit: str) -> int:
    """When a commit was made, in seconds since 1970. Raises SourceError."""
    return int(repo.run("log", "-1", "--no-walk", "--format=%ct", commit, "--").stdout)


def behind(repo: Repository, ref: str, tip: str) -> int:
    """The number of commits that ``tip`` has and ``ref`` lacks: few where ``ref`` left lately. Raises SourceError."""
    return int(repo.run("rev-list", "--count", tip, "--not", ref, "--").stdout)


def _listed(repo: Repository, option: str, refs: Mapping[str, str]) -> frozenset[str]:
    if not refs:
        return frozenset()
    listed = repo.run("for-each-ref", option, "--format=%(refname)", *refs.values()).stdout
    found = set(display_path(listed).splitlines())
    return frozenset(name for name, ref in refs.items() if ref in found)


def grown_from(repo: Repository, commit: str, refs: Iterable[str]) -> str:
    """The newest commit of ``refs`` that a commit outside of them is based on; "" if there is none.

    Raises SourceError.
    """
    args = ("rev-list", "--first-parent", "--boundary", commit, "--not", *refs, "--")
    return next((line[1:] for line in display_path(repo.run(*args).stdout).splitlines() if line.startswith("-")), "")
