"""Refs that a configuration names and the repository does not have: else a misspelt one is met in some check."""

from __future__ import annotations

from collections.abc import Iterator

from crdcompat.errors import RefNotFoundError, SourceError
from crdcompat.policy.config import Config
from crdcompat.sources import open_source
from crdcompat.sources.refs import resolve
from crdcompat.sources.repository import Repository


def missing_refs(config: Config, repo: str | None = None) -> Iterator[str]:
    """For each ref of ``base`` and ``rollback_targets`` that is not there, what to do; nothing outside a repository."""
    repository = Repository(repo)
    if not repository.exists:
        return
    targets = config.values["rollback_targets"]
    named = targets if isinstance(targets, list) else [name for found in targets.values() for name in found]
    if config.base is not None:
        yield from _missing("base", config.base, repository)
    for name in dict.fromkeys(named):
        yield from _missing("rollback_targets", name, repository)


def _missing(key: str, name: str, repository: Repository) -> Iterator[str]:
    scheme, colon, _ = name.partition(":")
    if name == "-" or (colon and scheme != "git"):
        return
    try:
        if key == "base":
            resolve(repository, name)
        else:
            open_source(name, repo=repository.path)
    except RefNotFoundError as error:
        yield f"{key}: {'; '.join(str(error).splitlines())}"
    except SourceError as error:
        yield f"{key}: {name}: {error}"
