"""Conversion strategy: without the webhook, conversion drops fields that the versions name differently.

Source: docs/semantics.md#between-versions.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

from crdcompat.compare.crd_facet import LOST, NOTHING, CrdChange, CrdFacet, ResolvedPair, crd_change
from crdcompat.compare.facet import Effects
from crdcompat.vocabulary import Effect

EFFECTS = {"conversion.changed": Effects(rollback=(Effect.VALUE_PRUNED,), upgrade=(Effect.VALUE_PRUNED,))}


def changes(pair: ResolvedPair) -> Iterator[CrdChange]:
    a, b = pair.crds
    before, after = a.conversion_strategy, b.conversion_strategy
    if before == after:
        return
    several = len(a.versions) > 1 or len(b.versions) > 1
    yield CrdChange(
        "",
        crd_change("conversion.changed", before, after, ("spec", "conversion")),
        LOST if several and after == "Webhook" else NOTHING,
        LOST if several and before == "Webhook" else NOTHING,
    )


FACET = CrdFacet(
    EFFECTS, changes, spec_keys=frozenset({"conversion"}), facts={"conversion": attrgetter("conversion_strategy")}
)
