"""The configuration and a repository: a first configuration for it, and configured refs that it lacks.

``first_config`` writes the keys that branches and files suggest, and every other key as a comment. ``missing_refs``
finds a misspelt ref before a check fails on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crdcompat.config.configuration import Config
from crdcompat.config.releases import is_release, newest_patches, version_of
from crdcompat.crds.pairing import pair
from crdcompat.crds.reader import CrdReader
from crdcompat.crds.variants import PLAIN, preset_of
from crdcompat.errors import RefNotFoundError, SourceError
from crdcompat.sources import open_source
from crdcompat.sources.refs import release_branches, resolve, tags, trees
from crdcompat.sources.repository import Repository

#: Most releases to go back to from one branch, and most branches or tags to propose.
_MAX_TARGETS, _MAX_RELEASES = 2, 3


def first_config(repo: str | None = None) -> str:
    """The text of a ``.crdcompat.yaml`` for a repository, from its branches and the CRDs of its working tree."""
    repository = Repository(repo)
    default = _default_branch(repository)
    preset, contexts = _contexts(repo)
    lines = [
        "# Configuration of crdcompat; every key is optional. crdcompat config --show prints the effective one.",
        "",
        "# What a change is compared with, where neither an option nor CI says so.",
        f"base: {default}" if default else "# base: main",
        "",
        "# Releases that a rollback may go to, by the branch a change is made for. A release that is not named here",
        '# may not be rolled back. Names with a number only belong in quotes: "4.10".',
    ]
    lines += [
        *_rollback_targets(repository, default),
        "",
        "# The Kubernetes minor of a release whose name does not contain it: 1.31, or openshift-4.18.",
        '# releases: {main: "1.31"}',
        "",
        "# The annotations that distinguish variants of a CRD: of openshift, gateway-api or plain; or your own.",
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
        "# Recordings as evidence: findings that affect their objects get a higher severity.",
        "# objects: [recordings/must-gather.tar.gz]",
        "",
        "# formats: [text, junit=report/junit_crdcompat.xml]",
        "# fail_on: error",
        "",
        "# Advice on new status fields that will be expensive to change, as infos.",
        "# status_advice: true",
        "",
        "# With the profile strict, what upgrades reject or remove in Default fails as well.",
        "# profile: standard",
        "# waivers: .crdcompat-waivers.yaml",
    ]
    return "".join(f"{line}\n" for line in lines)


def _rollback_targets(repository: Repository, default: str) -> Iterator[str]:
    """The newest release branches, else the tags of the newest minors; none whose files are those of the base."""
    branches = _newest_first(release_branches(repository), repository, default)
    if branches:
        yield "rollback_targets:"
        if default and default not in branches:
            yield f"  {default}: [{', '.join(branches[:_MAX_TARGETS])}]"
        for at, name in enumerate(branches[:_MAX_RELEASES]):
            yield f"  {name}: [{', '.join(branches[at + 1 : at + 1 + _MAX_TARGETS])}]"
        return
    try:
        named = [name for name in tags(repository) if is_release(name) and "/" not in name]
    except SourceError:
        named = []
    releases = _newest_first(newest_patches(named), repository, default)[:_MAX_RELEASES]
    yield (
        f"rollback_targets: [{', '.join(map(_quoted, releases))}]" if releases else "# rollback_targets: [release-1.0]"
    )


def _newest_first(names: Sequence[str], repository: Repository, default: str) -> list[str]:
    """The names by version, the newest first, without those whose files are those of the default branch."""
    found = trees(repository, [*names, default]) if names else {}
    kept = [name for name in names if name == default or found.get(name) != found.get(default)]
    return sorted(kept, key=lambda name: version_of(name) or ((), 0, 0), reverse=True)


def _quoted(name: str) -> str:
    """A name in quotes where YAML reads it as a number."""
    return f'"{name}"' if name[:1].isdigit() else name


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
