"""What a repository tells for the keys of a first configuration, each with the reason: for ``init`` and ``config``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from crdcompat.apiserver.supported.ranges import server_name
from crdcompat.config.commit_servers import library_minor
from crdcompat.config.configuration import Config
from crdcompat.config.found import FoundServer, is_openshift, main_branch, server_of, targets_of, with_servers_found
from crdcompat.config.release_lines import Line, has_crds, line_of, nouns_of, of_module, older, releases_of
from crdcompat.config.release_trains import train_of
from crdcompat.errors import SourceError
from crdcompat.sources.branches import Names, read_names
from crdcompat.sources.refs import resolve
from crdcompat.sources.repository import Repository

#: The most release branches whose targets are proposed.
_MAX_RELEASES = 3


class Proposed(Struct, frozen=True):
    """The values that a repository suggests; empty ones where it tells nothing.

    ``base`` is its main branch and ``base_why`` says by what. ``targets`` are the rollback targets by branch, or for
    all branches; ``targets_why`` says which releases they are. ``server`` is the server of the base. ``library`` is the
    Kubernetes minor of ``go.mod``.
    """

    base: str = ""
    base_why: str = ""
    targets: Mapping[str, Sequence[str]] | Sequence[str] = ()
    targets_why: str = ""
    server: FoundServer | None = None
    library: int | None = None
    is_openshift: bool = False

    def completing(self, config: Config) -> Config:
        """The configuration, with these values for keys that it does not have."""
        if self.base and not config.says("base"):
            config = config.with_found("base", self.base)
        if self.targets and not config.says("rollback_targets"):
            config = config.with_found("rollback_targets", self.targets)
        if self.server is None or config.runs(self.base) or config.says("releases"):
            return config
        return with_servers_found(config, {self.base: self.server})

    def contradicted(self, config: Config) -> Iterator[str]:
        """A note if the configuration has another server for the base: a release may have left it since."""
        told = server_name(self.server.server).id if self.server is not None else ""
        said = config.runs(self.base) if config.says("releases") else ""
        if self.server is not None and said and said != told:
            yield f"releases: {self.base} is {said}; by the branches it is {told}, {self.server.why}"


def proposed(repository: Repository, config: Config | None = None) -> Proposed:
    """What the repository suggests for the keys that a configuration lacks; nothing without a commit."""
    config = config or Config()
    try:
        names = read_names(repository)
        base = main_branch(config, names)
        commit = names.commit(base) or resolve(repository, "HEAD").commit
        line = of_module(repository, names, commit, line_of(repository, names, commit, base, base))
        found = None if line.is_release or not config.may_be_openshift else server_of(line, base)
        of_openshift = config.may_be_openshift and is_openshift(config, repository, commit)
        return Proposed(
            base,
            _why(base, names),
            _targets(repository, line, base, names),
            _which(line, base, names),
            found if of_openshift else None,
            library_minor(repository, commit),
            of_openshift,
        )
    except SourceError:
        return Proposed()


def _why(base: str, names: Names) -> str:
    if names.remote_default is not None and names.remote_default[1] == base:
        return f"the default branch of {names.remote_default[0]}"
    return "the branch that is checked out" if base == names.checked_out else "by its name"


def _which(line: Line, base: str, names: Names) -> str:
    if line.are_tags:
        return "the newest tags"
    _, what = nouns_of(targets_of(line, names))
    return f"the newest {what} that left {base}" if base and not line.is_release else f"the newest {what}"


def _targets(repo: Repository, line: Line, base: str, names: Names) -> Mapping[str, Sequence[str]] | Sequence[str]:
    """The targets of the base and of the newest release branches; those of tags are the same for all branches."""
    if line.are_tags:
        return _with_crds(repo, base, targets_of(line, names))
    train = train_of(repo, names, base)
    releases = releases_of(train)
    found = {base: _with_crds(repo, base, targets_of(line, names))} if base and line.before else {}
    for name in train.branches[:_MAX_RELEASES]:
        found.setdefault(name, _with_crds(repo, name, targets_of(Line(name, older(name, releases)), names)))
    return found


def _with_crds(repo: Repository, branch: str, targets: Sequence[str]) -> list[str]:
    """The targets without those that have no CRD where the branch has one: they are from before the first CRD."""
    if not targets or not _has_crd(repo, branch or "HEAD"):
        return list(targets)
    return [name for name in targets if _has_crd(repo, name)]


def _has_crd(repo: Repository, name: str) -> bool:
    return has_crds(repo, resolve(repo, name).commit)
