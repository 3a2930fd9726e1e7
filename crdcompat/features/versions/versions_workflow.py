"""versions: read each release once, follow each version over all of them, and judge each jump."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.compare.crd_facets.version import precedes
from crdcompat.config.applied import read_source, reader_for, shipped_alone
from crdcompat.config.configuration import Config
from crdcompat.config.found import with_found
from crdcompat.config.releases import ReleaseList, choose
from crdcompat.crds.model import Crd
from crdcompat.errors import UsageError, did_you_mean
from crdcompat.features.diff.diff_report import release
from crdcompat.features.preflight.plan import storage_moves
from crdcompat.features.versions.version_facts import CrdFacts, Facts, Installed, facts_of
from crdcompat.models.versions import Jump, Lost, StoredKind, VersionLife, VersionsCluster, VersionsReport
from crdcompat.sources.branches import read_names
from crdcompat.sources.refs import resolve
from crdcompat.sources.repository import Repository
from crdcompat.sources.tree import Tree
from crdcompat.vocabulary import Side
from crdcompat.vocabulary.steps import stepping


class VersionsOptions(Struct, frozen=True):
    """The options besides the releases. ``trees`` are recordings of one cluster, or the live one."""

    crds: Sequence[str] = ()
    context: str | None = None
    repo: str | None = None
    trees: Sequence[Tree] = ()
    on_file: Callable[[], object] = lambda: None


def own_releases(config: Config, repo: str | None) -> ReleaseList:
    """The releases that a rollback from the commit that is checked out may go to, then this commit itself.

    Raises SourceError outside of a repository, UsageError if it has no such release.
    """
    repository = Repository(repo)
    found = with_found(config, repo, resolve(repository, "HEAD").commit, read_names(repository).checked_out)
    targets = found.config.targets(found.branch) or ()
    if not targets:
        raise UsageError("name the releases, oldest first: no release was found before the commit that is checked out")
    listed = choose(targets, (), repo, least=1)
    return ReleaseList((*listed.names, "HEAD"), (*listed.notes, *found.notes))


def versions(releases: ReleaseList, config: Config, options: VersionsOptions) -> VersionsReport:
    """The life of each version over the releases, and the jumps; with a cluster, those from it to each release.

    Raises SourceError, RefNotFoundError, and UsageError for an unknown CRD or context.
    """
    reader, names = reader_for(config), releases.names
    read = stepping(names, "Releases read", len(names))
    sets = [shipped_alone(read_source(name, Side.ANY, reader, config, options.repo), config, Side.ANY) for name in read]
    context, facts, notes = facts_of(sets, options.context) if sets else ("", [], [])
    shown = [crds.name for crds in sets]
    installed = Installed(options.trees, reader, options.on_file) if options.trees else None
    known = {crd for each in facts for crd in each} | set(installed.crds if installed is not None else ())
    for crd in options.crds:
        if crd not in known:
            raise UsageError(f"no CRD is named {crd}{did_you_mean(crd, sorted(known))}")
    if installed is None:
        cluster, found = None, list(jumps(shown, facts, options.crds))
        unjudged = disputes(shown, facts, options.crds)
    else:
        cluster, found = stored_in(installed, shown, facts, options.crds)
        unjudged = tuple(dict.fromkeys(reason for jump in found for reason in jump.unjudged))
        if installed.clusters > 1:
            raise UsageError(f"the recordings are of {installed.clusters} clusters: name those of one")
    problems = [*(problem for crds in sets for problem in crds.problems)]
    return VersionsReport(
        releases=tuple(map(release, sets)),
        context=context,
        lives=tuple(lives(shown, facts, options.crds)),
        jumps=tuple(found),
        cluster=cluster,
        unjudged=unjudged,
        problems=(*dict.fromkeys(problems), *(installed.problems if installed is not None else ())),
        notes=(*releases.notes, *dict.fromkeys(note for crds in sets for note in crds.notes), *notes),
    )


# What a cluster has stored: in which versions, which releases refuse that, and how to rewrite the objects.


_MIGRATOR = "storageversionmigrations.migration.k8s.io"


def stored_in(
    installed: Installed, names: Sequence[str], facts: Sequence[Facts], wanted: Sequence[str]
) -> tuple[VersionsCluster, list[Jump]]:
    """The stored versions of the cluster, and its jumps to the releases ``names``, which have these ``facts``."""
    crds = {name: crd for name, crd in sorted(installed.crds.items()) if not wanted or name in wanted}
    kinds = [_kind(crd, facts[-1] if facts else {}) for crd in crds.values() if crd.stored_versions]
    due = [each.crd for each in kinds if each.is_due]
    installed.count(due, {name: found.kind for each in facts for name, found in each.items()})
    cluster = VersionsCluster(
        source=installed.source,
        is_live=installed.is_live,
        kinds=tuple(_with_steps(each, installed) if each.is_due else each for each in kinds),
        has_migrator=_MIGRATOR in installed.crds,
    )
    known = {name: found for name, found in crds.items() if name not in installed.unlisted}
    return cluster, [
        _jump(cluster.title, known, installed.unlisted, name, each) for name, each in zip(names, facts, strict=True)
    ]


def _kind(crd: Crd, newest: Facts) -> StoredKind:
    """The stored versions of one CRD.

    The goal is the version that it stores now, or, if the newest release lacks a stored version, the one that this
    release stores.
    """
    storage = crd.storage_version.name if crd.storage_version is not None else ""
    target = newest.get(crd.name)
    lacks = target is not None and any(version not in target.flags for version in crd.stored_versions)
    goal = target.storage if target is not None and lacks and target.storage else storage
    return StoredKind(crd.name, crd.kind, crd.group, crd.plural, crd.stored_versions, storage, goal)


def _with_steps(kind: StoredKind, installed: Installed) -> StoredKind:
    gone = tuple(version for version in kind.stored if version != kind.goal)
    steps = storage_moves(installed.crds[kind.crd], kind.goal, gone)
    return replace(kind, objects=installed.counts.get(kind.crd), steps=steps)


def _jump(origin: str, installed: dict[str, Crd], unlisted: frozenset[str], release: str, facts: Facts) -> Jump:
    """Whether the server takes the CRDs of a release: it refuses one that lacks a stored version."""
    lost: list[Lost] = []
    unjudged = [f"{name}: objects of it were recorded, but not its CRD" for name in sorted(unlisted & facts.keys())]
    for name in sorted(installed.keys() & facts.keys()):
        crd, found = installed[name], facts[name]
        if found.dispute:
            unjudged.append(f"{name}: in {release}, {found.dispute}")
        elif not crd.stored_versions:
            unjudged.append(f"{name}: its CRD was recorded without the status.storedVersions of a server")
        gone = (version for version in crd.stored_versions if version not in found.flags and not found.dispute)
        lost += (Lost(name, crd.kind, version) for version in gone)
    return Jump(origin, release, tuple(lost), tuple(unjudged))


# The life of each version over the releases, and what a jump from one release to a later one loses.
#
# ``status.storedVersions`` of a cluster names each version that it ever stored objects in, until somebody rewrites
# the objects and removes the name. The API server refuses a CRD that lacks one of them. So a jump is blocked by a
# version that the older release has, that this or an earlier release stores, and that the newer release lacks. A
# version that is no longer served can still be read from storage: it blocks nothing as long as the CRD has it.


def lives(names: Sequence[str], facts: Sequence[Facts], wanted: Sequence[str]) -> Iterator[VersionLife]:
    """Each version of each CRD, by CRD, in the order in which the releases bring the versions."""
    for crd in sorted({crd for each in facts for crd in each}):
        if not wanted or crd in wanted:
            line = [(name, each.get(crd)) for name, each in zip(names, facts, strict=True)]
            yield from _of_crd(crd, [(name, found) for name, found in line if found is None or not found.dispute])


def _of_crd(crd: str, line: Sequence[tuple[str, CrdFacts | None]]) -> Iterator[VersionLife]:
    versions = dict.fromkeys(version for _, found in line if found is not None for version in found.flags)
    for version in versions:
        having = [at for at, (_, found) in enumerate(line) if found is not None and version in found.flags]
        flags = [(line[at][0], line[at][1].flags[version]) for at in having]  # type: ignore[union-attr]
        after = line[having[-1] + 1 :][:1]
        kind = next(found.kind for _, found in reversed(line) if found is not None)
        yield VersionLife(
            crd=crd,
            kind=kind,
            version=version,
            present=tuple(name for name, _ in flags),
            served=tuple(name for name, (is_served, _, _) in flags if is_served),
            stored=tuple(name for name, (_, _, is_stored) in flags if is_stored),
            deprecated=tuple(name for name, (_, is_deprecated, _) in flags if is_deprecated),
            removed_in=after[0][0] if after else "",
            has_crd=not after or after[0][1] is not None,
        )


def disputes(names: Sequence[str], facts: Sequence[Facts], wanted: Sequence[str]) -> tuple[str, ...]:
    """The CRDs whose copies disagree in a release, each with the first such release."""
    first: dict[str, str] = {}
    for name, each in zip(names, facts, strict=True):
        for crd, found in each.items():
            if found.dispute and (not wanted or crd in wanted):
                first.setdefault(crd, _dispute(crd, name, found))
    return tuple(first[crd] for crd in sorted(first))


def _dispute(crd: str, release: str, found: CrdFacts) -> str:
    return f"{crd}: in {release}, {found.dispute}"


def jumps(names: Sequence[str], facts: Sequence[Facts], wanted: Sequence[str]) -> Iterator[Jump]:
    """The jumps from each release to each later one."""
    for older, newer in combinations(range(len(names)), 2):
        lost: list[Lost] = []
        unjudged: list[str] = []
        for crd in sorted(facts[older].keys() & facts[newer].keys()):
            if wanted and crd not in wanted:
                continue
            before = [(name, each.get(crd)) for name, each in zip(names[:newer], facts[:newer], strict=True)]
            target = facts[newer][crd]
            known = [*before[: older + 1], (names[newer], target)]
            disputed = [_dispute(crd, name, each) for name, each in known if each is not None and each.dispute]
            unjudged += disputed[:1]
            lost += () if disputed else _lost(crd, before, older, target)
        yield Jump(names[older], names[newer], tuple(lost), tuple(unjudged))


def _lost(crd: str, before: Sequence[tuple[str, CrdFacts | None]], older: int, target: CrdFacts) -> Iterator[Lost]:
    """The versions that a jump loses; ``before`` are the releases before the target, ``older`` is the origin's index.

    No manifest shows what an earlier release than these stored. As for ``diff``, that may be a version that is not
    served any more, or one that is older than the stored one.
    """
    origin = before[older][1]
    assert origin is not None, crd
    for version, (is_served, _, _) in origin.flags.items():
        if version in target.flags:
            continue
        stored = tuple(name for name, each in before[: older + 1] if each is not None and each.storage == version)
        if stored or not is_served or precedes(version, origin.storage):
            there = [name for name, each in before[older:] if each is not None and _migrates(each, version, target)]
            yield Lost(crd, target.kind, version, stored, tuple(there), is_certain=bool(stored))


def _migrates(facts: CrdFacts, version: str, target: CrdFacts) -> bool:
    """Whether objects that are stored in a version can be rewritten in a release, into a version of the target."""
    return version in facts.flags and facts.storage != version and facts.storage in target.flags
