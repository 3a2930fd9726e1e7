"""What a cluster has stored: in which versions, which releases refuse that, and how to rewrite the objects."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from crdcompat.crds.model import Crd
from crdcompat.features.preflight.steps import storage_moves
from crdcompat.features.versions.facts import Facts
from crdcompat.features.versions.inventory import Installed
from crdcompat.models.versions import Jump, Lost, StoredKind, VersionsCluster

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
