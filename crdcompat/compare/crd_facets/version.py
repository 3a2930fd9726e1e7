"""Versions: added, removed, stored, served, deprecated (docs/semantics.md#changed-crds)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from crdcompat.compare.crd_facet import (
    FAILED,
    LOST,
    NOTHING,
    CrdChange,
    CrdEffect,
    CrdFacet,
    ResolvedPair,
    VersionPair,
    crd_change,
)
from crdcompat.compare.facet import Effects
from crdcompat.compare.resource_fields import OF_RESOURCES
from crdcompat.crds.model import Crd
from crdcompat.crds.resolving import Resolved
from crdcompat.schema.structural import Node
from crdcompat.vocabulary import Effect

_GONE = (Effect.CRD_REJECTED, Effect.REQUEST_FAILED)
EFFECTS = {
    "version.added": Effects(rollback=_GONE),
    "version.removed": Effects(upgrade=_GONE),
    "version.storage-moved": Effects(rollback=_GONE),
    "version.storage-switched": Effects(rollback=(Effect.VALUE_PRUNED,), upgrade=(Effect.VALUE_PRUNED,)),
    "version.served-changed": Effects(rollback=(Effect.REQUEST_FAILED,), upgrade=(Effect.REQUEST_FAILED,)),
    "version.deprecated": Effects(),
}
#: Objects were stored in a version before a later one came, and nothing else keeps a version that is not served.
_ONCE_STORED = CrdEffect(
    Effect.CRD_REJECTED, doubt="no manifest shows whether status.storedVersions of a cluster still names the version"
)

_STAGES = ("alpha", "beta", "")
_VERSION = re.compile(r"v(?P<major>\d+)(?P<stage>alpha|beta|)(?P<number>\d*)")


def changes(pair: ResolvedPair) -> Iterator[CrdChange]:
    """Changes for the versions that only one side has."""
    before, after = (crd.stored_versions for crd in pair.crds)
    for name in sorted(pair.old.versions.keys() ^ pair.new.versions.keys()):
        rollback, upgrade = pair.refused(f'"{name}"')
        if name in pair.old.versions:
            version = pair.old.versions[name].version
            at = (*version.pointer, "name")
            change = crd_change("version.removed", name, None, at, ("spec", "versions"))
            if_accepted = FAILED if version.served else NOTHING
            if not before and (not version.served or precedes(name, _storage(pair.old) or "")):
                if_accepted = _ONCE_STORED
            yield CrdChange(name, change, upgrade=upgrade if upgrade != NOTHING else if_accepted)
            continue
        version = pair.new.versions[name].version
        if name in after or (version.storage and not pair.keeps_storage_version):
            # Objects are stored in this version, so a rollback needs OLD to know it.
            at = (*version.pointer, "storage")
            change, if_accepted = crd_change("version.storage-moved", None, name, ("spec", "versions"), at), FAILED
        else:
            at = (*version.pointer, "name")
            change = crd_change("version.added", None, name, ("spec", "versions"), at)
            if_accepted = FAILED if version.served else NOTHING
        yield CrdChange(name, change, rollback if rollback != NOTHING else if_accepted)


def version_changes(pair: VersionPair) -> Iterator[CrdChange]:
    a, b = pair.versions
    if a.served != b.served:
        at = (*a.pointer, "served"), (*b.pointer, "served")
        change = crd_change("version.served-changed", a.served, b.served, *at)
        yield CrdChange(pair.name, change, FAILED if b.served else NOTHING, FAILED if a.served else NOTHING)
    if not a.storage and b.storage and not pair.crds.keeps_storage_version:
        yield _switched(pair)
    before, after = a.raw.get("deprecated"), b.raw.get("deprecated")
    if bool(before) != bool(after):
        at = (*a.pointer, "name"), (*b.pointer, "name")
        yield CrdChange(pair.name, crd_change("version.deprecated", before, after, *at))


def _switched(pair: VersionPair) -> CrdChange:
    """NEW stores a version that OLD has and does not store: each side stores its own version at the next write."""
    (a, b), before = pair.versions, _storage(pair.crds.old)
    change = crd_change("version.storage-switched", before, pair.name, (*a.pointer, "storage"), (*b.pointer, "storage"))
    old_crd, new_crd = pair.crds.crds
    stored = pair.crds.old.versions[before].version if before is not None else a
    return CrdChange(
        pair.name,
        change,
        LOST if _copies(old_crd) and _erases(stored.node, b.node, is_resource=True) else NOTHING,
        LOST if _copies(new_crd) and _erases(b.node, stored.node, is_resource=True) else NOTHING,
    )


def _copies(crd: Crd) -> bool:
    """Whether a CRD stores what its schema declares of an object of another version, as it is."""
    return crd.prunes and crd.conversion_strategy == "None"


def _erases(reader: Node, writer: Node, *, is_resource: bool = False) -> bool:
    """Whether a schema prunes members that values of another one have (docs/semantics.md#pruning)."""
    keeps = reader.preserve or reader.additional is not None
    if not keeps and (writer.preserve or writer.additional is not None):
        return True
    kept = OF_RESOURCES if is_resource or reader.embedded else frozenset[str]()
    below = [(reader.child(name), node) for name, node in writer.properties.items() if name not in kept]
    if not keeps and any(node is None for node, _ in below):
        return True
    if isinstance(writer.additional, Node):
        below.append((reader.additional if isinstance(reader.additional, Node) else None, writer.additional))
    if writer.items is not None:
        below.append((reader.items, writer.items))
    return any(node is not None and _erases(node, other) for node, other in below)


def precedes(name: str, other: str) -> bool:
    """Whether a version came before another one, as projects name them: v1alpha1, v1beta1, v1, v2alpha1."""
    ages = [
        (int(found["major"]), _STAGES.index(found["stage"]), int(found["number"] or 0))
        for found in map(_VERSION.fullmatch, (name, other))
        if found is not None
    ]
    return len(ages) == 2 and ages[0] < ages[1]


def _storage(resolved: Resolved) -> str | None:
    return next((name for name, chosen in resolved.versions.items() if chosen.version.storage), None)


FACET = CrdFacet(EFFECTS, changes, version_changes, version_keys=frozenset({"served", "storage", "deprecated"}))
