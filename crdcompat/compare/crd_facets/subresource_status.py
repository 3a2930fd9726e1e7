"""The status subresource: an endpoint of its own, and who may write status.

Source: docs/semantics.md#order-of-steps.
"""

from __future__ import annotations

from collections.abc import Iterator

from crdcompat.compare.crd_facet import FAILED, LOST, CrdChange, CrdFacet, VersionPair, crd_change
from crdcompat.compare.facet import Effects
from crdcompat.vocabulary import Effect

EFFECTS = {
    "subresource.status-added": Effects(rollback=(Effect.REQUEST_FAILED,), upgrade=(Effect.VALUE_PRUNED,)),
    "subresource.status-removed": Effects(rollback=(Effect.VALUE_PRUNED,), upgrade=(Effect.REQUEST_FAILED,)),
}


def version_changes(pair: VersionPair) -> Iterator[CrdChange]:
    a, b = pair.versions
    if a.has_status == b.has_status:
        return
    kind = "subresource.status-added" if b.has_status else "subresource.status-removed"
    places = ((*side.pointer, "subresources", "status") for side in (a, b))
    change = crd_change(kind, a.has_status, b.has_status, *places)
    # Where /status exists, the server silently drops status from writes to the main resource.
    yield CrdChange(pair.name, change, *((FAILED, LOST) if b.has_status else (LOST, FAILED)))


_KEYS = frozenset({"subresources"})
FACET = CrdFacet(EFFECTS, version_changes=version_changes, spec_keys=_KEYS, version_keys=_KEYS)
