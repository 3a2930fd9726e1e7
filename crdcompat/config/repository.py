"""The configuration and a repository: a first configuration for it, and configured refs that it lacks.

``first_config`` writes the keys that branches and files suggest, and every other key as a comment. ``missing_refs``
finds a misspelt ref before a check fails on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crdcompat.config.configuration import Config
from crdcompat.crds.pairing import pair
from crdcompat.crds.reader import CrdReader
from crdcompat.crds.variants import PLAIN, preset_of
from crdcompat.errors import RefNotFoundError, SourceError
from crdcompat.sources import open_source
from crdcompat.sources.refs import release_branches, resolve
from crdcompat.sources.repository import Repository

_VERSION = re.compile(r"(\d+)\.(\d+)$")
_MAX_TARGETS = 2


def first_config(repo: str | None = None) -> str:
    """The text of a ``.crdcompat.yaml`` for a repository, from its branches and the CRDs of its working tree."""
    repository = Repository(repo)
    releases, default = release_branches(repository), _default_branch(repository)
    preset, contexts = _contexts(repo)
    lines = [
        "# Configuration of crdcompat; every key is optional. crdcompat config --show tells what is in effect.",
        "",
        "# What a change is compared with, where neither an option nor CI says so.",
        f"base: {default}" if default else "# base: main",
        "",
        "# Releases that a rollback may go to, by the branch a change is made for. A release that is not named here",
        '# may not be rolled back. Names with a number only belong in quotes: "4.10".',
    ]
    newest_first = sorted(releases, key=_version, reverse=True)
    if newest_first:
        lines.append("rollback_targets:")
        if default and default not in releases:
            lines.append(f"  {default}: [{', '.join(newest_first[:_MAX_TARGETS])}]")
        for at, name in enumerate(newest_first):
            lines.append(f"  {name}: [{', '.join(newest_first[at + 1 : at + 1 + _MAX_TARGETS])}]")
    else:
        lines.append("# rollback_targets: [release-1.0]")
    lines += [
        "",
        "# The Kubernetes minor that runs beside a release whose name does not tell: 1.31, or openshift-4.18.",
        '# releases: {main: "1.31"}',
        "",
        "# What tells variants of a CRD apart: openshift, gateway-api or plain; or annotations of your own.",
        f"# preset: {preset}",
        "# variant_annotations: [example.com/flavour]",
        "",
        "# Only these files, or not these; * crosses folders.",
        '# include: ["config/crd/*"]',
        '# exclude: ["*/testdata/*"]',
        "",
        "# The manifests that clusters get; they override other documents of the same CRDs.",
        '# ships: ["payload-manifests/crds/*"]',
        "",
        f"# Only these contexts. There are: {', '.join(contexts) or 'none yet'}.",
        f'# contexts: ["{contexts[0] if contexts else "default"}"]',
        "",
        "# Other severities; the first entry that fits counts.",
        "# severities:",
        "#   - {rule: enum-value-added, owner: spec, severity: info}",
        "",
        "# Recordings whose objects are evidence: what they meet is raised.",
        "# objects: [recordings/must-gather.tar.gz]",
        "",
        "# formats: [text, junit=report/junit_crdcompat.xml]",
        "# fail_on: error",
        "",
        "# With the profile strict, what upgrades reject or remove in Default fails as well.",
        "# profile: standard",
        "# waivers: .crdcompat-waivers.yaml",
    ]
    return "".join(f"{line}\n" for line in lines)


def _default_branch(repository: Repository) -> str:
    try:
        head = repository.run("symbolic-ref", "--quiet", "refs/remotes/origin/HEAD", ok=(0, 1, 128)).stdout
        main = repository.run("rev-parse", "--verify", "--quiet", "refs/heads/main", ok=(0, 1, 128))
    except SourceError:
        return ""
    default = head.decode("utf-8", "replace").strip().removeprefix("refs/remotes/origin/")
    return default or ("main" if main.returncode == 0 else "")


def _contexts(repo: str | None) -> tuple[str, tuple[str, ...]]:
    try:
        crds = CrdReader().read(open_source("worktree:", repo=repo))
    except SourceError:
        return PLAIN, ()
    return preset_of(crds.documents), pair(crds, crds).contexts if crds.documents else ()


def _version(name: str) -> tuple[int, int]:
    found = _VERSION.search(name)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def missing_refs(config: Config, repo: str | None = None) -> Iterator[str]:
    """A message for each ref of ``base`` and ``rollback_targets`` that is missing; none outside of a repository."""
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
