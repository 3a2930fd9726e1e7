"""The status subresource: an endpoint of its own, and who may write status.

Source: docs/semantics.md#order-of-steps.
"""

from __future__ import annotations

from collections.abc import Iterator

from crdcompat.compare.crd_facet import FAILED, LOST, CrdChange, CrdEffect, CrdFacet, VersionPair, crd_change
from crdcompat.compare.facet import Effects
from crdcompat.vocabulary import Effect

_EMPTY = "its schema declares nothing in status that a controller could write"
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
    failed = CrdEffect(Effect.REQUEST_FAILED, doubt=_EMPTY) if _is_empty(pair, new=b.has_status) else FAILED
    yield CrdChange(pair.name, change, *((failed, LOST) if b.has_status else (LOST, failed)))


def _is_empty(pair: VersionPair, *, new: bool) -> bool:
    """Whether the server prunes all that anybody writes to the status of one side."""
    root = pair.versions[new].node
    status = root.properties.get("status")
    if not pair.crds.crds[new].prunes or root.preserve or root.additional is not None:
        return False
    return status is None or not (
        status.properties or status.additional is not None or status.preserve or status.type != "object"
    )


_KEYS = frozenset({"subresources"})
FACET = CrdFacet(EFFECTS, version_changes=version_changes, spec_keys=_KEYS, version_keys=_KEYS)
