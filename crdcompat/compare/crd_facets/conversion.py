"""Conversion strategy: without the webhook, conversion drops fields that the versions name differently.

Source: docs/semantics.md#between-versions.
"""

from __future__ import annotations

from collections.abc import Iterator

from crdcompat.compare.crd_facet import LOST, NOTHING, CrdChange, CrdFacet, ResolvedPair, crd_change
from crdcompat.compare.facet import Effects
from crdcompat.crds.model import Crd
from crdcompat.vocabulary import Effect

EFFECTS = {"conversion.changed": Effects(rollback=(Effect.VALUE_PRUNED,), upgrade=(Effect.VALUE_PRUNED,))}


def changes(pair: ResolvedPair) -> Iterator[CrdChange]:
    a, b = pair.crds
    before, after = a.conversion_strategy, b.conversion_strategy
    if before == after:
        return
    yield CrdChange(
        "",
        crd_change("conversion.changed", before, after, ("spec", "conversion")),
        LOST if _strategy(b) == "Webhook" and _converts(a, b) else NOTHING,
        LOST if _strategy(a) == "Webhook" and _converts(b, a) else NOTHING,
    )


def _strategy(crd: Crd) -> str:
    """How a CRD converts its own objects: not at all with a single version, whatever it says."""
    return crd.conversion_strategy if len(crd.versions) > 1 else "None"


def _converts(reader: Crd, writer: Crd) -> bool:
    """Whether the reader converts objects of the writer: not if its only version is the one that the writer stores."""
    stored = {version.name for version in writer.versions if version.storage}
    return {version.name for version in reader.versions} != stored


FACET = CrdFacet(EFFECTS, changes, spec_keys=frozenset({"conversion"}), facts={"conversion": _strategy})
