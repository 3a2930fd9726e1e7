"""Whether a CRD prunes unknown fields; servers refuse to turn pruning off (docs/semantics.md#changed-crds)."""

from __future__ import annotations

from collections.abc import Iterator

from crdcompat.compare.crd_facet import LOST, CrdChange, CrdFacet, ResolvedPair, crd_change
from crdcompat.compare.facet import Effects
from crdcompat.vocabulary import Effect

_KEY = "preserveUnknownFields"
_EITHER = (Effect.CRD_REJECTED, Effect.VALUE_PRUNED)
EFFECTS = {"preserve-unknown-fields.changed": Effects(rollback=_EITHER, upgrade=_EITHER)}


def changes(pair: ResolvedPair) -> Iterator[CrdChange]:
    a, b = pair.crds
    if a.prunes == b.prunes:
        return
    change = crd_change("preserve-unknown-fields.changed", not a.prunes, not b.prunes, ("spec",))
    rollback, upgrade = pair.refused(f"spec.{_KEY}")
    yield CrdChange("", change, *((rollback, LOST) if b.prunes else (LOST, upgrade)))


FACET = CrdFacet(EFFECTS, changes, spec_keys=frozenset({_KEY}), facts={_KEY: lambda crd: not crd.prunes})
