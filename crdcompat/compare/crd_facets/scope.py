"""Scope: namespaced or cluster-wide; no server lets a CRD change it (docs/semantics.md#changed-crds)."""

from __future__ import annotations

from collections.abc import Iterator

from crdcompat.compare.crd_facet import CrdChange, CrdFacet, ResolvedPair, crd_change
from crdcompat.compare.facet import Effects
from crdcompat.vocabulary import Effect

EFFECTS = {"scope.changed": Effects(rollback=(Effect.CRD_REJECTED,), upgrade=(Effect.CRD_REJECTED,))}


def changes(pair: ResolvedPair) -> Iterator[CrdChange]:
    a, b = pair.crds
    if a.scope != b.scope:
        yield CrdChange(
            "", crd_change("scope.changed", a.scope, b.scope, ("spec", "scope")), *pair.refused("spec.scope")
        )


FACET = CrdFacet(EFFECTS, changes, spec_keys=frozenset({"scope"}), facts={"scope": lambda crd: crd.scope})
