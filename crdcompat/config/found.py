"""What the program finds out about releases and servers where the configuration does not say it.

A rollback goes to the newest releases before a change. The name of a release of OpenShift gives its server; the main
branch is the release after the newest branch that left it. The configuration has precedence: a key that it has counts,
also with an empty value; names that ``releases`` lacks are added.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.apiserver.server_versions import OPENSHIFT, Server, server_of_name
from crdcompat.apiserver.supported.ranges import server_name
from crdcompat.config.commit_servers import is_of_openshift, library_minor
from crdcompat.config.configuration import Config
from crdcompat.config.release_lines import Line, line_of, nouns_of, of_module
from crdcompat.config.release_trains import may_be_release_branch, release_branches
from crdcompat.errors import SourceError
from crdcompat.sources.branches import Names, having, read_names
from crdcompat.sources.git import GitTree, IndexTree, WorktreeTree
from crdcompat.sources.refs import resolve
from crdcompat.sources.repository import Repository
from crdcompat.sources.tree import Tree

#: The most releases that a rollback may go to: branches, or tags.
_MAX_BRANCHES, _MAX_TAGS = 2, 3


class Found(Struct, frozen=True):
    """A configuration, completed for the changes of ``branch`` (the name that its keys have for it; "" if unknown).

    ``notes`` say in a sentence each what was found, and from what.
    """

    config: Config
    branch: str = ""
    notes: tuple[str, ...] = ()


class FoundServer(Struct, frozen=True):
    """The server of a release, and the reason in words. ``is_inferred``: its name does not say it."""

    server: Server
    why: str
    is_inferred: bool = False


def with_found(
    config: Config, repo: str | None, commit: str, branch: str = "", named: Sequence[str] | None = None
) -> Found:
    """Complete the configuration for a change that is based on a commit.

    ``branch`` is the branch that the change is said to be for, in any spelling; it may be no branch at all. ``named``
    are rollback targets that a person named: none are looked for.
    """
    repository = Repository(repo)
    try:
        names = read_names(repository)
        plain = names.branch(branch) or branch
        line = line_of(repository, names, commit, main_branch(config, names), plain)
        name = _key(config, repository, names, commit, (branch, plain, line.branch)) or line.branch or plain
        notes: tuple[str, ...] = ()
        looks = named is None and not config.says("rollback_targets")
        line = of_module(repository, names, commit, line) if looks else line
        if looks:
            config = config.with_found("rollback_targets", {name: list(targets_of(line, names))} if line.before else [])
            notes = tuple(_of_targets(line, names))
        older = named if named is not None else config.targets(name) or ()
        servers = {name: server_of(line, name), **{each: _by_name(each) for each in older}}
        found = {each: server for each, server in servers.items() if server and _lacks(config, each)}
        if not found:
            return Found(config, name, notes)
        if not is_openshift(config, repository, commit):
            return Found(replace(config, is_elsewhere=True) if looks and older else config, name, notes)
        of_servers = tuple(sentence(each, server, repository, commit) for each, server in found.items())
    except SourceError:  # a repository that git cannot read: the check reports it
        return Found(config, branch)
    return Found(with_servers_found(config, found), name, (*notes, *of_servers))


def server_of_tree(tree: Tree, config: Config) -> tuple[str, str]:
    """The server of a git commit, the index or a working tree, and a note; "" where the name or nothing gives it."""
    if not isinstance(tree, GitTree | IndexTree | WorktreeTree) or not _lacks(config, tree.name) or _by_name(tree.name):
        return "", ""
    try:
        names = read_names(tree.repo)
        branch = names.branch(tree.name) or (names.checked_out if tree.commit is None or tree.name == "HEAD" else "")
        if config.runs(branch):
            return config.runs(branch), ""
        if not any(map(server_of_name, names.refs)):
            return "", ""
        commit = tree.commit or resolve(tree.repo, "HEAD").commit
        found = server_of(line_of(tree.repo, names, commit, main_branch(config, names), branch), branch)
        if found is None or not is_openshift(config, tree.repo, commit):
            return "", ""
        return server_name(found.server).id, sentence(tree.name, found, tree.repo, commit)
    except SourceError:
        return "", ""


def main_branch(config: Config, names: Names) -> str:
    """The main branch: the configured base, if that is a branch, else the default branch of the repository."""
    return names.branch(config.base or "") or names.default


def targets_of(line: Line, names: Names) -> tuple[str, ...]:
    """The releases that a rollback from a line goes to, by full ref where a branch and a tag of the name differ."""
    before = line.before[: _MAX_TAGS if line.are_tags else _MAX_BRANCHES]
    return tuple(names.unambiguous(each, is_tag=line.are_tags or not may_be_release_branch(each)) for each in before)


def server_of(line: Line, name: str) -> FoundServer | None:
    """The server of a line by the names of OpenShift's releases; None if they do not tell.

    ``name`` is what people call the line.
    """
    if line.is_release:
        found = _by_name(line.branch)
        return found if found is None or name == line.branch else FoundServer(found.server, f"as {line.branch}")
    newest = server_of_name(line.before[0]) if line.before else None
    if newest is None or newest.openshift is None:
        return None
    after = next((release for release in sorted(OPENSHIFT) if release > newest.openshift), None)
    if after is None:
        return None
    return FoundServer(Server(OPENSHIFT[after], after), f"the release after {line.before[0]}", is_inferred=True)


def is_openshift(config: Config, repo: Repository, commit: str) -> bool:
    """Whether the configuration or the manifests of a commit say that its releases are releases of OpenShift.

    Raises SourceError.
    """
    if config.preset is not None or any(runs.startswith("openshift-") for runs in config.values["releases"].values()):
        return config.may_be_openshift
    return is_of_openshift(repo, commit)


def sentence(name: str, found: FoundServer, repo: Repository, commit: str) -> str:
    """Which server a release has, and from what: ``4.15: Kubernetes 1.28, from its name``. Raises SourceError."""
    if not found.is_inferred:
        return f"{name}: Kubernetes {found.server.kubernetes}, {found.why}"
    library = library_minor(repo, commit)
    other = (
        f"; go.mod has libraries of 1.{library}, which do not decide"
        if library not in (None, found.server.minor)
        else ""
    )
    return f"{name}: {found.server}, {found.why}{other}"


def with_servers_found(config: Config, found: dict[str, FoundServer]) -> Config:
    """The configuration with the servers of more releases."""
    servers = {name: server_name(each.server).id for name, each in found.items()}
    return config.with_found("releases", {**config.values["releases"], **servers})


def _lacks(config: Config, name: str) -> bool:
    """Whether the server of a release is to be found: no key ``releases`` names it or is empty."""
    is_off = config.says("releases") and not config.values["releases"]
    return config.may_be_openshift and not is_off and not config.runs(name)


def _by_name(name: str) -> FoundServer | None:
    server = server_of_name(name)
    return FoundServer(server, "from its name") if server else None


def _key(config: Config, repo: Repository, names: Names, commit: str, spellings: Sequence[str]) -> str:
    """The name that the configuration has for the branch of a commit; "" if it names none.

    That is one of the ``spellings``, else the only configured branch that has the commit. A release branch may have it
    because it left the main branch later.
    """
    mapped = config.values["rollback_targets"]
    keys = dict.fromkeys((*(mapped if isinstance(mapped, dict) else ()), *config.values["releases"]))
    if (spelt := next((name for name in spellings if name in keys), "")) or not keys:
        return spelt
    refs = {name: names.refs[name] for name in keys if name in names.refs and not may_be_release_branch(name)}
    there = having(repo, commit, refs)
    return next(iter(there)) if len(there) == 1 else ""


def _of_targets(line: Line, names: Names) -> Iterator[str]:
    """Notes on the rollback targets that were found, and on branches that several remotes have."""
    shown = targets_of(line, names)
    many = len(shown) > 1
    if line.are_tags:
        why = f"the newest {'tags' if many else 'tag'} before this change"
    elif line.is_release:
        why = f"the {'releases' if many else 'release'} before {line.branch}"
    else:
        why = f"the newest {nouns_of(shown)[many]} that left {line.branch or 'main'} before this change"
    if shown:
        yield f"rollback {'targets' if many else 'target'} {', '.join(shown)}: {why}"
    unsure = [name for name in release_branches(names.doubtful) if name not in line.before[:_MAX_BRANCHES]]
    if unsure:
        first = ", ".join(unsure[:_MAX_BRANCHES])
        yield f"{first}: no rollback target, since several remotes have it (configuration: rollback_targets)"
