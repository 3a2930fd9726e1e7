"""The configuration and a repository: a first configuration for it, and configured refs that it lacks.

``first_config`` writes the keys that branches and files suggest, and every other key as a comment. ``missing_refs``
finds a misspelt ref before a check fails on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from crdcompat.apiserver.supported.ranges import server_name
from crdcompat.config.configuration import Config
from crdcompat.config.proposed import Proposed, proposed
from crdcompat.crds.pairing import pair
from crdcompat.crds.proposed_ships import ProposedShips, proposed_ships
from crdcompat.crds.reader import CrdReader, CrdSet
from crdcompat.crds.variants import PLAIN, preset_of
from crdcompat.errors import RefNotFoundError, SourceError, UsageError
from crdcompat.sources import open_source
from crdcompat.sources.named_refs import named_commit
from crdcompat.sources.repository import Repository


def first_config(repo: str | None = None) -> str:
    """The text of a ``.crdcompat.yaml`` for a repository, from its branches and the CRDs of its working tree."""
    found = proposed(Repository(repo))
    crds = _crds(repo)
    preset, contexts = _contexts(crds)
    lines = [
        "# Configuration of crdcompat; every key is optional. crdcompat config --show prints the effective one.",
        "",
        "# What a change is compared with, where neither an option nor CI says so.",
        f"base: {found.base}  # {found.base_why}" if found.base else "# base: main",
        "",
        "# Releases that a rollback may go to, by the branch a change is made for. A release that is not named here",
        '# may not be rolled back; [] is for none. Names with a number only belong in quotes: "4.10".',
        *_rollback_targets(found),
        "",
        *_releases(found),
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
        *_ships(crds),
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
        "# formats: [text]",
        "# fail_on: error",
        "",
        "# Advice on new status fields that will be expensive to change, as infos.",
        "# status_advice: true",
        "",
        "# With the profile strict, what upgrades reject or remove in Default fails as well.",
        "# profile: standard",
        "# waivers: .crdcompat-waivers.yaml",
        "",
        "# With base, waivers count once they are merged, not in the check of the change that adds them.",
        "# trust: change",
        "",
        "# Who installs the CRDs; without it, charts, bundles and run levels in the tree tell.",
        "# installer: helm-templates",
    ]
    return "".join(f"{line}\n" for line in lines)


def _rollback_targets(found: Proposed) -> Iterator[str]:
    if not found.targets:
        yield "# rollback_targets: [release-1.0]"
        return
    yield f"# These are {found.targets_why}:"
    if isinstance(found.targets, Mapping):
        yield "rollback_targets:"
        for name, targets in found.targets.items():
            yield f"  {name}: [{', '.join(targets)}]"
    else:
        yield f"rollback_targets: [{', '.join(map(_quoted, found.targets))}]"


def _releases(found: Proposed) -> Iterator[str]:
    yield '# The server that runs beside a release: a minor of Kubernetes ("1.31"), or openshift-4.18.'
    if found.is_openshift:
        yield "# A release of OpenShift has it by its name: release-4.18 runs on openshift-4.18."
    if found.server is not None:
        yield f"# {found.base} is {found.server.why}, the newest branch that left it."
        if found.library not in (None, found.server.server.minor):
            yield f"# go.mod has libraries of Kubernetes 1.{found.library}: they do not decide, and often follow later."
        yield f"releases: {{{found.base}: {server_name(found.server.server).id}}}"
        return
    if found.library and not found.is_openshift:
        yield f"# go.mod has libraries of Kubernetes 1.{found.library}, which are not the servers of the users."
    yield f'# releases: {{{found.base or "main"}: "1.31"}}'
    if not found.is_openshift:
        yield ""
        yield "# The servers on which the CRDs have to work."
        yield '# kubernetes: {min: "1.28", max: "1.36"}'


def _quoted(name: str) -> str:
    """A name in quotes where YAML reads it as a number."""
    return f'"{name}"' if name[:1].isdigit() else name


def _ships(crds: CrdSet | None) -> Iterator[str]:
    """What the tree says about the files that ship; it counts only where copies of a CRD differ."""
    found = proposed_ships(crds) if crds is not None else ProposedShips()
    for folder, source in found.folders.items():
        yield f"# CRDs of {folder or 'the top folder'}, {source}"
    if found.is_needed:
        yield "# Copies elsewhere differ from these."
    globs = ", ".join(f'"{glob}"' for glob in found.globs if not glob.startswith("/")) or '"payload-manifests/crds/*"'
    yield f"{'' if found.is_needed and all(found.folders) else '# '}ships: [{globs}]"


def _crds(repo: str | None) -> CrdSet | None:
    """The CRDs of the working tree, or of the head of a bare repository; None if they cannot be read."""
    try:
        name = "git:HEAD" if Repository(repo).is_bare else "worktree:"
        return CrdReader().read(open_source(name, repo=repo))
    except SourceError:
        return None


def _contexts(crds: CrdSet | None) -> tuple[str, tuple[str, ...]]:
    if crds is None or not crds.documents:
        return PLAIN, ()
    return preset_of(crds.documents), pair(crds, crds).contexts


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
    try:
        named_commit(repository, name, f"{key}: {{}}")
    except RefNotFoundError as error:
        yield f"{key}: {'; '.join(str(error).splitlines())}"
    except (SourceError, UsageError) as error:
        yield f"{key}: {name}: {error}"
