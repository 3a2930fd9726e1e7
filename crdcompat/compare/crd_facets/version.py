"""Versions: added, removed, stored, served, deprecated (docs/semantics.md#changed-crds)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from crdcompat.compare.crd_facet import (
    FAILED,
    NOTHING,
    CrdChange,
    CrdEffect,
    CrdFacet,
    ResolvedPair,
    VersionPair,
    crd_change,
)
from crdcompat.compare.facet import Effects
from crdcompat.crds.resolving import Resolved
from crdcompat.vocabulary import Effect

_GONE = (Effect.CRD_REJECTED, Effect.REQUEST_FAILED)
EFFECTS = {
    "version.added": Effects(rollback=_GONE),
    "version.removed": Effects(upgrade=_GONE),
    "version.storage-moved": Effects(rollback=_GONE),
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
        at = (*a.pointer, "storage"), (*b.pointer, "storage")
        yield CrdChange(pair.name, crd_change("version.storage-moved", _storage(pair.crds.old), pair.name, *at))
    before, after = a.raw.get("deprecated"), b.raw.get("deprecated")
    if bool(before) != bool(after):
        at = (*a.pointer, "name"), (*b.pointer, "name")
        yield CrdChange(pair.name, crd_change("version.deprecated", before, after, *at))


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
