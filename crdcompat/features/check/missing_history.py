"""What a clone lacks for a check (base, history, rollback targets), as one command that fetches it all."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from crdcompat.errors import CrdcompatError, MissingObjectsError, RefNotFoundError
from crdcompat.features.check.base import chosen_base
from crdcompat.features.check.check_options import CheckOptions
from crdcompat.sources.fetching import fetch_commands, is_partial
from crdcompat.sources.refs import resolve
from crdcompat.sources.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crdcompat.config.configuration import Config

#: The branches of releases, fetched where nothing names the rollback targets.
_RELEASES = ("release-*", "stable-*")
#: What makes the clone of a CI system complete, by the variable that the system sets.
_SETTINGS = {
    "GITHUB_ACTIONS": "`fetch-depth: 0` of actions/checkout",
    "GITLAB_CI": '`GIT_DEPTH: "0"` in .gitlab-ci.yml',
}


def with_one_advice(
    error: MissingObjectsError, config: Config, options: CheckOptions, environment: Mapping[str, str] = os.environ
) -> MissingObjectsError:
    """The error with advice on all that the check lacks, so that the next run has everything.

    A clone of CI can lack the base branch, the history and the targets, but a run stops at the first of them.
    """
    if not error.advice:  # no fetch can help: no ref at all, or a branch of several remotes
        return error
    repository = Repository(options.repo)
    base = chosen_base(repository, options.base, config.base, environment)
    release = base.release if base else ""
    has_base = base is None or _has(repository, base.ref)
    without_files = is_partial(repository)  # of content, so that refs that are there are fetched again
    lacking = [error.ref] if isinstance(error, RefNotFoundError) else []
    lacking += [base.ref] if base and (without_files or not has_base) else []
    named = tuple(options.targets) if options.targets is not None else _configured(config, release)
    lacking += _target_refs(repository, [name for name in named if name != release], existing=without_files)
    commands = fetch_commands(repository, lacking, branches=() if named else _RELEASES, whole=True)
    if not commands:
        return error
    advice = f"to get all that this check needs:\n{commands}"
    setting = next((text for name, text in _SETTINGS.items() if environment.get(name)), "")
    if setting and (repository.is_shallow or not has_base):
        advice += f"\nor set {setting}"
    if isinstance(error, RefNotFoundError):
        return RefNotFoundError(error.ref, error.problem, error.near, advice)
    return MissingObjectsError(error.problem, advice)


def _configured(config: Config, release: str) -> tuple[str, ...]:
    """The configured targets of a release; the targets of all releases if the configuration does not name this one."""
    targets = config.values["rollback_targets"]
    if isinstance(targets, dict) and release not in targets:
        return tuple(dict.fromkeys(name for names in targets.values() for name in names))
    return config.targets(release) or ()


def _has(repository: Repository, ref: str) -> bool:
    try:
        resolve(repository, ref)
    except RefNotFoundError:
        return False
    return True


def _target_refs(repository: Repository, names: list[str], *, existing: bool) -> Iterator[str]:
    """The refs among the targets that the repository lacks, or has (``existing``); a target can be a path, too."""
    from crdcompat.sources import open_source
    from crdcompat.sources.git import GitTree

    for name in names:
        scheme, colon, _ = name.partition(":")
        if colon and scheme != "git":
            continue
        try:
            tree = open_source(name, repo=repository.path)
        except RefNotFoundError as error:
            yield error.ref
        except CrdcompatError:
            continue  # the run will say so itself
        else:
            if existing and isinstance(tree, GitTree):
                yield name.removeprefix("git:")
